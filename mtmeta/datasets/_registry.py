"""The public data sets that can be fetched: their names, terms and files.

``registry/NAME.tsv`` lists the files of a set. Lines ``# key: text`` name the set, its licence and the publications to
cite. A line ``@ <tab> URL <tab> FOLDER`` opens a block: its files come from below ``URL`` and go below ``FOLDER`` in
the cache. Every other line is one file, tab-separated::

    sha256  bytes  path  [upstream path]  [recipe]  [sha256 of the upstream file]

The upstream path is given only if it differs from the path. A recipe makes the file from the download; the first sha256
is that of the resulting file. The recipe ``archive`` keeps the download, which may be continued, and unpacks what was
asked for.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .._names import unknown

REGISTRY = Path(__file__).with_name("registry")


@dataclass(frozen=True)
class DataFile:
    """One file of a set: its place, its size and checksum, and its origin."""

    path: str
    sha256: str
    size: int
    url: str
    recipe: str = ""
    url_sha256: str = ""


@dataclass(frozen=True)
class DataSet:
    """A set that can be fetched: its names, terms and files.

    Attributes
    ----------
    name, title : str
        The name that :func:`fetch` takes, and its full title.
    licence : str
        The licence seen upstream.
    restriction : str
        What the licence does not allow, or leaves open; empty if nothing was found.
    note : str
        Other things to know before downloading; may be empty.
    cite : tuple of str
        The publications to cite when using the set.
    files : tuple of DataFile
        The files, in the order in which they are downloaded.
    """

    name: str
    title: str
    licence: str
    restriction: str
    note: str
    cite: tuple[str, ...]
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """Bytes on disk of the whole set."""
        return sum(file.size for file in self.files)

    @property
    def is_archive(self) -> bool:
        """Whether the set is an archive, of which a part can be unpacked."""
        return self.files[0].recipe == "archive"


def available() -> dict[str, DataSet]:
    """Return the sets that can be fetched, by name.

    See Also
    --------
    fetch : download what is not there.
    load : load a set by name.

    Examples
    --------
    >>> sets = available()
    >>> sets["wmt23-sentinels"].licence
    'CC BY-NC-SA 4.0'
    >>> len(sets["wmt23"].files)
    480
    """
    return {path.stem: _read_registry(path) for path in sorted(REGISTRY.glob("*.tsv"))}


def missing(name: str, root: Path) -> list[str]:
    """List the files of a set that are not below ``root``, or have another size there.

    It looks at names and sizes, not at contents, so it is fast enough to ask before every load.

    Parameters
    ----------
    name : str
        Name of a set, as in :func:`available`.
    root : Path
        The cache, or a data directory of the same layout.

    Returns
    -------
    list of str
        Paths relative to ``root``; empty when the set is complete.
    """
    return [file.path for file in data_set(name).files if not is_there(Path(root) / file.path, file)]


def data_set(name: str) -> DataSet:
    """Return the set of this name, or the archive that has this part."""
    known = available()
    family = str(name).partition("/")[0]
    if name in known or (family in known and known[family].is_archive):
        return known[family]
    if family in known:
        raise ValueError(f"sets are fetched whole: ask for {family!r}, not {name!r}.")
    raise unknown("data set", name, list(known))


def _read_registry(path: Path) -> DataSet:
    about: dict[str, list[str]] = {}
    files, base, folder = [], "", ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            key, _, text = line[2:].partition(": ")
            about.setdefault(key, []).append(text)
        elif line.startswith("@\t"):
            _, base, folder = line.split("\t")
        else:
            sha256, size, name, upstream, recipe, url_sha256 = (line.split("\t") + [""] * 3)[:6]
            url = base + quote(upstream or name)
            files.append(DataFile(f"{folder}/{name}", sha256, int(size), url, recipe, url_sha256))
    one_line = {key: " ".join(about.get(key, [])) for key in ("title", "licence", "restriction", "note")}
    return DataSet(name=path.stem, cite=tuple(about.get("cite", [])), files=tuple(files), **one_line)


def is_there(path: Path, file: DataFile) -> bool:
    """Return whether a file of the registered size is there."""
    return path.is_file() and path.stat().st_size == file.size
