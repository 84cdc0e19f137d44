"""Download of the public data sets: one file at a time, pinned by commit and checked by sha256 (see `_registry`)."""

import hashlib
import io
import itertools
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from .._files import cache_dir, whole_file
from .._names import unknown
from ._pickles import read_scores_pickle
from ._registry import DataFile, data_set, is_there

_RETRIES = 2
_SILENCE = 30  # seconds without a byte


def fetch(name: str, *, cache: Path | None = None, progress: bool = True) -> Path:
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
        Whether to show a progress bar on stderr, if that is a terminal.

    Returns
    -------
    Path
        The cache. Its layout allows ``MTMETA_DATA`` to point at it.

    Raises
    ------
    ValueError
        If there is no set of this name, an archive has no such part, or a file is not the one in the registry.
    OSError
        If a file cannot be downloaded, or the cache cannot be written. The next call continues the download of an
        archive.

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
    import requests
    from typer import progressbar
    from urllib3.exceptions import HTTPError

    wanted_set, reached = data_set(name), 0
    cache = cache_dir() if cache is None else Path(cache)
    hidden = not (progress and sys.stderr.isatty())
    with progressbar(length=wanted_set.size, label=name, hidden=hidden, file=sys.stderr) as bar:
        for url, group in itertools.groupby(wanted_set.files, key=lambda file: file.url):
            files = list(group)
            wanted = [f for f in files if not (is_there(cache / f.path, f) and _sha256(cache / f.path) == f.sha256)]
            try:
                if wanted and wanted_set.is_archive:
                    _obtain_archive(wanted[0], cache, bar)
                elif wanted:
                    _obtain(wanted, cache)
            except (requests.RequestException, HTTPError) as error:
                said = f"{wanted[0].path} could not be downloaded from {url}: {' '.join(str(error).split())[:300]}"
                raise ConnectionError(f"{said}. Fetch {name!r} again to continue.") from error
            if wanted_set.is_archive:
                _unpack(cache / files[0].path, name.partition("/")[2])
            reached += sum(file.size for file in files)
            bar.update(reached - bar.pos)
    return cache


def _obtain(files: list[DataFile], cache: Path) -> None:
    """Download what files come from, which is the same for all, and put them into their places."""
    first = files[0]
    if not first.recipe:
        _download(first.url, first.sha256, cache / first.path)
        return
    with tempfile.TemporaryDirectory() as folder:
        raw = _download(first.url, first.url_sha256, Path(folder) / "upstream").read_bytes()
    for file in files:
        with whole_file(cache / file.path) as part:
            part.write_bytes(_convert(raw, file))
            _check(part, file)


def _download(url: str, sha256: str, target: Path) -> Path:
    """Download a file with pooch: tried again if the connection breaks, checked, and whole or absent."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    known = {target.name: f"sha256:{sha256}" if sha256 else None}
    place = pooch.create(target.parent, "", registry=known, urls={target.name: url}, retry_if_failed=_RETRIES)
    return Path(place.fetch(target.name, downloader=pooch.HTTPDownloader(timeout=_SILENCE)))


def _obtain_archive(file: DataFile, cache: Path, bar: Any) -> None:
    """Download an archive, or the rest of it, into its place. What was downloaded stays if the download breaks off."""
    import requests

    part = cache / f"{file.path}.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    start = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    if start < file.size:
        with requests.get(file.url, stream=True, headers=headers, timeout=_SILENCE) as answer:
            answer.raise_for_status()
            with part.open("ab" if answer.status_code == 206 else "wb") as target:
                while chunk := answer.raw.read1(1_000_000):
                    target.write(chunk)
                    bar.update(target.tell() - bar.pos)
    _check(part, file)
    part.replace(cache / file.path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(found: Path, file: DataFile) -> None:
    if (actual := _sha256(found)) != file.sha256:
        found.unlink()
        raise ValueError(
            f"{file.path}: what {file.url} gives is not the registered file: expected sha256 {file.sha256}, found "
            f"{actual}. It was removed."
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
            return zipfile.ZipFile(io.BytesIO(raw)).read(argument)
        except (zipfile.BadZipFile, KeyError) as error:
            raise ValueError(f"{file.path}: {file.url} gives no zip archive with a member {argument!r}.") from error
    raise ValueError(f"{file.path}: the registry names an unknown recipe {file.recipe!r}.")


# -- the archive of mt-metrics-eval ----------------------------------------------------------

#: The files of a set and language pair: in some folders they lie in a folder of the pair, in others they begin with it.
_MEMBER = re.compile(
    r"mt-metrics-eval-v2/([^/.][^/]*)/(?:(?:metric-scores|system-outputs)/([^/.][^/]*)/[^/.][^/]*"
    r"|(?:documents|human-scores|references|sources)/([^/.]+)[^/]*)"
)


def _unpack(archive: Path, part: str) -> None:
    """Write the files of a set (``wmt24``), of a language pair (``wmt24/en-de``), or all of them, beside an archive.

    Human scores are written last, because a language pair counts as present if it has some. Raise `ValueError` if the
    archive has no such set or pair.
    """
    set_name, _, pair = part.partition("/")
    known: dict[str, set[str]] = {}
    last: dict[Path, bytes] = {}
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
            if place.parent.name == "human-scores":
                last[place] = tar.extractfile(member).read()
                continue
            with whole_file(place) as part, part.open("wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
    if set_name and set_name not in known:
        raise unknown("set of the archive", set_name, sorted(known))
    if pair and pair not in known[set_name]:
        raise unknown(f"language pair of {set_name}", pair, sorted(known[set_name]))
    for place, content in last.items():
        with whole_file(place) as part:
            part.write_bytes(content)
