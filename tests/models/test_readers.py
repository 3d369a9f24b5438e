"""Reading both vendors' streams: cut anywhere they mean the same, and an incomplete call is never run."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.fakes.llm import wire_a, wire_b
from svc.fakes.llm.said import Said as Spoken
from svc.fakes.llm.world import ToolCall as Scripted
from svc.worker.models import ModelFault, Turn, collecting
from svc.worker.models.ask import with_own_ids
from svc.worker.models.reader_a import StreamA, whole_a
from svc.worker.models.reader_b import StreamB, whole_b
from svc.worker.models.sse import Events
from svc.worker.models.terms import Question, Said, Text, TextDelta, ToolCall, ToolResult
from svc.worker.models.wires import body_a, body_b
from tests.sizes import NO_SPEED, examples
from tests.support.odd_json import with_odd

Arguments = dict[str, Any]
words = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
arguments = st.dictionaries(st.text("abc", min_size=1, max_size=3), words | st.integers() | st.none(), max_size=3)
calls = st.lists(st.tuples(st.sampled_from(["look", "send"]), arguments), max_size=3)


def spoken(text: str, called: list[tuple[str, Arguments]]) -> Spoken:
    scripted = tuple(Scripted(name, given) for name, given in called)
    return Spoken(number=1, model="m", text=text, tool_calls=scripted, input_tokens=7, output_tokens=3)


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """``data`` cut into pieces of these sizes, again and again."""
    cut, place, turn = [], 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        cut.append(data[place : place + size])
        place, turn = place + size, turn + 1
    return cut


def read(reader: StreamA | StreamB, parts: list[bytes]) -> tuple[Turn, str]:
    """The turn, and the text as it was heard on the way."""
    heard = [event for part in parts for event in reader.feed(part)]
    return reader.end(), "".join(event.text for event in heard if isinstance(event, TextDelta))


def said(turn: Turn) -> tuple[str, list[tuple[str, Arguments]]]:
    return turn.text, [(call.name, call.input) for call in turn.calls]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=NO_SPEED)
@given(text=words, called=calls, sizes=st.lists(st.integers(1, 50), min_size=1, max_size=4), crlf=st.booleans())
def test_a_stream_says_the_same_wherever_it_is_cut_and_as_a_whole_answer(
    text: str, called: list[tuple[str, Arguments]], sizes: list[int], crlf: bool
) -> None:
    one = spoken(text, called)
    for reader, events, whole in (
        (StreamA(), wire_a.events(one), whole_a(json.dumps(wire_a.message(one)).encode())),
        (
            StreamB(),
            wire_b.completion_chunks(one, with_usage=True),
            whole_b(json.dumps(wire_b.completion(one)).encode()),
        ),
    ):
        data = b"".join(events)
        turn, heard = read(reader, pieces(data.replace(b"\n", b"\r\n") if crlf else data, sizes))
        assert said(turn) == said(whole) == (text, called)
        assert heard == text
        assert (turn.input_tokens, turn.output_tokens) == (7, 3)
        assert turn.stop == whole.stop == ("tools" if called else "end")


@settings(max_examples=examples(40), deadline=None, suppress_health_check=NO_SPEED)
@given(text=words, called=calls, share=st.floats(0, 0.999))
def test_what_is_cut_is_nothing_however_much_of_it_came(
    text: str, called: list[tuple[str, Arguments]], share: float
) -> None:
    one = spoken(text, called)
    data = b"".join(wire_a.events(one))
    end = data.rindex(b"event: message_stop")
    reader = StreamA()
    with pytest.raises(ModelFault):
        read(reader, [data[: int(end * share)]])
    streamed = b"".join(wire_b.completion_chunks(one, with_usage=False))
    with pytest.raises(ModelFault):
        read(StreamB(), [streamed[: int(streamed.rindex(b'"finish_reason"') * share)]])


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for reader in (StreamA(), StreamB()):
        with pytest.raises(ModelFault):
            read(reader, [data])
    for whole in (whole_a, whole_b):
        with pytest.raises(ModelFault):
            whole(data)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=NO_SPEED)
@given(data=st.data())
def test_an_answer_with_something_else_in_any_place_is_read_or_refused(data: st.DataObject) -> None:
    """As by a server that only looks like the vendor's."""
    one = spoken("Hi", [("look", {"a": 1})])
    for reader, events, read_whole, whole in (
        (StreamA(), wire_a.events(one), whole_a, wire_a.message(one)),
        (StreamB(), wire_b.completion_chunks(one, with_usage=True), whole_b, wire_b.completion(one)),
    ):
        with suppress(ModelFault):
            read_whole(json.dumps(with_odd(json.loads(json.dumps(whole)), data)).encode())
        said_ = [json.loads(event.partition(b"data: ")[2]) for event in events if b"[DONE]" not in event]
        number = data.draw(st.integers(0, len(said_) - 1))
        said_[number] = with_odd(said_[number], data)
        with suppress(ModelFault):
            read(reader, [b"data: " + json.dumps(event).encode() + b"\n\n" for event in said_])


