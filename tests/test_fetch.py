"""Downloading: a local server with a small made-up set, good and bad; the registry of the package."""

import io
import pickle
import re
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from campaigns import refuses
from servers import FILES, WHOLE, Server, sha256
from trees import make_tree

from mtmeta.datasets import _fetch, _registry
from mtmeta.datasets._fetch import fetch
from mtmeta.datasets._registry import available, missing

REGISTRY = _registry.REGISTRY


def tree(cache):
    """Return every file below ``cache``, hidden ones as well, with its content."""
    return {p.relative_to(cache).as_posix(): p.read_bytes() for p in Path(cache).rglob("*") if p.is_file()}


def test_a_set_is_fetched_once_and_what_was_cut_or_altered_there_again(server, tmp_path):
    cache = tmp_path / "cache"
    assert missing("small", cache) == list(WHOLE)
    server.faults["a/one.txt"] = "503 once"
    assert fetch("small", cache=cache) == cache
    assert tree(cache) == WHOLE
    assert sorted(server.requests) == sorted(["a/one.txt", *FILES])  # what passed is tried again
    assert missing("small", cache) == []
    server.requests.clear()
    fetch("small", cache=cache)
    assert server.requests == []
    (cache / "folder/a/one.txt").write_bytes(FILES["a/one.txt"][:1000])
    (cache / "folder/b/three.txt").write_bytes(FILES["b/three.txt"][:-1] + b"?")
    assert missing("small", cache) == ["folder/a/one.txt"]  # by size; the contents are for fetch to check
    fetch("small", cache=cache)
    assert tree(cache) == WHOLE
    assert server.requests == ["a/one.txt", "b/three.txt"]


@pytest.mark.parametrize(("fault", "error", "says"), [
    ("cut", ConnectionError, "Fetch 'small' again to continue"),
    ("flip", ValueError, f"(?s){sha256(FILES['b/three.txt'])}"),
])  # fmt: skip
def test_a_bad_download_leaves_what_was_there_and_the_next_call_completes(server, tmp_path, fault, error, says):
    cache, there = tmp_path / "cache", {"folder/b/three.txt": b"my own notes"}
    (cache / "folder/b").mkdir(parents=True)
    (cache / "folder/b/three.txt").write_bytes(b"my own notes")
    server.faults["b/three.txt"] = fault
    refuses(says, fetch, "small", cache=cache, error=error)
    assert tree(cache) == {path: WHOLE[path] for path in ("folder/a/one.txt", "folder/a/two+(zs).txt")} | there
    assert server.requests.count("b/three.txt") == 3
    server.faults.clear()
    server.requests.clear()
    fetch("small", cache=cache)
    assert tree(cache) == WHOLE
    assert server.requests == ["b/three.txt", "b/empty.txt"]


