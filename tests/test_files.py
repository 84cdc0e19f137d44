"""The cache directory, and files that are there whole or not at all."""

import os
import shutil
import time
from pathlib import Path

import pytest
from campaigns import refuses

from mtmeta._files import cache_dir, claimed, data_dirs, is_own, keep, noted, tidy, whole_file


def test_without_a_home_nothing_is_cached(monkeypatch, tmp_path):
    pwd = pytest.importorskip("pwd")

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME", "MTMETA_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    assert data_dirs() == {"$MTMETA_DATA": tmp_path, "the cache": Path(os.devnull)}
    with pytest.raises(OSError, match=r"."), whole_file(cache_dir() / "kept" / "file.txt"):
        pass


@pytest.mark.parametrize("error", [KeyboardInterrupt, FileNotFoundError])
def test_what_is_raised_or_taken_away_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "new" / "file.txt"
    with whole_file(path) as part:
        part.write_text("old")
        assert (path.exists(), part.parent) == (False, path.parent)

    def write_half():
        with whole_file(path) as part:
            part.write_text("half of")
            if error is KeyboardInterrupt:
                raise error
            os.utime(part, (0, 0))
            tidy(path.parent)

    with pytest.raises(error):
        write_half()
    assert (path.read_text(), list(path.parent.iterdir())) == ("old", [path])


def test_writers_have_places_of_their_own_and_what_killed_ones_left_goes_after_a_day(tmp_path):
    ages = {f".{'0' * 32}.part": 90_000, f".{'1' * 32}.part": 80_000, f".{'2' * 32}.part": -90_000, "3.part": 90_000}
    for name, age in ages.items():
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    path = tmp_path / "file.txt"
    with whole_file(path) as first, whole_file(path) as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    assert path.read_text() == "1"  # the outer one ends last
    # others may still be written to, are of another clock, or are not ours
    assert {p.name for p in tmp_path.iterdir()} == {"file.txt", *list(ages)[1:]}


def test_tidying_follows_no_link_and_leaves_folders(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    os.utime(tmp_path / "mine.txt", (0, 0))
    folder = tmp_path / "cache"
    (folder / f".{'0' * 32}.part").mkdir(parents=True)
    os.utime(folder / f".{'0' * 32}.part", (0, 0))
    (folder / f".{'1' * 32}.part").symlink_to(tmp_path / "mine.txt")
    tidy(folder)
    tidy(tmp_path / "gone")
    assert ((tmp_path / "mine.txt").read_text(), len(list(folder.iterdir()))) == ("mine", 2)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def note(path, text):
    with noted(path) as part:
        part.write_text(text)


def test_a_file_is_known_until_it_is_changed_or_moved_if_there_is_a_cache(cache, tmp_path):
    path, copy = tmp_path / "t.tsv", tmp_path / "copy.tsv"
    path.write_text("of others")
    assert not is_own(path)
    for text in ("1", "2", "2"):
        note(path, text)
        assert is_own(path)
    assert len(list((cache / "written").iterdir())) == 1  # what it was before is forgotten
    copy.write_text("2")
    assert not is_own(copy)
    path.write_text("2!")
    assert not is_own(path)
    path.write_text("")
    assert is_own(path)  # there is nothing to lose
    shutil.rmtree(cache)
    cache.write_text("a file, where a folder should be")
    note(path, "1")
    assert (path.read_text(), is_own(path)) == ("1", False)


def test_what_is_read_is_kept_by_any_name(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("mine")
    (tmp_path / "other.csv").write_text("other")
    for name, make in (("soft", os.symlink), ("hard", os.link)):
        make(tmp_path / "in" / "t.csv", tmp_path / name)
    os.symlink(tmp_path / "in", tmp_path / "folder")
    file, folder = tmp_path / "in" / "t.csv", tmp_path / "in"
    for read, target in (
        (file, file), (file, tmp_path / "soft"), (file, tmp_path / "hard"), (tmp_path / "hard", tmp_path / "soft"),
        (file, folder), (file, tmp_path / "folder"),  # what holds it
        (folder, file), (tmp_path / "folder", tmp_path / "soft"),  # a part of it
    ):  # fmt: skip
        refuses("no input is replaced", keep, [tmp_path / "other.csv", read], target)
    keep([file, folder, tmp_path / "gone"], tmp_path / "other.csv")
    keep([file, folder], folder / "new.csv")


def test_a_folder_is_of_the_command_that_made_it(tmp_path):
    (tmp_path / "mine.csv").touch()
    with claimed(tmp_path, "run", ["made"]):
        (tmp_path / "made").touch()
    with claimed(tmp_path, "run", ["made"]):
        pass
    for makes in (["made"], ["other", "mine.csv"]):
        refuses(f"holds {makes[-1]}, which no sweep has made", claimed(tmp_path, "sweep", makes).__enter__)
    assert not (tmp_path / ".mtmeta-sweep").exists()
    with claimed(tmp_path, "sweep", ["mine.csv"], force=True):
        pass
    with claimed(tmp_path, "sweep", ["mine.csv"]), pytest.raises(ValueError, match="another sweep is writing to"):
        claimed(tmp_path, "sweep", ["mine.csv"]).__enter__()
