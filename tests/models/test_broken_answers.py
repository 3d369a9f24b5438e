"""Answers of vendor A that are out of order or not whole: no call of them is made, and the fault says why."""

from __future__ import annotations

import json
from typing import Any, Final, cast

import pytest

from svc.worker.models import ModelFault, Question, Said, Text, Turn, ask
from svc.worker.models.ask import pause_of
from svc.worker.models.reader_a import StreamA, whole_a
from svc.worker.models.wires import body_a
from svc.workflow import Answer, Run

Event = dict[str, Any]


def begun(index: int, **block: object) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, kind: str, **delta: object) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", **delta}}


def ended(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def call(index: int, name: str) -> Event:
    return begun(index, type="tool_use", id="x", name=name, input={})


def given(index: int, piece: str) -> Event:
    return more(index, "input_json", partial_json=piece)


def end(reason: object = "tool_use") -> list[Event]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}}, STOP]


STOP: Final[Event] = {"type": "message_stop"}
LOOK: Final = [call(0, "look"), given(0, '{"a": 1}'), ended(0)]
SEND: Final = [call(1, "send"), given(1, '{"a": 1}'), ended(1)]


def read(*events: Event) -> Turn:
    reader = StreamA()
    reader.feed(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))
    return reader.end()


@pytest.mark.parametrize(
    "events",
    [
        [call(0, "look"), call(1, "send"), given(0, '{"a":'), given(1, "1}"), ended(0), ended(1), *end()],
        [call(0, "look"), call(0, "send"), given(0, "{}"), ended(0), ended(0), *end()],
        [call(0, "send"), given(3, '{"a": 1}'), ended(0), *end()],
        [call(0, "send"), given(0, '{"a": 1}'), ended(3), *end()],
        [{"type": "message_start"}, *LOOK, {"type": "message_start"}, *SEND, *end()],
        [given(0, "{}"), *LOOK, *end()],
        [more(0, "text", text="Hi"), *end("end_turn")],
        [begun(0, type="text", text="I send it."), ended(0), call(1, "send"), given(1, "{}"), *end()],
    ],
    ids=[
        "interleaved",
        "index twice",
        "other index",
        "end of another",
        "two messages",
        "before",
        "text before",
        "open",
    ],
)
def test_an_answer_out_of_order_is_not_used(events: list[Event]) -> None:
    with pytest.raises(ModelFault, match=r"answer (is out of order|was cut)\."):
        read(*events)


def test_what_comes_after_the_end_of_an_answer_is_not_of_it() -> None:
    turn = read(*LOOK, *end(), *SEND, {"type": "error", "error": {"message": "late"}}, *end())
    assert [one.name for one in turn.calls] == ["look"]


def test_a_reason_to_stop_that_is_unknown_makes_no_call_but_keeps_words() -> None:
    whole: Event = {"content": [{"type": "tool_use", "name": "send", "input": {}}], "stop_reason": "later"}
    with pytest.raises(ModelFault, match="for a reason that svc does not know: later"):
        read(*LOOK, *end("later"))
    with pytest.raises(ModelFault, match="does not know: later"):
        whole_a(json.dumps(whole).encode())
    assert read(begun(0, type="text", text="Hi"), ended(0), *end("later")).text == "Hi"


def test_a_name_too_long_for_any_tool_is_a_broken_answer() -> None:
    with pytest.raises(ModelFault, match="a tool with a name that is too long"):
        read(call(0, "x" * 201), ended(0), *end())


def test_an_error_is_told_in_plain_signs_also_with_status_200() -> None:
    for words, told in (("Over\u202eloaded\x1b", "Overloaded␛"), ("", "no reason"), (None, "no reason")):
        said = {"type": "error", "error": {"type": "overloaded_error", "message": words}}
        with pytest.raises(ModelFault, match=f"^The model's vendor says: {told}$"):
            read(said)
        with pytest.raises(ModelFault, match=f"^The model's vendor says: {told}$"):
            whole_a(json.dumps(said).encode())


def test_words_that_are_no_text_are_no_words() -> None:
    assert read(begun(0, type="text", text=None), more(0, "text", text=None), ended(0), *end("end_turn")).text == ""


def test_nothing_is_sent_back_that_the_vendor_would_refuse() -> None:
    turn = read(begun(0, type="text", text=" \n"), ended(0), begun(1, a=1), ended(1), *end("end_turn"))
    talk = [Said("user", (Text("Hi"),)), turn.as_said(), Said("user", (Text("You said nothing."),))]
    assert [one["role"] for one in body_a(Question(model="m", messages=talk), "m")["messages"]] == ["user", "user"]


class Refusal:
    status = 429

    def __init__(self, **fields: str) -> None:
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}

    def header(self, name: str) -> str | None:
        return self.fields.get(name)

    async def receive(self) -> bytes:
        return b""

    async def aclose(self) -> None:
        pass

    async def broker(self, path: str, body: bytes, **how: object) -> Answer:
        return self


@pytest.mark.parametrize("said", ["nan", "inf", "-inf", "soon", "1e999"])
def test_a_pause_that_is_no_number_of_seconds_is_as_if_none_was_asked_for(said: str) -> None:
    for answer in (Refusal(retry_after=said), Refusal(retry_after_ms=said)):
        pause_s = pause_of(answer, 1)
        assert pause_s is not None
        assert 0 <= pause_s <= 10


async def test_a_longer_pause_that_the_vendor_asks_for_is_left_to_the_step() -> None:
    question = Question(model="claude-x", messages=[Said("user", (Text("Hi"),))])
    with pytest.raises(ModelFault, match="answered 429") as caught:
        await ask(cast("Run", Refusal(retry_after="60")), question)
    assert caught.value.after_s == 60
