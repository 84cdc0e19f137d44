"""Names and paths: which data they stand for, and where these lie.

`SOURCES` is the registry of the sets that have a name, `LAYOUTS` that of the files that are not our own tables. A new
set or layout is one entry here and one function that loads it.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import cache_dir
from .._names import unknown
from ..evalset import EvalSet
from ..rankings import Rankings
from . import _mqm, _ranking, _ratings, _sets, _tables, _wmt
from ._common import Options, locate, places
from ._registry import available, missing


@dataclass(frozen=True)
class Source:
    """A set that has a name.

    Attributes
    ----------
    load : callable
        What loads a part of it: of translations, ``load(part, options)``, otherwise ``load(part)``.
    folder : str, optional
        Where its data lie below a data directory; None for what comes with the package.
    parts : sequence of str
        Its language pairs or other parts; none if it is one whole.
    """

    load: Callable[..., Any]
    folder: str | None = None
    parts: Sequence[str] = ()


def _teaching(_: str, options: Options) -> EvalSet:
    from ..simulate import teaching  # takes long, because of the libraries that compute metrics

    options.refuse("the teaching set", "reference", "annotation", "metrics_from", "columns")
    return teaching() if options.metrics is None else teaching().select(metrics=options.metrics)


def _teaching_speech(_: str) -> pd.DataFrame:
    from ..simulate import teaching_speech

    return teaching_speech()


def _teaching_ranking(_: str) -> Rankings:
    from ..simulate import teaching_ranking

    return teaching_ranking()


_MQM_PAIRS = ("en-de", "zh-en")
#: The sets by what they hold. Those in the layout of mt-metrics-eval are found by their folders.
SOURCES: dict[str, dict[str, Source]] = {
    "translations": {
        "teaching": Source(_teaching),
        "ted": Source(_mqm.load_ted, "google-mqm/ted", _MQM_PAIRS),
        "newstest2021": Source(_mqm.load_newstest2021, "google-mqm/newstest2021", _MQM_PAIRS),
        "human-parity": Source(_ratings.load_human_parity, "human-parity", _MQM_PAIRS),
        "generalmt2023-sxs": Source(_ratings.load_side_by_side, "google-mqm/generalmt2023-sxs", _MQM_PAIRS),
        "wmt17-da": Source(_sets.load_wmt17_da, "wmt17-da", _sets.WMT17_PAIRS),
        "wmt24-news": Source(_sets.load_wmt24_news, "mslc2024", _sets.WMT24_PAIRS),
    },
    "transcripts": {
        "teaching-speech": Source(_teaching_speech),
        "librispeech": Source(_sets.load_librispeech, "librispeech-rnnt", _sets.LIBRISPEECH_PARTS),
    },
    "rankings": {
        "teaching-ranking": Source(_teaching_ranking),
        "dl-hard": Source(_ranking.load_dl_hard, "dl-hard", _ranking.TASKS),
    },
}


@dataclass(frozen=True)
class Layout:
    """A layout of files other than our own tables.

    Attributes
    ----------
    suffix : str
        How the name of such a file ends.
    fits : callable
        Whether the fields of the first line are those of the layout.
    load : callable
        What loads a file, ``load(path, options)``.
    """

    suffix: str
    fits: Callable[[list[str]], bool]
    load: Callable[[Path, Options], EvalSet]


LAYOUTS = (
    Layout(".tsv", lambda header: header == ["system", "mqm_avg_score", "seg_id"], _mqm.load_averages),
    Layout(".tsv", lambda header: {"system", "rater", "target", "category", "severity"} <= {*header}, _mqm.load_errors),
)


def _layout_of(path: Path) -> Layout | None:
    """Return the layout of a file; None if it is a table of ours."""
    layouts = [layout for layout in LAYOUTS if layout.suffix == path.suffix.lower()]
    if not layouts:
        return None
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as stream:
        header = stream.readline(10_000).split()
    return next((layout for layout in layouts if layout.fits(header)), None)


_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*(/[A-Za-z0-9][\w.+-]*)?")
_TREES = "mt-metrics-eval-v2"
#: What the names of sets of the archive of mt-metrics-eval begin with, and their folder in the cache.
_ARCHIVE = "mtme/"


def is_table(name_or_path: str | Path) -> bool:
    """Return whether the argument is a table of ours: standard input, or a file in none of the other layouts."""
    if isinstance(name_or_path, str) and name_or_path == "-":
        return True
    if not isinstance(name_or_path, str | Path):
        raise TypeError(f"expected a set name or a path; found {type(name_or_path).__name__} (see EvalSet.from_frame).")
    path = Path(name_or_path)
    try:
        if not path.is_file():
            return False
    except OSError as error:  # such as a name that is too long; what is merely absent raises none
        raise ValueError(f"cannot look for {str(path)[:80]!r}: {error.strerror or error}.") from None
    return _layout_of(path) is None


def translations(name_or_path: str | Path, options: Options) -> dict[str, Callable[[], EvalSet]]:
    """Return the sets of translations that an argument stands for: what loads each, by name."""
    if isinstance(name_or_path, str) and name_or_path.startswith(_ARCHIVE):
        name, _, lp = name_or_path.removeprefix(_ARCHIVE).partition("/")
        return _tree(_in_archive(name), lp, name, options)
    if isinstance(name_or_path, str) and _NAME.fullmatch(name_or_path):
        name, _, part = name_or_path.partition("/")
        kind = _kind_of(name)
        if kind == "translations":
            return {one: partial(load, options) for one, load in _parts(SOURCES[kind][name], name, part).items()}
        if kind is not None:
            what = f"{name_or_path!r} holds {kind}; expected translations with human scores"
            raise ValueError(f"{what}. In Python, datasets.load_{kind} loads it.")
        if name == "wmt23" or any((root / _TREES / name).is_dir() for root in places().values()):
            return _tree(_locate_set(name, f"{_TREES}/{name}"), part, name, options)
    path = Path(name_or_path)
    options.refuse("what is no table", "columns")
    if path.is_file():
        return {path.stem: lambda: _layout_of(path).load(path, options)}
    for root, lp in (path, ""), (path.parent, path.name):
        if _wmt.is_tree(root) and not (lp and path.exists()):
            return _tree(root, lp, root.resolve().name, options)
    raise _nothing_there(name_or_path, path)


def other(kind: str, name_or_path: str | Path) -> Any:
    """Load transcripts or rankings: a set, or a table."""
    if is_table(name_or_path):
        return _tables.load_other(kind, _tables.read_table(name_or_path), name_or_path)
    name, _, part = str(name_or_path).partition("/")
    if name not in SOURCES[kind]:
        if Path(name_or_path).suffix.lower() in _tables.SUFFIXES:
            raise ValueError(f"there is no file {name_or_path}.")
        raise unknown(f"set of {kind}", str(name_or_path), _names(SOURCES[kind]))
    found = _parts(SOURCES[kind][name], name, part)
    if len(found) > 1:
        raise ValueError(f"{name!r} holds {len(found)} parts: {', '.join(found)}. Name one of these.")
    return next(iter(found.values()))()


def everything(name_or_path: str | Path, options: Options) -> list[Any]:
    """Load what an argument stands for, whatever that holds."""
    if is_table(name_or_path):
        return _tables.load_any(name_or_path, options)
    kind = _kind_of(str(name_or_path).partition("/")[0])
    if kind in (None, "translations"):
        return [load_part() for load_part in translations(name_or_path, options).values()]
    options.refuse_all(f"{name_or_path}, which holds {kind}")
    return [other(kind, name_or_path)]


def _kind_of(name: str) -> str | None:
    """Return what a set holds; None if there is no set of this name."""
    return next((kind for kind, sources in SOURCES.items() if name in sources), None)


def _parts(source: Source, name: str, part: str) -> dict[str, Callable[..., Any]]:
    """Return what loads the parts of a set that are wanted, by their names; the data must be on this computer."""
    if part and part not in source.parts:
        raise unknown(f"part of {name}", part, source.parts)
    if source.folder is not None:
        _locate_set(name, source.folder)
    wanted = [part] if part else source.parts
    return {f"{name}/{one}": partial(_published, name, source, one) for one in wanted} or {
        name: partial(_published, name, source, "")
    }


def _published(name: str, source: Source, part: str, *options: Options) -> Any:
    """Load a part of a set; report if its files are not those that were published."""
    try:
        return source.load(part, *options)
    except (LookupError, EOFError, tarfile.TarError, zlib.error, ValueError) as error:
        if type(error) is ValueError:  # its message says already what is wrong
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


def path_of(name: str) -> Path | None:
    """Return the path of the data that a name stands for.

    Parameters
    ----------
    name : str
        A set name or a path, as `load` takes them.

    Returns
    -------
    pathlib.Path or None
        The file or folder that is read; None if the set comes with the package or is not on this computer.

    See Also
    --------
    locate : The path of any file of a data directory.

    Examples
    --------
    >>> from mtmeta.datasets import path_of
    >>> path_of("teaching") is None
    True
    """
    path, first = Path(name), name.partition("/")[0]
    if path.is_file():
        return path
    with suppress(ValueError):  # it is not on this computer
        if name.startswith(_ARCHIVE):
            return _in_archive(name.split("/")[1])
        if kind := _kind_of(first):
            folder = SOURCES[kind][first].folder
            return None if folder is None else locate(folder)
        if _NAME.fullmatch(name):
            return locate(f"{_TREES}/{first}")
    if path.exists():
        return path
    return path.parent if _wmt.is_tree(path.parent) else None


def _tree(root: Path, lp: str, name: str, options: Options) -> dict[str, Callable[[], EvalSet]]:
    pairs = _wmt.language_pairs(root)
    if lp and lp not in pairs:
        raise unknown(f"part of {name}", lp, pairs)

    def load_pair(pair: str) -> EvalSet:
        folders = [_metric_folder(given, pair) for given in options.metrics_from]
        return _wmt.load_tree(root, pair, options, f"{name}/{pair}", folders)

    return {f"{name}/{pair}": partial(load_pair, pair) for pair in pairs if lp in ("", pair)}


def _metric_folder(given: str | Path, lp: str) -> Path:
    """Return the folder of ``.seg.score`` files that an entry of ``metrics_from`` stands for."""
    path = Path(given)
    if isinstance(given, str) and _NAME.fullmatch(given) and not path.exists():
        try:
            path = _locate_set(given, given)
        except ValueError as error:
            raise ValueError(f"metrics_from: there is no folder {given!r} here, and {error}") from None
    for folder in (path / lp, path):
        if any(folder.glob("*.seg.score")):
            return folder
    raise ValueError(f"metrics_from: {path} holds no .seg.score files, nor does {path / lp}.")


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


def _names(sources: Mapping[str, Source]) -> list[str]:
    """Return the names of sets with their parts."""
    return [f"{name}/{part}" if part else name for name, one in sources.items() for part in one.parts or [""]]


def _nothing_there(given: str | Path, path: Path) -> ValueError:
    """Return the error for an argument that is neither a set nor a file or folder of the right kind."""
    if path.is_dir():
        return ValueError(f"{path} is a folder without human-scores/; folders of metric scores go into metrics_from=.")
    if path.suffix.lower() in _tables.SUFFIXES:
        return ValueError(f"there is no file {path}.")
    sets = [name for sources in SOURCES.values() for name in _names(sources)]
    sets += [*(f"wmt23/{pair}" for pair in ("en-de", "he-en", "zh-en")), f"{_ARCHIVE}<set>/<lp>"]
    error = unknown("set", str(given), sets)
    return ValueError(f"{error} Nor is there such a file or folder.")
