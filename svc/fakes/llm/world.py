"""The state of the stand-in: the scripted answers, and the calls it got.

For the service it is a remote system: scripts and calls are in a journal (``SVC_HOME/spool/fake-llm.jsonl``) and
survive a crash of the service.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import trio

from svc.broker import VendorName
from svc.fakes.mail.journal import append, lines
from svc.nursery import ThreadPool

MAX_CALLS: Final = 1_000
UNSCRIPTED: Final = "Nothing was scripted for this."


class ToolCall(msgspec.Struct, frozen=True):
    name: str
    input: Any = {}


class Reply(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """``error`` is an HTTP status instead of an answer. ``delay_ms``: the time before it answers. ``input_tokens``: the
    number of input tokens that it reports, instead of a count.
    """

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    error: int | None = None
    delay_ms: int = 0
    input_tokens: int | None = None


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which calls a script is for: all given fields must match. ``text`` matches anywhere in the input."""

    text: str | None = None
    model: str | None = None
    vendor: VendorName | None = None


class Asked(msgspec.Struct, frozen=True):
    """One call, as the vendor got it."""

    vendor: VendorName
    model: str
    messages: list[Any]
    tools: list[Any]


class _Entry(msgspec.Struct, omit_defaults=True):
    """One line of the journal. ``script``: the number of the script whose next reply was used."""

    match: Match | None = None
    replies: tuple[Reply, ...] = ()
    asked: Asked | None = None
    script: int | None = None


@dataclass(kw_only=True)
class _Script:
    match: Match
    replies: deque[Reply]

    def is_for(self, asked: Asked, texts: list[str]) -> bool:
        match = self.match
        return (
            bool(self.replies)
            and match.vendor in {None, asked.vendor}
            and match.model in {None, asked.model}
            and (match.text is None or any(match.text in text for text in texts))
        )


@dataclass(kw_only=True)
class FakeModels:
    """Scripts are tried in the order in which they were added; each reply is used once."""

    journal: Path
    threads: ThreadPool
    calls: deque[Asked] = field(default_factory=lambda: deque(maxlen=MAX_CALLS))
    count: int = 0
    _scripts: list[_Script] = field(default_factory=list)
    _writing: trio.Lock = field(default_factory=trio.Lock)

    def load(self) -> None:
        """Rebuild the state from its journal."""
        for line in lines(self.journal):
            self._apply(msgspec.json.decode(line, type=_Entry))

    async def script(self, match: Match, replies: tuple[Reply, ...]) -> None:
        async with self._writing:
            await self._do(_Entry(match=match, replies=replies))

    async def next_reply(self, asked: Asked, context: object) -> tuple[Reply, int]:
        """The reply to this call, and the number of the call. ``context`` is all input of the model."""
        async with self._writing:
            texts = list(strings_in(context))
            found = next((number for number, one in enumerate(self._scripts) if one.is_for(asked, texts)), None)
            reply = Reply(text=UNSCRIPTED) if found is None else self._scripts[found].replies[0]
            await self._do(_Entry(asked=asked, script=found))
            return reply, self.count

    async def _do(self, entry: _Entry) -> None:
        await self.threads.run(append, self.journal, msgspec.json.encode(entry) + b"\n")
        self._apply(entry)

    def _apply(self, entry: _Entry) -> None:
        if entry.match is not None:
            self._scripts.append(_Script(match=entry.match, replies=deque(entry.replies)))
        if entry.asked is not None:
            self.calls.append(entry.asked)
            self.count += 1
        if entry.script is not None:
            self._scripts[entry.script].replies.popleft()


def records_in(value: object) -> list[dict[str, Any]]:
    """The objects in a list; empty if the value is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def strings_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
