"""What ``/readyz``, which everybody may read, says about problems of the archive."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from svc.backup.archive import Part
from svc.backup.checks import CHECKS
from svc.backup.settings import FILE, PREFIXES
from svc.backup.target import Place, is_on_the_same_disk, place_of
from svc.check import CheckContext
from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.store import Home
from tests.backup.archives import archive_of


@pytest.mark.parametrize(
    ("part", "public"),
    [
        ("archiver", "not archived"),
        ("base backup", "no base backup"),
        ("archive check", "not whole"),
        ("drill", "restore test failed"),
    ],
)
async def test_each_problem_is_told_as_what_it_is(tmp_path: Path, wall: VirtualClock, part: Part, public: str) -> None:
    archive = archive_of(tmp_path, wall)
    archive.recall(part, "it did not end")
    backup = SimpleNamespace(parts=SimpleNamespace(archive=archive))
    context = SimpleNamespace(
        config={**dict.fromkeys(PREFIXES), FILE: archive.target.place},
        workspace=SimpleNamespace(service=lambda kind: backup),
    )
    (found,) = await CHECKS[0].run(cast(CheckContext, context))
    assert (found.public, found.detail) == (public, "It did not end")


@pytest.mark.parametrize("runs", [False, True])
async def test_a_folder_on_the_disk_of_the_home_is_told_and_another_disk_is_not(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool, runs: bool
) -> None:
    archive = archive_of(tmp_path, wall)

    async def told(place: Place) -> tuple[str, str]:
        archive.is_on_the_same_disk = is_on_the_same_disk(place, Home.database_of(tmp_path / "home"))
        backup = SimpleNamespace(parts=SimpleNamespace(archive=archive))
        context = SimpleNamespace(
            config={**dict.fromkeys(PREFIXES), FILE: place},
            threads=threads,
            home=tmp_path / "home",
            workspace=SimpleNamespace(service=lambda kind: backup) if runs else None,
        )
        (found,) = await CHECKS[1].run(cast(CheckContext, context))
        return found.state, found.detail

    assert await told(archive.target.place) == (
        "warning",
        f"The archive {archive.target.place} is on the disk of the home: if that disk fails, both are lost",
    )
    state, _ = await told(place_of("file", "/proc/self/not-there"))
    assert state == "ok"
    assert not is_on_the_same_disk(place_of("s3", "s3://box/there"), tmp_path / "db")
