"""Which tests a run of everything plays."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

import pytest

from tests.shares import draw

pytest_plugins = ["pytester"]

CASES = """
    import pytest
    def test_alone(): ...
    @pytest.mark.share(3)
    @pytest.mark.parametrize("case", range(7))
    def test_cases(case): ...
    @pytest.mark.share(2)
    @pytest.mark.parametrize("case", range(2))
    def test_others(case): ...
    @pytest.mark.share(2, among="a name")
    def test_here(): ...
    @pytest.mark.thorough
    @pytest.mark.parametrize("case", range(6))
    def test_thorough(case): ...
"""
WHOLE_FILE = """
    import pytest
    pytestmark = [pytest.mark.share(2)]
    def test_one(): ...
    @pytest.mark.parametrize("case", range(4))
    def test_more(case): ...
    @pytest.mark.share(2, among="a name")
    def test_there(): ...
"""
SIZES = {"test_alone": 1, "test_cases": 3, "test_others": 1, "test_thorough": 4}


@pytest.fixture
def items(pytester: pytest.Pytester) -> Sequence[pytest.Item]:
    paths = [pytester.makepyfile(**{name: dedent(text)}) for name, text in {"cases": CASES, "file": WHOLE_FILE}.items()]
    return pytester.genitems([pytester.getpathnode(path) for path in paths])


def test_of_each_family_a_share_is_played(items: Sequence[pytest.Item]) -> None:
    played = draw(items, "a run")
    names = [getattr(item, "originalname", "") for item in played if item.path.name == "cases.py"]
    assert {name: names.count(name) for name in SIZES} == SIZES
    assert len([item for item in played if item.path.name == "file.py" and item.name != "test_there"]) == 3
    assert len([item for item in played if item.name in {"test_here", "test_there"}]) == 1
    assert played == [item for item in items if item in played], "and their order is kept"


def test_all_processes_of_a_run_draw_the_same(items: Sequence[pytest.Item]) -> None:
    assert draw(items, "a run") == draw(list(items), "a run")


def test_many_runs_play_all(items: Sequence[pytest.Item]) -> None:
    assert {item for run in range(60) for item in draw(items, str(run))} == set(items)
