"""How much memory a whole mailbox takes on its way in and out: as much as a part of it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.sizes import FLAT_MAILS, HANGS_S

pytestmark = pytest.mark.thorough

PART: Final = 8
NOISE_MIB: Final = 80
"""The database's caches, which fill up to their bounds of some 50 MiB, and what is given back to the system late."""


def entry(number: int) -> bytes:
    """A mail with some words of its own, as a list's archive has them; every tenth answers the one before."""
    answers = f"In-Reply-To: <m{number - 1}@mail.test>\n" if number % 10 == 0 else ""
    words = " ".join(f"word{(number * 31 + one) % 20_000}" for one in range(120))
    return (
        f"From bo@else.test Mon Nov  2 10:00:00 2026\nMessage-ID: <m{number}@mail.test>\n{answers}"
        f"From: Bo {number % 500} <bo{number % 500}@else.test>\nTo: mia@ternandtide.example\n"
        f"Date: Mon, 2 Nov 2026 10:00:00 +0000\nSubject: About {number}\n\n{words}\n\n"
    ).encode()


def box(mails: int) -> Iterator[bytes]:
    return map(entry, range(mails))


def peak_mib(directory: Path, *command: str) -> tuple[float, str]:
    """Of the program itself, without its workers; and what it said."""
    settings = {"SVC_HOME": str(directory / "home"), "SVC_MASTER_KEY_FILE": str(directory / "key")}
    program = subprocess.Popen(
        [sys.executable, "-c", _RUN, "mail", *command], env=os.environ | settings, stderr=subprocess.PIPE, text=True
    )
    _, said = program.communicate(timeout=HANGS_S * max(1, FLAT_MAILS // 2_000))
    assert program.returncode == 0, said
    found = re.search(r"VmHWM:\s+(\d+) kB", said)
    assert found is not None, said
    return int(found[1]) / 1_024, said


_RUN: Final = """
import sys
from svc.cli import main
done = main()
sys.stderr.write(open("/proc/self/status").read())
sys.exit(done)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells the peak of a process on Linux alone")
def test_a_mailbox_eight_times_as_large_takes_the_same_memory(tmp_path: Path) -> None:
    peaks: dict[int, list[float]] = {}
    for mails in (FLAT_MAILS // PART, FLAT_MAILS):
        directory = tmp_path / str(mails)
        directory.mkdir()
        with (directory / "old.mbox").open("wb") as file:
            file.writelines(box(mails))
        taken, said = peak_mib(directory, "import", str(directory / "old.mbox"))
        assert f"{mails:,} mails imported" in said
        given, said = peak_mib(directory, "export", str(directory / "out.mbox"))
        assert f"{mails:,} mails exported" in said
        with (directory / "out.mbox").open("rb") as file:
            assert sum(line.startswith(b"Subject: About ") for line in file) == mails
        peaks[mails] = [taken, given]
    few, all_ = peaks.values()
    for part, whole in zip(few, all_, strict=True):
        assert whole <= part + NOISE_MIB, peaks
