"""Download of the public data sets: one file at a time, pinned by commit and checked by sha256 (see `_registry`)."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import pandas as pd

from .._files import cache_dir, whole_file
from .._names import unknown
from ._pickles import read_scores_pickle
from ._registry import DataFile, data_set, is_there

_RETRIES = 2
_SILENCE = 30  # seconds without a byte


class ChecksumError(ValueError):
    """A downloaded file is not the one the registry names: truncated, altered or replaced."""


class DownloadError(ConnectionError):
    """A file could not be downloaded: there is no connection, no such file, or the transfer was cut."""


def fetch(name: str, *, cache: Path | None = None, progress: bool = True, base_url: str | None = None) -> Path:
    """Download a set, or its missing files, into the cache.

    Files that are there and have the right sha256 are not downloaded again, so to continue an interrupted call, call
    again. A file enters the cache only after its sha256 was checked, and in one step: no partial file ever has a final
    name, and several processes may fetch into one cache.

    Parameters
    ----------
    name : str
        Name of a set, as in :func:`available`. Of an archive also a part: ``"mt-metrics-eval/wmt24"`` or
        ``"mt-metrics-eval/wmt24/en-de"`` unpacks nothing else.
    cache : Path, optional
        Where to put the files: by default ``$MTMETA_CACHE``, or the user's cache directory if that is not set.
    progress : bool
        Show a progress bar on stderr, if stderr is a terminal.
    base_url : str, optional
        Download from a mirror that serves a filled cache under this address, for instance
        ``python -m http.server`` run in the cache of a colleague.

    Returns
    -------
    Path
        The cache. Its layout allows ``MTMETA_DATA`` to point at it.

    Raises
    ------
    ValueError
        If there is no set of this name, or an archive has no such part.
    ChecksumError
        If a downloaded file is not the one in the registry. It is a ``ValueError``.
    DownloadError
        If a file cannot be downloaded. It is an ``OSError``. The next call continues the download of an archive.
    OSError
        If the cache cannot be written.

    See Also
    --------
    available : the names.
    load : load what was fetched.

    Examples
    --------
    >>> import mtmeta as mm
    >>> mm.fetch("wmt99")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: unknown data set 'wmt99'. Did you mean 'wmt23'? Available: ...
    """
    from typer import progressbar

    wanted_set = data_set(name)
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise ValueError(f"`base_url` must begin with http:// or https://; found {base_url!r}.")
    cache = cache_dir() if cache is None else Path(cache)
    done, reached, all_files = 0, 0, wanted_set.files
    if base_url is not None:
        made = {"recipe": "archive" if wanted_set.is_archive else "", "url_sha256": ""}
        all_files = [replace(f, url=f"{base_url.rstrip('/')}/{quote(f.path)}", **made) for f in all_files]
    progress = progress and sys.stderr.isatty()
    with progressbar(length=wanted_set.size, label=name, hidden=not progress, file=sys.stderr) as bar:
        for _, group in itertools.groupby(all_files, key=lambda file: file.url):
            files = list(group)
            wanted = [f for f in files if not (is_there(cache / f.path, f) and _sha256(cache / f.path) == f.sha256)]
            try:
                if wanted and wanted_set.is_archive:
                    _obtain_archive(wanted[0], cache, bar)
                elif wanted:
                    _obtain(wanted, cache)
                if wanted_set.is_archive:
                    _unpack(cache / files[0].path, name.partition("/")[2])
            except (ChecksumError, DownloadError) as error:
                state = f"{done} of {len(all_files)} files of {name!r} are in {cache}; fetch again to continue."
                raise type(error)(f"{error} {state}") from error
            except OSError as error:
                hint = "Free some space, or name another folder in the environment variable MTMETA_CACHE."
                raise OSError(error.errno, f"cannot write to the cache {cache}: {error.strerror}. {hint}") from error
            done, reached = done + len(files), reached + sum(file.size for file in files)
            bar.update(reached - bar.pos)
    return cache


def _obtain(files: list[DataFile], cache: Path) -> None:
    """Download what files come from, which is the same for all, and put them into their places."""
    first = files[0]
    if not first.recipe:
        _download(first.url, first.sha256, cache / first.path, first.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        raw = _download(first.url, first.url_sha256 or None, Path(folder) / "upstream", first.path).read_bytes()
    for file in files:
        with whole_file(cache / file.path) as part:
            part.write_bytes(_convert(raw, file))
            _check(part, file)


def _download(url: str, sha256: str | None, target: Path, what: str) -> Path:
    """Download a file with pooch: tried again if the connection breaks, checked, and whole or absent."""
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    target.parent.mkdir(parents=True, exist_ok=True)
    known = {target.name: f"sha256:{sha256}" if sha256 else None}
    place = pooch.create(target.parent, "", registry=known, urls={target.name: url}, retry_if_failed=_RETRIES)
    try:
        return Path(place.fetch(target.name, downloader=pooch.HTTPDownloader(timeout=_SILENCE)))
    except (requests.RequestException, ValueError) as error:
        said = " ".join(str(error).split())[:300].removesuffix(".")
        if isinstance(error, ValueError) and not isinstance(error, requests.RequestException):
            raise ChecksumError(f"{what}: the content of {url} is not the file that was registered: {said}.") from error
        raise DownloadError(f"{what}: could not be downloaded from {url}: {said}.") from error


def _obtain_archive(file: DataFile, cache: Path, bar: Any) -> None:
    """Download an archive, or the rest of it, into its place. What was downloaded stays if the download breaks off."""
    import requests
    from urllib3.exceptions import HTTPError

    place = cache / file.path
    part = place.with_name(f"{place.name}.part")
    place.parent.mkdir(parents=True, exist_ok=True)
    start = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        if start < file.size:
            with requests.get(file.url, stream=True, headers=headers, timeout=_SILENCE) as answer:
                answer.raise_for_status()
                with part.open("ab" if answer.status_code == 206 else "wb") as target:
                    while chunk := answer.raw.read1(1_000_000):
                        target.write(chunk)
                        bar.update(target.tell() - bar.pos)
    except (requests.RequestException, HTTPError) as error:
        said = " ".join(str(error).split())[:300].removesuffix(".")
        raise DownloadError(f"{file.path}: could not be downloaded from {file.url}: {said}.") from error
    try:
        _check(part, file)
    except ChecksumError:
        part.unlink()
        raise
    os.replace(part, place)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(found: Path, file: DataFile) -> None:
    if (actual := _sha256(found)) != file.sha256:
        raise ChecksumError(
            f"{file.path}: the content of {file.url} is not the file that was registered: expected sha256 "
            f"{file.sha256}, found {actual} ({found.stat().st_size} bytes). It was discarded."
        )


def _convert(raw: bytes, file: DataFile) -> bytes:
    """Make a file from the upstream file, by the recipe of the registry.

    ``sentinel``: a pickle ``{system: [score, …]}`` as lines ``system <tab> score``;
    ``top:N``: the first N lines of every topic of a TREC run; ``columns:N``: the first N
    tab-separated columns; ``member:NAME``: one member of a zip archive.
    """
    recipe, _, argument = file.recipe.partition(":")
    if recipe == "sentinel":
        scores = read_scores_pickle(raw, file.url)
        return "".join(f"{system}\t{value!r}\n" for system, values in scores.items() for value in values).encode()
    if recipe == "top":
        lines = pd.Series(raw.splitlines(keepends=True), dtype=object)
        return b"".join(lines.groupby(lines.map(lambda line: line.partition(b" ")[0])).head(int(argument)))
    if recipe == "columns":
        return b"\n".join(b"\t".join(line.split(b"\t")[: int(argument)]) for line in raw.split(b"\n"))
    if recipe == "member":
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(argument) as member:
                return member.read(file.size + 1)
        except (zipfile.BadZipFile, KeyError) as error:
            raise ChecksumError(f"{file.path}: {file.url} gives no zip archive with a member {argument!r}.") from error
    raise ValueError(f"{file.path}: the registry names an unknown recipe {file.recipe!r}.")


# -- the archive of mt-metrics-eval ----------------------------------------------------------

#: The files of a set and language pair: in some folders they lie in a folder of the pair, in others they begin with it.
_MEMBER = re.compile(
    r"mt-metrics-eval-v2/([^/.][^/]*)/(?:(?:metric-scores|system-outputs)/([^/.][^/]*)/[^/.][^/]*"
    r"|(?:documents|human-scores|references|sources)/([^/.]+)[^/]*)"
)


def _unpack(archive: Path, part: str) -> None:
    """Write the files of a set (``wmt24``), of a language pair (``wmt24/en-de``), or all of them, beside an archive.

    Human scores get their names last, because a language pair counts as present if it has some; those of segments come
    at the end, the default annotation first. Raise `ValueError` if the archive has no such set or pair.
    """
    set_name, _, pair = part.partition("/")
    known: dict[str, set[str]] = {}
    last: list[tuple[bytes, Path]] = []
    with tarfile.open(archive, "r|gz") as tar:
        for member in tar:
            path = PurePosixPath(member.name)
            found = _MEMBER.fullmatch(str(path)) if member.isfile() else None
            if found is None:
                continue
            own_set, own_pair = filter(None, found.groups())
            known.setdefault(own_set, set()).add(own_pair)
            if set_name not in ("", own_set) or pair not in ("", own_pair):
                continue
            place = archive.parent.joinpath(*path.parts[1:])
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.parent.name == "human-scores":
                last.append((tar.extractfile(member).read(), place))
                continue
            with whole_file(place) as part, part.open("wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
        if set_name and set_name not in known:
            raise unknown("set of the archive", set_name, sorted(known))
        if pair and pair not in known[set_name]:
            raise unknown(f"language pair of {set_name}", pair, sorted(known[set_name]))
        for content, place in sorted(last, key=lambda one: _turn(one[1].name)):
            with whole_file(place) as part:
                part.write_bytes(content)


def _turn(name: str) -> tuple[bool, ...]:
    return name.endswith(".seg.score"), ".mqm." not in name, ".esa-merged." not in name
