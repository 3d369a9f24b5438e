"""The stream of a server is cut into the same responses, however it comes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Frame, Framer, Literal
from tests.sizes import EXAMPLES
from tests.support.each import each

DIALOGUE = (
    b"* OK [CAPABILITY IMAP4rev1 LITERAL+] Ready {3}\r\n"
    b"\r\n"
    b"* 1 FETCH (UID 7 BODY[] {11}\r\nhello\r\nyou.\r\n FLAGS (\\Seen))\r\n"
    b"* 2 FETCH (BODY[] {0}\r\n)\n"
    b"* LIST () NIL ~{5+}\r\na {3}\r\n"
    b"a1 NO [UNAVAILABLE] later {12}\r\n"
    b"+ go on {2}\r\n"
)
FRAMES: list[Frame] = [
    (b"* OK [CAPABILITY IMAP4rev1 LITERAL+] Ready {3}",),
    (b"* 1 FETCH (UID 7 BODY[] ", Literal(size=11, data=b"hello\r\nyou."), b" FLAGS (\\Seen))"),
    (b"* 2 FETCH (BODY[] ", Literal(size=0, data=b""), b")"),
    (b"* LIST () NIL ", Literal(size=5, data=b"a {3}"), b""),
    (b"a1 NO [UNAVAILABLE] later {12}",),
    (b"+ go on {2}",),
]


def framed(*pieces: bytes, framer: Framer | None = None) -> list[Frame]:
    framer = framer or Framer()
    found: list[Frame] = []
    for piece in pieces:
        framer.feed(piece)
        while (frame := framer.next()) is not None:
            found.append(frame)
    return found


def test_responses_are_lines_with_literals_in_them() -> None:
    assert framed(DIALOGUE) == FRAMES


def test_byte_by_byte_it_is_the_same() -> None:
    assert framed(*(DIALOGUE[at : at + 1] for at in range(len(DIALOGUE)))) == FRAMES


@each(range(len(DIALOGUE)))
def test_a_stream_that_ends_anywhere_gives_only_what_was_whole(at: int) -> None:
    framer = Framer()
    found = framed(DIALOGUE[:at], framer=framer)
    assert found == FRAMES[: len(found)]
    ends = [DIALOGUE.index(b"* 1 FETCH"), DIALOGUE.index(b"* 2 FETCH"), DIALOGUE.index(b"* LIST")]
    if at in ends:
        assert framer.is_between


@settings(max_examples=EXAMPLES)
@given(st.lists(st.integers(0, len(DIALOGUE)), max_size=8))
def test_any_cuts_give_the_same(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(DIALOGUE)]
    pieces = [DIALOGUE[start:end] for start, end in pairwise(places)]
    assert framed(*pieces) == FRAMES


def test_a_literal_that_is_too_large_is_let_go_of_and_the_dialogue_goes_on() -> None:
    framer = Framer(max_literal_bytes=10)
    large = b"* 1 FETCH (BODY[] {11}\r\n" + b"x" * 11 + b" UID 7)\r\n* 2 FETCH (BODY[] {10}\r\n" + b"y" * 10 + b")\r\n"
    first, second = framed(large, framer=framer)
    assert first[1] == Literal(size=11, data=None)
    assert second[1] == Literal(size=10, data=b"y" * 10)


def test_many_literals_of_one_response_are_bounded_together() -> None:
    framer = Framer(max_literal_bytes=10)
    (frame,) = framed(b"* 1 FETCH (A {6}\r\naaaaaa B {6}\r\nbbbbbb)\r\n", framer=framer)
    assert [part.data for part in frame if isinstance(part, Literal)] == [b"aaaaaa", None]


def test_what_is_let_go_of_takes_no_memory() -> None:
    framer = Framer(max_literal_bytes=10)
    framer.feed(b"* 1 FETCH (BODY[] {100000000}\r\n")
    for _ in range(50):
        framer.feed(b"z" * 1_000_000)
        assert len(framer._buffer) == 0
    assert framer.next() is None


@pytest.mark.parametrize("line", [b"* " + b"x" * 101, b"* 1 FETCH (" + b"y" * 101 + b"\r\n"])
def test_a_line_without_an_end_is_a_fault(line: bytes) -> None:
    with pytest.raises(ProtocolFault, match="without an end"):
        Framer(max_text_bytes=100).feed(line)


def test_literals_without_an_end_are_a_fault() -> None:
    with pytest.raises(ProtocolFault, match="too many parts"):
        Framer().feed(b"* 1 FETCH (" + b"{0}\r\n " * 5_000)


def test_an_empty_line_after_a_literal_of_a_message_is_passed_over() -> None:
    (frame,) = framed(b"* 1 FETCH (BODY[] {2}\r\nhi\r\n\r\n)\r\n")
    assert frame == (b"* 1 FETCH (BODY[] ", Literal(size=2, data=b"hi"), b")")
