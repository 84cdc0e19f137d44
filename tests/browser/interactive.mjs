// Turn the knobs of figures and answer questions by keyboard; print, as JSON, what was seen. Judged in ../test_interactive.py.
// usage: node interactive.mjs SITE_FOLDER CHROMIUM QUIZ_PAGE PAGE_WITH_KNOBS...
import { judge, serve } from "./serve.mjs";

const [site, executablePath, quiz, ...pages] = process.argv.slice(2);
const { base, noted, open, visit, close } = await serve(site, executablePath);
const seen = { ...noted, knobs: {}, axe: {}, quiz: {}, still: {}, width: {} };

const read = (box) => box.evaluate((e) => ({
  position: e.querySelector("[data-text=position]").textContent,
  spoken: [...e.querySelectorAll("input")].at(-1).getAttribute("aria-valuetext"),
  choices: [...e.querySelectorAll("output:not([data-text=position])")].map((choice) => choice.textContent),
  cells: [...e.querySelectorAll("td[data-text]")].map((cell) => cell.textContent),
  moved: [...e.querySelectorAll("[data-x]")].map((thing) => thing.getAttribute("transform")),
  widths: [...e.querySelectorAll("[data-width]")].map((thing) => thing.getAttribute("width")),
}));

async function turn(page, box) {
  const found = { start: await read(box), name: await box.locator("input").last().evaluate((e) => e.labels[0].innerText) };
  const press = async (key) => {
    for (const knob of await box.locator(":is(input, select)").all()) {
      await knob.focus();
      await page.keyboard.press(key);
    }
  };
  await press("Home");
  found.home = await read(box);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  found.two = await read(box);
  await press("End");
  found.end = await read(box);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  found.paper = await read(box);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  found.after = await read(box);
  return found;
}

for (const colorScheme of ["light", "dark"]) {
  const page = await open({ viewport: { width: 390, height: 844 }, colorScheme });
  for (const path of pages) {
    await visit(page, path);
    seen.knobs[path] = [];
    for (const box of await page.locator(".mtmeta-knob").all()) seen.knobs[path].push(await turn(page, box));
    seen.axe[`${path} (${colorScheme})`] = await judge(page, ".mtmeta-knob");
    seen.width[path] = await page.evaluate(() => document.documentElement.scrollWidth);
  }

  await visit(page, quiz);
  const several = page.locator(".quiz-question", { has: page.locator("input[type=checkbox]") }).first();
  const ask = async (verdicts) => {
    for (const input of await several.locator("input").all()) await input.setChecked(false);
    const answers = await several.locator(".quiz-answer[data-verdict]").evaluateAll((all) =>
      Object.fromEntries(all.map((e) => [e.dataset.letter, e.dataset.verdict])));
    for (const [letter, verdict] of Object.entries(answers)) {
      if (!verdicts.includes(verdict)) continue;
      await several.locator(`input[value="${letter}"]`).focus();
      await page.keyboard.press("Space");
    }
    await several.locator(".quiz-check").focus();
    await page.keyboard.press("Enter");
    return several.locator(".quiz-feedback").innerText();
  };
  const score = () => page.locator(".quiz-score [role=status]").innerText();
  const unfolded = () => page.locator(".quiz-question details[open]").count();
  const found = { none: await ask([]), untouched: await score(), wrong: await ask(["wrong"]), both: await ask(["right", "wrong"]) };
  Object.assign(found, { right: await ask(["right"]), score: await score(), folded: await unfolded() });
  await page.locator(".quiz-score button").first().click();
  found.unfolded = await unfolded();
  seen.axe[`${quiz} (${colorScheme})`] = await judge(page, ".bd-article");
  seen.width[quiz] = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.locator(".quiz-score button").last().click();
  Object.assign(found, { again: await score(), questions: await page.locator(".quiz-question").count(), ticked: await page.locator("input:checked").count() });
  seen.quiz[colorScheme] = found;
  await page.context().close();
}

// Without JavaScript: the start position, and the answers in their folds.
const plain = await open({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
for (const path of pages) {
  await plain.goto(`${base}/${path}.html`);
  seen.still[path] = [];
  for (const box of await plain.locator(".mtmeta-knob").all()) {
    seen.still[path].push({ slider: await box.locator(":is(input, select)").first().isVisible(), drawing: await box.locator("svg").first().isVisible(),
      position: await box.locator("[data-text=position]").textContent(), cells: await box.locator("td[data-text]").allTextContents() });
  }
}
await plain.goto(`${base}/${quiz}.html`);
await plain.locator(".quiz-question summary").first().click();
seen.still[quiz] = { check: await plain.locator(".quiz-check").first().isVisible(), score: await plain.locator(".quiz-score").count(),
  answer: await plain.locator(".quiz-answer").first().isVisible() };

await close();
console.log(JSON.stringify(seen, null, 1));
