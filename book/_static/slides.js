// Slides: arrows, space and a tap go on and back, N shows the speaker's notes, S opens a second window with them, P prints.
const slides = [...document.querySelectorAll(".slide")];
const other = window.opener;
let opened = null;
let now = 0;

function show(k, told = false) {
  now = Math.max(0, Math.min(k, slides.length - 1));
  slides.forEach((slide, i) => slide.classList.toggle("now", i === now));
  history.replaceState(null, "", `#${now + 1}`);
  document.body.dataset.at = `${now + 1} / ${slides.length}`;
  if (!told) for (const window of [other, opened]) window?.postMessage({ slide: now }, "*");
}
addEventListener("message", ({ data }) => Number.isInteger(data?.slide) && show(data.slide, true));
addEventListener("keydown", (event) => {
  if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -Infinity, End: Infinity };
  if (event.key in step) {
    event.preventDefault();
    show(now + step[event.key]);
  }
  if (event.key === "n") document.body.classList.toggle("with-notes");
  if (event.key === "p") print();
  if (event.key === "s") opened = open(`${location.href.split(/[?#]/)[0]}?notes#${now + 1}`, "notes", "width=1000,height=800");
});
addEventListener("click", (event) => {
  if (!event.target.closest("a, input, select, summary, label, button, .notes")) show(now + (event.clientX < innerWidth / 4 ? -1 : 1));
});
document.body.classList.toggle("with-notes", location.search === "?notes");
document.documentElement.classList.add("shown");
show((Number(location.hash.slice(1)) || 1) - 1);
