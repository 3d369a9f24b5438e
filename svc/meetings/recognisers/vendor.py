"""A vendor's stream, by the protocol of Deepgram (``/v1/listen``), which other vendors use, too.

Theory. The sound is sent as binary messages, as it is spoken. The server answers with ``Results``: some may still
change (``is_final: false``), some not. ``KeepAlive`` keeps the connection open while there is no sound. ``CloseStream``
asks for the remaining results; the server sends them and closes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import urlencode

import msgspec
import trio

from svc.meetings.recognisers.seam import Heard, RecogniserFault, Sound, Tell
from svc.nursery import open_task_group
from svc.protocol.websocket_client import ClientSocket, Connect, ConnectFault, connect_websocket

DEFAULT_MODEL: Final = "nova-3"
KEEP_ALIVE_S: Final = 4.0
"""Interval without sound. The vendor closes the connection after ten seconds."""
CONNECT_S: Final = 15.0
"""Time until the vendor has accepted the connection. Beyond: it is tried again."""
LAST_WORDS_S: Final = 60.0
"""Time until the vendor has sent the remaining results. Beyond: that part of the sound is sent again."""

_REFUSED: Final = frozenset({400, 401, 402, 403, 404})
_KEEP_ALIVE: Final = '{"type":"KeepAlive"}'
_CLOSE: Final = '{"type":"CloseStream"}'


class _Word(msgspec.Struct):
    word: str = ""
    punctuated_word: str = ""
    start: float = 0.0
    end: float = 0.0
    speaker: int | None = None


class _Alternative(msgspec.Struct):
    transcript: str = ""
    words: list[_Word] = []


class _Channel(msgspec.Struct):
    alternatives: list[_Alternative] = []


class _Message(msgspec.Struct):
    type: str = ""
    channel: _Channel | list[int] = msgspec.field(default_factory=_Channel)  # a list in messages other than results
    is_final: bool = False
    start: float = 0.0
    duration: float = 0.0
    description: str = ""


_decode: Final = msgspec.json.Decoder(_Message).decode


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """``url`` is the vendor's, https or http; with ``language`` "" the vendor detects it. Tests replace ``connect``."""

    url: str
    key: str
    model: str
    language: str
    title: str = "The speech-to-text service"
    connect: Connect = connect_websocket

    async def listen(self, sound: Sound, tell: Tell) -> None:
        try:
            socket = await self.connect(
                self._address(sound), headers=[("authorization", f"Token {self.key}")], deadline_s=CONNECT_S
            )
        except ConnectFault as fault:
            raise RecogniserFault(fault.detail, lasting=fault.status in _REFUSED) from fault
        try:
            ended = trio.Event()
            async with open_task_group() as nursery:
                nursery.start_soon(_speak, socket, sound, ended)
                await _hear(socket, tell, ended, nursery)
                nursery.cancel_scope.cancel()
        finally:
            await socket.aclose()

    def _address(self, sound: Sound) -> str:
        wanted = {
            "model": self.model or DEFAULT_MODEL,
            "encoding": "linear16" if sound.format == "pcm16" else "opus",
            "sample_rate": str(sound.rate if sound.format == "pcm16" else 48_000),
            "channels": "1",
            "interim_results": "true",
            "smart_format": "true",
            "diarize": "true",
            "language": self.language or "multi",
        }
        return f"ws{self.url.removeprefix('http')}/v1/listen?{urlencode(wanted)}"


async def _speak(socket: ClientSocket, sound: Sound, ended: trio.Event) -> None:
    while True:
        pieces: Sequence[bytes] | None = ()
        with trio.move_on_after(KEEP_ALIVE_S) as silence:
            pieces = await sound.next()
        if silence.cancelled_caught:
            await socket.send(_KEEP_ALIVE)
            continue
        if pieces is None:
            break
        for piece in pieces:
            await socket.send(piece)
    await socket.send(_CLOSE)
    ended.set()


async def _hear(socket: ClientSocket, tell: Tell, ended: trio.Event, nursery: trio.Nursery) -> None:
    """Report results until the vendor closes. The last results may take a while, but not forever."""

    async def last_words() -> None:
        await ended.wait()
        await trio.sleep(LAST_WORDS_S)
        raise RecogniserFault("did not tell the last words in time")

    nursery.start_soon(last_words)
    while (message := await socket.receive()) is not None:
        for heard in _told(message):
            await tell(heard)
    if not ended.is_set():
        raise RecogniserFault(f"hung up: {socket.close_reason or 'it did not say why'}")


def _told(message: str | bytes) -> Iterator[Heard]:
    try:
        found = _decode(message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecogniserFault("answered with something that can't be read") from error
    if found.type == "Error":
        raise RecogniserFault(f"says: {found.description[:200] or 'error'}")
    if found.type != "Results" or not isinstance(found.channel, _Channel) or not found.channel.alternatives:
        return
    best = found.channel.alternatives[0]
    if not best.transcript.strip():
        return
    if not found.is_final or not best.words:
        yield Heard(
            text=best.transcript.strip(), start=found.start, end=found.start + found.duration, final=found.is_final
        )
        return
    for speaker, group in groupby(best.words, key=lambda word: word.speaker):
        words = list(group)
        yield Heard(
            text=" ".join(word.punctuated_word or word.word for word in words),
            start=words[0].start,
            end=words[-1].end,
            final=True,
            speaker=None if speaker is None else f"Speaker {speaker + 1}",
        )
