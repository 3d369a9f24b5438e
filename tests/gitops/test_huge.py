"""Repositories of extreme size: a file of a gigabyte, and a hundred thousand files."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.gitops.git.reading import MAX_FILES
from tests.gitops.followed import following, looked, page, paths, status
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog
from tests.sizes import SOAK

pytestmark = [
    pytest.mark.wall_clock,
    pytest.mark.skipif(not SOAK, reason="repositories of a gigabyte are tried with SVC_SOAK=1"),
]

GIGABYTE = 1024 * 1024 * 1024
GOOD = {"pages/good.md": "good"}


async def test_a_file_of_a_gigabyte_is_named_and_never_read(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(GIGABYTE)
    blob = upstream.git("hash-object", "-w", str(large)).decode().strip()
    good = upstream.put_blob(b"good")
    tree = b"100644 blob " + good.encode() + b"\tgood.md\0" + b"100644 blob " + blob.encode() + b"\tlarge.md\0"
    upstream.point_at(upstream.put_tree(b"040000 tree " + upstream.put_tree(tree).encode() + b"\tpages\0"))
    before = _peak_kib()
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert (await page(service, "good"))["body"] == "good"
        assert [problem["file"] for problem in (await status(service))["problems"]] == ["pages/large.md"]
    assert _peak_kib() - before < 512 * 1024


async def test_a_hundred_thousand_files_are_too_many_and_nothing_changes(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({f"pages/{n % 100}/{n}.md": f"page {n}" for n in range(100_000)})
        assert f"more than {MAX_FILES}" in (await looked(service))["problem"].replace(",", "")
        assert await paths(service) == ["good"]


def _peak_kib() -> int:
    """The most memory that this process ever had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])
