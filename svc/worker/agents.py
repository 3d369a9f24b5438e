"""An agent, as a run: the model is asked, its tool calls are made, and so on until it answers.

A step is one model call or one tool call, so after a crash the run goes on with the kept steps. The other plane decides
what may be called, and what waits for a person's approval. A tool's answer is handed to the model only as data, in the
place of a tool's answer.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec
import trio

from svc.nursery import open_task_group
from svc.protocol import LinkFault
from svc.worker import tools
from svc.worker.models import Event, Question, Said, Stop, Text, TextDelta, Tool, ToolCall, ToolResult, Turn, ask
from svc.worker.rows import WorkerRows
from svc.workflow import Fatal, Json, Run, StepFailed, Workflow

OPEN: Final = "agents.open"
TURN: Final = "agents.turn"
LIVE_PATH: Final = "/agents/live"
CALLS_AT_ONCE: Final = 16
"""Tool calls of one answer of the model. Beyond: the others are refused, and the model is told."""
MAX_TOKENS: Final = 4_096
"""Tokens of one answer of the model. Beyond: it is cut, and no call in it is made."""
SILENCES: Final = 2
"""How often a model may say nothing at all. Beyond: the run fails."""
_ENDS: Final[Mapping[Stop, str]] = {
    "refusal": "The model refused to answer, and gave no reason.",
    "context": "The conversation has become longer than the model can read.",
}
"""Why the run fails at once: to ask again would not help."""
TELL_S: Final = 0.5
MAX_TOLD_CHARS: Final = 8_000
"""Characters of an answer that are shown while the model writes it. Beyond: its end is shown."""
_STEP_NAME: Final = re.compile(r"[^\w.-]")
_WIRE_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")
_WIRE_CHARS: Final = 64


@dataclass(kw_only=True)
class _Talk:
    """The conversation so far. It is rebuilt from the kept steps, so it is never stored itself."""

    model: str
    system: str
    tools: tuple[Tool, ...]
    names: dict[str, str]
    messages: list[Said] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.messages.append(Said("user", (Text(text),)))


async def agent(run: Run, input: Json) -> Json:
    talk = _talk(await run.call(OPEN, {}, name="open"))
    heard, silent, answer, ended = 0, 0, "", False
    turn = 0
    while True:
        turn += 1
        told = await run.call(TURN, {"turn": turn, "heard": heard}, name="turn")
        for text in told["said"]:
            talk.say(text)
        heard += len(told["said"])
        if told["stop"] and not ended:
            raise StepFailed(told["stop"], type="Ceiling")
        if ended and not told["said"]:
            return {"text": answer}
        said = await _asked(run, talk, turn)
        talk.messages.append(said.as_said())
        answer = said.text or answer
        ended = False
        if said.stop == "tools" and said.calls:
            talk.messages.append(Said("user", await _called(run, talk, turn, said.calls)))
        elif said.stop in {"end", "tools", "refusal"} and said.text.strip():
            ended = True
        elif said.stop == "length":
            talk.say("Your answer was cut, for it was too long. Go on in smaller pieces.")
            silent = _count(silent, "its answers are cut, for they are too long")
        elif said.stop in _ENDS:
            raise StepFailed(_ENDS[said.stop], type="NoAnswer")
        elif said.stop != "pause":
            talk.say("You said nothing. Answer, or call a tool.")
            silent = _count(silent, "it says nothing")


def _count(silent: int, why: str) -> int:
    if silent >= SILENCES:
        raise StepFailed(f"The model gives no usable answer: {why}.", type="NoAnswer")
    return silent + 1


def _talk(opened: Json) -> _Talk:
    names = _wire_names([one["name"] for one in opened["tools"]])
    wire = {name: one for one, name in names.items()}
    listed = tuple(Tool(name=wire[one["name"]], about=one["about"], schema=one["schema"]) for one in opened["tools"])
    talk = _Talk(model=opened["model"], system=opened["system"], tools=listed, names=names)
    for said in opened["messages"]:
        talk.messages.append(Said(said["role"], (Text(said["text"]),)))
    return talk


def _wire_names(names: list[str]) -> dict[str, str]:
    """The tools by the names that vendors accept (letters, digits, ``_``, ``-``)."""
    found: dict[str, str] = {}
    for name in names:
        wire = base = _WIRE_NAME.sub("_", name)[:_WIRE_CHARS]
        number = 1
        while wire in found:
            number += 1
            wire = f"{base[: _WIRE_CHARS - 4]}_{number}"
        found[wire] = name
    return found


async def _asked(run: Run, talk: _Talk, turn: int) -> Turn:
    """One step: the model's whole answer, as it is stored."""

    async def work(key: str) -> Json:
        question = Question(
            model=talk.model,
            messages=tuple(talk.messages),
            system=talk.system,
            tools=talk.tools,
            max_tokens=MAX_TOKENS,
        )
        try:
            return msgspec.to_builtins(await _told_live(run, partial(ask, run, question)))
        except LinkFault as fault:
            raise OSError(str(fault)) from fault

    kept = await run.step("model", work, input={"turn": turn}, kind="llm")
    try:
        return msgspec.convert(kept, Turn)
    except msgspec.ValidationError as error:
        raise Fatal(f"The kept answer can't be read: {error}") from error


