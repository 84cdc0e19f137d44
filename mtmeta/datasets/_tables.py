"""Your own tables: CSV, TSV, JSON lines, Parquet or Excel, perhaps packed.

Their columns show whether they hold translations, transcripts or ranked lists.
"""

import gzip
import json
import logging
import lzma
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._checks import EMPTY, number_column
from .._delimited import read_delimited, text_of
from .._files import word_lists
from .._names import listed, names_of, unknown
from .._tables import check_once, check_table
from ..evalset import RESERVED, EvalSet, is_rating, is_reference
from ..rankings import Rankings
from ._common import Options, canonical_ids, marked

_log = logging.getLogger(__name__)

#: What the name of a table ends in.
_PLAIN, PACKED = (".csv", ".tsv", ".jsonl"), {".gz": gzip.open, ".xz": lzma.open}
SUFFIXES = (*_PLAIN, ".parquet", ".xlsx", *PACKED)
#: What columns are called elsewhere, by our names; and the parts of names of columns that are not metrics.
_ALIASES = {ours: " ".join(lines).split() for ours, lines in word_lists("columns").items()}
_NOT_SCORES, _DIMENSIONS = (_ALIASES.pop(what) for what in ("no score", "dimension"))
#: Other columns need their name only where they hold texts.
_NEEDED = ("system", "segment", "human", "doc", "metric", "score")
#: Where the human scores of an annotation lie, higher being better.
_RANGES = {"mqm": (-np.inf, 0), "esa": (0, 100), "da": (0, 100), "da-sqm": (0, 100)}
#: Columns of names and texts in the other kinds of tables; there they are not scores.
_NAMES = {
    "transcripts": ("segment", "speaker", "quality", "reference", "transcript"),
    "rankings": ("query", "item"),
}


def load_table(path: Path | str, options: Options, *, by_pair: bool) -> list[Any]:
    """Load a table of whatever kind; translations as one set, or one per value of the column ``lp``."""
    options.refuse("a table", "reference", "metrics_from")
    frame = read_table(path, columns=options.columns)
    name, source = _named(path)
    kind = _kind(frame)
    if kind == "translations":
        sets = _by_pair(frame, name, source, options) if by_pair else [_build(frame, name, source, options)]
        return marked(sets, options)
    options.refuse(f"a table of {kind}", "metrics", "missing", "annotation", "human_systems")
    return [_transcripts(frame, source) if kind == "transcripts" else _rankings(frame, name, source)]


def _named(path: Path | str) -> tuple[str, str]:
    """Return what a set is called that is read from here, and its source in messages."""
    plain = Path(path).stem if Path(path).suffix.lower() in PACKED else path
    return ("stdin", "standard input") if path == "-" else (Path(plain).stem, str(path))


def load_by(path: Path | str, by: str, options: Options) -> list[EvalSet]:
    """Load a table of translations as a whole, and the rows of each value of a column."""
    frame = read_table(path, columns=options.columns)
    if by not in frame:
        raise unknown(f"column in {path}:", by, list(frame))
    name, source = _named(path)
    kept = [] if by in RESERVED else [by]
    sets = _by_pair(frame.drop(columns=kept), name, source, options)
    for value, part in frame.groupby(by) if by != "lp" else ():
        sets += _by_pair(part.drop(columns=kept), f"{name}/{value}", source, options)
    return marked(sets, options)


def _by_pair(frame: pd.DataFrame, name: str, source: str, options: Options) -> list[EvalSet]:
    if "lp" not in frame or frame["lp"].nunique(dropna=False) < 2:
        return [_build(frame, name, source, options)]
    check_table(frame, ["lp"], name=source)
    columns = [c for c in frame if c not in RESERVED and not is_reference(c)] if options.metrics is None else []
    sets = []
    for lp, part in frame.groupby("lp"):
        empty = [c for c in columns if part[c].isna().all()]
        es = _build(part.drop(columns=empty), f"{name}/{lp}", source, options)
        es.provenance["left_out"].update({f"metric {c}": f"no score in {lp}" for c in empty})
        sets.append(es)
    return sets


def _has_word(name: str, words: Iterable[str]) -> bool:
    """Return whether one of these words is a part of a name: of ``lead_time`` and ``leadTime``, *time* is one."""
    return not {*words}.isdisjoint(re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).casefold()))


