"""A feature is added by one line in the service's list and one in the app's, and taken out again.

The structure of the tree with it keeps every rule.

The feature lies in ``habits_feature/``: a table, a setting, two procedures, a consumer, a job, a command, and a page in
the app with its way there and its style. It is laid into a copy of the tree, which is then served as it is from a
checkout.
"""

from __future__ import annotations

import filecmp
import json
import shutil
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests import structure, tables
from tests.sizes import HANGS_S
from tests.structure import Tree
from tests.support.browser import fresh_page
from tests.support.process import ServiceProcess, until
from tests.tables import FEATURE_OF, Tables

ROOT: Final = Path(__file__).parent.parent.parent
HABITS: Final = Path(__file__).parent / "habits_feature"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what is served."""
    for folder in ("svc", "static"):
        shutil.copytree(ROOT / folder, tmp_path / "tree" / folder, ignore=shutil.ignore_patterns("node_modules"))
    return tmp_path / "tree"


def add(tree: Path) -> None:
    """The feature's own files, and a line in each of the two lists."""
    shutil.copytree(HABITS, tree, dirs_exist_ok=True)
    in_list(tree / "svc/app.py", "    undo.FEATURE,\n", "    undo.FEATURE,\n    habits.FEATURE,\n")
    in_list(tree / "svc/app.py", "from svc.clock import", "from svc import habits\nfrom svc.clock import")
    in_list(tree / "static/features.js", "export const FEATURES = [", "export const FEATURES = [habits, ")
    in_list(
        tree / "static/features.js",
        "import { FEATURE as files }",
        'import { FEATURE as habits } from "./habits/feature.js";\nimport { FEATURE as files }',
    )


def take_out(tree: Path) -> None:
    for name in ("svc/app.py", "static/features.js"):
        shutil.copy(ROOT / name, tree / name)
    for folder in ("svc", "static"):
        shutil.rmtree(tree / folder / "habits")


def in_list(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert text.count(before) == 1, f"{path.name} has no place for a new line"
    path.write_text(text.replace(before, after))


def changed(tree: Path) -> set[str]:
    """The files of the tree that differ from this repository's, without those that only the tree has."""
    both = [path for path in tree.rglob("*") if path.is_file() and (ROOT / path.relative_to(tree)).is_file()]
    return {
        path.relative_to(tree).as_posix()
        for path in both
        if path.suffix != ".pyc" and not filecmp.cmp(path, ROOT / path.relative_to(tree), shallow=False)
    }


@pytest.mark.thorough
def test_a_feature_changes_two_lists_and_no_other_file_and_keeps_the_rules(tree: Path) -> None:
    there = {path for path in tree.rglob("*") if path.is_file()}
    assert changed(tree) == set()
    add(tree)
    own = {tree / path.relative_to(HABITS) for path in HABITS.rglob("*") if path.is_file()}
    assert {path for path in tree.rglob("*") if path.is_file()} - there == own
    assert changed(tree) == {"svc/app.py", "static/features.js"}
    sources = Tree(tree)
    assert sources.order.index("habits") == sources.order.index("undo") + 1
    assert structure.faults_of(sources) == {}
    assert tables.faults_of(Tables(sources, {**FEATURE_OF, "habits": "habits"})) == []


@pytest.mark.thorough
def test_a_new_feature_that_breaks_a_rule_is_found(tree: Path) -> None:
    add(tree)
    odd = tree / "svc/habits/odd.py"
    odd.write_text(
        "from svc.rules.matching import plan_of\n"
        "def habits(tx):\n"
        "    from ..mail import model\n"
        "    tx.all('select 1 from mail_threads')\n"
        "    tx.run('delete from undo_steps')\n"
    )
    sources = Tree(tree)
    assert list(structure.faults_of(sources)) == ["svc/habits/odd.py"]
    assert tables.faults_of(Tables(sources, {**FEATURE_OF, "habits": "habits"})) == [
        "svc/habits/odd.py:5 writes undo_steps",
        "svc/habits/odd.py:4 reads mail_threads",
    ]


@pytest.mark.browser
@pytest.mark.journey
def test_a_feature_is_added_and_taken_out_by_one_line_in_each_list(
    tree: Path, tmp_path: Path, browser: Browser
) -> None:
    with ServiceProcess(tmp_path, root=tree, warm=False) as service:
        add(tree)
        service.start(PROVIDERS="fake", SVC_HABITS_GOAL="2")
        for name in ("walk", "read", "walk"):
            service.mutate("habits.done", name=name)
        until(
            lambda: [one["done"] for one in service.query("habits.list")] == [1, 2],
            what="the consumer to have counted what was done",
            deadline_s=HANGS_S,
        )
        until(
            lambda: [one["met"] for one in service.query("habits.list")] == [False, True],
            what="the job to have said which were done often enough",
            deadline_s=HANGS_S,
        )
        listed = service.command("habits", "list", "--json")
        assert json.loads(listed.stdout) == [{"name": "read", "done": "1"}, {"name": "walk", "done": "2"}]
        with fresh_page(browser, base_url=service.base) as page:
            page.goto("/p/mail")
            page.get_by_role("link", name="Habits").click()
            expect(page.locator(".habits li")).to_have_text(["read: 1 of 2", "walk: 2 of 2"])
            expect(page.locator(".habits")).to_have_css("list-style-type", "square")
        assert service.stop() == 0

    take_out(tree)
    with ServiceProcess(
        tmp_path / "without", root=tree, warm=False
    ) as service:  # a home that has its table wants it back
        service.directory.mkdir()
        service.start(PROVIDERS="fake")
        assert service.request("GET", "/trpc/habits.list").status == 404
        assert service.stop() == 0