async def _told_live(run: Run, asking: Callable[..., Awaitable[Turn]]) -> Turn:
    """Ask the model, and meanwhile send the text so far to people who watch: a few times a second."""
    pieces: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, TextDelta):
            pieces.append(event.text)

    async def tell() -> None:
        told = 0
        while True:
            await trio.sleep(TELL_S)
            if len(pieces) > told:
                told = len(pieces)
                body = msgspec.json.encode({"text": "".join(pieces)[-MAX_TOLD_CHARS:]})
                try:
                    answer = await run.broker(LIVE_PATH, body, headers={"content-type": "application/json"})
                    await answer.aclose()
                except LinkFault:
                    return  # nobody sees it live; the answer itself is stored all the same

    async with open_task_group() as nursery:
        nursery.start_soon(tell)
        said = await asking(heard=hear)
        nursery.cancel_scope.cancel()
    return said


async def _called(run: Run, talk: _Talk, turn: int, calls: tuple[ToolCall, ...]) -> tuple[ToolResult, ...]:
    """Make all calls of one answer at the same time: a call that waits for a person does not block the others."""
    branches = {
        f"{turn}.{number} {_STEP_NAME.sub('_', talk.names.get(call.name, call.name))[:80]}": call
        for number, call in enumerate(calls[:CALLS_AT_ONCE], start=1)
    }

    async def one(call: ToolCall, within: Run) -> Json:
        return await tools.use(within, talk.names.get(call.name, call.name), call.input)

    said = await run.together({name: partial(one, call) for name, call in branches.items()})
    results = [_result(call, said[name]) for name, call in branches.items()]
    too_many = f"Not called: {CALLS_AT_ONCE} calls at once are the most."
    return (*results, *(ToolResult(call.id, too_many, is_error=True) for call in calls[CALLS_AT_ONCE:]))


def _result(call: ToolCall, said: Any) -> ToolResult:
    if "error" in said:
        return ToolResult(call.id, str(said["error"]["message"]), is_error=True)
    result = msgspec.json.encode(said["result"]).decode()
    if "changed" in said:
        result += f"\nThe person changed the call before they let it through. Done was: {_json(said['changed'])}"
    return ToolResult(call.id, result)


def _json(value: Json) -> str:
    return msgspec.json.encode(value).decode()


AGENT: Final = Workflow(
    name="agent",
    version=1,
    title="Agent",
    code=agent,
    calls=(OPEN, TURN, *tools.CALLS),
)
ROWS: Final = WorkerRows(workflows=(AGENT,))
