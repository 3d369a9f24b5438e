"""Client of any server with the common transcription call (``POST /v1/audio/transcriptions``): OpenAI's, and servers
with the same API on a user's own machine, such as whisper.cpp, faster-whisper and vLLM.

It takes files, not streams: so the sound is cut at silences, and each piece is a call. Silent pieces are not sent:
models of that kind invent text for silence.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from svc.meetings.audio.ogg import OggOpusWriter
from svc.meetings.audio.opus import DECODED_RATE, DTX_BYTES, packet_samples
from svc.meetings.audio.silence import MAX_PIECE_S, MIN_PIECE_S, Cutter, Piece
from svc.meetings.audio.wav import SAMPLE_BYTES, wav
from svc.meetings.recognisers.seam import Heard, RecogniserFault, Sound, Tell

DEFAULT_MODEL: Final = "whisper-1"
DEADLINE_S: Final = 180.0
"""Time until the server has transcribed one piece of at most half a minute. Beyond: it is asked again."""
MAX_ANSWER_BYTES: Final = 1024 * 1024
"""The server's answer for one piece. Beyond: it is asked again."""

_REFUSED: Final = frozenset({400, 401, 402, 403, 404, 405, 413, 415, 422})
_PATH: Final = "/v1/audio/transcriptions"


class Answer(Protocol):
    """The parts of an answer that are read here."""

    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


Post = Callable[[str, Mapping[str, str], bytes], Awaitable[Answer]]
"""URL, headers, body. Raises :class:`RecogniserFault` where there is no answer."""


class _Segment(msgspec.Struct):
    text: str = ""
    start: float = 0.0
    end: float = 0.0
    speaker: str | None = None


class _Transcription(msgspec.Struct):
    text: str = ""
    segments: list[_Segment] | None = None


class _Error(msgspec.Struct):
    message: str = ""


class _Refusal(msgspec.Struct):
    error: _Error | str = ""
    detail: object = None


@dataclass(frozen=True, kw_only=True)
class _File:
    """A piece as a file, with its position in the sound."""

    name: str
    mime: str
    data: bytes
    start: float
    seconds: float


@dataclass(kw_only=True)
class TranscriptionServer:
    """``key`` and ``language`` may be empty."""

    url: str
    key: str
    model: str
    language: str
    post: Post
    title: str = "The transcription server"
    _in_segments: bool = field(default=True, init=False)  # until the server answers that it can't

    async def listen(self, sound: Sound, tell: Tell) -> None:
        pieces = _pieces_of(sound)
        while (parts := await sound.next()) is not None:
            await self._write_down(pieces.feed(parts), tell)
        await self._write_down(pieces.finish(), tell)

    async def _write_down(self, files: Sequence[_File], tell: Tell) -> None:
        for file in files:
            found = await self._ask(file)
            for heard in _heard(found, file):
                await tell(heard)

    async def _ask(self, piece: _File) -> _Transcription:
        answer = await self._post(piece)
        if answer.status in {400, 422} and self._in_segments:
            self._in_segments = False  # some models have no times
            answer = await self._post(piece)
        if answer.status != 200:
            detail = f"answers {answer.status}: {self._without_key(_words(answer.body))}"
            raise RecogniserFault(detail, lasting=answer.status in _REFUSED)
        try:
            return msgspec.json.decode(answer.body, type=_Transcription)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RecogniserFault("answers with something that can't be read") from error

    async def _post(self, piece: _File) -> Answer:
        fields = {
            "model": self.model or DEFAULT_MODEL,
            "response_format": "verbose_json" if self._in_segments else "json",
            **({"language": self.language} if self.language else {}),
        }
        boundary = secrets.token_hex(16)
        headers = {"content-type": f"multipart/form-data; boundary={boundary}", "accept": "application/json"}
        if self.key:
            headers["authorization"] = f"Bearer {self.key}"
        return await self.post(self._address(), headers, _form(fields, piece, boundary=boundary))

    def _address(self) -> str:
        return self.url.removesuffix("/v1") + _PATH

    def _without_key(self, words: str) -> str:
        return words.replace(self.key, "********") if self.key else words


