"""The recognisers, each against a small server of its wire, and the one of this machine against a voice."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any, Literal

import pytest
import trio
import trio.testing
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket, wrap_server_stream

from svc.meetings import Heard, Sound
from svc.meetings.recognisers.local import Local
from svc.meetings.recognisers.seam import RecogniserFault
from svc.meetings.recognisers.server import TranscriptionServer
from svc.meetings.recognisers.vendor import KEEP_ALIVE_S, Vendor
from svc.protocol.websocket_client import ClientSocket
from tests.meetings.recorder import SECOND, opus_packet, quiet, tone

VOICE = gzip.decompress((Path(__file__).parent / "voice.pcm.gz").read_bytes())
"""espeak-ng says "go forward ten meters and open the calendar", 16,000 samples a second."""


@dataclass
class Pieces:
    """A sound that is there already. ``pauses``: how long nothing comes before a piece."""

    pieces: list[bytes]
    format: Literal["pcm16", "opus"] = "pcm16"
    rate: int = 16_000
    pauses: dict[int, float] = field(default_factory=dict)
    _at: int = 0
    _due: dict[int, float] = field(default_factory=dict)

    async def next(self) -> Sequence[bytes] | None:
        if self._at in self.pauses:
            self._due.setdefault(self._at, trio.current_time() + self.pauses[self._at])
            await trio.sleep_until(self._due[self._at])
        if self._at == len(self.pieces):
            return None
        self._at += 1
        return [self.pieces[self._at - 1]]


def cut(sound: bytes, size: int = 3_200) -> list[bytes]:
    return [sound[at : at + size] for at in range(0, len(sound), size)]


async def heard_by(listener: Any, sound: Sound) -> list[Heard]:
    heard: list[Heard] = []

    async def tell(one: Heard) -> None:
        heard.append(one)

    await listener.listen(sound, tell)
    return heard


# The vendor's stream


def result(text: str, start: float, duration: float, *, final: bool, words: Sequence[Any] = ()) -> dict[str, Any]:
    alternative = {"transcript": text, "confidence": 0.9, "words": list(words)}
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "start": start,
        "duration": duration,
        "is_final": final,
        "speech_final": final,
        "channel": {"alternatives": [alternative]},
        "metadata": {"request_id": "r"},
    }


def word(text: str, start: float, speaker: int) -> dict[str, Any]:
    return {"word": text.lower(), "punctuated_word": text, "start": start, "end": start + 0.5, "speaker": speaker}


@dataclass
class Deepgram:
    """Tells a partial with the first sound, and two speakers when the stream is closed."""

    requests: list[WebSocketRequest] = field(default_factory=list)
    sound: bytearray = field(default_factory=bytearray)
    said: list[str] = field(default_factory=list)
    refuses: int | None = None
    breaks_off: bool = False

    async def serve(self, request: WebSocketRequest) -> None:
        self.requests.append(request)
        if self.refuses is not None:
            await request.reject(self.refuses, body=b'{"err_code":"INVALID_AUTH"}')
            return
        socket = await request.accept()
        try:
            await self._talk(socket)
        except ConnectionClosed:
            return

    async def _talk(self, socket: WebSocketConnection) -> None:
        while True:
            message = await socket.get_message()
            if isinstance(message, bytes):
                if not self.sound:
                    await socket.send_message(json.dumps(result("hello", 0, 1, final=False)))
                    if self.breaks_off:
                        await socket.aclose(code=1011, reason="NET-0001")
                        return
                self.sound += message
                continue
            self.said.append(json.loads(message)["type"])
            if self.said[-1] == "CloseStream":
                words = [word("Hello", 0.5, 0), word("there.", 1.0, 0), word("Hi.", 2.0, 1)]
                await socket.send_message(json.dumps(result("Hello there. Hi.", 0, 3, final=True, words=words)))
                await socket.send_message(json.dumps({"type": "Metadata", "channels": 1, "duration": 3.0}))
                await socket.aclose()
                return


Handler = Callable[[WebSocketRequest], Awaitable[None]]


@asynccontextmanager
async def vendor_of(handler: Handler, *, key: str = "k", language: str = "") -> AsyncIterator[Vendor]:
    """One whose server is at the other end of a stream in memory."""
    async with trio.open_nursery() as nursery:

        async def serve(stream: trio.abc.Stream) -> None:
            async with trio.open_nursery() as connection:
                await handler(await wrap_server_stream(connection, stream))
                connection.cancel_scope.cancel()

        async def connect(url: str, *, headers: Sequence[tuple[str, str]], deadline_s: float) -> ClientSocket:
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(serve, theirs)
            socket = ClientSocket(ours)
            _, _, host, target = url.split("/", 3)
            await socket.shake_hands(host=host, target=f"/{target}", headers=headers)
            return socket

        yield Vendor(url="https://vendor.example", key=key, model="", language=language, connect=connect)
        nursery.cancel_scope.cancel()


async def test_the_vendor_is_told_the_sound_and_tells_who_said_what() -> None:
    vendor = Deepgram()
    sound = tone(3)
    async with vendor_of(vendor.serve, key="k1", language="de") as listener:
        heard = await heard_by(listener, Pieces(cut(sound)))
    assert bytes(vendor.sound) == sound
    (request,) = vendor.requests
    assert dict(request.headers)[b"authorization"] == b"Token k1"
    path, _, query = request.path.partition("?")
    assert path == "/v1/listen"
    assert {"encoding=linear16", "sample_rate=16000", "interim_results=true", "diarize=true", "language=de"} <= set(
        query.split("&")
    )
    assert [(one.text, one.final, one.speaker) for one in heard] == [
        ("hello", False, None),
        ("Hello there.", True, "Speaker 1"),
        ("Hi.", True, "Speaker 2"),
    ]
    assert (heard[1].start, heard[1].end) == (0.5, 1.5)


async def test_the_line_is_held_while_nothing_is_said() -> None:
    vendor = Deepgram()
    async with vendor_of(vendor.serve) as listener:
        await heard_by(listener, Pieces(cut(tone(1)), pauses={5: KEEP_ALIVE_S * 2.5}))
    assert vendor.said == ["KeepAlive", "KeepAlive", "CloseStream"]


async def test_packets_of_opus_are_passed_on_one_by_one() -> None:
    vendor = Deepgram()
    packets = [opus_packet(number) for number in range(5)]
    async with vendor_of(vendor.serve) as listener:
        await heard_by(listener, Pieces(packets, format="opus", rate=48_000))
    assert bytes(vendor.sound) == b"".join(packets)
    assert "encoding=opus" in vendor.requests[0].path


@pytest.mark.parametrize(("status", "lasting"), [(401, True), (503, False)])
async def test_a_vendor_that_refuses_is_told_and_asked_again_only_where_that_may_help(
    status: int, lasting: bool
) -> None:
    async with vendor_of(Deepgram(refuses=status).serve) as listener:
        with pytest.raises(RecogniserFault) as told:
            await heard_by(listener, Pieces(cut(tone(1))))
    assert (told.value.detail, told.value.lasting) == (f"answers {status}", lasting)


async def test_a_vendor_that_hangs_up_is_a_fault() -> None:
    async with vendor_of(Deepgram(breaks_off=True).serve) as listener:
        with pytest.raises(RecogniserFault, match="hung up: NET-0001"):
            await heard_by(listener, Pieces(cut(tone(9)), pauses={5: 60}))


async def test_a_vendor_that_never_tells_the_last_words_is_asked_again() -> None:
    async def deaf(request: WebSocketRequest) -> None:
        socket = await request.accept()
        while True:
            await socket.get_message()

    async with vendor_of(deaf) as listener:
        with pytest.raises(RecogniserFault, match="last words"):
            await heard_by(listener, Pieces(cut(tone(1))))


@pytest.mark.wall_clock
async def test_a_vendor_is_reached_over_a_real_connection_or_told_to_be_away() -> None:
    vendor = Deepgram()
    async with trio.open_nursery() as nursery:
        server = await nursery.start(serve_websocket, vendor.serve, "127.0.0.1", 0, None)
        listener = Vendor(url=f"http://127.0.0.1:{server.port}", key="k", model="", language="")
        assert len(await heard_by(listener, Pieces(cut(tone(1))))) == 3
        nursery.cancel_scope.cancel()
    with pytest.raises(RecogniserFault, match=r"127\.0\.0\.1 can't be reached"):
        await heard_by(listener, Pieces(cut(tone(1))))


@pytest.mark.parametrize("answer", ["no json", '{"type":"Error","description":"too fast"}'])
async def test_a_vendor_that_talks_nonsense_is_a_fault(answer: str) -> None:
    async def nonsense(request: WebSocketRequest) -> None:
        socket = await request.accept()
        await socket.send_message(answer)
        with trio.move_on_after(60):
            await socket.get_message()

    async with vendor_of(nonsense) as listener:
        with pytest.raises(RecogniserFault, match=r"can't be read|too fast"):
            await heard_by(listener, Pieces(cut(tone(1)), pauses={3: 30}))


# A transcription server


@dataclass
class Reply:
    status: int
    body: bytes


@dataclass
class Whisper:
    """Answers each piece with its number. ``refuses``: the status that some form of asking gets."""

    calls: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)
    refuses: dict[bytes, Reply] = field(default_factory=dict)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        self.calls.append((url, headers, body))
        for part, reply in self.refuses.items():
            if part in body:
                return reply
        if b"verbose_json" not in body:
            return Reply(200, json.dumps({"text": f"piece {len(self.calls)}"}).encode())
        segments = [
            {"id": 0, "start": 0.0, "end": 1.5, "text": f" piece {len(self.calls)} "},
            {"id": 1, "start": 2.0, "end": 99.0, "text": " and on", "speaker": "A"},
            {"id": 2, "start": 3.0, "end": 3.0, "text": " "},
        ]
        return Reply(200, json.dumps({"task": "transcribe", "text": "…", "segments": segments}).encode())

    def listener(self, **more: str) -> TranscriptionServer:
        given = {"url": "http://127.0.0.1:1/v1", "key": "", "model": "", "language": "", **more}
        return TranscriptionServer(**given, post=self.post)


def form_of(call: tuple[str, Mapping[str, str], bytes]) -> dict[str, bytes]:
    """As the standard library reads it."""
    _, headers, body = call
    head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + body).get_payload()
    assert isinstance(parts, list)
    found = {}
    for part in parts:
        assert isinstance(part, Message)
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        assert isinstance(name, str)
        assert isinstance(data, bytes)
        found[name] = data
    return found


async def test_pieces_with_speech_are_sent_as_files_and_told_with_their_times() -> None:
    server = Whisper()
    sound = tone(5) + quiet(10) + tone(5)
    heard = await heard_by(server.listener(key="k", language="en"), Pieces(cut(sound)))
    assert [url for url, _, _ in server.calls] == ["http://127.0.0.1:1/v1/audio/transcriptions"] * 2
    assert server.calls[0][1]["authorization"] == "Bearer k"
    form = form_of(server.calls[0])
    assert {name: form[name] for name in ("model", "response_format", "language")} == {
        "model": b"whisper-1",
        "response_format": b"verbose_json",
        "language": b"en",
    }
    assert form["file"][:4] == b"RIFF"
    assert form["file"][44:].startswith(tone(5))
    assert [one.text for one in heard] == ["piece 1", "and on", "piece 2", "and on"]
    assert heard[1].speaker == "A"
    assert heard[1].end == pytest.approx(5.45, abs=0.1)
    assert heard[2].start >= 9
    assert all(one.final for one in heard)


async def test_a_server_without_times_and_without_a_key() -> None:
    refusal = Reply(
        400, json.dumps({"error": {"message": "response_format 'verbose_json' is not compatible"}}).encode()
    )
    server = Whisper(refuses={b"verbose_json": refusal})
    heard = await heard_by(server.listener(model="gpt-4o-transcribe"), Pieces(cut(tone(30))))
    assert "authorization" not in server.calls[0][1]
    assert [form_of(call)["response_format"] for call in server.calls] == [b"verbose_json", b"json", b"json"]
    assert (heard[0].text, heard[0].start, heard[0].end) == ("piece 2", 0.0, 25.0)
    assert heard[1].end == 30.0


async def test_packets_of_opus_go_as_ogg_and_silence_does_not_go() -> None:
    server = Whisper()
    packets = [opus_packet(number) for number in range(300)] + [opus_packet(silent=True)] * 400
    heard = await heard_by(server.listener(), Pieces(packets, format="opus", rate=48_000))
    (call,) = server.calls
    assert form_of(call)["file"].startswith(b"OggS")
    assert heard[0].start == 0.0


@pytest.mark.parametrize(("status", "lasting"), [(401, True), (500, False)])
async def test_a_server_that_refuses_is_quoted_without_the_key(status: int, lasting: bool) -> None:
    server = Whisper(refuses={b"RIFF": Reply(status, b'{"error":"wrong key s3cret"}')})
    with pytest.raises(RecogniserFault) as told:
        await heard_by(server.listener(key="s3cret"), Pieces(cut(tone(5))))
    assert (told.value.detail, told.value.lasting) == (f"answers {status}: wrong key ********", lasting)


# This machine


@pytest.mark.thorough
@pytest.mark.wall_clock
@pytest.mark.parametrize("after", [quiet(1), b"", quiet(0.01)], ids=["silence", "a cut at a frame", "a cut within one"])
async def test_this_machine_hears_a_voice_tells_partials_and_then_a_final(tmp_path: Path, after: bytes) -> None:
    voice = VOICE[: len(VOICE) // 960 * 960]
    heard = await heard_by(Local(directory=tmp_path), Pieces(cut(quiet(0.48) + voice + after)))
    finals = [one for one in heard if one.final]
    assert finals
    assert not heard[0].final
    assert heard[-1].final
    assert 0 <= finals[0].start < finals[-1].end <= 0.5 + len(VOICE) / SECOND + 1


@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_this_machine_hears_nothing_where_nothing_is_said(tmp_path: Path) -> None:
    assert await heard_by(Local(directory=tmp_path), Pieces(cut(quiet(1)))) == []
    assert await heard_by(Local(directory=tmp_path), Pieces([])) == []


async def test_this_machine_says_what_it_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(RecogniserFault, match="pcm16 at 16,000"):
        await heard_by(Local(directory=tmp_path), Pieces([opus_packet()], format="opus"))
