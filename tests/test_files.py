"""The cache directory, and files that are there whole or not at all."""

import pytest

from mtmeta._files import cache_dir, whole_file


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
