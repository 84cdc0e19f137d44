"""Tidy tables to train sentinels on, their checks, and a search for test text in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._checks import Undefined, check_choice, check_scores, to_numbers
from .._delimited import read_file
from .._pearson import scaled
from ..evalset import EvalSet, as_sets

__all__ = ["SEES", "find_overlap", "read_table", "training_frame"]

#: What a sentinel may see, and the column that holds it.
SEES = {"source": "source", "candidate": "translation", "reference": "reference"}
#: The names that these columns have in other tables, such as COMET's.
_ALIASES = {
    "source": ("src",),
    "translation": ("candidate", "mt", "hyp"),
    "reference": ("ref",),
    "human": ("score",),
}
_COLUMNS = ["set", "lp", "system", "segment", "source", "reference", "translation", "human"]
_ROLES = ("source", "reference", "translation")
#: Fewer distinct texts than this teach nothing that could be validated.
FEWEST_TEXTS = 10


def checked_texts(texts: Iterable[Any], what: str = "texts") -> list[str]:
    """Return ``texts`` as a list of strings; raise if one is missing or none."""
    if isinstance(texts, str):
        raise TypeError(f"{what} must be a sequence of strings; found the string {texts[:40]!r}. Write [text].")
    texts = list(texts)
    for i, text in enumerate(texts):
        if text is None or (isinstance(text, float) and np.isnan(text)) or text is pd.NA:
            raise ValueError(f"{what}: the text at position {i} is missing. Score only what there is.")
        if not isinstance(text, str):
            raise TypeError(f"{what} must be strings; found {type(text).__name__} at position {i}: {text!r:.40}.")
    return texts


def texts_of(frame: pd.DataFrame, sees: str) -> list[str]:
    """Return the texts that a sentinel sees in a table.

    An empty translation is a translation; a source or reference cannot be empty.

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame, or a cell is not text.
    ValueError
        If the column is absent, the table is empty, or a text is missing.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"expected a pandas DataFrame; found {type(frame).__name__}.")
    column = SEES[sees]
    _check_columns(frame, [column])
    values = frame[column]
    missing = values.isna().to_numpy()
    if sees != "candidate":
        missing = missing | np.array([isinstance(v, str) and not v.strip() for v in values], dtype=bool)
    if missing.any():
        raise Undefined(
            f"column {column!r} has no text in {int(missing.sum())} of {len(frame)} rows, first in data row "
            f"{int(np.flatnonzero(missing)[0]) + 1}. Fill it in, or leave the rows out."
        )
    return checked_texts(values, f"column {column!r}")


def examples_of(frame: pd.DataFrame, sees: str) -> list[tuple[str, str, float]]:
    """Return for each row the text that a sentinel sees, its group (one side of a fold only), and the human score.

    They are sorted, since folds and draws depend on an order and that of the rows in a file means nothing. A group is
    all rows with one source, or with one text if there are no sources.

    Raises
    ------
    TypeError, ValueError
        As `texts_of`; and if a score is missing or infinite, all are equal, or there are too few texts.
    """
    texts = texts_of(frame, sees)
    _check_columns(frame, ["human"])
    scores = to_numbers(frame["human"]).to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        found = frame["human"].tolist()[bad[0]]
        raise ValueError(
            f"column 'human' must hold finite numbers; found {found!r:.40} in data row {bad[0] + 1} "
            f"({len(bad)} such rows). Leave out rows that were not rated."
        )
    check_scores(scores, "column 'human'")
    distinct = len(set(texts))
    if distinct < FEWEST_TEXTS:
        raise Undefined(
            f"a sentinel needs at least {FEWEST_TEXTS} distinct texts to learn from; "
            f"column {SEES[sees]!r} has {distinct} in {len(texts)} rows."
        )
    if scores.min() == scores.max():
        raise Undefined(f"every human score is {scores[0]:g}: there is nothing to learn.")
    sources = frame.get("source", texts)
    groups = [
        source if isinstance(source, str) and source else text for source, text in zip(sources, texts, strict=True)
    ]
    return sorted(zip(texts, groups, scores.tolist(), strict=True))