def test_recipes(serve, registry, tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        for name in "xyz":
            writer.writestr(f"in/{name}.csv", f"{name}\r\n")
    scores = pickle.dumps({"B": [0.5, -1.25e-05], "A": [1.0, 2.0]}, protocol=4)
    upstream = {
        "p/seg.pickle": scores,
        "full.run": b"2 Q0 d1 1 9 r\n2 Q0 d2 2 8 r\n2 Q0 d3 3 7 r\n1 Q0 d9 1 5 r\n2 Q0 d4 4 6 r\n",
        "ref.tsv": b'u1\tsome words\t["a"]\t["a", "b"]\nu2\tmore\t[]\t["c"]\n',
        "all.zip": archive.getvalue(),
    }
    recipes = {
        "S-src.seg.score": (b"B\t0.5\nB\t-1.25e-05\nA\t1.0\nA\t2.0\n", f"p/seg.pickle\tsentinel\t{sha256(scores)}"),
        "top.run": (b"2 Q0 d1 1 9 r\n2 Q0 d2 2 8 r\n1 Q0 d9 1 5 r\n", "full.run\ttop:2"),
        "ref.tsv": (b'u1\tsome words\t["a"]\nu2\tmore\t[]\n', "\tcolumns:3"),
        "x.csv": (b"x\r\n", "all.zip\tmember:in/x.csv"),
        "y.csv": (b"y\r\n", "all.zip\tmember:in/y.csv"),
    }
    server, made = serve(Server(upstream)), {name: content for name, (content, _) in recipes.items()}
    registry(server.url, [f"{sha256(c)}\t{len(c)}\t{name}\t{how}" for name, (c, how) in recipes.items()])
    cache = fetch("small", cache=tmp_path / "cache")
    assert tree(cache) == {f"folder/{name}": content for name, content in made.items()}
    assert server.requests == ["p/seg.pickle", "full.run", "ref.tsv", "all.zip"]

    (cache / "folder/S-src.seg.score").unlink()
    server.files["p/seg.pickle"] = pickle.dumps({"B": [0.5, 0.5]})
    refuses(f"expected sha256:{sha256(scores)}", fetch, "small", cache=cache)


# -- archives ------------------------------------------------------------------------------


ARCHIVE = "mt-metrics-eval-v2.tgz"


def archive(tmp_path) -> bytes:
    """Return an archive of the shape of mt-metrics-eval: two sets, three language pairs, and what no set needs."""
    for name, lp in (("wmt24", "en-de"), ("wmt24", "ja-zh"), ("wmt25", "en-sr_Cyrl_RS")):
        make_tree(tmp_path / "made" / name, lp)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(tmp_path / "made", "mt-metrics-eval-v2")
        for name in ("README.md", "wmt24/._sources/en-de.txt", "wmt24/sources/../../x.de.txt", "wmt24/other/en-de.txt"):
            add(tar, f"mt-metrics-eval-v2/{name}", b"x")
        add(tar, "/etc/mt-metrics-eval-v2/wmt24/sources/en-de.txt", b"x")
        link = tarfile.TarInfo("mt-metrics-eval-v2/wmt24/references/en-de.refZ.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return packed.getvalue()


def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


@pytest.fixture
def archived(serve, registry, tmp_path):
    """Serve an archive that is registered as the set ``small``."""
    content = archive(tmp_path)
    server = serve(Server({ARCHIVE: content}))
    registry(server.url, [f"{sha256(content)}\t{len(content)}\t{ARCHIVE}\t\tarchive"])
    return server


def unpacked(cache) -> set[str]:
    """Return the files of sets in a cache."""
    return {path for path in tree(cache) if "/wmt2" in path}


def files_of(tmp_path, *pairs) -> set[str]:
    """Return the files that the archive has for language pairs."""
    made = tmp_path / "made"
    return {f"folder/{p.relative_to(made)}" for p in made.rglob("*") if p.is_file() for lp in pairs if lp in str(p)}


def test_only_what_was_asked_for_is_unpacked(archived, tmp_path):
    cache = tmp_path / "cache"
    fetch("small/wmt24/en-de", cache=cache)
    assert unpacked(cache) == files_of(tmp_path, "wmt24/sources/en-de", *(f"wmt24/{f}/en-de" for f in FOLDERS))
    fetch("small/wmt24", cache=cache)
    assert unpacked(cache) == files_of(tmp_path, "wmt24")
    fetch("small", cache=cache)
    assert unpacked(cache) == files_of(tmp_path, "wmt24", "wmt25")
    assert all(
        content == (tmp_path / "made" / path[7:]).read_bytes()
        for path, content in tree(cache).items()
        if path in unpacked(cache)
    )
    assert archived.requests == [ARCHIVE]
    refuses("unknown set of the archive 'wmt26'. Did you mean 'wmt2", fetch, "small/wmt26", cache=cache)
    refuses("unknown language pair of wmt24 'de-en'.* 'en-de', 'ja-zh'", fetch, "small/wmt24/de-en", cache=cache)
    assert unpacked(cache) == files_of(tmp_path, "wmt24", "wmt25")


FOLDERS = ("documents", "human-scores", "metric-scores", "references", "system-outputs")


def test_the_download_of_an_archive_is_continued(archived, tmp_path):
    cache, size = tmp_path / "cache", len(archived.files[ARCHIVE])
    archived.faults[ARCHIVE] = "cut"
    refuses("IncompleteRead.*again to continue", fetch, "small", cache=cache, error=ConnectionError)
    assert archived.ranges == []
    had = (cache / f"folder/{ARCHIVE}.part").stat().st_size
    archived.faults.clear()
    fetch("small", cache=cache)
    assert archived.ranges == [(had, size - had)]
    assert tree(cache)[f"folder/{ARCHIVE}"] == archived.files[ARCHIVE]
    assert not (cache / f"folder/{ARCHIVE}.part").exists()


def test_an_altered_archive_is_not_unpacked_and_a_server_that_cannot_continue_gives_it_whole(archived, tmp_path):
    cache = tmp_path / "cache"
    archived.faults[ARCHIVE] = "flip"
    refuses("is not the registered file", fetch, "small", cache=cache)
    assert unpacked(cache) == set()
    assert not list(cache.rglob("*.tgz*"))
    (cache / f"folder/{ARCHIVE}.part").write_bytes(b"begun")
    archived.faults[ARCHIVE] = "whole"
    fetch("small", cache=cache)
    assert archived.ranges == []
    assert tree(cache)[f"folder/{ARCHIVE}"] == archived.files[ARCHIVE]


NAMES = sorted(path.stem for path in REGISTRY.glob("*.tsv"))


@pytest.mark.parametrize("name", NAMES)
def test_registry_is_well_formed_and_says_what_each_set_is(name):
    data_set = available()[name]
    hosts = r"raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}|files\.grouplens\.org|data\.statmt\.org"
    assert all(re.match(f"https://({hosts})/", file.url) for file in data_set.files)
    assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in data_set.files)
    paths = [file.path for file in data_set.files]
    assert len({path.casefold() for path in paths}) == len(paths) > 0  # distinct where case does not count, too
    for path in paths:
        assert not PurePosixPath(path).is_absolute()
        assert not {"..", ".", ""} & set(path.split("/")) | set('\\<>:"|?*') & set(path), path
    plain = [file.url for file in data_set.files if not file.recipe]
    assert len(set(plain)) == len(plain)
    assert all((file.recipe == "sentinel") == bool(file.url_sha256) for file in data_set.files)
    assert all([data_set.title, data_set.licence, data_set.cite, data_set.size])
    assert all(re.search(r"\(\d{4}\)\. ", cite) for cite in data_set.cite)
    assert data_set.restriction or not re.search("NC|none|terms of use", data_set.licence)


@pytest.mark.data
def test_sentinel_scores_are_made_byte_for_byte(data_dir):
    """The text beside each pickle was converted independently, when the data were gathered."""
    files = available()["wmt23-sentinels"].files
    assert len(files) == 18
    for file in files:
        pair, metric = file.url.split("/")[-3:-1]
        raw = (data_dir / "wmt23-sentinels" / "upstream" / pair / metric / "seg_scores.pickle").read_bytes()
        assert sha256(raw) == file.url_sha256
        assert _fetch._convert(raw, file) == (data_dir / file.path).read_bytes(), file.path
