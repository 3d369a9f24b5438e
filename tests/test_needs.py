"""What a machine lacks is named, with the way to get it; where everything was to be tried, it fails the run."""

from __future__ import annotations

import pytest

from tests.chance import SEED, seeded
from tests.peers.needs import Need, need

THERE = Need(name="a spoon", get="look in the drawer", is_there=lambda: True)
LACKING = Need(name="a fork", get="run .ci/peers", is_there=lambda: False)


def test_what_is_lacking_skips_the_test_and_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    need(THERE)
    with pytest.raises(pytest.skip.Exception, match=r"a fork is missing: run \.ci/peers"):
        need(THERE, LACKING)


def test_a_run_that_was_to_try_everything_fails_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    need(THERE)
    with pytest.raises(pytest.fail.Exception, match=r"a fork is missing: run \.ci/peers"):
        need(THERE, LACKING)


def test_random_choices_are_told_and_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(SEED, raising=False)
    chosen = seeded().random()
    _, _, seed = capsys.readouterr().out.strip().rpartition(f"{SEED}=")
    monkeypatch.setenv(SEED, seed)
    assert seeded().random() == chosen
