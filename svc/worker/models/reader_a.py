"""Reads the answers of vendor A's Messages API, streamed or whole, as events and a turn. Sans-IO.

A stream is ``message_start``, blocks (``content_block_start``, deltas, ``content_block_stop``), ``message_delta`` with
the stop reason and the usage so far (a running total), and ``message_stop``. Arguments of a tool arrive as pieces of
JSON and are parsed at the end of their block. Blocks come one after another: where they don't, nobody knows which
arguments belong to which tool, and the answer is not used. Unknown kinds of events are skipped; unknown kinds of blocks
are kept unread.
"""

from __future__ import annotations

from typing import Any, Final

from svc.inert import inert
from svc.worker.models.collecting import CUT, Collecting, count_of, decoded, rows_of, words_of
from svc.worker.models.sse import Events
from svc.worker.models.terms import MAX_ARGUMENT_BYTES, CallBegun, Event, ModelFault, Stop, TextDelta, Turn

_STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "context",
    "refusal": "refusal",
    "pause_turn": "pause",
}
_OUT_OF_ORDER: Final = "The model's answer is out of order."
_MAX_WORDS_CHARS: Final = 500
_MAX_REASON_CHARS: Final = 100
_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class StreamA:
    def __init__(self) -> None:
        self._events = Events()
        self._said = Collecting()
        self._model = ""
        self._begun = False
        self._block: dict[str, Any] | None = None
        self._index: object = None
        self._pieces: list[str] = []
        self._thoughts: dict[str, list[str]] = {}
        self._size = 0
        self._stop: str | None = None
        self.is_done = False
        """The vendor has said that this was all."""

    def feed(self, piece: bytes) -> list[Event]:
        """Raises :class:`ModelFault`, and ``sse.TooLong``."""
        heard: list[Event] = []
        for data in self._events.feed(piece):
            if not self.is_done:
                self._take(decoded(data), heard)
        return heard

    def end(self) -> Turn:
        """The turn. Raises :class:`ModelFault` if the stream was cut: an unfinished answer is not used."""
        if not self.is_done or self._stop is None or self._block is not None:
            raise ModelFault(CUT)
        return self._said.turn(_stop_of(self._stop, self._said), model=self._model)

    def _take(self, event: dict[str, Any], heard: list[Event]) -> None:
        match event.get("type"):
            case "message_start":
                message = _object(event.get("message"))
                _must(in_order=not self._begun)
                self._begun = True
                self._model = str(message.get("model", ""))
                _count(self._said, message.get("usage"))
            case "content_block_start":
                _must(in_order=self._block is None)
                self._index = event.get("index")
                self._begin(_object(event.get("content_block")), heard)
            case "content_block_delta":
                self._delta(self._open_at(event.get("index")), _object(event.get("delta")), heard)
            case "content_block_stop":
                self._finish(self._open_at(event.get("index")))
            case "message_delta":
                reason = _object(event.get("delta")).get("stop_reason")
                self._stop = str(reason) if reason else self._stop
                _count(self._said, event.get("usage"))
            case "message_stop":
                self.is_done = True
            case "error":
                raise fault_of(event)

    def _open_at(self, index: object) -> dict[str, Any]:
        if self._block is None or index != self._index:
            raise ModelFault(_OUT_OF_ORDER)
        return self._block

    def _begin(self, block: dict[str, Any], heard: list[Event]) -> None:
        self._said.said(len(str(block)))
        self._block, self._pieces, self._size, self._thoughts = dict(block), [], 0, {}
        if block.get("type") == "tool_use":
            heard.append(CallBegun(str(block.get("name", ""))))
        elif block.get("type") == "text":
            self._text(words_of(block.get("text")), heard)

    def _delta(self, block: dict[str, Any], delta: dict[str, Any], heard: list[Event]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._text(words_of(delta.get("text")), heard)
            case "input_json_delta":
                piece = words_of(delta.get("partial_json"))
                self._size += len(piece)
                if self._size > MAX_ARGUMENT_BYTES:
                    raise ModelFault("The model called a tool with arguments that are too long.")
                self._pieces.append(piece)
            case "thinking_delta":
                self._think(block, "thinking", delta)
            case "signature_delta":
                self._think(block, "signature", delta)

    def _think(self, block: dict[str, Any], name: str, delta: dict[str, Any]) -> None:
        piece = words_of(delta.get(name))
        self._said.said(len(piece))
        self._thoughts.setdefault(name, [words_of(block.get(name))]).append(piece)

    def _text(self, text: str, heard: list[Event]) -> None:
        self._said.text(text)
        if text:
            heard.append(TextDelta(text))

    def _finish(self, block: dict[str, Any]) -> None:
        self._block = None
        if block.get("type") == "tool_use":
            self._said.call(block.get("name"), "".join(self._pieces) or block.get("input"))
        elif block.get("type") != "text":
            self._said.raw({**block, **{name: "".join(pieces) for name, pieces in self._thoughts.items()}})


def _must(*, in_order: bool) -> None:
    if not in_order:
        raise ModelFault(_OUT_OF_ORDER)


def whole_a(body: bytes) -> Turn:
    """Raises :class:`ModelFault`."""
    message = decoded(body)
    if message.get("type") == "error":
        raise fault_of(message)
    said = Collecting()
    for block in rows_of(message.get("content")):
        kind = _object(block).get("type")
        if kind == "text":
            said.text(words_of(block.get("text")))
        elif kind == "tool_use":
            said.call(block.get("name"), block.get("input"))
        elif isinstance(block, dict):
            said.raw(block)
    _count(said, message.get("usage"))
    reason = message.get("stop_reason")
    if not reason:
        raise ModelFault(CUT)
    return said.turn(_stop_of(str(reason), said), model=str(message.get("model", "")))


def _stop_of(reason: str, said: Collecting) -> Stop:
    """An unknown reason does no harm if the answer is only text. With tool calls it is an error, because they may be
    half of a plan."""
    stop = _STOPS.get(reason)
    if stop is None and said.has_calls:
        told = inert(reason[:_MAX_REASON_CHARS])
        raise ModelFault(f"The model called tools and stopped for a reason that svc does not know: {told}.")
    return stop or "end"


def fault_of(body: dict[str, Any], *, status: int = 0) -> ModelFault:
    """The fault in the vendor's words, for both vendors."""
    error = body.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    told = inert(str(words or body.get("detail") or "no reason")[:_MAX_WORDS_CHARS])
    return ModelFault(f"The model's vendor says: {told}", status=status)


def _count(said: Collecting, usage: object) -> None:
    counts = _object(usage)
    if count_of(counts.get("input_tokens")) is not None:
        said.input_tokens = sum(count_of(counts.get(name)) or 0 for name in _INPUT)
    output = count_of(counts.get("output_tokens"))
    if output is not None:
        said.output_tokens = output


def _object(given: object) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}
