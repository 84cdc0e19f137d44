"""Tidy tables to train sentinels on, their checks, and a search for test text in them."""

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from .._checks import Undefined, check_scores, numbers_of
from .._delimited import read_file
from .._names import names_of
from .._tables import check_table
from ..evalset import EvalSet, as_sets

#: What a sentinel may see, and the column that holds it.
SEES = {"source": "source", "candidate": "translation", "reference": "reference"}
#: The names that these columns have in other tables, such as COMET's.
_ALIASES = {"src": "source", "ref": "reference", "score": "human"}
_ALIASES |= dict.fromkeys(("candidate", "mt", "hyp"), "translation")
_COLUMNS = ["set", "lp", "system", "segment", "source", "reference", "translation", "human"]
_ROLES = ("source", "reference", "translation")
#: Fewer distinct texts than this teach nothing that could be validated.
FEWEST_TEXTS = 10


def texts_of(frame: pd.DataFrame, sees: str) -> list[str]:
    """Return the texts that a sentinel sees in a table.

    An empty translation is a translation; a source or reference cannot be empty.

    Raises
    ------
    TypeError
        If ``frame`` is not a DataFrame.
    ValueError
        If the column is absent, the table is empty, or a text is missing.
    """
    column = SEES[sees]
    check_table(frame, texts=[column])
    texts = frame[column].tolist()
    blank = [row for row, text in enumerate(texts, 1) if not text.strip()]
    if blank and sees != "candidate":
        raise Undefined(
            f"column {column!r} has no text in {len(blank)} of {len(texts)} rows, first in data row {blank[0]}. "
            "Fill it in, or leave the rows out."
        )
    return texts


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
    check_table(frame, ["human"])
    scores = numbers_of(frame["human"], "human")
    check_table(frame.assign(human=scores), ["human"])  # nor may a cell be blank
    check_scores(scores, "column 'human'")
    distinct = len(set(texts))
    if distinct < FEWEST_TEXTS:
        raise Undefined(
            f"a sentinel needs at least {FEWEST_TEXTS} distinct texts to learn from; "
            f"column {SEES[sees]!r} has {distinct} in {len(texts)} rows."
        )
    if scores.min() == scores.max():
        raise Undefined(f"every human score is {scores[0]:g}: there is nothing to learn.")
    pairs = zip(frame.get("source", texts), texts, strict=True)
    groups = [source if isinstance(source, str) and source else text for source, text in pairs]
    return sorted(zip(texts, groups, scores.tolist(), strict=True))


def training_frame(sets: EvalSet | Iterable[EvalSet]) -> pd.DataFrame:
    r"""Join the rated translations of several sets into one table to train on.

    The human scores of each set are brought to mean 0 and standard deviation 1: :math:`z = (h - \bar h_s) / \sigma_s`
    over the rated translations of set s. Scores of different protocols and language pairs become comparable, and a
    sentinel cannot earn anything by telling the sets apart.

    Parameters
    ----------
    sets : EvalSet or iterable of EvalSet
        Sets with texts, such as ``mm.load_all("wmt17-da")``.

    Returns
    -------
    pandas.DataFrame
        One row per rated translation: ``set, lp, system, segment, source, reference, translation, human`` (higher is
        better). Of several references the table has the first; a text that a set lacks is ``None``.

    Raises
    ------
    ValueError
        If there is no set, a set has no texts, or its human scores are all equal.

    See Also
    --------
    read_texts : such a table from a file.
    fit : train on it.

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
    return pd.concat([_rated(es) for es in as_sets(sets)], ignore_index=True)


def _rated(es: EvalSet) -> pd.DataFrame:
    if es.texts is None:
        raise Undefined(f"set {es.name!r} has no texts; a sentinel needs them.")
    frame = es.to_frame().dropna(subset="human")
    scores = frame["human"]
    if scores.min() == scores.max():
        raise Undefined(f"set {es.name!r}: every human score is {scores.iloc[0]:g}; it cannot be standardised.")
    standard = (scores - scores.mean()) / scores.std(ddof=0)
    frame = frame.assign(human=standard, set=es.name, lp=es.language_pair)
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
        One row per distinct text that occurs in both, longest first: ``text`` (as in the test set) and
        ``test_role, train_role`` (source, reference or translation; several are joined by ``+``). Empty if there is
        none.

    Raises
    ------
    ValueError
        If either side has no text at all.

    See Also
    --------
    training_frame : a table to train on.

    Examples
    --------
    >>> import mtmeta as mm
    >>> es = mm.load("teaching")
    >>> train = mm.sentinel.training_frame(es.select(segments=es.segments[:200]))
    >>> found = mm.sentinel.find_overlap(train, es.select(segments=es.segments[200:]))
    >>> found.columns.tolist()
    ['text', 'test_role', 'train_role']
    """
    held = _roles([train], "training table")
    sought = _roles([test] if isinstance(test, (EvalSet, pd.DataFrame)) else test, "test set")
    shared = sorted(sought.keys() & held.keys(), key=lambda key: (-len(key), key))
    rows = [(sought[key][0], *("+".join(sorted(side[key][1])) for side in (sought, held))) for key in shared]
    return pd.DataFrame(rows, columns=["text", "test_role", "train_role"])


def _texts_of(table: EvalSet | pd.DataFrame) -> Iterable[tuple[str, Iterable[Any]]]:
    """Yield roles and the texts that have them."""
    if not isinstance(table, EvalSet):
        check_table(table)
        yield from ((role, table[role]) for role in _ROLES if role in table)
    elif table.texts is not None:
        yield "source", table.texts.sources or ()
        yield from (("reference", texts) for texts in table.texts.references.values())
        yield from (("translation", texts) for texts in table.texts.translations.values())


def _roles(tables: Iterable[EvalSet | pd.DataFrame], what: str) -> dict[str, tuple[str, set[str]]]:
    """Return normalised texts, how each one is written first, and the roles that it has."""
    found: dict[str, tuple[str, set[str]]] = {}
    for role, texts in (pair for table in tables for pair in _texts_of(table)):
        for text in texts:
            if isinstance(text, str) and (key := _normal(text)):
                found.setdefault(key, (text, set()))[1].add(role)
    if not found:
        raise ValueError(f"the {what} has no text: no source, reference or translation.")
    return found


def read_texts(path: str | Path) -> pd.DataFrame:
    r"""Read texts, and scores to learn, from CSV, or from TSV if the name ends in ``.tsv``.

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
        If it is not a UTF-8 table with a header, or two columns hold the same.

    See Also
    --------
    training_frame : such a table from sets of data.
    mtmeta.load : read a table of systems, segments and scores.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mtmeta.sentinel import read_texts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("src,mt,score\nHallo,Hello,0.5\n")
    ...     print(read_texts(path).columns.tolist())
    ['source', 'translation', 'human']
    """
    path = Path(path)
    frame = read_file(path, "\t" if path.suffix.lower() == ".tsv" else ",").astype(str).rename(columns=_ALIASES)
    names_of(frame.columns, f"{path}: columns, by our names,")
    if "human" in frame:
        frame["human"] = numbers_of(frame["human"], f"human of {path.name}")
    return frame
