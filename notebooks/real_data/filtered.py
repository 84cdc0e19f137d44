"""A table that readers filter and download: HTML, a script, and the rows as CSV in a link."""

from dataclasses import dataclass
from html import escape
from urllib.parse import quote

import pandas as pd

STYLE = """.mtmeta-rows { text-align: left; }
.mtmeta-rows > p { margin: .3rem 0; }
.mtmeta-rows label { display: inline-block; margin: 0 .9rem .3rem 0; }
.mtmeta-rows :is(select, input) { display: block; font: inherit; max-width: 13rem; }
.mtmeta-rows .scroll { overflow: auto; max-height: 30rem; }
.mtmeta-rows table { margin: 0; font-size: .85em; }
.mtmeta-rows :is(th, td) { padding: .1rem .7rem .1rem 0; text-align: left; white-space: nowrap; }
html[data-theme="dark"] .bd-content div.cell_output .text_html:not(:has(table.dataframe)):has(.mtmeta-rows) {
  background: none;
  color: inherit;
}"""

#: Without it the page shows the rows that it starts with, and the link has all.
SCRIPT = """(() => {
  const root = document.currentScript.parentElement;
  const link = root.querySelector("a"), body = root.querySelector("tbody");
  const text = decodeURIComponent(link.href.slice(link.href.indexOf(",") + 1));
  const [head, ...rows] = text.trim().split("\\n").map(line => line.split(","));
  const form = root.querySelector("form"), count = root.querySelector("output");
  const shown = 200;
  form.hidden = false;
  const add = (name, control) => {
    const label = document.createElement("label");
    label.append(name, control);
    form.append(label);
    control.addEventListener("input", update);
    return control;
  };
  const controls = root.dataset.menus.split(",").map(name => {
    const at = head.indexOf(name), menu = document.createElement("select");
    menu.append(new Option("all", "*"));
    for (const v of new Set(rows.map(row => row[at]))) menu.append(new Option(v || "(none)", v));
    add(name, menu);
    return row => menu.value === "*" || row[at] === menu.value;
  });
  const search = document.createElement("input"), at = head.indexOf(root.dataset.search);
  search.type = "search";
  add(root.dataset.search + " contains", search);
  controls.push(row => row[at].toLowerCase().includes(search.value.toLowerCase()));
  const [column, value] = root.dataset.start.split("=");
  const first = [...form.querySelectorAll("select")][root.dataset.menus.split(",").indexOf(column)];
  first.value = value;
  function update() {
    const found = rows.filter(row => controls.every(keeps => keeps(row)));
    count.textContent = `${found.length} of ${rows.length} rows` +
      (found.length > shown ? `; the first ${shown} are shown` : "");
    body.replaceChildren(...found.slice(0, shown).map(row => {
      const line = document.createElement("tr");
      for (const cell of row) line.insertCell().textContent = cell;
      return line;
    }));
    const chosen = [head, ...found].map(row => row.join(",") + "\\n").join("");
    link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(chosen);
    link.textContent = "Download these rows (CSV)";
  }
  form.addEventListener("submit", event => event.preventDefault());
  update();
})();"""


@dataclass(frozen=True)
class Filtered:
    """Rows of text with a menu for each of ``menus``, a search in a column, and ``start``, what is shown first."""

    rows: pd.DataFrame
    menus: tuple[str, ...]
    search: str
    start: tuple[str, str]
    file: str

    def csv(self) -> str:
        """Return all rows as CSV; the script splits at commas, so no cell has one, or a quote."""
        cells = self.rows.astype(str)
        if cells.apply(lambda column: column.str.contains('[,"\n]')).to_numpy().any():
            raise ValueError("a cell has a comma, a quote or a line break")
        return cells.to_csv(index=False, lineterminator="\n")

    def __repr__(self) -> str:
        """Return how many rows there are."""
        return f"{len(self.rows)} rows to filter and download"

    def _repr_html_(self) -> str:
        name, value = self.start
        first = self.rows[self.rows[name] == value].astype(str)
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in first)
        lines = (
            "".join(f"<td>{escape(cell)}</td>" for cell in row)
            for row in first.itertuples(index=False)
        )
        body = "\n".join(f"<tr>{line}</tr>" for line in lines)
        link = "data:text/csv;charset=utf-8," + quote(self.csv(), safe=",/.()-_:")
        data = {"menus": ",".join(self.menus), "search": self.search}
        data["start"] = f"{name}={value}"
        data = " ".join(f'data-{k}="{escape(v)}"' for k, v in data.items())
        return f"""<div class="mtmeta-rows" {data}>
<style>
{STYLE}
</style>
<form hidden></form>
<p><output>{len(first)} of {len(self.rows)} rows</output>.
<a download="{escape(self.file)}" href="{link}">Download all rows (CSV)</a></p>
<div class="scroll" tabindex="0" role="region" aria-label="Rows"><table><thead><tr>{head}</tr></thead><tbody>
{body}
</tbody></table></div>
<script>
{SCRIPT}
</script>
</div>"""
