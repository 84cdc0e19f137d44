// Serve a built site on this machine and open it in a browser that cannot leave it; what goes wrong on the way is noted.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { mkdtempSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png" };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PACKAGES = join(dirname(fileURLToPath(import.meta.url)), "node_modules");

// The environment in which a browser sees the fonts of these packages alone; without packages, those of the machine.
function environment(fonts) {
  if (!fonts.length) return process.env;
  const file = join(mkdtempSync(join(tmpdir(), "fonts-")), "fonts.conf");
  const folders = fonts.map((name) => `<dir>${join(PACKAGES, name)}</dir>`).join("");
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${dirname(file)}</cachedir></fontconfig>`);
  return { ...process.env, FONTCONFIG_FILE: file };
}

// What axe-core says of a part of a page.
export async function judge(page, part = "html", options = {}) {
  await page.addScriptTag({ path: axe });
  const { violations, passes } = await page.evaluate(([p, o]) => window.axe.run(p, { resultTypes: ["violations"], ...o }), [part, options]);
  const faults = violations.flatMap((rule) => rule.nodes.map((node) => ({ id: rule.id, target: node.target.join(" "), html: node.html.slice(0, 200) })));
  return { rules: passes.length, faults };
}

export async function serve(site, executablePath, fonts = []) {
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
  const browser = await chromium.launch({ executablePath, args: FLAGS, env: environment(fonts) });
  const noted = { external: [], missing: [], console: [] };

  // A fresh profile. Whatever would leave this machine is stopped and noted: the site has to work with the network off.
  async function open(options) {
    const context = await browser.newContext(options);
    await context.route((url) => url.origin !== base, (route) => {
      noted.external.push(route.request().url());
      return route.abort();
    });
    const page = await context.newPage();
    const name = () => page.url().replace(base, "");
    page.on("response", (response) => response.status() >= 400 && noted.missing.push(response.url().replace(base, "")));
    page.on("console", (message) => message.type() === "error" && noted.console.push({ page: name(), text: message.text() }));
    page.on("pageerror", (error) => noted.console.push({ page: name(), text: error.message }));
    return page;
  }

  async function visit(page, path) {
    await page.goto(`${base}/${path}.html`, { waitUntil: "load" });
    await page.evaluate(() => window.MathJax?.startup?.promise);
  }

  async function close() {
    await browser.close();
    server.close();
  }

  return { base, noted, open, visit, close };
}
