"""The cache directory, files that are there whole or not at all, and what is never replaced."""

import os
from pathlib import Path

import pytest
from campaigns import refuses

from mtmeta._files import cache_dir, check_not_input, claim, data_dirs, whole_file


def test_folders_of_data(monkeypatch, tmp_path):
    monkeypatch.setenv("MTMETA_DATA", str(tmp_path))
    monkeypatch.setenv("MTMETA_CACHE", str(tmp_path / "cache"))
    assert list(data_dirs().values())[:2] == [tmp_path, tmp_path / "cache"]
    monkeypatch.delenv("MTMETA_CACHE")
    assert cache_dir().is_absolute()
    assert cache_dir().name == "mtmeta"


def test_what_is_raised_leaves_the_old_file(tmp_path):
    path = tmp_path / "new" / "file.txt"
    with whole_file(path) as part:
        part.write_text("old")
        assert (path.exists(), part.parent) == (False, path.parent)

    def write_half():
        with whole_file(path) as part:
            part.write_text("half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert (path.read_text(), list(path.parent.iterdir())) == ("old", [path])


def test_inputs_are_never_replaced_by_any_name(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    file, other = folder / "t.csv", tmp_path / "other.csv"
    for path in (file, other):
        path.write_text("mine")
    for name, make in (("soft", os.symlink), ("hard", os.link)):
        make(file, tmp_path / name)
    os.symlink(folder, tmp_path / "folder")
    for read, target in (
        (file, file), (file, tmp_path / "soft"), (file, tmp_path / "hard"), (file, folder), (file, tmp_path / "folder"),
        (folder, file), (tmp_path / "folder", tmp_path / "soft"),
    ):  # fmt: skip
        refuses("Refusing to write to .* the input", check_not_input, target, [other, read])
    check_not_input(other, [file, folder, tmp_path / "gone"])
    check_not_input(folder / "new.csv", [file, folder])


def test_a_folder_belongs_to_the_command_that_made_it(tmp_path):
    for _ in range(2):
        claim(tmp_path / "new", ".mtmeta-run")
    (tmp_path / "new" / "made").touch()
    claim(tmp_path / "new", ".mtmeta-run")
    refuses("it is not empty and has no file results.jsonl", claim, tmp_path / "new", "results.jsonl")
    assert [path.name for path in Path(tmp_path / "new").glob("results*")] == []
