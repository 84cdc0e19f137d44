"""Data sets: public ones by name, one's own by path."""

from __future__ import annotations

import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import cache_dir
from .._names import positions, unknown
from ..evalset import EvalSet
from ..rankings import Rankings
from . import _mqm, _ranking, _ratings, _sets, _tables, _wmt
from ._common import Options, locate, named, places
from ._fetch import fetch
from ._mqm import mqm_weight
from ._news import NewsSet, load_news
from ._registry import available, missing
from ._tables import SUFFIXES, read_table
from ._validate import validate

__all__ = [
    "SUFFIXES", "NewsSet", "available", "fetch", "is_name", "lies_at", "load", "load_all", "load_news", "locate",
    "mqm_weight", "read_table", "validate",
]  # fmt: skip

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*(/[A-Za-z0-9][\w.+-]*)?")
_TREES = "mt-metrics-eval-v2"
#: What the names of sets of the archive of mt-metrics-eval begin with, and their folder in the cache.
_ARCHIVE = "mtme/"
_MQM_PAIRS = ("en-de", "zh-en")
#: What a name can stand for: translations, transcripts or ranked items.
Loaded = EvalSet | pd.DataFrame | Rankings
#: Sets that are not trees: their language pairs or other parts, where they lie, and what loads one of them.
_SETS: dict[str, tuple[Sequence[str], str, Callable[[str, Options], Loaded]]] = {
    "ted": (_MQM_PAIRS, "google-mqm/ted", _mqm.load_ted),
    "newstest2021": (_MQM_PAIRS, "google-mqm/newstest2021", _mqm.load_newstest2021),
    "human-parity": (_MQM_PAIRS, "human-parity", _ratings.load_human_parity),
    "generalmt2023-sxs": (_MQM_PAIRS, "google-mqm/generalmt2023-sxs", _ratings.load_side_by_side),
    "wmt17-da": (_sets.WMT17_PAIRS, "wmt17-da", _sets.load_wmt17_da),
    "wmt24-news": (_sets.WMT24_PAIRS, "mslc2024", _sets.load_wmt24_news),
    "librispeech": (_sets.LIBRISPEECH_PARTS, "librispeech-rnnt", _sets.load_librispeech),
    "dl-hard": (_ranking.TASKS, "dl-hard", _ranking.load_dl_hard),
    "movielens-small": ((), "movielens-latest-small", _ranking.load_movielens),
}
#: Simulated sets, which come with the package: functions of `simulate` are called like them.
_SIMULATED = ("teaching", "teaching-speech", "teaching-ranking")


