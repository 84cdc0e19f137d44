"""Several human ratings of the translations of WMT23."""

from __future__ import annotations

import numpy as np

from ..evalset import EvalSet
from ._common import Options, finished
from ._locate import locate
from ._wmt import load_tree


def load_human_parity(lp: str, options: Options) -> EvalSet:
    """Load the segments of WMT23 that three sets of raters annotated, with the metrics of the shared task.

    The first set is ``human``; the others are the columns ``human_2`` and ``human_3``.
    """
    from ._fetch import read_scores_pickle

    options.refuse("human-parity, MQM ratings of WMT23", "reference", "annotation", "metrics_from", "spans")
    es = load_tree(locate("mt-metrics-eval-v2/wmt23"), lp, options, f"wmt23/{lp}")
    ratings = []
    for number in (1, 2, 3):
        path = locate(f"human-parity/wmt23/{lp}/mqm-col{number}.pickle")
        scores = read_scores_pickle(path.read_bytes(), str(path))
        if not {*es.systems} <= {*scores} or len(scores[es.systems[0]]) != es.shape[1]:
            raise ValueError(f"{path} does not have the systems and the {es.shape[1]} segments of wmt23/{lp}.")
        ratings.append(np.array([scores[system] for system in es.systems], dtype=np.float64))
    rated = ~np.isnan(ratings).any(axis=(0, 1))
    further = {f"human_{number}": values for number, values in enumerate(ratings[1:], 2)}
    metrics = further | {metric: es[metric] for metric in es.metrics}
    left_out = es.provenance["left_out"] | {f"{(~rated).sum()} segments": "not rated three times"}
    es = es._changed(name=f"human-parity/{lp}", human=ratings[0], metrics=metrics, system_scores=None)
    es.provenance |= {"source": str(locate("human-parity")), "left_out": left_out}
    return finished(es.select(segments=[segment for segment, keep in zip(es.segments, rated, strict=True) if keep]))
