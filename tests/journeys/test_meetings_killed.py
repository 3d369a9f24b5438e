"""The service is killed in the middle of a meeting: its sound and its text are there, and its page is made."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path
from typing import Any

import pytest
import trio
from trio_websocket import open_websocket_url

from tests.meetings.recorder import SECOND, tone
from tests.sizes import HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = pytest.mark.journey

BLOCK = SECOND // 10
SAID_S = 8


async def record_until_killed(service: ServiceProcess) -> tuple[str, int, list[Any]]:
    """Speaks until eight seconds are safe, and then on while the process dies. Its id, how much was said to be safe,
    and what was heard."""
    sound, finals, kept, sent = tone(30), [], 0, 0
    with trio.fail_after(HANGS_S):
        async with open_websocket_url(f"ws://127.0.0.1:{service.port}/meetings/audio?title=Board") as socket:
            meeting = json.loads(await socket.get_message())["meeting"]
            while kept < SAID_S * SECOND:
                if sent < SAID_S * SECOND:
                    await socket.send_message(sound[sent : sent + BLOCK])
                    sent += BLOCK
                    continue
                frame = json.loads(await socket.get_message())
                kept = frame.get("received", kept)
                finals += [frame["text"]] if frame["type"] == "final" else []
            for _ in range(15):
                await socket.send_message(sound[sent : sent + BLOCK])
                sent += BLOCK
            service.kill()
            return meeting, kept, finals
    raise AssertionError("never here")


def test_all_that_was_safe_is_there_after_the_next_start(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as service:
        service.start(PROVIDERS="fake")
        meeting, kept, finals = trio.run(record_until_killed, service)
        service.start(PROVIDERS="fake")
        until(
            lambda: service.query("meetings.get", id=meeting)["meeting"]["state"] == "done",
            what="the meeting to be finished",
            deadline_s=HANGS_S,
            tell=service.log,
        )
        found = service.query("meetings.get", id=meeting)
        reply = service.request("GET", f"/files/{found['meeting']['fileId']}/content")
        with wave.open(io.BytesIO(reply.body)) as file:
            data = file.readframes(file.getnframes())
        assert len(data) >= kept
        assert data == tone(30)[: len(data)]
        texts = [line["text"] for line in found["lines"]]
        assert texts[: len(finals)] == finals
        assert len({line["start"] for line in found["lines"]}) == len(texts)
        assert found["lines"][-1]["end"] >= SAID_S
        page = service.query("pages.get", path=found["meeting"]["path"])
        assert "#t=4) **Speaker" in page["body"]
        assert not any((service.home / "spool" / "meetings").iterdir())
        assert service.command("fsck").stdout == "ok\n"
        assert service.stop() == 0
