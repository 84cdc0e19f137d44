// The definition of a term, shown beside its link: on hover and on focus, and on a telephone at the first tap.
// It can be pointed at, and Escape takes it away. Without JavaScript the browser shows the title instead.
(() => {
  const tip = document.createElement("div");
  tip.id = "term-tip";
  tip.className = "term-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let owner = null;
  let leaving = 0;

  const hide = () => {
    clearTimeout(leaving);
    tip.hidden = true;
    owner = null;
  };
  const leave = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hide, 200);
  };
  const place = () => {
    const lines = owner.getClientRects();
    const margin = 8;
    const above = lines[0].top - tip.offsetHeight - 4;
    const below = lines[lines.length - 1].bottom + 4;
    const widest = document.documentElement.clientWidth - tip.offsetWidth - margin;
    tip.style.left = `${Math.max(margin, Math.min(lines[0].left, widest))}px`;
    tip.style.top = `${below + tip.offsetHeight > window.innerHeight && above > 0 ? above : below}px`;
  };
  const show = (link) => {
    clearTimeout(leaving);
    owner = link;
    tip.textContent = link.dataset.definition;
    tip.hidden = false;
    place();
  };

  const links = [...document.querySelectorAll('.bd-article a[href*="#term-"][title]')];
  for (const [number, link] of links.entries()) {
    const described = document.createElement("span"); // what a screen reader says, whether the tip shows or not
    described.id = `term-${number}-definition`;
    described.hidden = true;
    described.textContent = link.dataset.definition = link.title;
    link.removeAttribute("title");
    link.setAttribute("aria-describedby", described.id);
    link.after(described);
    let touched = false;
    link.addEventListener("pointerdown", (event) => (touched = event.pointerType === "touch" && owner !== link));
    link.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(link));
    link.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
    link.addEventListener("focus", () => show(link));
    link.addEventListener("blur", leave);
    link.addEventListener("click", (event) => {
      if (!touched) return;
      touched = false;
      event.preventDefault();
      show(link);
    });
  }
  if (links.length) {
    document.body.append(tip);
    tip.addEventListener("pointerenter", () => clearTimeout(leaving));
    tip.addEventListener("pointerleave", leave);
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
    document.addEventListener("pointerdown", (event) => owner && event.target !== tip && !owner.contains(event.target) && hide());
    document.addEventListener("scroll", () => owner && place(), { passive: true });
  }

  // What scrolls sideways in a box of its own can be reached and scrolled with the keyboard.
  const boxes = ".output.text_html, .pst-scrollable-table-container, div.math, mjx-container[display]";
  const mark = () => {
    for (const box of document.querySelectorAll(boxes)) {
      if (box.scrollWidth <= box.clientWidth + 1 || box.hasAttribute("tabindex")) continue;
      box.tabIndex = 0;
      if (box.hasAttribute("role") || box.matches("mjx-container")) continue;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Wider than the page: scrolls sideways");
    }
  };
  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);

  // Paper is white and cannot be unfolded: what is read in the dark is printed in the light, with folded outputs open.
  const root = document.documentElement;
  let opened = [];
  window.addEventListener("beforeprint", () => {
    root.dataset.onScreen = root.dataset.theme;
    root.dataset.theme = "light";
    opened = [...document.querySelectorAll(".bd-article details:not([open])")];
    for (const details of opened) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = root.dataset.onScreen;
    for (const details of opened) details.open = false;
  });
})();

// In the list of contents the theme gives no name to the button that unfolds the pages below another one.
for (const button of document.querySelectorAll("li.has-children > details > summary")) {
  button.setAttribute("aria-label", `Pages below ${button.closest("li").querySelector("a").textContent.trim()}`);
}