def load(
    name_or_path: str | Path,
    *,
    reference: str | None = None,
    annotation: str | None = None,
    metrics_from: str | Path | Iterable[str | Path] = (),
    metrics: Sequence[str] | None = None,
    spans: bool = False,
    missing: str = "raise",
    unrated: str = "raise",
    human_systems: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> EvalSet | pd.DataFrame | Rankings:
    """Load the human and metric scores of one test set and language pair; or transcripts, or rankings.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        A set name (``teaching``, ``wmt23/<lp>``, ``mtme/wmt24/<lp>`` and other years of the archive of mt-metrics-eval,
        ``ted/<lp>``, ``newstest2021/<lp>``, ``wmt17-da/<lp>``, ``wmt24-news/<lp>``;
        ``human-parity/<lp>``, ``generalmt2023-sxs/<lp>``: segments of WMT23 with three ratings;
        transcripts: ``teaching-speech``, ``librispeech/test-clean``, ``librispeech/test-other``;
        rankings: ``teaching-ranking``, ``dl-hard/doc``, ``dl-hard/passage``, ``movielens-small``),
        a table (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, ``.xlsx``, perhaps packed, see `read_table`; ``-``
        reads CSV or TSV from standard input) of translations, of transcripts (columns ``system, segment, reference,
        transcript``) or of
        ranked lists (``system, query, item, rank, relevance``), a table of MQM errors or averages (``.tsv``),
        or a folder in the layout of mt-metrics-eval v2, with ``/<lp>`` after it if it holds several language pairs.
    reference : str, optional
        The reference that metrics were scored against; it is no candidate. The default is that of the published
        protocol. Join several with a dot: ``"refA.refB"``.
    annotation : str, optional
        Which human scores, such as ``"mqm"`` or ``"da-sqm"``. By default MQM if there is one, otherwise
        ``"esa-merged"``, otherwise the first.
    metrics_from : str, path or iterable of them
        More metrics, for sets in mt-metrics-eval v2 layout: a set name (``"wmt23-sentinels"``), or a
        folder of ``.seg.score`` files, or one with a subfolder per language pair.
    metrics : sequence of str, optional
        The metrics to keep, in this order; all by default.
    spans : bool
        Whether to load the error spans of the annotators too.
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
        ``repr`` list what was left out; ``provenance["variants"]`` says what each metric saw, ``provenance["holes"]``
        how many translations have no human score.
    pandas.DataFrame
        For transcripts: one row per system and segment, columns ``system, segment, speaker, quality``
        ("clean" or "other"), ``reference, transcript``; simulated ones have ``truth`` too, the number of word
        errors (lower is better). No option applies.
    Rankings
        For rankings. No option applies.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the set, language pair, annotation, reference or metric does not exist, the data are not on
        this computer, or a file is damaged or does not hold what it should.

    Notes
    -----
    Standard references, which are no candidates: refA for ``wmt23/en-de`` and ``wmt23/zh-en``, refB for
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
    >>> mm.load("teaching-ranking")
    Rankings 'teaching-ranking': 10 systems x 50 queries, 100 items a list, 15000 judged items, 1401 relevant
    """
    options = Options(reference, annotation, metrics_from, metrics, spans, missing, unrated, columns)
    if _is_table(name_or_path):
        return _marked(_tables.load_tables(name_or_path, options, by_pair=False), human_systems)[0]
    found = _find(name_or_path, options)
    if len(found) > 1:
        what = f"'{name_or_path}' holds {len(found)} parts: {', '.join(name for name, _ in found)}"
        raise ValueError(f"{what}. Name one of these (in Python: or use load_all).")
    return _marked([found[0][1]()], human_systems)[0]


def load_all(
    name_or_path: str | Path, *, human_systems: Sequence[str] = (), **options: Any
) -> list[EvalSet] | list[pd.DataFrame] | list[Rankings]:
    """Load every language pair or other part of a set, of a folder, or of a table with a column ``lp``.

    Parameters
    ----------
    name_or_path : str or pathlib.Path
        As for `load`, without a language pair: ``"wmt23"``. A set with one language pair gives a list of one.
    human_systems : sequence of str
        As for `load`.
    **options
        The other options of `load`.

    Returns
    -------
    list of EvalSet, DataFrame or Rankings
        As `load` returns. Language pairs in alphabetical order.

    Raises
    ------
    TypeError, ValueError
        As for `load`.

    Examples
    --------
    >>> import mtmeta as mm
    >>> [es.name for es in mm.load_all("teaching")]
    ['teaching']
    """
    checked = Options(**options)
    if _is_table(name_or_path):
        return _marked(_tables.load_tables(name_or_path, checked, by_pair=True), human_systems)
    return _marked([load_one() for _, load_one in _find(name_or_path, checked)], human_systems)


def _marked(sets: list[Loaded], names: Sequence[str]) -> list[Loaded]:
    """Return the sets with these systems marked as human translations; each must be in one of the sets."""
    if names:
        if not all(isinstance(es, EvalSet) for es in sets):
            raise ValueError("`human_systems` applies to translations with human scores. Leave it out.")
        positions("system", names, list(dict.fromkeys(s for es in sets for s in es.systems)), repeats=True)
    return [es._changed(human_systems=es.human_systems | {*names} & {*es.systems}) if names else es for es in sets]


def _is_table(name_or_path: str | Path) -> bool:
    """Say whether the argument is a table of ours: standard input, or a file that is not one of MQM's."""
    if isinstance(name_or_path, str) and name_or_path == "-":
        return True
    if not isinstance(name_or_path, str | Path):
        raise TypeError(f"expected a set name or a path; found {type(name_or_path).__name__} (see EvalSet.from_frame).")
    path = named(Path(name_or_path))
    try:
        if not path.is_file():
            return False
    except OSError as error:  # such as a name that is too long; what is merely absent raises none
        raise ValueError(f"cannot look for {str(path)[:80]!r}: {error.strerror or error}.") from None
    return _mqm.loader_of(path) is None


def _find(name_or_path: str | Path, options: Options) -> list[tuple[str, Callable[[], Loaded]]]:
    """Return the sets that an argument stands for: their names, and the functions that load them."""
    if isinstance(name_or_path, str) and name_or_path.startswith(_ARCHIVE):
        name, _, lp = name_or_path.removeprefix(_ARCHIVE).partition("/")
        return _tree(_in_archive(name), lp, name, options)
    if isinstance(name_or_path, str) and _NAME.fullmatch(name_or_path):
        name, _, lp = name_or_path.partition("/")
        if name in _SIMULATED:
            _check_pair(name, lp, [])
            return [(name, lambda: _simulated(name, options))]
        if name in _SETS:
            pairs, folder, loader = _SETS[name]
            _check_pair(name, lp, pairs)
            _locate_set(name, folder)
            parts = {p: f"{name}/{p}" for p in pairs if lp in ("", p)} or {"": name}
            return [(part, lambda p=p: _published(name, loader, p, options)) for p, part in parts.items()]
        if name == "wmt23" or any((root / _TREES / name).is_dir() for root in places().values()):
            return _tree(_locate_set(name, f"{_TREES}/{name}"), lp, name, options)
    path = Path(name_or_path)
    options.refuse("what is no table", "columns")
    if path.is_file():
        return [(path.stem, lambda: _mqm.loader_of(path)(path, options))]
    for root, lp in (path, ""), (path.parent, path.name):
        if _wmt.is_tree(root) and not (lp and path.exists()):
            return _tree(root, lp, named(Path(root.resolve().name)).name, options)
    raise _nothing_there(name_or_path, path)


def _published(name: str, loader: Callable[[str, Options], Loaded], part: str, options: Options) -> Loaded:
    """Load a part of a set; say so if its files are not those that were published."""
    try:
        return loader(part, options)
    except (LookupError, EOFError, tarfile.TarError, zlib.error, ValueError) as error:
        if type(error) is ValueError:  # which says what is wrong
            raise
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"the files of {name} are not the published ones ({said}). Fetch them again.") from error