class _Pieces(Protocol):
    """Takes sound as it comes, and returns files with speech in them."""

    def feed(self, parts: Sequence[bytes]) -> list[_File]: ...

    def finish(self) -> list[_File]: ...


def _pieces_of(sound: Sound) -> _Pieces:
    return _OpusPieces(rate=sound.rate) if sound.format == "opus" else _PcmPieces(cutter=Cutter(rate=sound.rate))


@dataclass(kw_only=True)
class _PcmPieces:
    cutter: Cutter

    def feed(self, parts: Sequence[bytes]) -> list[_File]:
        return self._files([piece for part in parts for piece in self.cutter.feed(part)])

    def finish(self) -> list[_File]:
        return self._files(self.cutter.finish())

    def _files(self, pieces: Sequence[Piece]) -> list[_File]:
        rate = self.cutter.rate
        return [
            _File(
                name="piece.wav",
                mime="audio/wav",
                data=wav(piece.pcm, rate=rate),
                start=piece.start,
                seconds=len(piece.pcm) / (SAMPLE_BYTES * rate),
            )
            for piece in pieces
            if not piece.is_quiet
        ]


@dataclass(kw_only=True)
class _OpusPieces:
    """Cuts without decoding: where the encoder marks silence, else by length."""

    rate: int
    _packets: list[bytes] = field(default_factory=list)
    _start: float = 0.0
    _seconds: float = 0.0

    def feed(self, parts: Sequence[bytes]) -> list[_File]:
        files = []
        for packet in parts:
            self._packets.append(packet)
            self._seconds += packet_samples(packet) / DECODED_RATE
            if self._seconds >= MAX_PIECE_S or (self._seconds >= MIN_PIECE_S and len(packet) <= DTX_BYTES):
                files += self.finish()
        return files

    def finish(self) -> list[_File]:
        packets, start, seconds = self._packets, self._start, self._seconds
        self._packets, self._start, self._seconds = [], start + seconds, 0.0
        if all(len(packet) <= DTX_BYTES for packet in packets):
            return []
        return [_ogg(packets, rate=self.rate, start=start, seconds=seconds)]


def _ogg(packets: list[bytes], *, rate: int, start: float, seconds: float) -> _File:
    writer = OggOpusWriter(serial=1, rate=rate)
    data = b"".join(writer.write(packet) for packet in packets) + writer.finish()
    return _File(name="piece.ogg", mime="audio/ogg", data=data, start=start, seconds=seconds)


def _heard(found: _Transcription, piece: _File) -> list[Heard]:
    segments = found.segments or [_Segment(text=found.text, end=piece.seconds)]
    heard = []
    for one in segments:
        text = " ".join(one.text.split())
        if text:
            start = min(max(one.start, 0.0), piece.seconds)
            end = min(max(one.end, start), piece.seconds)
            heard.append(
                Heard(text=text, start=piece.start + start, end=piece.start + end, final=True, speaker=one.speaker)
            )
    return heard


def _form(fields: Mapping[str, str], piece: _File, *, boundary: str) -> bytes:
    """``multipart/form-data`` (RFC 7578). Our values have no line break: an admin's are checked when they are set."""
    parts = [
        f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{piece.name}"\r\n'
        f"content-type: {piece.mime}\r\n\r\n"
    )
    return b"".join((*parts, head.encode(), piece.data, f"\r\n--{boundary}--\r\n".encode()))


def _words(body: bytes) -> str:
    try:
        told = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body[:800].decode("utf-8", "replace")
    else:
        text = told.error.message if isinstance(told.error, _Error) else told.error or str(told.detail or "")
    return " ".join(text.split())[:200] or "nothing more"
