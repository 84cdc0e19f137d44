// Let the knobs of each figure move what is drawn. The values of every position travel with the figure.
for (const box of document.querySelectorAll(".mtmeta-knob:not([data-ready])")) {
  box.dataset.ready = "";
  const { positions, values, shown } = JSON.parse(box.querySelector("script[type='application/json']").textContent);
  const start = Number(box.dataset.start);
  const knobs = [...box.querySelectorAll("input, select")];
  const size = (knob) => (knob.options ? knob.options.length : Number(knob.max) + 1);
  const place = ([offset, factor], value) => (offset + factor * value).toFixed(2);
  const position = () => knobs.reduce((k, knob) => k * size(knob) + Number(knob.value), 0);

  const turn = (k) => {
    // A list may be shorter than the positions: then a value holds for several in a row.
    const at = (list) => list[Math.floor((k * list.length) / positions.length)];
    for (const cell of box.querySelectorAll("[data-text]")) {
      const name = cell.dataset.text;
      cell.textContent = at(name === "position" ? positions : shown[name]);
    }
    for (const panel of box.querySelectorAll("[data-scale]")) {
      const [x, y] = JSON.parse(panel.dataset.scale);
      for (const thing of panel.querySelectorAll("[data-x]")) {
        const height = thing.dataset.y ? values[thing.dataset.y][k] : null;
        const top = height === null ? 0 : place(y, height);
        thing.setAttribute("transform", `translate(${place(x, values[thing.dataset.x][k])} ${top})`);
        if (thing.dataset.y) thing.setAttribute("visibility", height === null ? "hidden" : "visible");
      }
      for (const thing of panel.querySelectorAll("[data-width]")) {
        const width = place(x, values[thing.dataset.width][k]) - thing.getAttribute("x");
        thing.setAttribute("width", Math.max(width, 0).toFixed(2));
      }
      for (const line of panel.querySelectorAll("[data-line]")) {
        const n = size(knobs.at(-1));
        const corners = Array.from({ length: n }, (_, i) => k - (k % n) + i)
          .filter((i) => values[line.dataset.line][i] !== null)
          .map((i) => `${place(x, values[line.dataset.along][i])},${place(y, values[line.dataset.line][i])}`);
        line.setAttribute("points", corners.join(" "));
      }
    }
    for (const slider of box.querySelectorAll("input")) {
      slider.setAttribute("aria-valuetext", slider.closest(".knob").querySelector("output").textContent);
    }
  };

  let rest = start;
  for (const knob of [...knobs].reverse()) {
    knob.value = rest % size(knob);
    rest = Math.floor(rest / size(knob));
    knob.hidden = false;
    knob.addEventListener("input", () => turn(position()));
  }
  // Paper shows the start position, as the text around the figure reads it.
  addEventListener("beforeprint", () => turn(start));
  addEventListener("afterprint", () => turn(position()));
  turn(start);
}
