"""WMT24, news: MQM and metric scores in the tables of MSLC24."""

from __future__ import annotations

from io import StringIO

from .._delimited import read_delimited
from ..evalset import EvalSet
from ._common import Options, canonical_ids, choose_annotation, finished, read_text
from ._locate import locate

WMT24_PAIRS = ("en-de", "en-es")
_NAMES = {"system_id": "system", "segment_id": "segment", "MQM": "human"}


def load_wmt24_news(lp: str, options: Options) -> EvalSet:
    """Load one language pair of the news part of WMT24.

    The tables also hold the systems that the authors of MSLC24 trained to be bad: most have no MQM, and the name of the
    one that has ends in a star. They took no part in WMT24 and are left out. ``refB``, a human translation, stays.
    """
    options.refuse("wmt24-news, whose metrics saw refA", "reference", "metrics_from", "spans")
    choose_annotation(options.annotation, ["mqm"], f"wmt24-news/{lp}")
    path = locate(f"mslc2024/hum-{lp.replace('-', '')}-matrix.csv")
    frame = read_delimited(StringIO(read_text(path), newline=""), ",", path)
    if absent := {*_NAMES} - {*frame}:
        raise ValueError(f"{path} lacks the column {min(absent)!r}.")
    frame = frame.rename(columns=_NAMES).replace({"null": "", "-0": "0"})
    frame["segment"] = canonical_ids(frame["segment"])
    unrated = set(frame["system"]) - set(frame.loc[frame["human"] != "", "system"])
    starred = {s for s in frame["system"] if s.endswith("*")}
    frame = frame[~frame["system"].isin(unrated | starred)]
    try:
        es = EvalSet.from_frame(frame.assign(lp=lp), metrics=options.metrics, name=f"wmt24-news/{lp}")
    except ValueError as error:
        raise ValueError(f"{path}: {error} The file may be altered.") from None
    left_out = dict.fromkeys(sorted(unrated), "no MQM") | dict.fromkeys(sorted(starred), "made to be bad")
    es.provenance.update(source=str(path), annotation="mqm", reference="refA", left_out=left_out)
    return finished(es._changed(human_systems=frozenset({"refB"} & {*es.systems})))
