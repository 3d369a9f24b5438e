"""The recording of a terminal: its last output, bounded, by position."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from svc.terminals.tape import KEPT_BYTES, Tape
from tests.sizes import examples

LIMIT = 16


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60), st.integers(0, 20))
@settings(max_examples=examples(200))
def test_it_holds_the_end_of_all_that_was_said_and_no_more(said: list[bytes], place: int, at_most: int) -> None:
    tape, whole = Tape(LIMIT), b"".join(said)
    for piece in said:
        tape.add(piece)
    assert (tape.begins, tape.ends) == (max(0, len(whole) - LIMIT), len(whole))
    begin = max(place, tape.begins)
    assert tape.after(place, at_most) == whole[begin : begin + at_most]


def test_whoever_keeps_up_misses_nothing() -> None:
    tape, place, heard = Tape(LIMIT), 0, b""
    for number in range(100):
        piece = str(number).encode() * 3
        if len(piece) > tape.room(place):
            heard += tape.after(place, LIMIT)
            place = tape.ends
        tape.add(piece)
    assert heard + tape.after(place, LIMIT) == b"".join(str(number).encode() * 3 for number in range(100))


def test_a_replay_begins_at_a_line_where_something_is_gone() -> None:
    tape = Tape(LIMIT)
    tape.add(b"\xb8\x1b[1mab\ncd")
    assert tape.start() == 0
    tape.add(b"efghijk")
    assert tape.after(tape.start(), LIMIT) == b"cdefghijk"
    tape.add(b"x" * LIMIT)
    assert tape.start() == tape.begins


def test_a_hundred_megabytes_leave_what_is_kept() -> None:
    tape, piece = Tape(), b"line\n" * 13_107
    for _ in range(100 * 1024 * 1024 // len(piece)):
        tape.add(piece)
        assert tape.ends - tape.begins <= KEPT_BYTES
