// Let the slider of each figure move what is drawn. The values of every position travel with the figure.
for (const box of document.querySelectorAll(".mtmeta-knob:not([data-ready])")) {
  box.dataset.ready = "";
  const { positions, values, shown } = JSON.parse(box.querySelector("script[type='application/json']").textContent);
  const start = Number(box.dataset.start);
  const slider = box.querySelector("input");
  const place = ([offset, factor], value) => (offset + factor * value).toFixed(2);

  const turn = (k) => {
    for (const cell of box.querySelectorAll("[data-text]")) {
      const name = cell.dataset.text;
      cell.textContent = name === "position" ? positions[k] : shown[name][k];
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
    }
    slider.setAttribute("aria-valuetext", positions[k]);
  };

  slider.addEventListener("input", () => turn(Number(slider.value)));
  // Paper shows the start position, as the text around the figure reads it.
  addEventListener("beforeprint", () => turn(start));
  addEventListener("afterprint", () => turn(Number(slider.value)));
  slider.value = start;
  slider.hidden = false;
  turn(start);
}
