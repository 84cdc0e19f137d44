"""Draw the picture of the front page and the README, and the card that links to the site show.

    MTMETA_DATA=... python tools/make_readme_figure.py

Ranks of all WMT23 zh-en metrics under three groupings. Needs the sets wmt23 and wmt23-sentinels; the pictures hold
ranks only, no data.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mtmeta as mm

STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"
GROUPINGS = {
    "none": "over all\ntranslations",
    "segment": "within each\nsource segment",
    "system": "within each\nsystem",
}
COLOUR = mm.plots.COLOURS[0]  # of the first highlighted metric
SENTINEL = "SENTINEL-SRC-MQM"
HIGHLIGHT = (SENTINEL, "XCOMET-Ensemble", "GEMBA-MQM", "BLEU")


def draw(es: mm.EvalSet, ax: plt.Axes) -> None:
    """Draw the ranks; write those of the sentinel beside its line."""
    mm.plots.rank_slopes(es, groupings=list(GROUPINGS), highlight=HIGHLIGHT, ax=ax)
    line = next(line for line in ax.lines if line.get_color() == COLOUR and line.get_marker() == "o")
    line.set(linewidth=4, markersize=9, zorder=4)
    x, ranks = np.array(line.get_data())
    own = {SENTINEL, f"{ranks[0]:.0f}"}
    for text in (text for text in ax.texts if text.get_text() in own):
        text.set(color=COLOUR, fontweight="bold")
    for place, rank in list(zip(x, ranks, strict=True))[1:]:
        low = rank > len(es.metrics) / 2
        words, y = (f"{rank:.0f} of {len(es.metrics)}", rank + 2.2) if low else (f"{rank:.0f}", rank - 1.6)
        ax.annotate(words, (place, y), ha="center", va="center", fontweight="bold", color=COLOUR)
    ax.set_xticks(x, GROUPINGS.values())
    ax.set_xlim(-0.3, 3.2)


def card(es: mm.EvalSet, path: Path) -> None:
    """Draw the card: the question of the book beside the ranks, 1200 x 630 pixels."""
    with plt.rc_context({"savefig.bbox": None, "figure.constrained_layout.use": False}):
        figure = plt.figure(figsize=(12, 6.3), dpi=100)
        draw(es, ax := figure.add_axes((0.455, 0.16, 0.53, 0.78)))
        ax.tick_params(labelsize=14)
        for text in ax.texts:
            text.set_fontsize(13)
        ax.set_ylabel("")
        figure.text(0.04, 0.78, "Which metric\nshould I trust?", fontsize=38, fontweight="bold", va="center")
        about = "The blue metric has never read a\ntranslation. Its place depends on\nwhat is compared with what."
        figure.text(0.04, 0.47, about, fontsize=20, va="center", linespacing=1.4, color=COLOUR)
        title = "Meta-Evaluation of Translation Metrics\nan executable book"
        figure.text(0.04, 0.15, title, fontsize=15, va="center", linespacing=1.5, color="#444444")
        figure.savefig(path)


if __name__ == "__main__":
    mm.plots.use_style()
    published = mm.book.published.numbers().query("source == 'sentinels-logs'")["metric"].unique()
    es = mm.load("wmt23/zh-en", metrics_from=["wmt23-sentinels"], metrics=list(published))
    draw(es, ax := plt.subplots(figsize=(6.0, 4.6))[1])
    ax.figure.savefig(STATIC / "grouping-ranks.png", dpi=150)
    card(es, STATIC / "card.png")
    print(STATIC / "grouping-ranks.png", STATIC / "card.png")
