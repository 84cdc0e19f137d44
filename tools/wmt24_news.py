"""Write `mtmeta/data/wmt24_news.csv.xz` from the tables of MSLC24: `mtmeta fetch wmt24-news`, then run this.

The tables also hold the systems that the authors of MSLC24 trained to be bad: all but one for each language pair have
no MQM, and the name of that one ends in a star. They took no part in WMT24 and are left out. Numbers are not changed;
segments keep their numbers. `mtmeta/data/wmt24_news.toml` has the licence, what to cite, and what was changed.
"""

import lzma
from pathlib import Path

import pandas as pd

from mtmeta.datasets import locate

TABLE = Path(__file__).parents[1] / "mtmeta" / "data" / "wmt24_news.csv.xz"
PAIRS = ("en-de", "en-es")


def published(lp: str) -> pd.DataFrame:
    """Return the scores of the systems of WMT24 in one language pair, as texts, under the names of our columns."""
    path = locate(f"mslc2024/hum-{lp.replace('-', '')}-matrix.csv")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame.rename(columns={"system_id": "system", "segment_id": "segment", "MQM": "human"})
    frame = frame[(frame["human"] != "null") & ~frame["system"].str.endswith("*")].replace("-0", "0")
    frame.insert(0, "lp", lp)
    return frame


def main() -> None:
    """Write the table of both language pairs."""
    table = pd.concat(map(published, PAIRS)).to_csv(index=False, lineterminator="\n")
    TABLE.write_bytes(lzma.compress(table.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{TABLE.name}: {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
