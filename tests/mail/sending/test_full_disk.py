"""A disk without room for an outgoing mail: the mail says so itself, is not lost, and goes once there is room."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.full_disk import limit_pages
from tests.mail.sending.mailer import Mailer
from tests.support.process import ROOT

pytestmark = pytest.mark.thorough

LONG = "<p>" + "A long letter. " * 4_000 + "</p>"


async def test_a_mail_that_finds_no_room_says_so_and_goes_when_there_is_some(mailer: Mailer) -> None:
    answer = await mailer.send(html=LONG)
    await mailer.service.workspace.store.write(limit_pages, 0)
    await trio.sleep(120)
    row = await mailer.outgoing(answer["outgoingId"])
    assert (row["state"], row["attempts"]) in {("held", 0), ("scheduled", 0)}
    assert "The disk is full" in row["lastError"]
    assert mailer.accepted() == []

    await mailer.service.workspace.store.write(limit_pages, None)
    row = await mailer.until(answer["outgoingId"], "sent", within_s=300)
    assert row["lastError"] is None
    assert len(mailer.accepted()) == 1
    assert await mailer.problems() == []


# In a mount namespace of its own, which ends with the process: 200 KB for all that is stored beside the database.
WITH_LITTLE_ROOM = """
import json, sys
from pathlib import Path
import trio
from svc.clock import WallClock, rfc3339
from tests.mail.sending.mailer import mailer_of
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

async def main():
    clock = WallClock()
    settings = {"PROVIDERS": "fake", "SVC_UNDO_SEND_SECONDS": "0"}
    async with open_service(Path(sys.argv[1]), clock=clock, log=RecordedLog(clock), **settings) as service:
        mailer = await mailer_of(service)
        answer = await mailer.send(html="<p>" + "A long letter. " * 20_000 + "</p>")
        row = await mailer.outgoing(answer["outgoingId"])
        later = row["nextAttemptAt"] > rfc3339(clock.now())
        print(json.dumps([row["state"], row["attempts"], later, row["lastError"], len(mailer.accepted())]))

trio.run(main)
"""


def test_a_mail_whose_bytes_find_no_room_says_so(tmp_path: Path) -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*namespace, "mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system gives no user namespace to mount a small disk in")
    (tmp_path / "home" / "blobs").mkdir(parents=True)
    mount = 'mount -t tmpfs -o size=200k tmpfs "$1"/home/blobs && shift && exec "$@"'
    command = [*namespace, mount, "sh", str(tmp_path), sys.executable, "-c", WITH_LITTLE_ROOM, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    state, attempts, later, error, accepted = json.loads(result.stdout)
    assert (state, attempts, later, accepted) == ("scheduled", 0, True, 0)
    assert "The disk is full" in error
