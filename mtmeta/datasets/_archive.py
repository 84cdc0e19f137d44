"""Unpacking of the archive of mt-metrics-eval: the sets and language pairs that were asked for, and no others."""

from __future__ import annotations

import os
import shutil
import tarfile
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from .._files import tidy, unfinished
from .._names import unknown

_TOP = "mt-metrics-eval-v2"
#: The folders of a set: those that have a folder for each language pair, and those where files begin with it.
_BY_FOLDER = {"metric-scores", "system-outputs"}
_BY_NAME = {"documents", "human-scores", "references", "sources"}


def unpack(archive: Path, part: str, *, progress: bool) -> None:
    """Write the files of a set (``wmt24``), of a language pair (``wmt24/en-de``), or all of them, beside an archive.

    Human scores get their names last, because a language pair counts as present if it has some. Raise `ValueError` if
    the archive has no such set or pair.
    """
    tidy(archive.parent)
    set_name, _, pair = part.partition("/")
    known: dict[str, set[str]] = {}
    with ExitStack() as stack:
        last: list[tuple[Path, Path]] = []
        tar = stack.enter_context(tarfile.open(archive, "r|gz"))
        for member in tqdm(tar, desc="unpacking", unit=" files", disable=not progress):
            path = PurePosixPath(member.name)
            found = _origin(path) if member.isfile() else None
            if found is None:
                continue
            known.setdefault(found[0], set()).add(found[1])
            if set_name not in ("", found[0]) or pair not in ("", found[1]):
                continue
            place = archive.parent.joinpath(*path.parts[1:])
            place.parent.mkdir(parents=True, exist_ok=True)
            written = stack.enter_context(unfinished(archive.parent))
            with written.open("wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
            if path.parts[2] == "human-scores":
                last.append((written, place))
            else:
                os.replace(written, place)
        if set_name and set_name not in known:
            raise unknown("set of the archive", set_name, sorted(known))
        if pair and pair not in known[set_name]:
            raise unknown(f"language pair of {set_name}", pair, sorted(known[set_name]))
        for written, place in sorted(last, key=lambda files: _turn(files[1].name)):
            os.replace(written, place)


def _turn(name: str) -> tuple[bool, bool, bool, str]:
    """Sort files of human scores: what makes a pair loadable comes last, and of this the default annotation first."""
    return name.endswith(".seg.score"), ".mqm." not in name, ".esa-merged." not in name, name


def _origin(path: PurePosixPath) -> tuple[str, str] | None:
    """Return the set and the language pair of a file of the archive; None if it belongs to neither."""
    top, *inner = path.parts
    if top != _TOP or len(inner) not in (3, 4) or any(part.startswith(".") for part in inner):
        return None
    if inner[1] in _BY_FOLDER and len(inner) == 4:
        return inner[0], inner[2]
    return (inner[0], inner[2].partition(".")[0]) if inner[1] in _BY_NAME and len(inner) == 3 else None
