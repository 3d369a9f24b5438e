"""An answer of the stand-in, before it gets a vendor's wire format; and the pieces that are sent."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import trio

from svc.fakes.llm.world import Asked, Reply, ToolCall, strings_in
from svc.protocol import Headers

CHARS_A_TOKEN: Final = 4
_REASONS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, kw_only=True)
class Said:
    """``number``: of the call; it makes the ids the same in each run."""

    number: int
    model: str
    text: str
    tool_calls: tuple[ToolCall, ...]
    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, reply: Reply, asked: Asked, *, number: int, context: object) -> Said:
        text = reply.text or ""
        words = [text, *(msgspec.json.encode(call.input).decode() for call in reply.tool_calls)]
        return cls(
            number=number,
            model=asked.model,
            text=text,
            tool_calls=reply.tool_calls,
            input_tokens=tokens(strings_in(context)) if reply.input_tokens is None else reply.input_tokens,
            output_tokens=tokens(words),
        )

    @property
    def words(self) -> list[str]:
        """The text in the parts of a stream: one word each."""
        return [word for word in re.split("(?= )", self.text) if word]


class Pieces:
    """An answer whose pieces are all known at once."""

    def __init__(self, status: int, content_type: str, pieces: Iterable[bytes]) -> None:
        self.status = status
        self.headers = Headers([("content-type", content_type)])
        self._pieces = deque(pieces)

    async def receive(self) -> bytes:
        await trio.lowlevel.checkpoint()
        return self._pieces.popleft() if self._pieces else b""

    async def aclose(self) -> None:
        self._pieces.clear()


def tokens(texts: Iterable[str]) -> int:
    return -(-sum(map(len, texts)) // CHARS_A_TOKEN)


def whole(body: object, *, status: int = 200) -> Pieces:
    return Pieces(status, "application/json", [msgspec.json.encode(body)])


def stream(pieces: Iterable[bytes]) -> Pieces:
    return Pieces(200, "text/event-stream", pieces)


def event(data: dict[str, Any], *, named: bool = True) -> bytes:
    """``named``: use the type of the data as the event's name."""
    name = f"event: {data['type']}\n".encode() if named else b""
    return name + b"data: " + msgspec.json.encode(data) + b"\n\n"


def refusal(status: int, message: str) -> Pieces:
    """An error in the format of both vendors; each client reads the fields that it knows."""
    kind = _REASONS.get(status, "api_error")
    return whole({"type": "error", "error": {"type": kind, "message": message, "code": kind}}, status=status)
