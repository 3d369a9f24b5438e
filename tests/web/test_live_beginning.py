"""Where live updates begin when the app is opened: run in Node, step by step, without a network."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.peers.needs import NODE, VENDOR, need

READER: Final = Path(__file__).with_name("live_reader.mjs")
PATIENCE_S: Final = 60


def play(*steps: Sequence[Any]) -> list[list[Any]]:
    """What the app does at each step (see ``live_reader.mjs``)."""
    need(NODE)
    need(VENDOR)
    ran = subprocess.run(
        ["node", str(READER)], input=json.dumps(steps), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found: list[list[Any]] = json.loads(ran.stdout)
    return found


def test_they_wait_for_the_answers_that_are_under_way_and_begin_at_the_oldest() -> None:
    steps = [["ask", 1], ["ask", 2], ["ready", 9], ["ask", 3], ["answer", 1, 7], ["answer", 2, 5], ["answer", 3, 9]]
    assert play(*steps) == [[], [], [], [], [], [["subscribe", 5]], []]


def test_what_was_answered_before_is_not_waited_for() -> None:
    assert play(["ask", 1], ["answer", 1, 7], ["ready", 9])[-1] == [["subscribe", 7]]
    assert play(["ready", 9]) == [[["subscribe", 9]]]


def test_an_answer_that_does_not_say_its_age_has_all_fetched_again() -> None:
    assert play(["ask", 1], ["ready", 9], ["answer", 1, None])[-1] == [["subscribe", 9], "refetch"]


def test_an_answer_that_nobody_wants_any_more_is_not_waited_for() -> None:
    steps: list[list[Any]] = [["ask", 1], ["ask", 2], ["ready", 9], ["answer", 1, 7], ["leave", 2]]
    assert play(*steps) == [[], [], [], [], [["subscribe", 7]]]
    assert play(["ask", 1], ["leave", 1], ["ready", 9])[-1] == [["subscribe", 9]]


def test_they_do_not_wait_for_ever() -> None:
    begins: list[list[Any]] = [["ask", 1], ["ready", 9], ["wait", 9_999], ["wait", 1]]
    assert play(*begins, ["answer", 1, 5]) == [[], [], [], [["subscribe", 9]], ["refetch"]]
    assert play(*begins, ["answer", 1, 9])[-1] == []


def test_a_socket_that_was_cut_while_they_waited_begins_nothing() -> None:
    steps: list[list[Any]] = [
        ["ask", 1],
        ["ready", 9],
        ["cut"],
        ["answer", 1, 7],
        ["wait", 500],
        ["ready", 12],
        ["wait", 10_000],
    ]
    assert play(*steps) == [[], [], [], [], [], [["subscribe", 7]], []]
