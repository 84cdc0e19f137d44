"""Write the curves of WMT23 behind `mtmeta difference`: `python tools/difference_curves.py`.

It needs the data of WMT23 and takes some ten minutes.
"""

from pathlib import Path

import pandas as pd

import mtmeta as mm
from mtmeta._checks import Undefined

OUT = Path(__file__).parents[1] / "mtmeta" / "data" / "wmt23_differences.tsv"
HEAD = (
    "# Slopes of the chance that MQM raters agree with a difference between two systems, WMT23; n_segments 0: all.\n"
    "# Written by tools/difference_curves.py from the scores in mt-metrics-eval.\n"
)


def main() -> None:
    sets, frames = mm.load_all("wmt23"), []
    shared = set.intersection(*(set(es.system_scores) for es in sets)) - {"human"}
    for metric in sorted(shared, key=str.lower):
        for n_segments in (30, 100, 300, None):
            try:
                found = mm.differences.curve(sets, metric, n_segments=n_segments, n_samples=10).to_frame()
            except Undefined as error:
                print(error)
                continue
            found.insert(1, "n_segments", n_segments or 0)
            frames.append(found)
    table = pd.concat(frames).astype({"n_pairs": int})
    OUT.write_text(HEAD + table.to_csv(sep="\t", index=False, float_format="%.5g"), encoding="utf-8")


if __name__ == "__main__":
    main()