def is_dimension(name: str) -> bool:
    """Return whether a column seems to hold one of several human dimensions, such as adequacy."""
    return _has_word(name, _DIMENSIONS)


def is_no_score(name: str) -> bool:
    """Return whether the name of a column shows that its numbers are not scores."""
    return _has_word(name, _NOT_SCORES)


def _kind(columns: Any) -> str:
    """Return what a table with these columns holds."""
    if {"query", "item", "rank"} <= set(columns):
        return "rankings"
    return "transcripts" if "transcript" in columns and "human" not in columns else "translations"


def _transcripts(frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Return checked transcripts: one row per system and segment."""
    check_table(frame, ["system", "segment", "reference"], name=path)
    check_once(frame, ["system", "segment"], path)
    return frame


def _rankings(frame: pd.DataFrame, name: str, path: str) -> Rankings:
    """Return the lists and judgements of one table; a row without a system is a judgement alone."""
    if not {"system", "relevance"} <= set(frame):
        expected = "system, query, item, rank and relevance (empty where not judged)"
        raise ValueError(f"{path}: ranked lists need the columns {expected}; found {', '.join(frame)}.")
    ranked = frame["system"].notna()
    runs = frame[ranked] if "score" in frame else frame[ranked].assign(score=-frame.loc[ranked, "rank"])
    judged = frame.loc[frame["relevance"].notna(), ["query", "item", "relevance"]]
    try:
        return Rankings(name, runs, judged.drop_duplicates())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _build(frame: pd.DataFrame, name: str, source: str, options: Options) -> EvalSet:
    given = {"metrics": options.metrics, "missing": options.missing, "unrated": options.unrated}
    named = (options.columns or {}).get("human", options.annotation)
    if named in frame and "human" not in frame:
        frame = frame.rename(columns={named: "human"})
    others = _no_metrics(frame, several=is_dimension(named or "")) if options.metrics is None else {}
    hint = _misnamed(frame)
    try:
        if hint and {"system", "segment", "human"} <= set(frame):
            raise ValueError(hint)
        es = EvalSet.from_frame(frame.drop(columns=[*others]), name=name, **given)
    except ValueError as error:
        raise ValueError(f"{source}: {error}{f' {hint}' * (str(error) != hint)}".rstrip()) from None
    es.provenance["left_out"].update({f"column {c!r}": why for c, why in others.items()})
    es.provenance.update(source=source, annotation=options.annotation, reference=None, variants={})
    _check_range(es, options.annotation, source)
    return es


def _no_metrics(frame: pd.DataFrame, *, several: bool) -> dict[str, str]:
    """Return the columns that are not metrics, and why; with ``several``, further human dimensions are among them."""
    found = {}
    for name in [c for c in map(str, frame) if c not in RESERVED and not (is_rating(c) or is_reference(c))]:
        if several and is_dimension(name):
            found[name] = "another human dimension"
        elif is_no_score(name):
            found[name] = "it seems not to be a score; --metric (metrics=…) would keep it"
        elif not pd.api.types.is_numeric_dtype(frame[name]):
            texts = frame[name].dropna().astype(str).str.strip()
            texts = texts[~texts.str.casefold().isin(EMPTY)]
            if len(texts) and texts.str.contains(r"[^\W\d_]{2}").all():
                found[name] = "it holds texts"
    return found


def _check_range(es: EvalSet, annotation: str | None, source: str) -> None:
    """Raise unless the human scores lie where those of this annotation do."""
    low, high = _RANGES.get(annotation, (-np.inf, np.inf))
    odd = es.human[(es.human < low) | (es.human > high)]
    if odd.size:
        where = "at most 0" if annotation == "mqm" else f"between {low} and {high}"
        raise ValueError(f"{source}: human scores of the annotation {annotation!r} are {where}; found {odd[0]:g}.")


def renames_of(frame: pd.DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    """Return our names of columns and what they are called in a table, where they are called otherwise."""
    low = {str(column).strip().casefold(): column for column in frame}
    found = dict(columns)
    long = "metric" in low or any(name in low for name in _ALIASES["metric"])
    for ours, others in _ALIASES.items():
        names = [n for n in [ours, *others] if n in low and not (long and ours == "human" and n == "score")]
        if ours not in frame and ours not in found and names:
            found[ours] = low[names[0]]
    if long and "score" not in frame and (value := low.get("score", low.get("value"))):
        found["score"] = value
    return found


def _misnamed(frame: pd.DataFrame) -> str:
    """Say which columns seem to be the expected ones under another name."""
    found = {
        ours: theirs
        for ours, theirs in renames_of(frame, {"rater": ""}).items()
        if ours in _NEEDED or (theirs and not pd.api.types.is_numeric_dtype(frame[theirs]))
    }
    if found:
        pairs = ",".join(f"{ours}={theirs}" for ours, theirs in found.items())
        said = ", ".join(f"{theirs!r} seems to be {ours!r}" for ours, theirs in found.items())
        return f"{said}: if so, pass columns='{pairs}', else rename it."
    if {"system", "segment", "rater"} <= {*frame} and frame.duplicated(["system", "segment"]).any():
        return "If each rating of a translation has a row, `mtmeta import` (in Python: datasets.read) takes their mean."
    if "human" not in frame and (rated := [str(c) for c in frame if is_dimension(str(c))]):
        return f"People seem to rate {listed(rated)}: name one, --human {rated[0]} (columns={{'human': {rated[0]!r}}})."
    known = (
        "If each system has a column, or another tool wrote it, `mtmeta import` (in Python: datasets.read) reads it."
    )
    return "" if "system" in frame else known


def _renamed(frame: pd.DataFrame, columns: Mapping[str, str], what: Path | str) -> pd.DataFrame:
    """Return a table with our names for its columns; a long one, with the columns metric and score, made wide."""
    for ours, theirs in columns.items():
        if theirs not in frame:
            raise unknown(f"column of {what}", theirs, list(frame))
        if ours in frame and ours != theirs:
            raise ValueError(f"{what} has a column {ours!r} already, so {theirs!r} cannot be called so.")
    frame = frame.rename(columns={theirs: ours for ours, theirs in columns.items()})
    return widened(frame, str(what)) if {"system", "segment", "metric", "score"} <= set(frame) else frame


def widened(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a table with a row a score, of the metric that it names, as one with a column a metric."""
    check_once(frame, [c for c in ("lp", "system", "segment", "rater", "metric") if c in frame], what)
    wide = frame.pivot(index=[c for c in frame if c not in ("metric", "score")], columns="metric", values="score")
    return wide.reset_index().rename_axis(columns=None)


def read_table(path: Path | str, *, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    r"""Read a table as a data frame with text where text belongs, whatever it holds.

    Parameters
    ----------
    path : str or pathlib.Path
        A file whose name ends in one of ``SUFFIXES``; ``-`` reads CSV or TSV from standard input. Packed tables
        (``.csv.gz``, ``.tsv.xz``) are unpacked. Excel's ``.xlsx`` needs ``pip install 'mtmeta[excel]'``; its first
        sheet is read, and a log message names the others.
    columns : mapping of str to str, optional
        Our name of a column to its name there, such as ``{"system": "Sys", "human": "mqm"}``.

    Returns
    -------
    pandas.DataFrame
        A table in long form, with the columns ``metric`` and ``score``, is returned with one column a metric. Systems
        are always text (a system may be called ``NA``); segments are integers if all are; in score columns an empty
        cell, NA, NaN, None and null mean not scored (NaN).

    Raises
    ------
    ValueError
        If the name ends in something else, or the file cannot be read or is damaged.

    See Also
    --------
    load : the table as a checked set.
    validate : what is wrong with a table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mtmeta.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("system,segment,human\nNA,1,-5\nNA,2,None\n")
    ...     read_table(path).to_numpy().tolist()
    [['NA', 1, -5.0], ['NA', 2, nan]]
    """
    what = "standard input" if path == "-" else Path(path)
    frame = read_delimited(text_of(sys.stdin.buffer.read(), what), None, what) if path == "-" else read_raw(what)
    return _typed(_renamed(frame.reset_index(drop=True), columns or {}, what), what)


# -- formats ----------------------------------------------------------------------------------


def read_raw(path: Path) -> pd.DataFrame:
    """Return the table of a file as it is written there."""
    ending = path.suffix.lower()
    suffix = Path(path.stem).suffix.lower() if ending in PACKED else ending
    if suffix not in (_PLAIN if ending in PACKED else SUFFIXES):
        known = ", ".join(SUFFIXES)
        raise ValueError(
            f"{path}: cannot tell the format from {suffix!r}; expected one of {known}, such as scores.csv.gz. "
            "If another tool wrote it, `mtmeta import` (datasets.read) may know its layout."
        )
    try:
        if suffix == ".parquet":
            frame = pd.read_parquet(path)
            return frame if frame.index.names == [None] else frame.reset_index()
        if suffix == ".xlsx":
            return _read_excel(path)
        with PACKED.get(ending, open)(path, "rb") as stream:
            content = stream.read()
    except ImportError:
        raise ValueError(f"{path}: Excel tables need openpyxl: pip install 'mtmeta[excel]'. Or use CSV.") from None
    except Exception as error:  # each library raises its own kinds for a damaged file
        raise ValueError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}.") from None
    text = text_of(content, path)
    return _read_json_lines(text, path) if suffix == ".jsonl" else read_delimited(text, ",\t"[suffix == ".tsv"], path)


def _read_excel(path: Path) -> pd.DataFrame:
    """Read the first sheet of a workbook; its first row has the names of the columns."""
    with pd.ExcelFile(path) as book:
        first, *others = book.sheet_names
        frame = pd.read_excel(book, header=None, dtype=object, keep_default_na=False)
    if others:
        _log.warning("%s: read sheet %r; others: %s", path, first, listed(others))
    return frame.iloc[1:].set_axis(map(str, frame.iloc[0]), axis=1)


def json_lines(text: str, what: Path) -> Iterator[tuple[int, Any]]:
    """Yield number and content of each line that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        try:
            yield from [(number, json.loads(line))] if line.strip() else ()
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{what}, line {number}: not valid JSON ({error}).") from None


def _read_json_lines(text: str, what: Path) -> pd.DataFrame:
    """Read one JSON object a line; all have the same fields."""
    rows: list[dict] = []
    for number, row in json_lines(text, what):
        if not isinstance(row, dict) or row.keys() != (rows or [row])[0].keys():
            expected = "expected a JSON object with the fields of the first line"
            raise ValueError(f"{what}, line {number}: {expected}; found {json.dumps(row)[:60]!r}.")
        rows.append(row)
    if not rows:
        raise ValueError(f"{what} is empty; expected a JSON object a line: system, segment, human and metrics.")
    return pd.DataFrame(rows, dtype=object)


# -- types ------------------------------------------------------------------------------------


def _typed(frame: pd.DataFrame, what: Path | str) -> pd.DataFrame:
    """Return the table with text, ids and empty scores as `EvalSet.from_frame` expects them."""
    names = names_of(map(str, frame.columns), f"{what}: column names")
    texts = {*RESERVED, *_NAMES.get(_kind(names), ()), *filter(is_reference, names)} - {"human"}
    nameless = [i for i, name in enumerate(names, 1) if not name.strip()]
    if nameless:
        raise ValueError(f"{what}: column {nameless[0]} has no name. (If pandas wrote the table: index=False.)")
    columns = {}
    for name, (_, column) in zip(names, frame.items(), strict=True):
        columns[name] = _texts(column, name, what) if name in texts else _scores(column, name)
    if "lp" in columns and columns["lp"].isna().all():
        del columns["lp"]
    return pd.DataFrame(columns)


def _texts(column: pd.Series, name: str, what: Path | str) -> pd.Series:
    """Return a column of texts or names, None where it is empty."""
    column = column.astype(object)
    odd = next((v for v in column if isinstance(v, bytes) or pd.api.types.is_list_like(v)), None)
    if odd is not None:
        raise ValueError(f"{what}: column {name!r} must hold text; found {odd!r:.40}.")
    column = column.where(column.notna() & (column != ""), None)
    if name == "system":
        return column.map(lambda v: v if v is None else str(v))
    if name in ("segment", "query", "item") and column.notna().all():
        return pd.Series(canonical_ids(column.tolist()), dtype=object)
    return column


def _scores(column: pd.Series, name: str) -> pd.Series:
    """Return a score column as numbers; one with anything else stays as it is, for the error."""
    try:
        return number_column(column, name)
    except ValueError:
        return column
