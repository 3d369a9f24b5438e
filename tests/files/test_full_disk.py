"""A full disk: the whole service on a small one. What can't be kept is refused, and all else goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.harness import ROOT

# In a mount namespace of its own, which ends with the process: a disk of eight megabytes.
ON_A_SMALL_DISK = """
import json, os, sys
from pathlib import Path
import trio
from svc.clock import WallClock
from tests.files.uploads import kept, upload
from tests.recorded_log import RecordedLog
from tests.service import open_service

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
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=8m tmpfs "$1" && shift && exec "$@"'
    if subprocess.run([*namespace, "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system gives no user namespace to mount a small disk in")
    command = [*namespace, mount, "sh", str(tmp_path), sys.executable, "-c", ON_A_SMALL_DISK, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "big": [507, "insufficient_storage"],
        "left": [0, 1, 1],
        "small": [201, 201, 200],
        "ready": 200,
    }