def test_a_model_that_thinks_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MAX_TEXT_CHARS", 1_000)
    begin, end = {"type": "content_block_start", "content_block": {"type": "thinking"}}, {"type": "content_block_stop"}
    for said_ in (
        [begin, *([{"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "Hm. "}}] * 300)],
        [{**begin, "content_block": {"type": "redacted_thinking", "data": "x" * 20}}, end] * 60,
    ):
        with pytest.raises(ModelFault, match="said more than 1000"):
            read(StreamA(), [b"data: " + json.dumps(event).encode() + b"\n\n" for event in said_])


@given(data=st.lists(st.sampled_from([b"data: a", b"data:b", b"\r", b"\n", b"\r\n", b": c", b"event: x"]), max_size=30))
def test_events_are_the_same_whole_and_byte_by_byte(data: list[bytes]) -> None:
    stream = b"".join(data)
    bytewise = Events()
    assert [one for byte in stream for one in bytewise.feed(bytes([byte]))] == Events().feed(stream)


def chunk(*parts: Arguments, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"tool_calls": list(parts)} if parts else {}, "finish_reason": reason}
    return b"data: " + json.dumps({"model": "local", "choices": [choice]}).encode() + b"\n\n"


def part(name: str | None, given: object, *, index: int | None = 0, id: str | None = None) -> Arguments:
    return {"index": index, "id": id, "function": {"name": name, "arguments": given}}


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk(part("look", {"a": 1}))], [("look", {"a": 1})]),  # an object in place of a text
        ([chunk(part("look", '{"a"', id="x")), chunk(part("look", ":1}", id="x"))], [("look", {"a": 1})]),
        ([chunk(part("look", "{}", id="x")), chunk(part("send", "{}", id="y"))], [("look", {}), ("send", {})]),
        (
            [chunk(part("look", "{}", id="x")), chunk(part("look", '{"a":1}', id="x"))],
            [("look", {}), ("look", {"a": 1})],
        ),
        ([chunk(part("look", ""))], [("look", {})]),
        ([chunk(part("look", "{}", index=None), part("send", "{}", index=None))], [("look", {}), ("send", {})]),
    ],
)
def test_the_ways_of_other_servers_are_understood(chunks: list[bytes], expected: list[tuple[str, Arguments]]) -> None:
    turn, _ = read(StreamB(), [*chunks, chunk(reason="stop")])  # and "stop" may carry calls
    assert (turn.stop, said(turn)[1]) == ("tools", expected)
    assert len({call.id for call in turn.calls}) == len(expected)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_calls_beside_another_reason_to_stop_are_not_run(reason: str) -> None:
    turn, _ = read(StreamB(), [chunk(part("send", '{"to')), chunk(reason=reason)])
    assert turn.calls == ()


def test_what_comes_after_the_end_of_an_answer_is_not_of_it() -> None:
    end = [chunk(reason="tool_calls"), b"data: [DONE]\n\n"]
    turn, _ = read(StreamB(), [chunk(part("look", "{}")), *end, chunk(part("send", "{}")), b"data: no JSON\n\n"])
    assert said(turn) == ("", [("look", {})])


def test_half_a_json_is_never_run() -> None:
    with pytest.raises(ModelFault, match="half a JSON"):
        read(StreamB(), [chunk(part("send", '{"to": "a')), chunk(reason="tool_calls")])


@pytest.mark.parametrize("given", ["[1]", '"x"', "7", [1], 7])
def test_arguments_that_are_no_object_reach_the_tool_which_says_what_is_wrong(given: Any) -> None:
    turn, _ = read(StreamB(), [chunk(part("send", given)), chunk(reason="tool_calls")])
    (call,) = turn.calls
    assert call.input == (json.loads(given) if isinstance(given, str) else given)
    told = [Said("assistant", (call,)), Said("user", (ToolResult(call.id, "No.", is_error=True),))]
    question = Question(model="m", messages=told)
    assert body_a(question, "m")["messages"][0]["content"][0]["input"] == {}, "vendors take back only objects"
    assert body_b(question, "m")["messages"][0]["tool_calls"][0]["function"]["arguments"] == "{}"


block = (
    st.builds(Text, st.just("x"))
    | st.builds(ToolCall, st.sampled_from("pq"), st.just("look"), st.just({}))
    | st.builds(ToolResult, st.sampled_from("pq"), st.just("r"))
)
message = st.builds(Said, st.sampled_from(["user", "assistant"]), st.lists(block, max_size=4).map(tuple))


@given(st.lists(message, max_size=8))
def test_each_call_has_one_result_in_the_next_message_and_no_result_is_an_orphan(talk: list[Said]) -> None:
    told = with_own_ids(talk)
    seen: set[str] = set()
    for place, one in enumerate(told):
        made = [block.id for block in one.blocks if isinstance(block, ToolCall) and one.role == "assistant"]
        assert not seen & set(made)
        seen |= set(made)
        if made and place + 1 < len(told):
            answered = [block.id for block in told[place + 1].blocks if isinstance(block, ToolResult)]
            assert sorted(answered) == sorted(made)
