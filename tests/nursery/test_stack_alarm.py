"""The timer of the stack alarm: set and cancelled as seldom as can be, and never left to wake a loop at rest."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from svc.nursery.stack_alarm import CLOSE_S, MANY_CLOSE, StackAlarm
from tests.sizes import HANGS_S

AFTER_S = 1_000.0  # the system's timer never rings by itself in a test


class Loop:
    """The rounds of a loop, and a clock that passes when told."""

    def __init__(self) -> None:
        self.now_s = 5_000.0
        self.alarm = StackAlarm(after_s=AFTER_S, monotonic=lambda: self.now_s)

    def begin(self, *, waited_s: float) -> None:
        self.now_s += waited_s
        self.alarm.set(self.now_s)

    def end(self, *, took_s: float = 0.0) -> None:
        self.now_s += took_s
        self.alarm.take_back(self.now_s)

    def close_rounds(self, count: int) -> None:
        for _ in range(count):
            self.begin(waited_s=CLOSE_S / 2)
            self.end()

    def ring(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # a timer that has rung is not set any more
        signal.raise_signal(signal.SIGALRM)

    @property
    def rings_in_s(self) -> float:
        """0: never."""
        return signal.getitimer(signal.ITIMER_REAL)[0]


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    with loop.alarm.open():
        yield loop


def test_a_single_round_sets_it_and_cancels_it(loop: Loop) -> None:
    loop.begin(waited_s=1.0)
    assert loop.rings_in_s > 0
    loop.end()
    assert loop.rings_in_s == 0


def test_it_runs_on_over_many_close_rounds_only(loop: Loop) -> None:
    loop.begin(waited_s=1.0)
    loop.end()
    loop.close_rounds(MANY_CLOSE - 1)
    assert loop.rings_in_s == 0
    loop.close_rounds(1)
    assert loop.rings_in_s > 0


def test_a_wait_between_them_begins_the_count_anew(loop: Loop) -> None:
    loop.close_rounds(MANY_CLOSE - 1)
    loop.begin(waited_s=CLOSE_S)
    loop.end()
    loop.close_rounds(MANY_CLOSE - 1)
    assert loop.rings_in_s == 0


def test_a_loop_at_rest_is_woken_once(loop: Loop) -> None:
    loop.close_rounds(2 * MANY_CLOSE)
    loop.ring()
    assert not loop.alarm.stack
    assert loop.rings_in_s == 0
    loop.begin(waited_s=AFTER_S)  # what woke the loop begins a round
    loop.end()
    assert loop.rings_in_s == 0


def test_a_ring_that_was_meant_for_an_earlier_round_is_put_off(loop: Loop) -> None:
    loop.close_rounds(2 * MANY_CLOSE)
    loop.begin(waited_s=CLOSE_S / 2)
    loop.now_s += AFTER_S / 4
    loop.ring()
    assert not loop.alarm.stack
    assert AFTER_S / 2 < loop.rings_in_s <= AFTER_S * 3 / 4
    loop.now_s += AFTER_S * 3 / 4
    loop.ring()
    assert any("test_a_ring_that" in line for line in loop.alarm.stack)


def test_a_ring_a_moment_too_early_is_put_off_and_not_lost(loop: Loop) -> None:
    loop.begin(waited_s=1.0)
    loop.now_s = loop.now_s + AFTER_S - 1e-9
    loop.ring()
    loop.now_s += 1.0
    give_up = time.monotonic() + HANGS_S
    while not loop.alarm.stack and time.monotonic() < give_up:  # the system's timer, set for a moment, ends it
        pass
    assert loop.alarm.stack


def test_the_next_round_has_no_stack_of_the_one_before(loop: Loop) -> None:
    loop.begin(waited_s=1.0)
    loop.now_s += AFTER_S
    loop.ring()
    loop.end()
    assert loop.alarm.stack
    loop.begin(waited_s=0.0)
    assert not loop.alarm.stack


def test_closed_it_gives_the_signal_back(loop: Loop) -> None:
    loop.begin(waited_s=1.0)
    with pytest.raises(ZeroDivisionError), StackAlarm(after_s=AFTER_S, monotonic=lambda: 0.0).open():
        raise ZeroDivisionError
    assert loop.rings_in_s == 0
    assert signal.getsignal(signal.SIGALRM) == loop.alarm._ring
