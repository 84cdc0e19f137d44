"""Where the data lie: $MTMETA_DATA, the cache that ``mtmeta fetch`` fills, ~/.mt-metrics-eval."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from .._files import data_dirs
from ._common import named

__all__ = ["locate", "places"]

#: First folders of a relative path, and the name to fetch them by.
_FETCH_NAMES = {
    "wmt21-news-systems": "newstest2021",
    "librispeech-rnnt": "librispeech",
    "movielens-latest-small": "movielens-small",
    "mslc2024": "wmt24-news",
}


def places() -> dict[str, Path]:
    """Return the directories to search, in order: the description and path of each.

    Raises
    ------
    ValueError
        If ``$MTMETA_DATA`` is set and is not a directory.
    """
    found = data_dirs()
    given = found.get("$MTMETA_DATA")
    if given is not None and not named(given).is_dir():
        raise ValueError(
            f"$MTMETA_DATA is {str(given)!r}, which is not a directory. Correct the variable, or unset it."
        )
    return found


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
        If no place has it, ``$MTMETA_DATA`` is not a directory, or ``relative`` leaves the data directory.
    """
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts or "\\" in relative:
        raise ValueError(f"expected a path within the data directory; found {relative!r}.")
    looked = places()
    for root in looked.values():
        path = root.joinpath(*parts)
        if path.exists():
            return named(path)
    name = parts[1] if parts[0] in ("mt-metrics-eval-v2", "google-mqm") and len(parts) > 1 else parts[0]
    raise ValueError(
        f"{relative} is not on this computer. Looked in "
        + ", ".join(f"{what} ({root})" for what, root in looked.items())
        + f". Get it with `mtmeta fetch {_FETCH_NAMES.get(name, name)}`, or set MTMETA_DATA to a folder that has it."
    )
