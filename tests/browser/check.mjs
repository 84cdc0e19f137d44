// Drive a browser over the built site and print, as JSON, what was seen there. The judgement is in ../test_site.py.
// usage: node check.mjs SITE_FOLDER CHROMIUM SEARCH_WORD PAGE...
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const [site, executablePath, word, ...pages] = process.argv.slice(2);
const axeSource = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png" };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://site").pathname));
  try {
    const body = await readFile(join(site, path));
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath, args: FLAGS });
const seen = { external: [], missing: [], console: [], pages: {}, search: {}, dark: {} };

// A fresh profile. Whatever would leave this machine is stopped and noted: the site has to work with the network off.
async function open(options) {
  const context = await browser.newContext(options);
  await context.route((url) => url.origin !== base, (route) => {
    seen.external.push(route.request().url());
    return route.abort();
  });
  const page = await context.newPage();
  const name = () => page.url().replace(base, "");
  page.on("response", (response) => response.status() >= 400 && seen.missing.push(response.url().replace(base, "")));
  page.on("console", (message) => message.type() === "error" && seen.console.push({ page: name(), text: message.text() }));
  page.on("pageerror", (error) => seen.console.push({ page: name(), text: error.message }));
  return page;
}

async function visit(page, path) {
  await page.goto(`${base}/${path}.html`, { waitUntil: "load" });
  await page.evaluate(() => window.MathJax?.startup?.promise);
}

async function violations(page) {
  await page.addScriptTag({ path: axeSource });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((rule) => rule.nodes.map((node) => ({ id: rule.id, target: node.target.join(" "), html: node.html.slice(0, 200) })));
}

for (const scheme of ["light", "dark"]) {
  const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: scheme });
  for (const path of pages) {
    await visit(page, path);
    const entry = (seen.pages[path] ??= {});
    entry[`axe_${scheme}`] = await violations(page);
    Object.assign(entry, await page.evaluate(() => ({
      title: document.title,
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

const narrow = await open({ viewport: { width: 390, height: 844 } });
for (const path of pages) {
  await visit(narrow, path);
  seen.pages[path].width_390 = await narrow.evaluate(() => document.documentElement.scrollWidth);
}
await narrow.context().close();

// Typing a word into the search box, and the switch between light and dark.
if (word) {
  const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await visit(page, pages[0]);
  await page.locator("button.search-button-field:visible").first().click();
  await page.locator("input[type=search]:visible").first().fill(word);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#search-results ul.search li a", { timeout: 15000 }).catch(() => {});
  seen.search = await page.evaluate(() => ({
    word: new URL(location.href).searchParams.get("q"),
    hits: [...document.querySelectorAll("#search-results ul.search li a")].map((a) => a.textContent),
  }));

  const theme = () => page.evaluate(() => ({
    theme: document.documentElement.dataset.theme,
    background: getComputedStyle(document.body).backgroundColor,
    text: getComputedStyle(document.body).color,
  }));
  await visit(page, pages[0]);
  seen.dark.before = await theme();
  for (let clicks = 0; clicks < 3 && (await theme()).theme !== "dark"; clicks++) {
    await page.locator("button.theme-switch-button:visible").first().click();
  }
  seen.dark.after = await theme();
  await visit(page, pages[1]);
  seen.dark.next_page = await theme();
}

await browser.close();
server.close();
console.log(JSON.stringify(seen, null, 1));
