"""The sets of plugins on disk: a switch is complete or does not happen, and anything but a file is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from svc.plugins import sets as sets_module
from svc.plugins.sets import BadSet, Record, Sets, check_tree

RECORD = Record(wanted=("a@1",), registry="https://registry.example")
ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_a_crash_at_any_step_of_a_switch_leaves_the_old_set_or_the_new_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.plugins.dying_sets", str(tmp_path / "plugins")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    killed, new = map(int, done.stdout.split())
    assert killed > 20
    assert 0 < new < killed


def test_where_nothing_was_installed_nothing_holds(tmp_path: Path) -> None:
    sets = Sets(tmp_path / "plugins")
    sets.clean_up()
    sets.clear()
    assert sets.current() is None
    assert not sets.root.exists()


@pytest.mark.parametrize("text", [b"", b"set-none", b"../evil", b"set-a/../../evil", b"\xff", b"making-a"])
def test_a_damaged_name_of_the_set_counts_as_none(tmp_path: Path, text: bytes) -> None:
    sets = Sets(tmp_path / "plugins")
    sets.switch(sets.begin(), RECORD)
    (sets.root / "current").write_bytes(text)
    assert sets.current() is None
    sets.clean_up()
    assert [path.name for path in sets.root.iterdir()] == ["current"]


def test_a_set_that_is_cleared_is_gone(tmp_path: Path) -> None:
    sets = Sets(tmp_path / "plugins")
    held = sets.switch(sets.begin(), RECORD)
    assert sets.current() == held
    sets.clear()
    assert sets.current() is None
    assert list(sets.root.iterdir()) == []


def test_a_link_left_in_the_folder_is_removed_and_not_followed(tmp_path: Path) -> None:
    sets = Sets(tmp_path / "plugins")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    sets.switch(sets.begin(), RECORD)
    (sets.root / "making-x").symlink_to(precious)
    sets.clean_up()
    assert (precious / "file").read_text() == "kept"
    assert not (sets.root / "making-x").is_symlink()


def test_what_is_no_file_and_no_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("")
    check_tree(tmp_path)
    (tmp_path / "a" / "link").symlink_to("/etc/passwd")
    with pytest.raises(BadSet, match="a/link is neither a file nor a folder"):
        check_tree(tmp_path)
    (tmp_path / "a" / "link").unlink()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadSet, match="pipe is neither"):
        check_tree(tmp_path)


def test_a_set_has_its_bounds(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(sets_module.MAX_BYTES + 1)
    with pytest.raises(BadSet, match="take more than"):
        check_tree(tmp_path)
