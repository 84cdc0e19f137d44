// Do on the built site what a reader does, and print, as JSON, what came of it. The judgement is in ../test_site.py.
// usage: node reader.mjs SITE_FOLDER CHROMIUM
import { readFile } from "node:fs/promises";
import { serve } from "./serve.mjs";

const [site, executablePath] = process.argv.slice(2);
const { base, noted, open, visit, close } = await serve(site, executablePath);
const seen = { ...noted };
const CHAPTER = "notebooks/03_system_dependence";
const TERM = '.bd-article a[aria-describedby][href*="#term-"]';

const where = (page) => page.url().replace(base, "");
const inView = (locator) => locator.evaluate((element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
});

const page = await open({ viewport: { width: 1280, height: 900 }, colorScheme: "light", acceptDownloads: true });

// The address of the site leads to the front page; the first thing that the keyboard reaches leads past the navigation.
await page.goto(`${base}/index.html`);
await page.waitForURL(/book\/index\.html/);
await page.waitForLoadState("load");
const figure = page.locator("#fig-index-count img");
seen.front = { url: where(page), figureInView: await inView(figure), figureBottom: (await figure.boundingBox()).y + (await figure.boundingBox()).height };
await page.keyboard.press("Tab");
seen.front.firstStop = await page.evaluate(() => document.activeElement.textContent.trim());
await page.keyboard.press("Enter");
seen.front.focusAfter = await page.evaluate(() => document.activeElement.id || location.hash);

// Search a word; follow the hit to the chapter, and there the first reference to a figure.
await page.keyboard.press("Control+k");
await page.keyboard.type("SysDep");
await page.keyboard.press("Enter");
await page.waitForURL(/search\.html/);
await page.locator(".search-summary", { hasText: "Search finished" }).waitFor(); // until then the list grows and moves
const hit = page.locator(`#search-results a[href*="${CHAPTER}"]`).first();
seen.search = { hits: await page.locator("#search-results ul.search > li").count() };
await page.waitForLoadState("networkidle"); // each hit is given its summary when the page it is on has come
await hit.click();
await page.waitForURL((url) => url.pathname.includes(CHAPTER));
seen.search.url = where(page).replace(/[?#].*/, "");
const reference = page.locator('.bd-article a.reference.internal[href^="#fig-"]').first();
const target = await reference.getAttribute("href");
await reference.click();
await page.waitForTimeout(600); // smooth scrolling
const shown = page.locator(target);
seen.figure = {
  text: await reference.innerText(), inView: await inView(shown.locator("img")), caption: await shown.locator("figcaption").innerText(),
};

// A solution is folded; the keyboard unfolds it, and its output is there.
const solution = page.locator(".solution.dropdown").first();
const output = solution.locator(".cell_output").first();
seen.solution = { label: await solution.locator(".toggle-button").first().getAttribute("aria-label"), before: await output.isVisible() };
await solution.locator("button.toggle-button").first().focus();
await page.keyboard.press("Enter");
await page.waitForTimeout(500);
seen.solution.after = await output.isVisible();
seen.solution.text = (await output.innerText()).slice(0, 200);

// A term says what it means: on hover, on focus; Escape takes it away, and so does leaving. First the pointer goes to a
// corner: the page has scrolled since the last click, so a term may have come to lie under it.
await page.mouse.move(2, 2);
await page.waitForTimeout(400);
const tip = page.locator("#term-tip");
const terms = page.locator(TERM);
const term = terms.first();
seen.term = { count: await terms.count(), before: await tip.isVisible(), described: await term.evaluate((link) =>
  document.getElementById(link.getAttribute("aria-describedby")).textContent) };
await term.hover();
seen.term.hovered = await tip.innerText();
await tip.hover();
await page.waitForTimeout(400);
seen.term.staysUnderThePointer = await tip.isVisible();
await page.mouse.move(2, 2);
await page.waitForTimeout(400);
seen.term.left = await tip.isVisible();
await term.focus();
seen.term.focused = await tip.innerText();
await page.keyboard.press("Escape");
seen.term.escaped = await tip.isVisible();

// Light or dark, and the choice stays.
const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
seen.theme = { before: await theme() };
for (let clicks = 0; clicks < 3 && (await theme()) !== "dark"; clicks++) {
  await page.locator("button.theme-switch-button:visible").first().click();
}
seen.theme.after = await theme();
await visit(page, CHAPTER);
seen.theme.reloaded = await theme();

// The chapter as a notebook.
await page.locator('button[aria-label="Download this page"]').click();
const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a.btn-download-source-button").click()]);
seen.download = { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };

// On paper: no navigation, no tooltip, solutions unfolded.
await page.emulateMedia({ media: "print" });
await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
await page.waitForTimeout(300);
const visible = (selector) => page.locator(selector).evaluateAll((all) => all.filter((e) => e.checkVisibility() && e.getClientRects().length).length);
seen.print = {
  theme: await theme(),
  navigation: await visible(".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, .copybtn, .toggle-button, #term-tip"),
  text: await visible(".bd-article p"), solutions: await visible(".solution .cell_output"),
  allSolutions: await page.locator(".solution .cell_output").count(),
};
await page.context().close();

// A question with one answer, by keyboard: first a wrong one, then the right one.
const quiz = await open({ viewport: { width: 1280, height: 900 } });
await visit(quiz, "book/quiz/agreement");
const question = quiz.locator(".quiz-question", { has: quiz.locator("input[type=radio]") }).first();
seen.quiz = {};
for (const verdict of ["wrong", "right"]) {
  const letter = await question.locator(`.quiz-answer[data-verdict="${verdict}"]`).first().getAttribute("data-letter");
  await question.locator(`input[value="${letter}"]`).focus();
  await quiz.keyboard.press("Space");
  await question.locator(".quiz-check").press("Enter");
  seen.quiz[verdict] = await question.locator(".quiz-feedback").innerText();
}
await quiz.context().close();

// On a telephone: a wide table scrolls in its own box, which the keyboard reaches; the first tap on a term defines it.
const phone = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
await visit(phone, "notebooks/real_data/published_clusters");
const box = phone.locator('.output.text_html[tabindex="0"]:visible').first();
seen.phone = await box.evaluate((element) => ({
  box: element.clientWidth, table: element.scrollWidth, tabindex: element.getAttribute("tabindex"), name: element.getAttribute("aria-label"),
  page: document.documentElement.scrollWidth,
}));
await box.focus();
await phone.keyboard.press("ArrowRight");
await phone.waitForTimeout(400);
seen.phone.scrolled = await box.evaluate((element) => element.scrollLeft);
const tapped = phone.locator(TERM).first();
await tapped.tap();
await phone.waitForTimeout(200);
const bounds = await phone.locator("#term-tip").boundingBox();
seen.phone.tip = { url: where(phone), text: await phone.locator("#term-tip").innerText(), left: bounds?.x, right: bounds && bounds.x + bounds.width };
await tapped.tap();
await phone.waitForURL(/glossary\.html/, { timeout: 5000 }).catch(() => {});
seen.phone.secondTap = where(phone);
await phone.context().close();

await close();
console.log(JSON.stringify(seen, null, 1));
