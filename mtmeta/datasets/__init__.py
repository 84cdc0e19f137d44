"""Data sets: public ones by name, one's own by path."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..evalset import EvalSet
from ..rankings import Rankings
from . import _find, _tables
from ._common import Options, locate, marked
from ._fetch import fetch
from ._find import path_of
from ._mqm import mqm_weight
from ._registry import available
from ._tables import SUFFIXES, read_table
from ._validate import validate
from .layouts import layouts, read

__all__ = [
    "SUFFIXES", "available", "fetch", "layouts", "load", "load_all", "load_any", "load_rankings",
    "load_transcripts", "locate", "mqm_weight", "path_of", "read", "read_table", "validate",
]  # fmt: skip


def load(
    name_or_path: str | Path,
    *,
    reference: str | None = None,
    annotation: str | None = None,
    metrics_from: str | Path | Iterable[str | Path] = (),
    metrics: Sequence[str] | None = None,
    missing: str = "raise",
    unrated: str = "raise",
    human_systems: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> EvalSet:
    """Load the human and metric scores of one test set and language pair.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A set name (``teaching`` and ``wmt24-news/<lp>``, which come with the package; ``wmt23/<lp>``,
        ``mtme/wmt24/<lp>`` and other years of the archive of mt-metrics-eval, ``ted/<lp>``, ``newstest2021/<lp>``,
        ``wmt17-da/<lp>``),
        a table (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.xlsx``, perhaps packed, see `read_table`; ``-``
        reads CSV or TSV from standard input), a table of MQM errors (``.tsv``),
        or a folder in the layout of mt-metrics-eval v2, with ``/<lp>`` after it if it holds several language pairs.
    reference : str, optional
        The reference that metrics were scored against; it is not a candidate. The default is that of the published
        protocol. Join several with a dot: ``"refA.refB"``.
    annotation : str, optional
        Which human scores, such as ``"mqm"``, ``"esa"`` or ``"da-sqm"``. By default those that the shared task took
        (``esa-human1`` in most of WMT25), otherwise MQM, ``esa-merged``, or the first. ``"esa"`` finds them under
        longer names. For a table: what its human scores are, or the column that has them; scores outside the range
        of MQM (at most 0), ESA and DA (0 to 100) are refused.
    metrics_from : str, path or iterable of them
        More metrics, for sets in mt-metrics-eval v2 layout: a set name (``"wmt23-sentinels"``), or a
        folder of ``.seg.score`` files, or one with a subfolder per language pair.
    metrics : sequence of str, optional
        The metrics to keep, in this order; all by default.
    missing : {"raise", "nan"}
        What to do if a system lacks a segment of a table: refuse, or leave the cell unscored. In a folder, a metric
        that lacks a candidate system is left out (an error if you asked for it), or kept with holes.
    unrated : {"raise", "keep"}
        What to do if a table has no human score at all: refuse, or keep its texts and metric scores.
    human_systems : sequence of str
        Systems that are human translations, in addition to those that the set names. They stay candidates; protocols
        such as ``"gemba-v2"`` leave them out, and `validate`, `rank` and reports name them.
    columns : mapping of str to str, optional
        For a table: our name of a column to its name there, such as ``{"human": "mqm"}``.

    Returns
    -------
    EvalSet
        Higher is better everywhere. All segments are kept; those not rated are NaN. ``provenance["left_out"]`` and
        ``repr`` list what was left out; ``provenance["variants"]`` says what each metric saw.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the set, language pair, annotation, reference or metric does not exist, the data are not on
        this computer, or a file is damaged or does not hold what it should, such as transcripts.

    See Also
    --------
    load_all : Every language pair of a set.
    load_transcripts, load_rankings : The data of other fields.
    validate : The contents of a set, and its possible faults.

    Notes
    -----
    Standard references, which are not candidates: refA for ``wmt23/en-de`` and ``wmt23/zh-en``, refB for
    ``wmt23/he-en``; refA for ``ted/en-de`` and refB for ``ted/zh-en``, as in WMT21; refC for ``newstest2021/en-de``.
    WMT21 used refB for ``newstest2021/zh-en``; its text is not published with the systems, so refA takes its place. In
    the archive of mt-metrics-eval the default is the reference that the package of that name takes, as far as it is
    known; in other folders it is refA, ref, or the only reference.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> es.shape
    (12, 300)
    """
    options = Options(reference, annotation, metrics_from, metrics, missing, unrated, human_systems, columns)
    return _one(EvalSet, name_or_path, options)


def load_all(name_or_path: str | Path, *, by: str | None = None, **options: Any) -> list[EvalSet]:
    """Load every language pair or other part of a set, of a folder, or of a table with a column ``lp``.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        As for `load`, without a language pair: ``"wmt23"``. A set with one language pair gives a list of one.
    by : str, optional
        Add the parts of each set with one value of this column: ``"domain"``, ``"doc"``, or for a table any column. A
        part is named after its set and the value, and follows the whole.
    **options
        The other options of `load`.

    Returns
    -------
    list of EvalSet
        Language pairs in alphabetical order.

    Raises
    ------
    TypeError, ValueError
        As for `load`.

    See Also
    --------
    load : One language pair.

    Examples
    --------
    >>> import mtmeta as mm
    >>> [es.name for es in mm.load_all("teaching", by="domain")]
    ['teaching', 'teaching/conversation', 'teaching/manuals', 'teaching/news', 'teaching/reviews']
    """
    if by is not None and _find.is_table(name_or_path):
        found = _tables.load_by(name_or_path, by, Options(**options))
    else:
        found = load_any(name_or_path, **options)
        found = found if by is None else [part for es in found for part in _parts_by(es, by)]
    return [_checked(EvalSet, name_or_path, data) for data in found]


def _parts_by(es: Any, by: str) -> list[EvalSet]:
    """Return a set, and its parts by domain or document."""
    labels = {"domain": es.domains, "doc": es.documents}.get(by) if isinstance(es, EvalSet) else None
    if labels is None:
        raise ValueError(f"{getattr(es, 'name', 'this')!r} has no column {by!r} of segments to divide it by.")
    at = pd.Series(es.segments, dtype=object).groupby(list(labels))
    return [es, *(es.select(segments=part)._changed(name=f"{es.name}/{value}") for value, part in at)]


def load_transcripts(name_or_path: str | Path) -> pd.DataFrame:
    """Load transcripts of speech beside what was said.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A set name (``teaching-speech``, ``librispeech/test-clean``, ``librispeech/test-other``), or a table as for
        `read_table` with the columns ``system, segment, reference, transcript``.

    Returns
    -------
    pandas.DataFrame
        One row per system and segment, columns ``system, segment, speaker, quality`` ("clean" or "other"),
        ``reference, transcript``; simulated ones have ``truth`` as well, the number of word errors (lower is better).
        A table has the columns of its file.

    Raises
    ------
    ValueError
        If there is no such set or table, the data are not on this computer, or a file is damaged.

    See Also
    --------
    load : Translations.
    mtmeta.local_accuracy.guide : Which metric is accurate for which speakers.

    Examples
    --------
    >>> from mtmeta.datasets import load_transcripts
    >>> load_transcripts("teaching-speech").shape
    (2400, 7)
    """
    return _one(pd.DataFrame, name_or_path, Options())


def load_rankings(name_or_path: str | Path) -> Rankings:
    """Load ranked lists of items with judgements of their relevance.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A set name (``teaching-ranking``, ``dl-hard/doc``, ``dl-hard/passage``), or a table as for
        `read_table` with the columns ``system, query, item, rank, relevance``.

    Returns
    -------
    Rankings

    Raises
    ------
    ValueError
        If there is no such set or table, the data are not on this computer, or a file is damaged.

    See Also
    --------
    load : Translations.
    mtmeta.local_accuracy.guide : Which metric is accurate for which queries.

    Examples
    --------
    >>> from mtmeta.datasets import load_rankings
    >>> load_rankings("teaching-ranking")
    Rankings 'teaching-ranking': 10 systems x 50 queries, 100 items a list, 15000 judged items, 1401 relevant
    """
    return _one(Rankings, name_or_path, Options())


def load_any(name_or_path: str | Path, **options: Any) -> list[EvalSet] | list[pd.DataFrame] | list[Rankings]:
    """Load translations, transcripts or rankings, whichever a name or a table stands for.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        As for `load_all`, `load_transcripts` or `load_rankings`.
    **options
        The other options of `load`; they apply to translations only.

    Returns
    -------
    list of EvalSet, DataFrame or Rankings

    Raises
    ------
    TypeError, ValueError
        As for `load`.

    See Also
    --------
    load, load_transcripts, load_rankings : Each for one kind of data.

    Examples
    --------
    >>> from mtmeta.datasets import load_any
    >>> [type(load_any(name)[0]).__name__ for name in ("teaching", "teaching-speech", "teaching-ranking")]
    ['EvalSet', 'DataFrame', 'Rankings']
    """
    checked = Options(**options)
    if _find.is_table(name_or_path):
        return _tables.load_table(name_or_path, checked, by_pair=True)
    return marked([load_part() for load_part in _find.parts(name_or_path, checked).values()], checked)


#: What a set may hold, and what else loads it.
_KINDS = {EvalSet: ("translations with human scores", "load"), Rankings: ("rankings", "load_rankings")}
_KINDS[pd.DataFrame] = "transcripts", "load_transcripts"


def _one(kind: type, given: str | Path, options: Options) -> Any:
    """Load the one set of this kind that an argument stands for."""
    if _find.is_table(given):
        return _checked(kind, given, *_tables.load_table(given, options, by_pair=False))
    found = _find.parts(given, options)
    if len(found) > 1:
        what = f"'{given}' holds {len(found)} parts: {', '.join(found)}"
        raise ValueError(f"{what}. Name one of these (in Python: or use load_all).")
    return _checked(kind, given, *marked([load_part() for load_part in found.values()], options))


def _checked(kind: type, given: str | Path, data: Any) -> Any:
    """Return data; raise if they are of another kind."""
    if not isinstance(data, kind):
        what, function = _KINDS[type(data)]
        expected = f"{given} holds {what}; expected {_KINDS[kind][0]}"
        raise ValueError(f"{expected}. In Python, datasets.{function} loads it.")
    return data
