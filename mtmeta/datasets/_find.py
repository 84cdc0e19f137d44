"""Names and paths: which data they stand for, and where these lie.

`SOURCES` is the registry of the sets that have a name. A new set is one entry here and one function that loads it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .._files import cache_dir, data_dirs
from .._names import unknown
from . import _mqm, _sets, _tables, _wmt
from ._common import Options, locate
from ._registry import available, missing

#: Below a data directory: sets in the layout of mt-metrics-eval v2, and those that were unpacked from its archive.
_TREES, _ARCHIVE = "mt-metrics-eval-v2/", "mtme/"


class Source(NamedTuple):
    """A set that has a name.

    Attributes
    ----------
    load : callable
        What loads a part of it, ``load(part, options)``.
    folder : str, optional
        Where its data lie below a data directory; None for what comes with the package.
    parts : sequence of str
        Its language pairs or other parts; none if it is one whole.
    """

    load: Callable[[str, Options], Any]
    folder: str | None = None
    parts: Sequence[str] = ("",)


def _teaching(_: str, options: Options) -> Any:
    from ..simulate import teaching  # takes long, because of the libraries that compute metrics

    options.refuse("the teaching set", "reference", "annotation", "metrics_from", "columns")
    return teaching() if options.metrics is None else teaching().select(metrics=options.metrics)


def _simulated(name: str, _: str, options: Options) -> Any:
    from .. import simulate

    options.refuse(name)
    return getattr(simulate, name.replace("-", "_"))()


_MQM_PAIRS = ("en-de", "zh-en")
#: The sets by name. Those in the layout of mt-metrics-eval are found by their folders.
SOURCES = {
    "teaching": Source(_teaching),
    "ted": Source(_mqm.load_ted, "google-mqm/ted", _MQM_PAIRS),
    "newstest2021": Source(_mqm.load_newstest2021, "google-mqm/newstest2021", _MQM_PAIRS),
    "wmt17-da": Source(_sets.load_wmt17_da, "wmt17-da", _sets.WMT17_PAIRS),
    "wmt24-news": Source(_sets.load_wmt24_news, None, _sets.WMT24_PAIRS),
    "teaching-speech": Source(partial(_simulated, "teaching-speech")),
    "librispeech": Source(_sets.load_librispeech, "librispeech-rnnt", _sets.LIBRISPEECH_PARTS),
    "teaching-ranking": Source(partial(_simulated, "teaching-ranking")),
    "dl-hard": Source(_sets.load_dl_hard, "dl-hard", _sets.DL_HARD_TASKS),
}


def _has_errors(path: Path) -> bool:
    """Return whether a file is a table of MQM errors."""
    if path.suffix.lower() != ".tsv":
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as stream:
        return {"system", "rater", "target", "category", "severity"} <= {*stream.readline(10_000).split()}


def is_table(given: str | Path) -> bool:
    """Return whether the argument is a table of ours: standard input, or a file in none of the other layouts."""
    if not isinstance(given, str | Path):
        raise TypeError(f"expected a set name or a path; found {type(given).__name__} (see EvalSet.from_frame).")
    return given == "-" or (Path(given).is_file() and not _has_errors(Path(given)))


def parts(given: str | Path, options: Options) -> dict[str, Callable[[], Any]]:
    """Return the parts of what an argument stands for that is not one of our tables: what loads each, by name."""
    name, _, part = str(given).partition("/")
    path = Path(given)
    if name in SOURCES and not path.is_file():
        source = SOURCES[name]
        if part and part not in source.parts:
            raise unknown(f"part of {name}", part, list(filter(None, source.parts)))
        if source.folder is not None:
            _check_complete(name, locate(source.folder))
        wanted = [part] if part else source.parts
        return {f"{name}/{one}".rstrip("/"): partial(_published, name, source, one, options) for one in wanted}
    options.refuse("what is not a table", "columns")
    if path.is_file():
        return {path.stem: partial(_mqm.load_errors, path, options)}
    if tree := _tree_of(given):
        return _pairs(*tree, options)
    raise _nothing_there(given, path)


def _published(name: str, source: Source, part: str, options: Options) -> Any:
    """Load a part of a set; report if its files are not those that were published."""
    try:
        return source.load(part, options)
    except (LookupError, ValueError) as error:
        if type(error) is ValueError:  # its message says already what is wrong
            raise
        said = f"{type(error).__name__}: {error}"
        raise ValueError(f"the files of {name} are not the published ones ({said}). Fetch them again.") from error


def _tree_of(given: str | Path) -> tuple[Path, str, str] | None:
    """Return the folder of a tree, its name, and the language pair that is wanted; None if there is no tree."""
    path, text = Path(given), str(given)
    name, _, lp = text.removeprefix(_ARCHIVE).partition("/")
    if isinstance(given, str) and name and not {name, lp} & {".", ".."}:
        archived = text.startswith(_ARCHIVE)
        folders = [_ARCHIVE, _TREES] if archived else [_TREES]
        places = [root / folder / name for folder in folders for root in data_dirs().values()]
        if place := next(filter(Path.is_dir, places), None):
            return _check_complete("" if archived else name, place), name, lp
        if archived:
            raise ValueError(
                f"{name!r} of the archive of mt-metrics-eval is not on this computer. Get it with `mtmeta fetch "
                f"mt-metrics-eval/{name}`, or set MTMETA_DATA to a folder that has {_TREES}{name}."
            )
        if name == "wmt23":
            locate(f"{_TREES}{name}")  # raises
    for root, lp in (path, ""), (path.parent, path.name):
        if _wmt.is_tree(root) and not (lp and path.exists()):
            return root, root.resolve().name, lp
    return None


def _pairs(root: Path, name: str, lp: str, options: Options) -> dict[str, Callable[[], Any]]:
    pairs = _wmt.language_pairs(root)
    if lp and lp not in pairs:
        raise unknown(f"part of {name}", lp, pairs)

    def load_pair(pair: str) -> Any:
        folders = [_metric_folder(given, pair) for given in options.metrics_from]
        return _wmt.load_tree(root, pair, options, f"{name}/{pair}", folders)

    return {f"{name}/{pair}": partial(load_pair, pair) for pair in pairs if lp in ("", pair)}


def _metric_folder(given: str | Path, lp: str) -> Path:
    """Return the folder of ``.seg.score`` files that an entry of ``metrics_from`` stands for."""
    path = Path(given)
    if isinstance(given, str) and not path.exists():
        path = _check_complete(given, locate(given))
    for folder in (path / lp, path):
        if any(folder.glob("*.seg.score")):
            return folder
    raise ValueError(f"metrics_from: {path} holds no .seg.score files, nor does {path / lp}.")


def _check_complete(name: str, path: Path) -> Path:
    """Return the path of a set; raise if it is in the cache and the download was not finished."""
    gone = missing(name, cache_dir()) if name in available() and path.is_relative_to(cache_dir()) else []
    if gone:
        what = f"the download of {name!r} is not complete: {len(gone)} files are missing or cut"
        raise ValueError(f"{what}. Run `mtmeta fetch {name}` again: it continues where it stopped.")
    return path


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
    path = Path(name)
    with suppress(ValueError):  # it is not on this computer
        if not path.is_file() and (source := SOURCES.get(name.partition("/")[0])):
            return None if source.folder is None else locate(source.folder)
        if not path.is_file() and (tree := _tree_of(name)):
            return tree[0]
    return path if path.exists() else None


def _nothing_there(given: str | Path, path: Path) -> ValueError:
    """Return the error for an argument that is neither a set nor a file or folder of the right kind."""
    if path.is_dir():
        return ValueError(f"{path} is a folder without human-scores/; folders of metric scores go into metrics_from=.")
    if path.suffix.lower() in _tables.SUFFIXES:
        return ValueError(f"there is no file {path}.")
    sets = [f"{name}/{part}".rstrip("/") for name, source in SOURCES.items() for part in source.parts]
    sets += [*(f"wmt23/{pair}" for pair in ("en-de", "he-en", "zh-en")), f"{_ARCHIVE}<set>/<lp>"]
    error = unknown("set", str(given), sets)
    return ValueError(f"{error} Nor is there such a file or folder.")
