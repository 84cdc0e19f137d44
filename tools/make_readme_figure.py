"""Draw the picture of the README: ranks of all WMT23 zh-en metrics without and with segment grouping.

    MTMETA_DATA=... python tools/make_readme_figure.py

Needs the sets wmt23 and wmt23-sentinels; the picture holds ranks only, no data.
"""

from pathlib import Path

import mtmeta as mm

TARGET = Path(__file__).resolve().parents[1] / "book" / "_static" / "grouping-ranks.png"
HIGHLIGHT = ("SENTINEL-SRC-MQM", "XCOMET-Ensemble", "GEMBA-MQM", "COMET", "BLEU")

if __name__ == "__main__":
    mm.plots.use_style()
    published = mm.protocols.published().query("source == 'sentinels-logs'")["metric"].unique()
    es = mm.load("wmt23/zh-en", metrics_from=["wmt23-sentinels"], metrics=list(published))
    ax = mm.plots.rank_slopes(es, highlight=HIGHLIGHT)
    ax.figure.savefig(TARGET, dpi=130)
    print(TARGET)
