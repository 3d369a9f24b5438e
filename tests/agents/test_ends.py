"""How an agent's run ends when its model gives no answer: at once if another try would not help, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, cast

import msgspec
import pytest

from svc.worker.agents import OPEN, SILENCES, agent
from svc.worker.models import Stop, Text, Turn
from svc.workflow import Json, Run, StepFailed

OPENED = {"model": "m", "system": "", "tools": [], "messages": [{"role": "user", "text": "Hi"}]}


class Kept:
    """A run whose model has given these answers."""

    def __init__(self, turns: Iterator[Turn]) -> None:
        self.turns = turns
        self.asked = 0

    async def call(self, call: str, input: Json, *, name: str) -> Any:
        return OPENED if call == OPEN else {"said": [], "stop": ""}

    async def step(self, name: str, work: object, **more: object) -> Json:
        self.asked += 1
        return msgspec.to_builtins(next(self.turns))


def turn(stop: Stop, text: str = "") -> Turn:
    return Turn(blocks=(Text(text),) if text else (), stop=stop, model="m")


@pytest.mark.parametrize(
    ("answer", "asked", "why"),
    [
        (turn("refusal"), 1, "The model refused to answer, and gave no reason."),
        (turn("context", "Half"), 1, "The conversation has become longer than the model can read."),
        (turn("length", "Half"), SILENCES + 1, "The model gives no usable answer: its answers are cut, for they are "),
        (turn("end", " \n"), SILENCES + 1, "The model gives no usable answer: it says nothing."),
    ],
)
async def test_a_run_without_an_answer_says_why(answer: Turn, asked: int, why: str) -> None:
    run = Kept(repeat(answer))
    with pytest.raises(StepFailed, match=why):
        await agent(cast("Run", run), {})
    assert run.asked == asked


async def test_a_refusal_in_words_is_the_answer() -> None:
    assert await agent(cast("Run", Kept(repeat(turn("refusal", "I won't.")))), {}) == {"text": "I won't."}
