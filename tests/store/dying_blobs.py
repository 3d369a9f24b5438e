"""``python -m tests.store.dying_blobs ROOT WHAT``: the blob tree, killed at every step that it does in the file system.

A step is what Python's audit hooks tell of: a file opened, renamed, removed, touched, a directory made or removed. For
each of them a child of its own does the work and kills itself there with ``kill -9``; then it is read what is left. It
prints how many were killed, once a child came through.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

from svc.nursery import ThreadPool
from svc.store import Blobs

STEPS: Final = frozenset({"open", "os.rename", "os.remove", "os.utime", "os.mkdir", "os.rmdir"})
CONTENTS: Final = tuple(b"content %d" % number for number in range(3))


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def old_place(root: Path, name: str) -> Path:
    return root / name[:2] / name[2:4] / name


def lay(root: Path, what: str) -> None:
    """The tree before: damaged at the new place, or whole at the old one."""
    shutil.rmtree(root, ignore_errors=True)
    for content in CONTENTS:
        name = name_of(content)
        path = root / name[:2] / name if what == "mend" else old_place(root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[:-1] + b"!" if what == "mend" else content)


def work(root: Path, what: str) -> None:
    blobs = Blobs.open(root, threads=ThreadPool(limit=1, name="test"))
    if what == "mend":
        blobs.suspects.recall((name_of(content), "altered") for content in CONTENTS)
        blobs.put_all_now(CONTENTS)
    else:
        blobs.settle(map(name_of, CONTENTS))


def die_at(step: int, root: Path) -> None:
    seen = 0

    def hook(event: str, details: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS and str(details[0]).startswith(str(root)):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def check(root: Path, what: str) -> None:
    """Old or new, and nothing between; the next process completes it."""
    for content in CONTENTS:
        name = name_of(content)
        found = [path.read_bytes() for path in (root / name[:2] / name, old_place(root, name)) if path.exists()]
        allowed = [[content], [content[:-1] + b"!"]] if what == "mend" else [[content]]
        assert found in allowed, (name, found)
    work(root, what)
    after = Blobs.open(root, threads=ThreadPool(limit=1, name="test"))
    assert list(after.each_sha()) == sorted(map(name_of, CONTENTS))
    assert all(map(after.is_sound, map(name_of, CONTENTS)))
    assert list((root / ".incoming").iterdir()) == []


def main(root: Path, what: str) -> int:
    step = 0
    while True:
        step += 1
        lay(root, what)
        child = os.fork()
        if child == 0:
            die_at(step, root)
            work(root, what)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        check(root, what)
        if not os.WIFSIGNALED(status):
            assert os.waitstatus_to_exitcode(status) == 0
            return step - 1


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2]))
