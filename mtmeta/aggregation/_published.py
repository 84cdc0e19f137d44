"""What comes out of corpus scoring when references are transposed. Kept to explain published figures, not to use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .. import scoring
from .._checks import generator
from ..evalset import EvalSet
from ._aggregate import Aggregation, check_options, of_draws
from ._statistics import TextSet, as_text_set, texts_of


def aggregate_transposed(
    es: EvalSet | TextSet | pd.DataFrame,
    metric: str = "bleu",
    *,
    how: str = "corpus",
    reference: str | None = None,
    tokenize: str | None = None,
    lowercase: bool | None = None,
    n_resamples: int = 1000,
    sample_size: int | None = None,
    level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
) -> Aggregation:
    """Reproduce a mistake: corpus scores by sacreBLEU with references as ``[[r1], [r2], ...]``. WRONG ON PURPOSE.

    sacreBLEU then scores the first translation of the test set alone, against the references of all segments, and
    raises nothing. On WMT23 these scores give the corpus-level correlations with MQM that Cavalin et al. 2024
    published. For real scores use `aggregate`.

    Parameters
    ----------
    es : EvalSet, NewsSet or pandas.DataFrame
        The first of ``es.segments`` is the one that is scored.
    metric : {"bleu", "chrf", "chrf++", "ter"}
    how : {"corpus", "bootstrap"}
        With ``"bootstrap"``, the first segment of each resample against the references of the whole resample. This
        calls sacreBLEU for every resample and system: minutes, not seconds. Scores of single segments are not
        affected by the mistake, so there is no ``"segment"``.
    reference : str, optional
        One name among ``es.texts.references``, by default that of the set.
    tokenize, lowercase
        As in `mtmeta.scoring.scorer`.
    n_resamples, sample_size, level, rng
        As in `aggregate`.

    Returns
    -------
    Aggregation
        ``n_segments`` is 1: that is how many were scored. No interval for ``how="corpus"``. The signature begins with
        ``TRANSPOSED REFERENCES``.

    Raises
    ------
    TypeError, ValueError
        As in `aggregate`; and if there are several references.

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
    if how not in ("corpus", "bootstrap"):
        raise ValueError(f"`how` must be 'corpus' or 'bootstrap'; found {how!r}. Segment scores are not affected.")
    check_options(how, None, n_resamples, sample_size, level)
    es = as_text_set(es)
    translations, streams = texts_of(es, reference)
    if len(streams) > 1:
        raise ValueError(f"one reference can be transposed; found {len(streams)}. Name one.")
    n, computed = len(es.segments), scoring.scorer(metric, tokenize=tokenize, lowercase=lowercase)
    draws = None
    if how == "corpus":
        columns = {"score": _score_transposed(computed, translations, streams[0], range(n))}
        columns |= dict.fromkeys(("se", "low", "high"), np.nan)
    else:
        rng, size = generator(rng), sample_size or n
        resamples = (rng.integers(n, size=size).tolist() for _ in range(n_resamples))
        draws = np.array([_score_transposed(computed, translations, streams[0], drawn) for drawn in resamples])
        columns = of_draws(draws, level)
    table = pd.DataFrame({"system": list(es.systems), "metric": metric, "how": how}).assign(**columns, n_segments=1)
    signature = f"TRANSPOSED REFERENCES|{scoring.signature(computed)}|how:{how}|set:{es.name}"
    return Aggregation(table, signature, draws)


def _score_transposed(computed, translations: dict[str, list[str]], references: list, segments: Sequence[int]) -> list:
    """Return what sacreBLEU says of each system with transposed references."""
    computed._ref_cache = computed._cache_references([[references[j]] for j in segments])
    sign = -1.0 if type(computed).__name__ == "TER" else 1.0
    corpora = ([texts[j] for j in segments] for texts in translations.values())
    return [sign * computed.corpus_score(corpus, None).score for corpus in corpora]
