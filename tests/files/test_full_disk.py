"""A full disk: the whole service on a small one. What can't be kept is refused, and all else goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.full_disk import on_a_small_disk

pytestmark = pytest.mark.thorough

ON_A_SMALL_DISK = """
import json, os, sys
from pathlib import Path
import trio
from svc.clock import WallClock
from tests.files.uploads import kept, upload
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

async def main():
    clock = WallClock()
    async with open_service(Path(sys.argv[1]), clock=clock, log=RecordedLog(clock), PROVIDERS="fake") as service:
        small = await upload(service, b"small")
        big = await upload(service, os.urandom(16_000_000))
        temporary, blobs, recorded = await kept(service)
        after = await upload(service, b"as small")
        read = await service.get(f"/files/{small.json['id']}/content")
        print(json.dumps({
            "big": [big.status, big.json["code"]], "left": [temporary, len(blobs), len(recorded)],
            "small": [small.status, after.status, read.status], "ready": (await service.get("/readyz")).status,
        }))

trio.run(main)
"""


def test_an_upload_that_does_not_fit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    assert json.loads(on_a_small_disk(ON_A_SMALL_DISK, tmp_path, megabytes=8)) == {
        "big": [507, "insufficient_storage"],
        "left": [0, 1, 1],
        "small": [201, 201, 200],
        "ready": 200,
    }


SAYS_SO = """
import json, os, sys
from pathlib import Path
import trio
from svc.clock import WallClock
from svc.store.blobs import ROOM_BYTES
from tests.files.uploads import upload
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

async def main():
    clock = WallClock()
    home = Path(sys.argv[1])
    seen = []
    async with open_service(home, clock=clock, log=RecordedLog(clock), PROVIDERS="fake") as service:
        async def note(what, status=None):
            ready = await service.get("/readyz")
            seen.append([what, status, ready.status, ready.json["checks"]["database"]])

        await note("at first")
        await note("too large", (await upload(service, os.urandom(60_000_000))).status)
        await note("small", (await upload(service, b"small")).status)
        disk = os.statvfs(home)
        junk = home / "junk"
        junk.write_bytes(bytes(disk.f_bavail * disk.f_frsize - ROOM_BYTES + 1_000_000))
        await note("filled by others")
        await note("fits all the same", (await upload(service, b"as small")).status)
        junk.unlink()
        await note("room again")
        print(json.dumps(seen))

trio.run(main)
"""


def test_readiness_says_full_for_as_long_as_there_is_no_room_for_an_upload(tmp_path: Path) -> None:
    assert json.loads(on_a_small_disk(SAYS_SO, tmp_path, megabytes=40)) == [
        ["at first", None, 200, "ok"],
        ["too large", 507, 200, "full"],
        ["small", 201, 200, "ok"],
        ["filled by others", None, 200, "full"],
        ["fits all the same", 201, 200, "full"],
        ["room again", None, 200, "ok"],
    ]
