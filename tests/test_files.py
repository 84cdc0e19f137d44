"""The cache directory, and files that are there whole or not at all."""

import os
import time

import pytest

from mtmeta._files import cache_dir, tidy, whole_file


def test_cache_dir(monkeypatch, tmp_path):
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path
    monkeypatch.delenv("MTMETA_CACHE")
    assert cache_dir().name == "mtmeta"


def test_a_file_appears_at_the_end(tmp_path):
    path = tmp_path / "new" / "file.txt"
    with whole_file(path) as part:
        part.write_text("all of it")
        assert not path.exists()
        assert part.parent == path.parent
    assert path.read_text() == "all of it"
    assert list(path.parent.iterdir()) == [path]


def test_what_was_raised_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half():
        with whole_file(path) as part:
            part.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_writers_have_places_of_their_own(tmp_path):
    path = tmp_path / "file.txt"
    with whole_file(path) as first, whole_file(path) as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    assert path.read_text() == "1"  # the outer one ends last


def test_what_killed_writers_left_is_removed_after_a_day(tmp_path):
    ages = {f".{'0' * 32}.part": 90_000, f".{'1' * 32}.part": 80_000, f".{'2' * 32}.part": -90_000, "3.part": 90_000}
    for name, age in ages.items():
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    with whole_file(tmp_path / "file.txt") as part:
        part.write_text("all of it")
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
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert len(list(folder.iterdir())) == 2


def test_a_place_that_was_taken_away_is_an_error_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def lose():
        with whole_file(path) as part:
            part.write_text("new")
            os.utime(part, (0, 0))
            tidy(tmp_path)

    with pytest.raises(FileNotFoundError):
        lose()
    assert path.read_text() == "old"