def _in_archive(name: str) -> Path:
    """Return the folder of a set of the archive: unpacked by `fetch`, or by the package mt-metrics-eval."""
    folders = [f"{_ARCHIVE}{name}", f"{_TREES}/{name}"] if _NAME.fullmatch(name) else []
    found = [root / folder for folder in folders for root in places().values() if (root / folder).is_dir()]
    if not found:
        raise ValueError(
            f"{name!r} of the archive of mt-metrics-eval is not on this computer. Get it with `mtmeta fetch "
            f"mt-metrics-eval/{name}`, or set MTMETA_DATA to a folder that has {_TREES}/{name}."
        )
    return found[0]


def is_name(given: str) -> bool:
    """Say whether `load` takes a text for the name of a public or simulated set, such as ``"ted/en-de"``.

    Parameters
    ----------
    given : str
        What may be given to `load`.

    Returns
    -------
    bool
        False for the path of a table or folder. The content of the working folder does not matter.

    Examples
    --------
    >>> from mtmeta.datasets import is_name
    >>> is_name("wmt23/he-en"), is_name("mine.csv")
    (True, False)
    """
    return given.startswith(_ARCHIVE) or given.partition("/")[0] in {*_SETS, *_SIMULATED, "wmt23"}


def lies_at(name: str) -> Path | None:
    """Return the path of the data of a set.

    Parameters
    ----------
    name : str
        What may be given to `load`.

    Returns
    -------
    pathlib.Path or None
        The file or folder that `load` reads; None if the set comes with the package or is not on this computer.

    Examples
    --------
    >>> from mtmeta.datasets import lies_at
    >>> lies_at("teaching") is None
    True
    """
    path, first = Path(name), name.partition("/")[0]
    if os.path.isfile(path):
        return path
    if first in _SIMULATED:
        return None
    with suppress(ValueError):  # it is not on this computer
        if name.startswith(_ARCHIVE):
            return _in_archive(name.split("/")[1])
        if _NAME.fullmatch(name):
            return locate(_SETS[first][1] if first in _SETS else f"{_TREES}/{first}")
    if os.path.exists(path):
        return path
    return path.parent if _wmt.is_tree(path.parent) else None


