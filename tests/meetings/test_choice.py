"""The chosen recogniser is used."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.meetings import Recognisers
from svc.protocol.egress import EgressFault, EgressResponse
from svc.protocol.messages import Headers
from svc.workspace import Workspace
from tests.meetings.recorder import record, tone
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

SERVER = "http://127.0.0.1:8000"


class Outside:
    """The requests of the service to others. ``answers``: one for each call; without one the host can't be reached."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, str]]] = []
        self.answers: list[str] = []

    async def request(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, **_: Any) -> Any:
        self.calls.append((url, headers))
        if not self.answers:
            raise EgressFault("connect", f"POST {SERVER}: it refuses connections", may_have_happened=False)
        text = self.answers.pop(0)
        return EgressResponse(status=200, headers=Headers([]), body=json.dumps({"text": text}).encode())


def nobody_stands_in(workspace: Workspace) -> None:
    workspace.service(Recognisers).replace_all(None)


@pytest.fixture
def outside() -> Outside:
    return Outside()


@pytest.fixture
async def real(tmp_path: Path, wall: VirtualClock, log: RecordedLog, outside: Outside) -> AsyncIterator[Service]:
    """The service with the fakes, but for speech to text."""
    async with open_service(
        tmp_path, clock=wall, log=log, PROVIDERS="fake", egress=outside, before=nobody_stands_in
    ) as opened:
        yield opened


async def recorded(service: Service) -> Any:
    """A meeting of five seconds, when it is done."""
    recorder = await record(service)
    await recorder.say(*([tone(1)] * 5))
    await recorder.stop()
    await recorder.hear_to_the_end()
    return await service.query("meetings.get", id=recorder.meeting)


async def test_nobody_is_chosen_at_first_and_the_page_says_so(real: Service, outside: Outside) -> None:
    assert (await real.query("meetings.list"))["recogniser"] is None
    found = await recorded(real)
    assert "Nobody wrote this meeting down" in found["meeting"]["problem"]
    assert found["meeting"]["fileId"]
    assert outside.calls == []


async def test_a_transcription_server_is_asked_with_its_key_alone(real: Service, outside: Outside) -> None:
    await real.mutate("capabilities.set", name="stt", value="the vendor's")
    await real.mutate("meetings.choose", recogniser="server", serverUrl=SERVER)
    outside.answers = ["Good morning.", "Good night."]
    assert [line["text"] for line in (await recorded(real))["lines"]] == ["Good morning."]
    assert outside.calls[0][0] == f"{SERVER}/v1/audio/transcriptions"
    assert "authorization" not in outside.calls[0][1]
    await real.mutate("capabilities.set", name="stt.server", value="its own")
    await recorded(real)
    assert outside.calls[1][1]["authorization"] == "Bearer its own"


async def test_a_server_that_is_away_leaves_the_sound_and_a_sentence(real: Service, outside: Outside) -> None:
    await real.mutate("meetings.choose", recogniser="server", serverUrl=SERVER)
    found = await recorded(real)
    assert "The transcription server can't be asked: POST" in found["meeting"]["problem"]
    assert found["meeting"]["seconds"] == 5.0
    assert len(outside.calls) > 1


async def test_the_vendor_without_a_key_says_where_to_set_it(real: Service) -> None:
    await real.mutate("meetings.choose", recogniser="vendor")
    found = await recorded(real)
    assert "The speech-to-text service has no key" in found["meeting"]["problem"]
    assert (await real.query("meetings.list"))["recogniser"] == "The speech-to-text service"
