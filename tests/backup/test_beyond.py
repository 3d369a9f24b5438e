"""Blobs are fetched from the replica: small ones in groups, large ones as streams, and damaged ones not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.backup import beyond
from svc.backup.beyond import SMALL_BYTES, Bringing
from svc.backup.litestream import ArchiveFault
from svc.nursery import ThreadPool
from svc.store import Blobs
from tests.replica.test_over_http import running

pytestmark = pytest.mark.wall_clock

SMALL = [b"%d" % number for number in range(50)]
LARGE = [bytes([number]) * (SMALL_BYTES * 3 + number) for number in range(3)]


@pytest.mark.thorough
async def test_all_come_home_but_what_is_missing_or_damaged(
    tmp_path: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beyond, "GROUP_BLOBS", 4)
    kept = Blobs.open(tmp_path / "kept", threads=threads)
    small, large = await kept.put_all(SMALL), await kept.put_all(LARGE)
    home = Blobs.open(tmp_path / "home", threads=threads)
    await home.put(SMALL[7])  # it was brought by a try before this one
    async with running(tmp_path / "there") as there:
        for ref in (*small, *large):
            await there.target().put(kept, ref)
        there.path(small[3].sha256).write_bytes(b"damaged")
        there.path(large[1].sha256).write_bytes(LARGE[1][:-1] + b"X")
        bringing = Bringing(there.target(), [*sorted(ref.sha256 for ref in (*small, *large)), "0" * 64], home)
        await bringing.run()
    lost = {small[3].sha256, large[1].sha256, "0" * 64}
    assert set(bringing.missing) == lost
    assert len(bringing.missing) == len(lost)
    for ref, content in zip((*small, *large), SMALL + LARGE, strict=True):
        if ref.sha256 in lost:
            assert await home.size(ref.sha256) is None
        else:
            assert await home.read(ref.sha256, limit=len(content)) == content


async def test_a_replica_that_does_not_answer_is_no_reason_to_call_anything_missing(
    tmp_path: Path, threads: ThreadPool
) -> None:
    home = Blobs.open(tmp_path / "home", threads=threads)
    async with running(tmp_path / "there") as there:
        target = there.target(token="wrong")
        with pytest.raises(ArchiveFault, match="The replica can't be used: it refuses the token"):
            await Bringing(target, ["0" * 64], home).run()
