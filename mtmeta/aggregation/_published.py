"""Corpus scores from transposed references. They explain published figures and are not for use."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import scoring
from ..evalset import EvalSet
from ._aggregate import Aggregation
from ._statistics import TextSet, as_text_set, texts_of


def aggregate_transposed(
    es: EvalSet | TextSet | pd.DataFrame, metric: str = "bleu", *, reference: str | None = None
) -> Aggregation:
    """Reproduce a mistake: corpus scores by sacreBLEU with references as ``[[r1], [r2], ...]``. WRONG ON PURPOSE.

    sacreBLEU then scores only the first translation of the test set, against the references of all segments, without an
    error. On WMT23 these scores give the corpus-level correlations with MQM that Cavalin et al. 2024 published. For
    real scores use `aggregate`; for resamples with the same mistake, `downsample`.

    Parameters
    ----------
    es : EvalSet, NewsSet or pandas.DataFrame
        The first of ``es.segments`` is the one that is scored.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    reference : str, optional
        One name among ``es.texts.references``, by default that of the set.

    Returns
    -------
    Aggregation
        ``n_segments`` is 1, the number that was scored. There is no interval. The signature begins with ``TRANSPOSED
        REFERENCES``.

    Raises
    ------
    TypeError, ValueError
        As in `extract`; and if there are several references.

    References
    ----------
    Cavalin, Domingues and Pinhanez 2024, Table 1. Their code was not seen; that they made this mistake is inferred from
    figures that agree.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching").select(systems=["Aster"])
    >>> wrong = mm.aggregation.aggregate_transposed(es, "bleu")
    >>> wrong.table.n_segments.tolist(), wrong.signature.split("|")[0]
    ([1], 'TRANSPOSED REFERENCES')
    """
    es, computed = as_text_set(es), scoring.scorer(metric)
    translations, streams = texts_of(es, reference)
    if len(streams) > 1:
        raise ValueError(f"one reference can be transposed; found {len(streams)}. Name one.")
    transposed = [[text] for text in streams[0]]
    sign = -1.0 if metric == "ter" else 1.0
    scores = [sign * computed.corpus_score(texts, transposed).score for texts in translations.values()]
    table = pd.DataFrame({"system": list(es.systems), "metric": metric, "how": "corpus", "score": scores})
    table = table.assign(se=np.nan, low=np.nan, high=np.nan, n_segments=1)
    return Aggregation(table, f"TRANSPOSED REFERENCES|{scoring.signature(computed)}|how:corpus|set:{es.name}")
