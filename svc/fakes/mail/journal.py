"""The journal of the fake provider's world: one line of JSON per change, durable before anything is reported."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import msgspec

from svc.clock import Millis
from svc.store import disk_faults


class Entry(msgspec.Struct, omit_defaults=True):
    """One line of the journal: the change, with every choice (ids, times) already made."""

    op: str
    address: str = ""
    id: str = ""
    thread: str = ""
    labels: list[str] = []
    remove: list[str] = []
    ids: list[str] = []
    name: str = ""
    color: str = ""
    at: Millis = 0
    raw: str = ""


def b64(raw: bytes) -> str:
    """Bytes in the form of an entry."""
    return base64.b64encode(raw).decode()


def read(path: Path) -> list[Entry]:
    """All entries of the journal."""
    return [msgspec.json.decode(line, type=Entry) for line in lines(path)]


def lines(path: Path) -> list[bytes]:
    """The lines of any journal. A last line that a crash cut off is dropped: it was never reported."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) != len(data):
        os.truncate(path, len(whole))
    return whole.splitlines()


def append(path: Path, line: bytes) -> None:
    """Append one line, durably. If the disk becomes full during the write, nothing of the line stays."""
    new = not path.exists()
    with disk_faults(), path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            left = memoryview(line)
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)  # else the next line would follow half a line, and no boot could read it
            raise
    if new:
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
