"""Orders of what may happen to a mail on its way, one after the other: never twice, and never a state untrue. Each run
plays a quarter of them, drawn anew, ``make soak`` all.

The mailbox is the judge. A mail may be accepted once, and once more for each time that the person said "send again" of
one whose fate was unknown; ``failed`` and ``cancelled`` mean that it was not accepted, ``sent`` that it was.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product
from typing import Final, TypeVar, get_args

import pytest

from svc.clock import VirtualClock
from tests.mail.sending.stepped_sending import POINTS, Action, Outcome, Point, SteppedSending, open_stepped
from tests.sizes import SOAK, STORY_ANY, STORY_JUMPS, STORY_SHARES, STORY_TELLING
from tests.support.mailbox import MailSync

pytestmark = pytest.mark.thorough

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
BESIDE: Final[tuple[Action, ...]] = ("cancel", "reschedule", "retry", "poll", "tick")
AFTER: Final[tuple[Action, ...]] = ("cancel", "reschedule", "retry", "poll", "restart")

Event = tuple[str, str]
"""``("attempt", outcome)``, ``("kill", point)`` or ``("do", action)``."""

ATTEMPTS: Final[tuple[Event, ...]] = tuple(("attempt", outcome) for outcome in OUTCOMES)
KILLS: Final[tuple[Event, ...]] = tuple(("kill", point) for point in POINTS)
ACTIONS: Final[tuple[Event, ...]] = tuple(("do", action) for action in AFTER)
EVERYTHING: Final = (*ATTEMPTS, *KILLS, *ACTIONS)
TELLING: Final[tuple[Event, ...]] = (
    ("attempt", "ok"),
    ("attempt", "lost-blind"),
    ("attempt", "cut"),
    ("attempt", "429"),
    ("kill", "leaving"),
    ("kill", "accepted"),
    ("do", "cancel"),
    ("do", "retry"),
)
JUMPS: Final[tuple[Event, ...]] = (
    ("do", "ahead"),
    ("do", "back"),
    ("attempt", "ok"),
    ("attempt", "429"),
    ("do", "retry"),
    ("kill", "accepted"),
)


async def play(stepped: SteppedSending, story: tuple[Event, ...]) -> None:
    await stepped.accept()
    for kind, what in story:
        if kind == "attempt":
            await stepped.attempt(what)  # type: ignore[arg-type]
        elif kind == "kill":
            await stepped.attempt_killed(what)  # type: ignore[arg-type]
        else:
            await stepped.do(what)  # type: ignore[arg-type]
        await stepped.check(story)
    await stepped.check_in_the_end(story)


async def play_all(mail_sync: MailSync, wall: VirtualClock, told: list[tuple[Event, ...]]) -> None:
    async with open_stepped(mail_sync, wall) as stepped:
        for story in told:
            await play(stepped, story)


Told = TypeVar("Told")


def a_share(told: Iterable[Told], chance: random.Random) -> list[Told]:
    every = list(told)
    return chance.sample(every, len(every) // STORY_SHARES)


def stories(first: Event, after: tuple[Event, ...], *, length: int, chance: random.Random) -> list[tuple[Event, ...]]:
    """Of all of that length which begin so, a share."""
    return a_share(((first, *rest) for rest in product(after, repeat=length - 1)), chance)


@pytest.mark.parametrize("first", EVERYTHING, ids=" ".join)
async def test_any_events_after_another(
    mail_sync: MailSync, wall: VirtualClock, first: Event, chance: random.Random
) -> None:
    await play_all(mail_sync, wall, stories(first, EVERYTHING, length=STORY_ANY, chance=chance))


@pytest.mark.parametrize("first", TELLING, ids=" ".join)
async def test_more_of_the_telling_ones(
    mail_sync: MailSync, wall: VirtualClock, first: Event, chance: random.Random
) -> None:
    await play_all(mail_sync, wall, stories(first, TELLING, length=STORY_TELLING, chance=chance))


@pytest.mark.parametrize("first", JUMPS, ids=" ".join)
async def test_more_with_a_clock_that_jumps(
    mail_sync: MailSync, wall: VirtualClock, first: Event, chance: random.Random
) -> None:
    await play_all(mail_sync, wall, stories(first, JUMPS, length=STORY_JUMPS, chance=chance))


@pytest.mark.parametrize("point", POINTS)
async def test_anything_beside_an_attempt_at_any_point_of_it(
    mail_sync: MailSync, wall: VirtualClock, point: Point, chance: random.Random
) -> None:
    """A cancel, a poll, a second tick in the middle of an attempt, whose end nobody knows yet."""
    async with open_stepped(mail_sync, wall) as stepped:
        for outcome, action, then in a_share(product(OUTCOMES, BESIDE, ("retry", "restart")), chance):
            story = (point, outcome, action, then)
            await stepped.accept()
            await stepped.attempt(outcome, beside=(point, action))
            await stepped.check(story)
            await stepped.do(then)  # type: ignore[arg-type]
            await stepped.attempt("ok")
            await stepped.check(story)
            await stepped.check_in_the_end(story)


@pytest.mark.parametrize("first", ["lost-blind", "cut"])
async def test_the_same_while_a_retry_in_doubt_is_on_its_way(
    mail_sync: MailSync, wall: VirtualClock, first: Outcome, chance: random.Random
) -> None:
    """The mail of the first attempt may turn up under the second."""
    async with open_stepped(mail_sync, wall) as stepped:
        for point, second, action in a_share(product(POINTS, ("ok", "cut", "429", "403"), BESIDE), chance):
            story = (first, point, second, action)
            await stepped.accept()
            await stepped.attempt(first)
            await stepped.do("retry")
            await stepped.attempt(second, beside=(point, action))  # type: ignore[arg-type]
            await stepped.check(story)
            await stepped.check_in_the_end(story)


def test_they_are_many() -> None:
    one_by_one = len(EVERYTHING) ** STORY_ANY + len(TELLING) ** STORY_TELLING + len(JUMPS) ** STORY_JUMPS
    beside = len(POINTS) * len(OUTCOMES) * len(BESIDE) * 2
    assert (one_by_one + beside) // STORY_SHARES > (30_000 if SOAK else 300)
