// Print pages to PDF, and print, as JSON, the words that each shows on the screen with everything unfolded.
// usage: node paper.mjs SITE_FOLDER CHROMIUM OUT PAGE...
import { join } from "node:path";
import { serve } from "./serve.mjs";

const [site, executablePath, out, ...pages] = process.argv.slice(2);
const { noted, open, visit, close } = await serve(site, executablePath);
const seen = { ...noted, pages: {} };
const page = await open({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(600000);
for (const path of pages) {
  await visit(page, path);
  const file = join(out, `${path.replaceAll("/", "-")}.pdf`);
  await page.pdf({ path: file, preferCSSPageSize: true });
  const text = await page.evaluate(() => {
    for (const details of document.querySelectorAll("article details")) details.open = true;
    for (const hidden of document.querySelectorAll(".toggle-hidden")) hidden.classList.remove("toggle-hidden");
    return [...document.querySelectorAll("article, .slide")].map((part) => part.innerText).join(" ");
  });
  seen.pages[path] = { file, text };
}
await close();
console.log(JSON.stringify(seen));
