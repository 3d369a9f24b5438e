"""How much is tried where less or more can be: little in every run, much with ``SVC_SOAK=1`` (``make soak``).

The little is chosen so that each kind of case still comes up; the much is for a night, and for who changes that room.
"""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck

SOAK: Final = os.environ.get("SVC_SOAK") == "1"


def _size(little: int, much: int) -> int:
    return much if SOAK else little


EXAMPLES: Final = _size(50, 5_000)
"""Examples of a property whose own number is not said. They are new in each run, so that many runs try many."""
TIMES: Final = _size(1, 50)


def examples(little: int) -> int:
    """Of a property whose examples cost more, or less, than most do."""
    return little * TIMES


INTERLEAVINGS: Final = _size(8, 500)
"""Rows of edits on two sides, each until both are equal."""

NO_SPEED: Final = (HealthCheck.too_slow,)
"""A test asserts no time: on a machine that others use too, an example takes as long as it takes."""
SHARES_FIXTURES: Final = (*NO_SPEED, HealthCheck.function_scoped_fixture)
"""For a property whose examples may all run in one and the same service."""

FLEET_CELLS: Final = _size(40, 10_000)
"""Cells that boot, each a tenant of its own."""

CORPUS_SAMPLE: Final = _size(300, 6_046)
"""Real mails, of the 6,046 there are."""

SEARCHED_WORDS: Final = _size(50, 300)
"""Words of real mail, each of which is searched for; and a third as many pairs of them."""

FRONT: Final = os.environ.get("SVC_FRONT", "own")
"""What carries the requests of the journeys; with ``SVC_FRONT=hypercorn`` all of them go through the second one."""

KILLS_A_HOME: Final = 3
SYNC_HOMES: Final = _size(1, 60)
GMAIL_HOMES: Final = _size(1, 20)
SENDING_ROUNDS: Final = _size(1, 20)
SENDING_STRIDE: Final = _size(3, 1)
"""A round kills a process at the steps of a send, a dozen and more: at each, or at each third from one of the first."""
GMAIL_MAILS: Final = _size(200, 500)
GMAIL_DRAFT_KILLS: Final = _size(1, 30)
FLAT_MAILS: Final = _size(800, 100_000)
"""Mails that are imported and exported, and an eighth of them beside it, for their memory."""
IMAP_HOMES: Final = _size(1, 20)
IMAP_MAILS: Final = _size(60, 6_046)
TAKEN_UP_DRAFTS: Final = _size(1, 20)
"""In the life of each the service is killed once."""

WIDTHS_A_PAGE: Final = _size(3, 7)
"""At which a page is looked at: the narrowest, and others that are chosen anew for each page."""
FRAME_WIDTHS: Final = _size(5, 12)
"""The same for the frame, which may be cut, or hide an account, at a width between any two."""
LIGHTS_A_PAGE: Final = _size(1, 2)
"""Light, dark or both: in which a page passes axe. Drawn anew for each page, as the size is for each walk
(``tests/web/conftest.py``).
"""

CUT_STRIDE: Final = _size(5, 1)
"""A flow of some hundred steps, each a service of its own, is cut at each of them, or at each fifth."""

RUN_STRIDE: Final = _size(61, 1)
"""A run of 20 steps is killed before, in and after each step: at each of these 80 places, or at two of them."""

GITOPS_FROM: Final = _size(25, 1)
GITOPS_STRIDE: Final = _size(90, 1)
"""A sync of some hundred steps is killed at each of them, or at a few."""

RULE_DEATHS: Final = tuple(range(_size(5, 1), _size(20, 60), _size(14, 1)))
"""Rules take mail on in a few dozen steps of their consumer; it is killed at some of them, or at each."""

APPLIED_DEATHS: Final = tuple((step, step * 2 // 7 + 1) for step in range(_size(14, 2), _size(15, 42)))
"""Steps of the store's writer at which the service is killed while a rule works through old mail, and while that is
undone.
"""

HOSTILE_WAYS: Final = _size(1, 9)
"""By which a hostile page tries a row that has nothing to show. There are nine at most."""
HOSTILE_SHOWN_WAYS: Final = _size(3, 9)
"""By which it tries what would show or do something: a third of them, drawn anew for each row and place."""
HOSTILE_OPENED: Final = _size(4, 20)
"""Pages of ours that it opens in a window, from each place."""

HOSTILE_SHARES: Final = _size(16, 1)
"""Into so many shares those rows are dealt, anew each time, a share for each of the page's four places; 1: each tries
all."""

UPLOAD_ADDRESSES: Final = _size(1, 2)
"""Of a hostile upload's two, by which it is embedded."""
UPLOAD_SHARES: Final = _size(2, 1)
"""A page with a policy, or of another origin, tries each second of the hostile uploads, or each of them."""

DESCRIBED: Final = _size(4, 1)
"""A viewer of the description, and a program that asks at random, are given each fourth of the routes and procedures,
chosen anew in each run, or all of them.
"""

MAILBOX_STORY: Final = _size(12, 2_000)
"""Steps of one mailbox, changed here and by another program, with connections that break and starts anew."""

BETWEEN_STORIES: Final = _size(1, 150)
"""Mailboxes, at each kind of server, that other programs change between any two commands of ours."""

STORY_ANY: Final = _size(2, 3)
STORY_TELLING: Final = _size(3, 5)
STORY_JUMPS: Final = _size(3, 5)
"""Events one after the other in a mail's life: all of them, those that tell most, those with a clock that jumps."""
STORY_SHARES: Final = _size(4, 1)
"""Of such rows of events each fourth one is played, chosen anew in each run, or each."""

HANGS_S: Final = 180.0
"""Ends a test that hangs, and judges no speed: on a machine that others use too, a boot may take a minute."""

DAWDLES: Final = os.environ.get("SVC_SLOW") == "1"
"""Tasks take turns by chance (tests/dawdling.py). Not in a soak: it enumerates the steps of a task."""
SLOW: Final = SOAK or DAWDLES
SLOW_PROCESSOR: Final = 6 if SLOW else 1
LATE_ANSWERS_MS: Final = 300 if SLOW else 0
"""Browser tests on a machine that is made slow: how many times slower the page runs, and by how much, at most, each
request of a page, and each answer and each live update of the stand-in server is late."""

KILLED_FACTOR: Final = _size(8, 1) + 0.2
"""A command is killed at one of its steps, then at one so many times later, until it comes to its end before."""

DISKS_LOST: Final = _size(3, 50)
"""Homes that are deleted under a running service, each restored on another machine."""
