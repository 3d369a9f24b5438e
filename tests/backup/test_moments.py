"""The moment up to which everything is at the target: never too late, also when little is remembered of what waits."""

from __future__ import annotations

import random

from svc.backup.moments import MOST, Moment, Moments


def moment(at: int, *read: int) -> Moment:
    return Moment(at=at, since=at / 1000, read=read)


def test_a_moment_is_reached_once_each_database_is_there_as_it_was_read_then() -> None:
    moments = Moments()
    assert moments.reached(moment(1, 5, 2), sent=(0, 0)) is None, "nothing is known yet"
    assert moments.reached(moment(2, 6, 2), sent=(6, 1)) is None
    first = moments.reached(moment(3, 7, 3), sent=(6, 2))
    assert first == moment(2, 6, 2), "the newest of two"
    assert moments.reached(moment(4, 8, 3), sent=(6, 2)) is None, "that is known already"
    assert moments.reached(moment(5, 8, 3), sent=(8, 3)) == moment(5, 8, 3)
    assert moments.reached(moment(6, 0, 3), sent=(0, 3)) is None, "of an empty database nothing is there"


def test_after_a_long_time_without_the_target_no_moment_is_reached_too_early_and_few_are_remembered() -> None:
    chance, moments, written, sent = random.Random(15), Moments(), {0: 1}, 1
    for at in range(1, 2_000):
        written[at] = written[at - 1] + chance.choice((0, 0, 1, 3))
        is_away = 100 < at < 1_500
        sent = sent if is_away else min(written[at], sent + chance.choice((0, 2, 9)))
        reached = moments.reached(moment(at, written[at]), sent=(sent,))
        assert reached is None or sent >= written[reached.at] >= reached.read[0]
        assert len(moments._waiting) <= MOST
    last = moment(2_000, written[1_999])
    assert moments.reached(last, sent=last.read) == last
