"""``/meetings/audio`` as a recorder sees it: sound goes in, text comes out, and in the end there is a page."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.meetings import Heard, Recognisers, Sound, Tell
from svc.meetings.live import LINK_LOST, NO_SOUND, TOO_LONG, Meetings
from svc.meetings.model import (
    MAX_AHEAD_S,
    MAX_FRAME_BYTES,
    MAX_OF_ONE,
    MAX_SILENT_S,
    RESUME_S,
)
from svc.meetings.recognisers.seam import RecogniserFault
from svc.meetings.writing_down import TRIES_AT_THE_END
from svc.surface import Surface
from tests.identity.people import Person, sign_in
from tests.meetings.recorder import SECOND, opus_packet, quiet, record, tone
from tests.protocol.socket_client import KEY
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, Service, open_service

LONGEST_S = 700.0


async def meeting_of(service: Service, meeting_id: str) -> Any:
    return await service.query("meetings.get", id=meeting_id)


async def sound_of(service: Service, file_id: str) -> bytes:
    return (await service.get(f"/files/{file_id}/content")).body


async def page_of(service: Service, path: str) -> Any:
    return await service.query("pages.get", path=path)


class Listening:
    """A recogniser that a test drives."""

    title = "The test"

    def __init__(self, *faults: RecogniserFault) -> None:
        self.faults = list(faults)
        self.heard = bytearray()
        self.starts: list[int] = []

    async def listen(self, sound: Sound, tell: Tell) -> None:
        self.starts.append(len(self.heard))
        listened = bytearray()
        while (pieces := await sound.next()) is not None:
            listened += b"".join(pieces)
            if self.faults and len(listened) >= SECOND:
                await tell(Heard(text="so far", start=0.0, end=1.0, final=True))
                raise self.faults.pop(0)
        self.heard += listened
        if listened:
            await tell(Heard(text="the rest", start=0.0, end=len(listened) / SECOND, final=True))


def listens(service: Service, recogniser: Any) -> None:
    service.workspace.service(Recognisers).replace_all(recogniser)


async def test_what_is_said_comes_as_text_and_is_a_file_and_a_page_in_the_end(service: Service) -> None:
    recorder = await record(service, "title=Weekly%20%5Bferry%5D&format=pcm16&rate=16000")
    sound = tone(6.5)
    for at in range(0, len(sound), 3_200):
        await recorder.say(sound[at : at + 3_200])
    first = await recorder.hear("final")
    assert first == {
        "type": "final",
        "text": "We begin on time.",
        "start": 0.0,
        "end": 4.0,
        "speaker": "Speaker 1",
    }
    await recorder.stop()
    frames = await recorder.hear_to_the_end()
    assert {"type": "partial", "text": "The"} in frames
    assert frames[-2]["text"] == "The ferry"
    done = frames[-1]
    assert done["path"] == "meetings/2026-10-27-weekly-ferry"
    assert await recorder.socket.closed() == 1000
    with wave.open(io.BytesIO(await sound_of(service, done["fileId"]))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert file.readframes(1_000_000) == sound
    page = await page_of(service, done["path"])
    assert page["title"] == "Weekly [ferry]"
    assert f"[0:04](/files/{done['fileId']}/content#t=4) **Speaker 2:** The ferry" in page["body"]
    found = await meeting_of(service, recorder.meeting)
    assert found["meeting"] == {
        "id": recorder.meeting,
        "title": "Weekly [ferry]",
        "state": "done",
        "startedAt": "2026-10-27T08:00:00.000Z",
        "endedAt": found["meeting"]["endedAt"],
        "seconds": 6.5,
        "fileId": done["fileId"],
        "path": done["path"],
        "problem": "",
    }
    assert [line["text"] for line in found["lines"]] == ["We begin on time.", "The ferry"]
    assert not any((service.workspace.home.spool / "meetings").iterdir())


async def test_opus_packets_are_an_ogg_file_in_the_end(service: Service) -> None:
    recorder = await record(service, "format=opus&rate=48000")
    await recorder.say(*(opus_packet(number) for number in range(60)))
    await recorder.stop()
    done = (await recorder.hear_to_the_end())[-1]
    data = await sound_of(service, done["fileId"])
    assert data.startswith(b"OggS")
    assert data.count(b"OggS") == 4
    assert opus_packet(59) in data
    assert (await meeting_of(service, recorder.meeting))["meeting"]["seconds"] == 1.2


@pytest.mark.parametrize(
    "query",
    [
        "format=mp3",
        "rate=7999",
        "rate=48001",
        "rate=x",
        "rate=-1",
        f"title={'x' * 161}",
        "title=%00",
        "title=%ff",
        "title=a&meeting=%c3",
        "title=a%E2%80%A8b",
    ],
)
async def test_an_address_that_means_nothing_is_refused_before_the_handshake(service: Service, query: str) -> None:
    socket = await service.socket(f"/meetings/audio?{query}")
    if query == "title=a%E2%80%A8b":
        assert socket.status == 101  # a line separator is a blank, like any
        return
    assert socket.status == 400
    assert (await service.query("meetings.list"))["meetings"] == []


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("title=%00", "A title has at most 160 characters, and no control characters."),
        ("title=%ff", "The query is not UTF-8."),
    ],
)
async def test_a_title_that_can_be_none_is_refused_with_the_reason(service: Service, query: str, detail: str) -> None:
    upgrade = {"upgrade": "websocket", "sec-websocket-key": KEY, "sec-websocket-version": "13"}
    reply = await service.ask("GET", f"/meetings/audio?{query}", fields={**upgrade, "connection": "Upgrade"})
    assert (reply.status, reply.json["detail"]) == (400, detail)


async def test_a_frame_that_means_nothing_is_answered_and_survived(service: Service) -> None:
    recorder = await record(service)
    for garbage in ("", "{}", '{"type":"go"}', "[" * 10_000):
        await recorder.socket.client.say(garbage)
        assert (await recorder.hear("error"))["code"] == "invalid"
    await recorder.say(tone(1))
    await recorder.stop()
    assert (await recorder.hear_to_the_end())[-1]["fileId"]


async def test_a_meeting_without_a_sound_leaves_nothing(service: Service) -> None:
    recorder = await record(service)
    await recorder.stop()
    assert await recorder.hear_to_the_end() == [{"type": "done", "fileId": None, "path": None}]
    assert (await service.query("meetings.list"))["meetings"] == []


@pytest.mark.parametrize(("query", "frame"), [("", b"\0" * (MAX_FRAME_BYTES + 1)), ("format=opus", b"")])
async def test_a_frame_that_is_no_sound_closes_the_socket_and_keeps_what_came_before(
    service: Service, query: str, frame: bytes
) -> None:
    recorder = await record(service, query)
    await recorder.say(*([opus_packet()] * 50 if query else [tone(1)]), frame)
    assert await recorder.socket.closed() in {1008, 1009}
    await trio.sleep(RESUME_S + 1)
    found = await meeting_of(service, recorder.meeting)
    assert found["meeting"]["seconds"] == 1.0
    assert found["meeting"]["problem"] == LINK_LOST


async def test_a_recorder_whose_link_was_lost_goes_on_where_it_was(service: Service) -> None:
    sound = tone(5)
    recorder = await record(service, "title=Lost")
    await recorder.say(sound[: 2 * SECOND - 6_400], sound[2 * SECOND - 6_400 : 2 * SECOND])
    assert (await recorder.hear("kept"))["received"] == 2 * SECOND
    await trio.aclose_forcefully(recorder.socket.client.stream)
    await trio.sleep(RESUME_S - 1)
    back = await record(service, f"meeting={recorder.meeting}")
    assert (back.meeting, back.received) == (recorder.meeting, 2 * SECOND)
    await back.say(
        sound[2 * SECOND : 3 * SECOND], sound[3 * SECOND :][: MAX_FRAME_BYTES // 2], sound[4 * SECOND + 768 :]
    )
    await back.stop()
    done = (await back.hear_to_the_end())[-1]
    with wave.open(io.BytesIO(await sound_of(service, done["fileId"]))) as file:
        assert file.readframes(file.getnframes()) == sound[: 4 * SECOND + 768] + sound[4 * SECOND + 768 :]
    assert (await service.query("meetings.list"))["meetings"][0]["problem"] == ""


async def test_a_second_connection_takes_the_place_of_one_that_looks_alive(service: Service) -> None:
    recorder = await record(service)
    await recorder.say(tone(1))
    await recorder.hear("kept")
    back = await record(service, f"meeting={recorder.meeting}")
    assert await recorder.socket.closed() == 1000
    await back.say(tone(1))
    await back.stop()
    await back.hear_to_the_end()
    assert (await meeting_of(service, recorder.meeting))["meeting"]["seconds"] == 2.0


async def test_a_recorder_that_comes_back_too_late_is_told_by_a_code(service: Service) -> None:
    recorder = await record(service)
    await recorder.say(tone(1))
    await recorder.hear("kept")
    await trio.aclose_forcefully(recorder.socket.client.stream)
    await trio.sleep(RESUME_S + 1)
    socket = await service.socket(f"/meetings/audio?meeting={recorder.meeting}")
    assert (socket.status, await socket.closed()) == (101, 4404)
    assert (await meeting_of(service, recorder.meeting))["meeting"]["state"] == "done"


@pytest.mark.thorough
async def test_a_recording_that_is_too_long_ends_and_says_so(service: Service) -> None:
    service.workspace.service(Meetings).longest_s = LONGEST_S
    recorder = await record(service, "rate=8000")
    began = trio.current_time()
    for _ in range(200):
        await recorder.say(bytes(MAX_FRAME_BYTES))
    assert (await recorder.hear("problem"))["message"] == TOO_LONG
    assert (await recorder.hear_to_the_end())[-1]["fileId"]
    assert trio.current_time() - began >= LONGEST_S - MAX_AHEAD_S - 5  # it was read no faster than it was spoken
    found = (await meeting_of(service, recorder.meeting))["meeting"]
    assert found["problem"] == TOO_LONG
    assert LONGEST_S <= found["seconds"] < LONGEST_S + 5


@pytest.mark.thorough
async def test_a_pause_is_as_long_as_one_likes_but_not_for_ever(service: Service) -> None:
    recorder = await record(service)
    await recorder.say(tone(1))
    assert set(await recorder.wait(MAX_SILENT_S - 10)) == {"kept", "partial"}
    await recorder.say(tone(1))
    assert set(await recorder.wait(MAX_SILENT_S - 10)) == {"kept", "partial"}
    assert await recorder.wait(60) == ["problem", "final", "done"]
    assert (await meeting_of(service, recorder.meeting))["meeting"]["problem"] == NO_SOUND


async def test_one_person_records_a_few_at_a_time(service: Service) -> None:
    for _ in range(MAX_OF_ONE):
        await record(service)
    refused = await service.socket("/meetings/audio")
    assert refused.status == 409
    assert {b"date", b"x-request-id", b"x-content-type-options", b"content-security-policy"} <= {
        line.partition(b":")[0] for line in refused.head.split(b"\r\n")
    }
    counted = service.workspace.service(Surface).traffic.answers
    assert (counted["/meetings/audio", 101], counted["/meetings/audio", 409]) == (MAX_OF_ONE, 1)


# Writing down


async def test_a_recogniser_that_fails_goes_on_where_it_was_and_nothing_is_lost(service: Service) -> None:
    listening = Listening(RecogniserFault("hung up"), RecogniserFault("hung up again"))
    listens(service, listening)
    recorder = await record(service)
    await recorder.say(*([tone(1)] * 4))
    assert (await recorder.hear("problem"))["message"] == "The test hung up. It is tried again."
    await recorder.stop()
    frames = await recorder.hear_to_the_end()
    finals = [(frame["text"], frame["start"], frame["end"]) for frame in frames if frame["type"] == "final"]
    assert finals[-1] == ("the rest", 2.0, 4.0)
    found = await meeting_of(service, recorder.meeting)
    assert [line["start"] for line in found["lines"]] == [0.0, 1.0, 2.0]
    assert found["meeting"]["problem"] == ""


async def test_a_recogniser_that_never_works_leaves_a_whole_recording_and_a_word_of_it(service: Service) -> None:
    class Broken(Listening):
        async def listen(self, sound: Sound, tell: Tell) -> None:
            self.starts.append(0)
            raise RecogniserFault("can't be reached")

    broken = Broken()
    listens(service, broken)
    recorder = await record(service)
    await recorder.say(tone(1))
    await recorder.stop()
    done = (await recorder.hear_to_the_end())[-1]
    assert len(broken.starts) >= TRIES_AT_THE_END
    expected = "What was said after 0:00 is not written down. The test can't be reached."
    assert (await meeting_of(service, recorder.meeting))["meeting"]["problem"] == expected
    assert "is not written down" in (await page_of(service, done["path"]))["body"]


async def test_a_bug_behind_the_seam_does_not_take_the_recording_along(service: Service) -> None:
    class Buggy(Listening):
        async def listen(self, sound: Sound, tell: Tell) -> None:
            raise ZeroDivisionError

    listens(service, Buggy())
    recorder = await record(service)
    await recorder.say(tone(1))
    await recorder.stop()
    assert (await recorder.hear_to_the_end())[-1]["fileId"]
    assert "broke off" in (await meeting_of(service, recorder.meeting))["meeting"]["problem"]
    assert service.log.events("error")


async def test_a_slow_recogniser_never_holds_up_the_recording(service: Service) -> None:
    class Slow(Listening):
        async def listen(self, sound: Sound, tell: Tell) -> None:
            await trio.sleep(300)
            await super().listen(sound, tell)

    slow = Slow()
    listens(service, slow)
    recorder = await record(service)
    sound = tone(20)
    await recorder.say(*(sound[at : at + SECOND] for at in range(0, len(sound), SECOND)))
    assert trio.current_time() < 100
    await recorder.stop()
    assert (await recorder.hear_to_the_end())[-2]["end"] == 20.0
    assert bytes(slow.heard) == sound


async def test_what_is_heard_is_text_on_the_page_whatever_it_says(service: Service) -> None:
    class Hostile(Listening):
        async def listen(self, sound: Sound, tell: Tell) -> None:
            text = "see /files/fil_other/content [[secret]] <b> *x* http://evil.example \0 & `y`"
            await tell(Heard(text=text, start=0, end=1, final=True, speaker="**Eve**"))

    listens(service, Hostile())
    recorder = await record(service)
    await recorder.say(tone(1))
    await recorder.stop()
    body = (await page_of(service, (await recorder.hear_to_the_end())[-1]["path"]))["body"]
    assert "\\*\\*Eve\\*\\*" in body
    assert "\\[\\[secret\\]\\]" in body
    assert "\0" not in body
    assert await service.rows("select count(*) from page_files") == [(1,)]


# What a process left


async def test_a_meeting_that_a_process_left_is_finished_at_the_next_boot(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        recorder = await record(service, "title=Cut")
        await recorder.say(*([tone(1)] * 5))
        await recorder.hear("final")
        await recorder.hear("kept")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        found = await finished(Person(service), recorder.meeting)
        assert found["meeting"]["seconds"] == 5.0
        assert [line["text"] for line in found["lines"]] == ["We begin on time.", "We"]
        with wave.open(io.BytesIO(await sound_of(service, found["meeting"]["fileId"]))) as file:
            assert file.readframes(file.getnframes()) == tone(1) * 5
        assert await page_of(service, found["meeting"]["path"])


async def test_a_recording_that_is_not_there_any_more_is_told(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        recorder = await record(service)
        await recorder.say(*([tone(1)] * 5))
        await recorder.hear("kept")
        spool = service.workspace.home.spool / "meetings"
    (spool / recorder.meeting).unlink()
    (spool / "mtg_stray").write_bytes(b"x")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        found = await finished(Person(service), recorder.meeting)
        assert "Its sound is lost" in found["meeting"]["problem"]
        assert not any(spool.iterdir())


# Whose it is


async def test_a_meeting_is_its_owners_alone_and_ends_with_their_session(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, "noa@example.org", invite=(await mia.mutate("auth.createInvite"))["code"])
    recorder = await record(service, "title=Mine", fields=mia.fields)
    await recorder.say(tone(1))
    await recorder.hear("kept")
    foreign = await service.socket(f"/meetings/audio?meeting={recorder.meeting}", fields=noa.fields)
    assert await foreign.closed() == 4404
    assert (await noa.query("meetings.list"))["meetings"] == []
    assert (await noa.ask("GET", f'/trpc/meetings.get?input={{"id":"{recorder.meeting}"}}')).status == 404
    assert (await mia.ask("POST", "/auth/logout")).status == 204
    assert await recorder.socket.closed() == 4401
    mia = await sign_in(service, MIA)
    found = (await finished(mia, recorder.meeting))["meeting"]
    assert (await noa.ask("GET", f"/files/{found['fileId']}/content")).status == 404
    assert (await noa.ask("GET", f'/trpc/pages.get?input={{"path":"{found["path"]}"}}')).status == 404
    assert (await mia.ask("GET", f"/files/{found['fileId']}/content")).status == 200


async def finished(person: Person, meeting_id: str) -> Any:
    """The meeting, once it is done."""
    for _ in range(60):
        found = await person.query("meetings.get", id=meeting_id)
        if found["meeting"]["state"] == "done":
            return found
        await trio.sleep(1)
    raise AssertionError("the meeting is not finished")


@pytest.mark.parametrize("fields", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}])
async def test_another_site_opens_no_recorder(service: Service, fields: dict[str, str]) -> None:
    assert (await service.socket("/meetings/audio", fields=fields)).status == 403
    assert (await service.socket("/meetings/audio", host="evil.example")).status == 421


async def test_two_meetings_of_one_day_and_title_have_two_pages(service: Service) -> None:
    paths = []
    for _ in range(2):
        recorder = await record(service, "title=Stand-up")
        await recorder.say(quiet(1))
        await recorder.stop()
        paths.append((await recorder.hear_to_the_end())[-1]["path"])
        await trio.sleep(1)
    assert paths == ["meetings/2026-10-27-stand-up", "meetings/2026-10-27-stand-up-2"]
    listed = await service.query("meetings.list", limit=1)
    assert [one["path"] for one in listed["meetings"]] == paths[1:]
    older = await service.query("meetings.list", limit=1, cursor=listed["nextCursor"])
    assert ([one["path"] for one in older["meetings"]], older["nextCursor"]) == (paths[:1], None)


async def test_a_meeting_is_renamed_while_it_is_recorded_and_deleted_when_it_is_done(service: Service) -> None:
    recorder = await record(service)
    assert (await _status(service, "meetings.remove", id=recorder.meeting)) == 409
    await service.mutate("meetings.rename", id=recorder.meeting, title="Board")
    await recorder.say(tone(1))
    await recorder.stop()
    done = (await recorder.hear_to_the_end())[-1]
    assert (await page_of(service, done["path"]))["title"] == "Board"
    assert done["path"].endswith("-board")
    await service.mutate("meetings.remove", id=recorder.meeting)
    assert (await service.query("meetings.list"))["meetings"] == []
    assert (await service.get(f"/files/{done['fileId']}/content")).status == 404
    assert await page_of(service, done["path"])
    assert (await _status(service, "meetings.remove", id=recorder.meeting)) == 404


async def _status(service: Service, procedure: str, **wanted: object) -> int:
    body = json.dumps(wanted).encode()
    reply = await service.ask("POST", f"/trpc/{procedure}", body, fields={"content-type": "application/json"})
    return reply.status


async def test_an_admin_chooses_who_writes_down(service: Service) -> None:
    settings = await service.query("meetings.settings")
    assert (settings["recogniser"], settings["standIn"]) == ("none", "The fake recogniser")
    missing = {one["name"]: one["missing"] for one in settings["options"]}
    assert missing["none"] == missing["server"] == ""
    assert "Credentials" in missing["vendor"]
    await service.mutate("capabilities.set", name="stt", value="key")
    await service.mutate("meetings.choose", recogniser="server", serverUrl="http://127.0.0.1:8000/", model="small")
    settings = await service.query("meetings.settings")
    assert (settings["recogniser"], settings["serverUrl"], settings["model"]) == (
        "server",
        "http://127.0.0.1:8000",
        "small",
    )
    assert next(one for one in settings["options"] if one["name"] == "vendor")["missing"] == ""
    for wrong in ({"serverUrl": ""}, {"serverUrl": "http://far.example"}, {"serverUrl": "ftp://x"}):
        assert (await _status(service, "meetings.choose", recogniser="server", **wrong)) == 400
    assert (await _status(service, "meetings.choose", recogniser="none", model='x"\r\ny')) == 400