def _tree(root: Path, lp: str, name: str, options: Options) -> list[tuple[str, Callable[[], EvalSet]]]:
    pairs = _wmt.language_pairs(root)
    _check_pair(name, lp, pairs)

    def load_pair(pair: str) -> EvalSet:
        folders = [_metric_folder(given, pair) for given in options.metrics_from]
        return _wmt.load_tree(root, pair, options, f"{name}/{pair}", folders)

    return [(f"{name}/{p}", lambda p=p: load_pair(p)) for p in pairs if lp in ("", p)]


def _metric_folder(given: str | Path, lp: str) -> Path:
    """Return the folder of ``.seg.score`` files that an entry of ``metrics_from`` stands for."""
    path = named(Path(given))
    if isinstance(given, str) and _NAME.fullmatch(given) and not path.exists():
        try:
            path = _locate_set(given, given)
        except ValueError as error:
            raise ValueError(f"metrics_from: there is no folder {given!r} here, and {error}") from None
    for folder in (path / lp, path):
        if any(folder.glob("*.seg.score")):
            return folder
    raise ValueError(f"metrics_from: {path} holds no .seg.score files, nor does {path / lp}.")


def _simulated(name: str, options: Options) -> Loaded:
    from .. import simulate

    if name != "teaching":
        options.refuse_all(f"{name}, which has no scores")
        return getattr(simulate, name.replace("-", "_"))()
    options.refuse("the teaching set", "reference", "annotation", "metrics_from", "spans", "columns")
    es = simulate.teaching()
    return es if options.metrics is None else es.select(metrics=options.metrics)


def _locate_set(name: str, folder: str) -> Path:
    """Return the path of a set; raise if it is in the cache and the download was not finished."""
    path = locate(folder)
    if not path.is_relative_to(cache_dir()):
        return path
    gone = missing(name, cache_dir()) if name in available() else []
    if gone:
        what = f"the download of {name!r} is not complete: {len(gone)} files are missing or cut"
        raise ValueError(f"{what}. Run `mtmeta fetch {name}` again: it continues where it stopped.")
    return path


def _check_pair(name: str, lp: str, pairs: Sequence[str]) -> None:
    if lp and lp not in pairs:
        raise unknown(f"part of {name}", lp, pairs)


def _nothing_there(given: str | Path, path: Path) -> ValueError:
    """Return the error for an argument that is neither a set nor a file or folder of the right kind."""
    if path.is_dir():
        return ValueError(f"{path} is a folder without human-scores/; folders of metric scores go into metrics_from=.")
    if path.suffix.lower() in _tables.SUFFIXES:
        return ValueError(f"there is no file {path}.")
    parts = {name: pairs for name, (pairs, _, _) in _SETS.items()} | {"wmt23": ("en-de", "he-en", "zh-en")}
    sets = [f"{name}/{part}" if part else name for name in parts for part in parts[name] or [""]]
    error = unknown("set", str(given), [*_SIMULATED, *sets, f"{_ARCHIVE}<set>/<lp>"])
    return ValueError(f"{error} Nor is there such a file or folder.")
