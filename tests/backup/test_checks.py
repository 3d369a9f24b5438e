"""What anybody may read at ``/readyz`` of what is wrong with the archive."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from svc.backup.archive import Part
from svc.backup.checks import CHECKS
from svc.backup.settings import FILE, PREFIXES
from svc.check import CheckContext
from svc.clock import VirtualClock
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
