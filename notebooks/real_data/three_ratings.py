"""Several human ratings of translations of WMT23."""

from pathlib import Path

import numpy as np
import pandas as pd

from ..evalset import EvalSet
from ._common import Options, locate
from ._mqm import mqm_weight
from ._pickles import read_scores_pickle
from ._wmt import load_tree

_SIDE_BY_SIDE = "google-mqm/generalmt2023-sxs/{0}/sxs_mqm_generalMT2023_{0}.3ratingsPerSegment.tsv.tar.gz"


def load_human_parity(lp: str, options: Options) -> EvalSet:
    """Load the segments of WMT23 that three sets of raters annotated, with the metrics of the shared task.

    The first set is ``human``; the others are the columns ``human_2`` and ``human_3``.
    """
    es = _wmt23(lp, options)
    ratings = []
    for number in (1, 2, 3):
        path = locate(f"human-parity/wmt23/{lp}/mqm-col{number}.pickle")
        scores = read_scores_pickle(path.read_bytes(), str(path), none=True)
        ratings.append(np.array([scores[system] for system in es.systems], dtype=np.float64))
    rated = ~np.isnan(ratings).any(axis=(0, 1))
    es = es.select(segments=[segment for segment, keep in zip(es.segments, rated, strict=True) if keep])
    return _rated_again(es, "human-parity", path, np.array(ratings)[..., rated], len(rated))


def load_side_by_side(lp: str, options: Options) -> EvalSet:
    """Load the translations of WMT23 that three people rated in pairs, side by side, with the metrics of the task.

    Ratings stand in the order of the names of the raters, who are the same for all translations of a document.
    """
    es = _wmt23(lp, options)
    path = locate(_SIDE_BY_SIDE.format(lp.replace("-", "")))
    columns = ["system", "doc", "docSegId", "rater", "category", "severity"]
    rows = pd.read_csv(path, sep="\t", quoting=3, dtype=str, keep_default_na=False)[columns].fillna("")
    rows = rows[(rows["severity"] != "HOTW-test") & ~rows["system"].str.endswith("refA")]
    rows["weight"] = [mqm_weight(*error) for error in zip(rows["category"], rows["severity"], strict=True)]
    numbers = pd.Series(es.documents).groupby(list(es.documents)).cumcount() + 1
    place = {(d, str(n)): segment for d, n, segment in zip(es.documents, numbers, es.segments, strict=True)}
    documents = rows["doc"].str.removeprefix("news_").str.partition(":")[0]
    segments = [place.get(key) for key in zip(documents, rows["docSegId"], strict=True)]
    keys = [rows["system"].str.removesuffix("_with_ONLINE-W"), pd.Series(segments, rows.index), rows["rater"]]
    sums = rows.groupby(keys, dropna=False)["weight"].sum()
    table = sums.groupby(level=[0, 1], dropna=False).agg(list).unstack()
    if not ({*table.index} <= {*es.systems} and {*table} <= {*es.segments} and table.map(np.size).eq(3).all(axis=None)):
        raise ValueError(f"{path} does not have three ratings of the same segments of wmt23/{lp} for each system.")
    es, n_segments = es.select(systems=table.index, segments=table), es.shape[1]
    ratings = np.array([[table.loc[system, segment] for segment in es.segments] for system in es.systems])
    return _rated_again(es, "generalmt2023-sxs", path, 0.0 - np.moveaxis(ratings, 2, 0), n_segments)


def _wmt23(lp: str, options: Options) -> EvalSet:
    """Return the set of the shared task; other ratings will take the place of its own."""
    options.refuse("further ratings of WMT23", "reference", "annotation", "metrics_from")
    return load_tree(locate("mt-metrics-eval-v2/wmt23"), lp, options, f"wmt23/{lp}")


def _rated_again(es: EvalSet, name: str, path: Path, ratings: np.ndarray, n_segments: int) -> EvalSet:
    """Return a set with other ratings, shape (n_ratings, n_systems, n_segments), of its part of ``n_segments``."""
    metrics = {f"human_{number}": values for number, values in enumerate(ratings[1:], 2)}
    metrics |= {metric: es[metric] for metric in es.metrics}
    left_out = es.provenance["left_out"] | {f"{n_segments - es.shape[1]} segments": "not rated three times"}
    es = es._changed(name=f"{name}/{es.language_pair}", human=ratings[0], metrics=metrics, system_scores=None)
    es.provenance |= {"source": str(path.parent), "left_out": left_out}
    return es
