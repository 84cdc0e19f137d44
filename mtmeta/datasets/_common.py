"""The common parts of the loaders: where the data lie, options, reading files, choosing a reference."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._checks import check_choice, to_numbers
from .._files import data_dirs, read_text
from .._names import positions, unknown
from ..evalset import EvalSet
from ._registry import available


@dataclass(frozen=True)
class Options:
    """The arguments of `load`, checked once."""

    reference: str | None = None
    annotation: str | None = None
    metrics_from: str | Path | Iterable[str | Path] = ()
    metrics: Sequence[str] | None = None
    missing: str = "raise"
    unrated: str = "raise"
    human_systems: Sequence[str] = ()
    columns: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        """Raise `TypeError` or `ValueError` for a value that an option cannot have."""
        check_choice("missing", self.missing, ("raise", "nan"))
        check_choice("unrated", self.unrated, ("raise", "keep"))
        alone = isinstance(self.metrics_from, str | Path)
        object.__setattr__(self, "metrics_from", (self.metrics_from,) if alone else tuple(self.metrics_from))
        object.__setattr__(self, "columns", self.columns or None)
        object.__setattr__(self, "human_systems", tuple(self.human_systems or ()))
        object.__setattr__(self, "metrics", None if self.metrics is None else tuple(self.metrics))

    def refuse(self, what: str, *names: str) -> None:
        """Raise if an option was given that means nothing for this kind of data: one of these, or by default any.

        ``unrated`` means something for all data, because some never have human scores.
        """
        for name in names or [option.name for option in fields(self) if option.name != "unrated"]:
            if getattr(self, name) != getattr(_DEFAULTS, name):
                raise ValueError(f"`{name}` does not apply to {what}. Leave it out.")


_DEFAULTS = Options()


# -- where the data lie: $MTMETA_DATA, the cache that ``mtmeta fetch`` fills, ~/.mt-metrics-eval ----------------


def locate(relative: str) -> Path:
    """Return the path of a data file or folder.

    Parameters
    ----------
    relative : str
        Path within a data directory, with forward slashes, such as ``"mt-metrics-eval-v2/wmt23"``.
        The layout is the same in all places.

    Returns
    -------
    pathlib.Path
        The first of ``$MTMETA_DATA``, the cache (``$MTMETA_CACHE`` or the user's cache directory) and
        ``~/.mt-metrics-eval`` that has it.

    Raises
    ------
    ValueError
        If no place has it, or ``$MTMETA_DATA`` is not a directory.

    See Also
    --------
    path_of : a file of a set.
    fetch : download it.

    Examples
    --------
    >>> from mtmeta.datasets import locate
    >>> locate("elsewhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: elsewhere is not on this computer. Looked in ...
    """
    looked = data_dirs()
    for root in looked.values():
        path = root / relative
        if path.exists():
            return path
    first = f"{relative}/"
    sets = (name for name, found in available().items() if any(f"{f.path}/".startswith(first) for f in found.files))
    where = ", ".join(f"{what} ({root})" for what, root in looked.items())
    how = f"Get it with `mtmeta fetch {next(sets, relative)}`, or set MTMETA_DATA to a folder that has it."
    raise ValueError(f"{relative} is not on this computer. Looked in {where}. {how}")


def files_in(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a set whose names match a pattern, in order; raise if there are none."""
    files = sorted(folder.glob(pattern))
    if not files:
        raise ValueError(f"{folder} has no files {pattern}. Fetch the set again.")
    return files


# -- files --------------------------------------------------------------------------------------


def read_lines(path: Path, expected: int | None = None) -> list[str]:
    """Return the lines of a UTF-8 file, split at line feeds only; raise if they are not as many as expected.

    ``str.splitlines`` also breaks at U+2028, U+0085 and others, which occur inside sentences.
    """
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if expected not in (None, len(lines)):
        raise ValueError(f"{path} has {len(lines)} lines; expected {expected}, one per segment. It may be truncated.")
    return lines


def read_fields(
    path: Path, names: str, separator: str | None = None, *, skip: int = 0, empty: str = ""
) -> pd.DataFrame:
    """Return lines that all have the same fields as a table of texts; its index has the numbers of the lines.

    ``names`` lists the names of the fields, with a blank between them. ``skip`` says how many lines of header to leave
    out. If there is no ``separator``, white space separates. ``empty`` is put where a line ends after a tab.
    """
    columns = names.split()
    lines = read_lines(path)[skip:]
    if empty:
        lines = [line + empty if line.endswith("\t") else line for line in lines]
    if not lines:
        raise ValueError(f"{path} is empty; expected lines `{names}`.")
    for number, line in enumerate(lines, 1 + skip):
        if len(line.split(separator)) != len(columns):
            raise ValueError(f"{path}, line {number}: expected `{names}`; found {line[:60]!r}. It may be truncated.")
    cells = np.array((separator or " ").join(lines).split(separator), dtype=object).reshape(-1, len(columns))
    return pd.DataFrame(cells, columns=columns, index=range(1 + skip, 1 + skip + len(lines)))


def finite(column: pd.Series, path: Path, *, none: bool = False) -> np.ndarray:
    """Return a column of `read_fields` as numbers, NaN for the text ``None`` where it is allowed."""
    try:
        numbers = column.to_numpy().astype(float)
    except ValueError:  # takes longer
        numbers = to_numbers(column).to_numpy(dtype=float, copy=True)
    odd = column[~np.isfinite(numbers)]
    if none:
        odd = odd[odd != "None"]
    if len(odd):
        line, text = odd.index[0], odd.iloc[0]
        raise ValueError(f"{path}, line {line}: {text[:40]!r} is not a finite number.")
    return numbers


def choose_annotation(asked: str | None, available: Sequence[str], where: str, standard: str | None = None) -> str:
    """Return the annotation asked for, or the standard one of its kind: ``esa`` may be called ``esa-human1``.

    The default is the standard one, otherwise ``mqm``, ``esa-merged``, or the first by name.
    """
    kind = [name for name in available if asked in (None, name, name.partition("-")[0])]
    if not kind:
        raise unknown(f"annotation of {where}", asked, available)
    return next((name for name in (asked, standard, "mqm", "esa-merged") if name in kind), min(kind))


def choose_references(
    asked: str | None, available: Sequence[str], standard: str | None, where: str, not_default: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the references to score against: those asked for, or the standard one.

    ``asked`` may join several with a dot, as metric files do (``refA.refB``). If there is no standard, the default is
    ``refA``, ``ref``, or the only reference.
    """
    if asked is not None:
        parts = tuple(asked.split("."))
        positions(f"reference of {where}", parts, available)
        return parts
    default = [r for r in available if r not in set(not_default)]
    for name in (standard, "refA", "ref"):
        if name in default:
            return (name,)
    if len(default) > 1:
        raise ValueError(f"{where} has several references, {', '.join(default)}: name one with reference=….")
    return tuple(default)


def marked(sets: list[Any], options: Options) -> list[Any]:
    """Return the sets with human translations marked, as the options say; each must be in one of the sets."""
    names = options.human_systems
    if not names:
        return sets
    positions("system", names, list(dict.fromkeys(s for es in sets for s in es.systems)), repeats=True)
    return [es._changed(human_systems=es.human_systems | {*names} & {*es.systems}) for es in sets]


def from_rows(rows: pd.DataFrame, path: Path, **options: Any) -> EvalSet:
    """Return the set of a table that was read from a file, which errors name."""
    try:
        return EvalSet.from_frame(rows, **options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def canonical_ids(values: Sequence[Any]) -> list:
    """Return segment ids as integers if each is written as one, otherwise as strings."""
    texts = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values]
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts)
    return [int(text) for text in texts] if whole else texts
