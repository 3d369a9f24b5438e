"""``python -m tests.plugins.dying_sets ROOT``: a switch of sets, killed at every step that it does in the file system.

A step is what Python's audit hooks tell of. For each of them a child of its own switches from the old set to a new one
and kills itself there with ``kill -9``; then it is read what holds. It prints how many were killed and how many of them
left the new set.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

from svc.plugins.sets import Record, Sets

STEPS: Final = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.scandir", "shutil.rmtree"})
OLD: Final = Record(wanted=("a@1",), registry="https://registry.example")
NEW: Final = Record(wanted=("a@2",), registry="https://registry.example")


def make(sets: Sets, record: Record) -> None:
    made = sets.begin()
    for number in range(3):
        folder = made / "node_modules" / f"p{number}"
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(record.wanted[0])
    sets.switch(made, record)


def die_at(step: int, root: Path) -> None:
    seen = 0

    def hook(event: str, details: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS and str(details[0]).startswith(str(root)):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def check(root: Path) -> bool:
    """The old set holds, or the new one, and it is whole; and nothing else is left for long. Whether it is the new."""
    sets = Sets(root)
    held = sets.current()
    assert held is not None, "no set holds"
    texts = [(held.path / "node_modules" / f"p{number}" / "package.json").read_text() for number in range(3)]
    assert texts == [held.record.wanted[0]] * 3
    sets.clean_up()
    assert sorted(path.name for path in root.iterdir()) == sorted(["current", held.path.name])
    assert sets.current() == held
    return held.record == NEW


def main(root: Path) -> str:
    step = new = 0
    while True:
        step += 1
        shutil.rmtree(root, ignore_errors=True)
        make(Sets(root), OLD)
        child = os.fork()
        if child == 0:
            die_at(step, root)
            make(Sets(root), NEW)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        new += check(root)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            return f"{step - 1} {new - 1}"


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
