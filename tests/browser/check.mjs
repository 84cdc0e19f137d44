// Drive a browser over the built site and print, as JSON, what was seen there. The judgement is in ../test_site.py.
// usage: node check.mjs SITE_FOLDER CHROMIUM PAGE...
import { judge, serve } from "./serve.mjs";

const [site, executablePath, ...pages] = process.argv.slice(2);
const { noted, open, visit, close } = await serve(site, executablePath);
const seen = { ...noted, pages: {} };

// What depends on colour is looked at in both schemes, the rest in one.
const RULES = { light: {}, dark: { runOnly: ["color-contrast", "link-in-text-block"] } };

for (const scheme of ["light", "dark"]) {
  const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: scheme });
  for (const path of pages) {
    await visit(page, path);
    const entry = (seen.pages[path] ??= {});
    entry[`axe_${scheme}`] = (await judge(page, "html", RULES[scheme])).faults;
    Object.assign(entry, await page.evaluate(() => ({
      formulas: document.querySelectorAll(".bd-article .math").length,
      rendered: document.querySelectorAll(".bd-article .math mjx-container").length,
      broken: [...document.querySelectorAll("mjx-merror")].map((e) => e.textContent),
      images: [...document.images].map((image) => ({
        src: image.getAttribute("src"), alt: image.getAttribute("alt"), loaded: image.complete && image.naturalWidth > 0,
      })),
    })));
  }
  await page.context().close();
}

// How wide a page is on a telephone depends on the fonts of the machine: wide ones and narrow ones.
const FONTS = { wide: ["dejavu-fonts-ttf"], narrow: ["@expo-google-fonts/arimo", "@expo-google-fonts/cousine"] };
for (const [name, fonts] of Object.entries(FONTS)) {
  const phone = await serve(site, executablePath, fonts);
  const page = await phone.open({ viewport: { width: 390, height: 844 } });
  for (const path of pages) {
    await phone.visit(page, path);
    const entry = seen.pages[path];
    (entry.width_390 ??= {})[name] = await page.evaluate(() => document.documentElement.scrollWidth);
    entry.axe_narrow ??= (await judge(page, "html", { runOnly: ["scrollable-region-focusable"] })).faults;
  }
  seen.fonts = { ...seen.fonts, [name]: await page.evaluate(() => {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(document.body).font;
    return pen.measureText("font").width;
  }) };
  await phone.close();
}

await close();
console.log(JSON.stringify(seen, null, 1));
