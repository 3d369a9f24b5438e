"""The ``fake.llm.*`` hooks: script the answers of the stand-in for the model vendors, and list the calls it got."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from svc.broker import VendorName
from svc.errors import Invalid
from svc.fakes.llm.world import FakeModels, Match, Reply, ToolCall
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.workspace import RequestContext

MAX_REPLIES: Final = 1_000
MAX_DELAY_MS: Final = 600_000


class FakeToolCall(Wire, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    input: Any = {}


class FakeReply(Wire, frozen=True):
    """``error`` is an HTTP status instead of an answer. ``input_tokens``: the number of input tokens that
    it reports.
    """

    text: str | None = None
    tool_calls: tuple[FakeToolCall, ...] = ()
    error: Annotated[int, msgspec.Meta(ge=400, le=599)] | None = None
    delay_ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_DELAY_MS)] = 0
    input_tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None

    def reply(self) -> Reply:
        if self.text is None and not self.tool_calls and self.error is None:
            raise Invalid("A reply has text, toolCalls or error.")
        calls = tuple(ToolCall(call.name, call.input) for call in self.tool_calls)
        return Reply(
            text=self.text, tool_calls=calls, error=self.error, delay_ms=self.delay_ms, input_tokens=self.input_tokens
        )


class FakeMatch(Wire, frozen=True):
    """All given fields must match. ``text`` matches anywhere in the model's input."""

    text: str | None = None
    model: str | None = None
    vendor: VendorName | None = None


class ScriptInput(Wire, frozen=True):
    """``match``: a text, or more fields. Without it the replies are for any call. Each reply is used once."""

    replies: Annotated[tuple[FakeReply, ...], msgspec.Meta(min_length=1, max_length=MAX_REPLIES)]
    match: str | FakeMatch | None = None


class FakeCallOut(Wire, frozen=True):
    """``messages`` and ``tools`` as they were sent."""

    vendor: VendorName
    model: str
    messages: list[Any]
    tools: list[Any]


async def script(context: RequestContext, wanted: ScriptInput) -> Nothing:
    given = FakeMatch(text=wanted.match) if isinstance(wanted.match, str) else wanted.match or FakeMatch()
    match = Match(text=given.text, model=given.model, vendor=given.vendor)
    await _models(context).script(match, tuple(reply.reply() for reply in wanted.replies))
    return NOTHING


async def calls(context: RequestContext, wanted: Nothing) -> list[FakeCallOut]:
    return [
        FakeCallOut(vendor=one.vendor, model=one.model, messages=one.messages, tools=one.tools)
        for one in _models(context).calls
    ]


def _models(context: RequestContext) -> FakeModels:
    return context.workspace.service(FakeModels)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="fake.llm.script",
        kind="mutation",
        access="admin",
        input=ScriptInput,
        output=Nothing,
        call=script,
        summary="What the stand-in of the model vendors says to the next calls (only under PROVIDERS=fake).",
    ),
    Procedure(
        name="fake.llm.calls",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[FakeCallOut],
        call=calls,
        summary="What the stand-in of the model vendors was asked, oldest first (only under PROVIDERS=fake).",
    ),
)