def _check_columns(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in frame.columns:
            other = [c for c in frame.columns if c in _ALIASES.get(column, ())]
            hint = f" Rename {other[0]!r} to {column!r}." if other else ""
            raise ValueError(f"the table lacks the column {column!r}; found {list(map(str, frame.columns))}.{hint}")
    if frame.empty:
        raise ValueError("the table has no rows.")


def training_frame(sets: EvalSet | Iterable[EvalSet], *, standardise: str = "set") -> pd.DataFrame:
    r"""Join the rated translations of several sets into one table to train on.

    ``standardise="set"`` brings the human scores of each set to mean 0 and standard deviation 1: :math:`z = (h - \bar
    h_s) / \sigma_s` over the rated translations of set s. Scores of different protocols and language pairs become
    comparable, and a sentinel cannot earn anything by telling the sets apart.

    Parameters
    ----------
    sets : EvalSet or iterable of EvalSet
        Sets with texts, such as ``mm.load_all("wmt17-da")``.
    standardise : {"set", "none"}
        ``"none"`` leaves the scores in the units of each set.

    Returns
    -------
    pandas.DataFrame
        One row per rated translation: ``set, lp, system, segment, source, reference, translation, human`` (higher is
        better). Of several references the table has the first; a text that a set lacks is ``None``.

    Raises
    ------
    ValueError
        If there is no set, a set has no texts, or its human scores are all equal.

    Notes
    -----
    The paper does not say how it scales MQM scores; COMET's DA data, which it uses, are z-scores.

    Examples
    --------
    >>> import mtmeta as mm
    >>> frame = mm.sentinel.training_frame(mm.load("teaching"))
    >>> frame.shape
    (3600, 8)
    >>> [round(abs(float(x)), 6) for x in (frame["human"].mean(), frame["human"].std(ddof=0))]
    [0.0, 1.0]
    """
    check_choice("standardise", standardise, ("set", "none"))
    return pd.concat([_rated(es, standardise) for es in as_sets(sets)], ignore_index=True)


def _rated(es: EvalSet, standardise: str) -> pd.DataFrame:
    if es.texts is None:
        raise Undefined(f"set {es.name!r} has no texts; a sentinel needs them.")
    frame = es.to_frame().dropna(subset="human")
    if standardise == "set":
        scores = frame["human"]
        if scores.min() == scores.max():
            raise Undefined(f"set {es.name!r}: every human score is {scores.iloc[0]:g}; it cannot be standardised.")
        near_one = pd.Series(scaled(scores.to_numpy(), 0)[0], scores.index)
        frame["human"] = (near_one - near_one.mean()) / near_one.std(ddof=0)
    frame = frame.assign(set=es.name, lp=es.language_pair)
    return frame.reindex(columns=_COLUMNS).astype(dict.fromkeys(_ROLES, object))


def _normal(text: str) -> str:
    """Return a text as overlap compares it: NFKC, without case, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def find_overlap(train: pd.DataFrame, test: EvalSet | pd.DataFrame | Iterable[EvalSet]) -> pd.DataFrame:
    """List the test texts that occur in the training text.

    Two texts are the same if they are equal after NFKC normalisation, case folding and the
    collapsing of white space. Every text of the test set (sources, all references, translations) is
    looked for among all sources, references and translations of the training table.

    Parameters
    ----------
    train : pandas.DataFrame
        A table to train on; those of ``source, reference, translation`` that it has.
    test : EvalSet, DataFrame or iterable of EvalSet
        The set or table to be scored.

    Returns
    -------
    pandas.DataFrame
        One row per distinct text that occurs in both, longest first: ``text`` (as in the test set),
        ``test_role, train_role`` (source, reference or translation; several are joined by ``+``),
        ``n_test, n_train`` (rows or segments that hold it), ``n_characters``. Empty if there is none.

    Raises
    ------
    ValueError
        If either side has no text at all.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> train = mm.sentinel.training_frame(es.select(segments=es.segments[:200]))
    >>> found = mm.sentinel.find_overlap(train, es.select(segments=es.segments[200:]))
    >>> found.columns.tolist()
    ['text', 'test_role', 'train_role', 'n_test', 'n_train', 'n_characters']
    """
    held = _index(_texts_of_table(train), "training table")
    tests = [test] if isinstance(test, (EvalSet, pd.DataFrame)) else list(test)
    sought = _index((row for t in tests for row in _texts_of(t)), "test set")
    rows = []
    for key in sought.keys() & held.keys():
        text, roles, n = sought[key]
        _, train_roles, n_train = held[key]
        rows.append((text, "+".join(sorted(roles)), "+".join(sorted(train_roles)), n, n_train, len(text)))
    columns = ["text", "test_role", "train_role", "n_test", "n_train", "n_characters"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["n_characters", "text"], ascending=[False, True], ignore_index=True)


def _texts_of_table(frame: pd.DataFrame) -> Iterable[tuple[str, Any]]:
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"expected a pandas DataFrame; found {type(frame).__name__}.")
    for role in _ROLES:
        if role in frame:
            yield from ((role, text) for text in frame[role])


def _texts_of(test: EvalSet | pd.DataFrame) -> Iterable[tuple[str, Any]]:
    if not isinstance(test, EvalSet):
        yield from _texts_of_table(test)
    elif test.texts is not None:
        yield from (("source", text) for text in test.texts.sources or ())
        yield from (("reference", text) for texts in test.texts.references.values() for text in texts)
        yield from (("translation", text) for texts in test.texts.translations.values() for text in texts)


def _index(rows: Iterable[tuple[str, Any]], what: str) -> dict[str, tuple[str, set[str], int]]:
    """Return normalised text to (text, its roles, how often)."""
    found: dict[str, tuple[str, set[str], int]] = {}
    for role, text in rows:
        if isinstance(text, str) and (key := _normal(text)):
            first, roles, n = found.get(key, (text, set(), 0))
            found[key] = (first, roles | {role}, n + 1)
    if not found:
        raise ValueError(f"the {what} has no text: no source, reference or translation.")
    return found


def read_table(path: str | Path) -> pd.DataFrame:
    r"""Read a table of texts and scores from CSV, or from TSV if the name ends in ``.tsv``.

    Parameters
    ----------
    path : str or pathlib.Path
        UTF-8, with a header. Columns ``source, translation, reference, human``, or as COMET calls
        them ``src, mt, ref, score``; ``candidate`` is a translation too. Others are kept as text.

    Returns
    -------
    pandas.DataFrame
        With the names of this package. An empty cell is an empty text, but a missing score (NaN).

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no UTF-8 table with a header, or two columns hold the same.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mtmeta.sentinel import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("src,mt,score\nHallo,Hello,0.5\n")
    ...     print(read_table(path).columns.tolist())
    ['source', 'translation', 'human']
    """
    path = Path(path)
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    frame = read_file(path, separator).astype(str)
    twice = sorted(set(frame.columns[frame.columns.duplicated()]))
    if twice:
        raise ValueError(f"{path}: column names must be distinct; found twice: {', '.join(map(repr, twice))}.")
    for name, others in _ALIASES.items():
        present = [c for c in (name, *others) if c in frame.columns]
        if len(present) > 1:
            raise ValueError(f"{path}: columns {present} all mean {name!r}; keep one of them.")
        frame = frame.rename(columns=dict.fromkeys(present, name))
    if "human" in frame:
        frame["human"] = _numbers(frame["human"], path)
    return frame


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    numbers = to_numbers(column)
    bad = np.flatnonzero(numbers.isna() & ~column.str.strip().isin(["", "NA", "NaN", "nan", "None", "null"]))
    if len(bad):
        raise ValueError(f"{path}: the score {column.iloc[bad[0]]!r:.40} in data row {bad[0] + 1} is not a number.")
    return numbers
