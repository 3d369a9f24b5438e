"""Reading the cost of an answer from the stream that passes through."""

from __future__ import annotations

import json

import pytest

from svc.broker import usage
from svc.broker.usage import StreamReader, Usage, WholeReader, reader_for


def event(data: object, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


A_START = event(
    {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 25, "cache_read_input_tokens": 100, "output_tokens": 1}},
    },
    "message_start",
)
A_TEXT = event({"type": "content_block_delta", "delta": {"text": 'a "usage" of words'}}, "content_block_delta")
A_END = event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 15}})
B_TEXT = event({"choices": [{"delta": {"content": "x"}}], "usage": None})
B_END = event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}})
B_DONE = b"data: [DONE]\n\n"
B_RESPONSE = event(
    {"type": "response.completed", "response": {"id": "r", "usage": {"input_tokens": 3, "output_tokens": 5}}}
)

STREAMS = [
    (A_START + A_TEXT + A_END, Usage(125, 15)),
    (A_START + A_TEXT, Usage(125, None)),
    (B_TEXT + B_END + B_DONE, Usage(9, 4)),
    (B_TEXT + B_DONE, Usage(None, None)),
    (B_RESPONSE, Usage(3, 5)),
    ((A_START + A_END).replace(b"\n", b"\r\n"), Usage(125, 15)),
    (B_END.rstrip(), Usage(9, 4)),
    (b"", Usage()),
]


@pytest.mark.parametrize(("data", "said"), STREAMS)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_stream_is_read_however_it_is_cut(data: bytes, said: Usage, step: int) -> None:
    reader = StreamReader()
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
    assert reader.result() == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"usage": {"input_tokens": 10, "output_tokens": 2}}, Usage(10, 2)),
        ({"usage": {"input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 2}}, Usage(15, 2)),
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}, Usage(7, 3)),
        ({"usage": {"prompt_tokens": 8, "total_tokens": 8}}, Usage(8, 0)),
        ({"usage": {"prompt_tokens": 8}}, Usage(8, None)),
        ({"usage": {"input_tokens": 0, "output_tokens": 0}}, Usage(0, 0)),
        ({"usage": {"input_tokens": "many"}}, Usage()),
        ({"usage": {"prompt_tokens": -1_000_000, "completion_tokens": 3}}, Usage(None, 3)),
        ({"usage": {"prompt_tokens": 7, "total_tokens": 3}}, Usage(7, None)),
        ({"usage": {"input_tokens": 10, "cache_read_input_tokens": -50, "output_tokens": -2}}, Usage()),
        ({"usage": {"input_tokens": 100_000_000, "output_tokens": 100_000_001}}, Usage(100_000_000, None)),
        ({"usage": {"input_tokens": 2**63 - 1, "output_tokens": 10**30}}, Usage()),
        ({"usage": None}, Usage()),
        ({"error": {"message": "no"}}, Usage()),
        ([{"usage": 1}], Usage()),
    ],
)
def test_a_whole_answer_is_read(body: object, said: Usage) -> None:
    reader = WholeReader()
    for byte in json.dumps(body).encode():
        reader.feed(bytes([byte]))
    assert reader.result() == said
    assert reader.result().is_known == (said != Usage())


def test_what_is_no_json_says_nothing() -> None:
    for data in (b'"usage"', b'{"usage": ', b"\xff" + b'"usage"', b"[" * 100_000 + b'"usage"'):
        reader = WholeReader()
        reader.feed(data)
        assert reader.result() == Usage()


def test_what_is_too_long_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MAX_LINE_BYTES", 500)
    monkeypatch.setattr(usage, "MAX_WHOLE_BYTES", 500)
    whole, stream = WholeReader(), StreamReader()
    for _ in range(100):
        whole.feed(b"x" * 100)
        stream.feed(b"x" * 100)
    stream.feed(b"\n" + B_END)
    assert (whole.result(), stream.result()) == (Usage(), Usage(9, 4))


def test_the_kind_of_answer_is_told_by_its_type() -> None:
    assert isinstance(reader_for("text/event-stream; charset=utf-8"), StreamReader)
    assert isinstance(reader_for("application/json"), WholeReader)
