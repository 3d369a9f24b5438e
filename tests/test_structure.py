"""The rules of ``structure.py`` find what breaks them: each is asked about a small tree with one fault in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.structure import Tree, circles_of_packages, faults_of, ground_that_comes_back, off_its_ground

APP = """
from svc import pages, rules
from svc.feature import Feature
from svc.mail.feature import FEATURE as MAIL

FEATURES: tuple[Feature, ...] = (pages.FEATURE, MAIL, rules.FEATURE)
"""
FILES = {
    "__init__.py": "",
    "app.py": APP,
    "clock.py": "",
    "feature.py": "from svc.workspace import Workspace",
    "workspace.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from svc.feature import Feature\n",
    "store/__init__.py": "",
    "store/rows.py": "",
    "worker/__init__.py": "",
    "worker/rows.py": "",
    "pages/__init__.py": "from svc.pages.queries import page",
    "pages/feature.py": "",
    "pages/queries.py": "def page(): ...",
    "mail/__init__.py": "",
    "mail/model.py": "",
    "mail/threads/__init__.py": "",
    "mail/sync/__init__.py": "",
    "mail/sync/tasks.py": "from svc.mail import model",
    "mail/feature.py": "",
    "rules/__init__.py": "from svc.rules.matching import plan",
    "rules/matching.py": "from svc.pages import page",
}


def planted(root: Path, files: dict[str, str]) -> Tree:
    for place, source in files.items():
        path = root / "svc" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return Tree(root)


def faults(tree: Tree) -> dict[str, list[str]]:
    """Without the ground of packages that these small trees do not have."""
    return {place: found for place, found in faults_of(tree).items() if place != "packages"}


def test_a_tree_that_keeps_the_rules_has_no_faults(tmp_path: Path) -> None:
    tree = planted(tmp_path, FILES)
    assert tree.order == ("pages", "mail", "rules")
    assert faults(tree) == {}


@pytest.mark.parametrize(
    ("place", "source", "fault"),
    [
        ("pages/queries.py", "from svc.rules import matching", "line 1: svc.pages stands below svc.rules.matching"),
        ("pages/queries.py", "from ..rules import matching", "line 1: svc.pages stands below svc.rules.matching"),
        (
            "pages/queries.py",
            "def page():\n    from ..rules.matching import plan",
            "line 2: svc.pages stands below svc.rules.matching",
        ),
        (
            "pages/queries.py",
            "try:\n    import svc.rules\nfinally:\n    pass",
            "line 2: svc.pages stands below svc.rules",
        ),
        (
            "pages/queries.py",
            "if TYPE_CHECKING:\n    from svc.rules import Rule",
            "line 2: svc.pages stands below svc.rules",
        ),
        (
            "pages/queries.py",
            "if TYPE_CHECKING:\n    import ast\nelse:\n    from svc.rules import Rule",
            "line 4: svc.pages stands below svc.rules",
        ),
        ("workspace.py", "from svc.feature import Feature", "line 1: svc.workspace stands below svc.feature"),
        (
            "workspace.py",
            "if TYPE_CHECKING:\n    import ast\nelse:\n    from svc.feature import Feature",
            "line 4: svc.workspace stands below svc.feature",
        ),
        (
            "workspace.py",
            "if not TYPE_CHECKING:\n    from svc.feature import Feature",
            "line 2: svc.workspace stands below svc.feature",
        ),
        ("worker/rows.py", "from svc import store", "line 1: svc.worker stands below svc.store"),
        ("clock.py", "from svc import store", "line 1: svc.clock stands below svc.store"),
        ("rules/matching.py", "from svc.pages.queries import page", "line 1: reaches into svc.pages.queries"),
        ("rules/matching.py", "from svc.pages import queries", "line 1: reaches into svc.pages.queries"),
        ("rules/matching.py", "from ..pages import queries", "line 1: reaches into svc.pages.queries"),
        (
            "mail/threads/__init__.py",
            "from svc.mail.sync import tasks",
            "line 1: threads stands before svc.mail.sync.tasks",
        ),
        ("mail/threads/__init__.py", "from ..sync import tasks", "line 1: threads stands before svc.mail.sync.tasks"),
        ("mail/threads/__init__.py", "from .. import feature", "line 1: threads stands before svc.mail.feature"),
        ("mail/odd.py", "from svc.mail import model", "line 1: odd or model has no place in INSIDE_MAIL"),
        (
            "pages/queries.py",
            "from importlib import import_module\nimport_module('svc.rules')",
            "it loads a module whose name no import tells",
        ),
        ("pages/queries.py", "__import__('svc.rules')", "it loads a module whose name no import tells"),
        (
            "pages/queries.py",
            "import importlib as i\ni.import_module('x')",
            "it loads a module whose name no import tells",
        ),
    ],
)
def test_what_breaks_a_rule_is_found(place: str, source: str, fault: str, tmp_path: Path) -> None:
    tree = planted(tmp_path, {**FILES, place: source})
    found = faults(tree)
    assert list(found) == [f"svc/{place}"]
    assert found[f"svc/{place}"][0] == fault


def test_a_folder_that_no_list_names_is_found(tmp_path: Path) -> None:
    tree = planted(tmp_path, {**FILES, "habits/__init__.py": ""})
    assert "habits" in faults_of(tree)["packages"]


NESTED = {
    **FILES,
    "pages/text/__init__.py": "",
    "pages/text/words.py": "from svc.pages import model",
    "pages/model.py": "",
    "pages/queries.py": "from svc.pages.text import words",
}
GROUND = {"pages.text": ("pages.model",)}


@pytest.mark.parametrize(
    ("place", "source", "fault"),
    [
        (
            "pages/text/words.py",
            "from svc.pages.queries import page",
            "line 1: svc.pages.queries is not in the ground of svc.pages.text",
        ),
        (
            "pages/text/words.py",
            "from svc.pages import page",
            "line 1: svc.pages is not in the ground of svc.pages.text",
        ),
        (
            "pages/text/words.py",
            "def page():\n    from ..queries import page",
            "line 2: svc.pages.queries is not in the ground of svc.pages.text",
        ),
    ],
)
def test_a_package_within_imports_only_its_ground(place: str, source: str, fault: str, tmp_path: Path) -> None:
    whole = planted(tmp_path, NESTED)
    assert [found for path in whole.sources for found in off_its_ground(whole, path, GROUND)] == []
    tree = planted(tmp_path / "broken", {**NESTED, place: source})
    assert [found for path in tree.sources for found in off_its_ground(tree, path, GROUND)] == [fault]


@pytest.mark.parametrize(
    "broken",
    [
        {"pages/model.py": "from svc.pages.text import words"},
        {"pages/model.py": "from svc.pages import queries"},  # which imports the package
        {"pages/model.py": "if TYPE_CHECKING:\n    from svc.pages.text.words import Word"},
    ],
)
def test_ground_that_imports_what_stands_on_it_is_found(broken: dict[str, str], tmp_path: Path) -> None:
    assert list(ground_that_comes_back(planted(tmp_path, NESTED), GROUND)) == []
    tree = planted(tmp_path / "broken", {**NESTED, **broken})
    (fault,) = ground_that_comes_back(tree, GROUND)
    assert fault.startswith("svc.pages.model is ground of svc.pages.text and imports svc.pages.text")


def test_a_ground_of_no_package_is_found(tmp_path: Path) -> None:
    assert list(ground_that_comes_back(planted(tmp_path, FILES), GROUND)) == ["there is no svc.pages.text"]


def test_packages_within_a_folder_that_import_each_other_are_found(tmp_path: Path) -> None:
    files = {**NESTED, "pages/marks/__init__.py": "from svc.pages.text import words"}
    assert list(circles_of_packages(planted(tmp_path, files))) == []
    files["pages/text/words.py"] = "import svc.pages.marks"
    (circle,) = circles_of_packages(planted(tmp_path / "broken", files))
    assert {"svc.pages.marks", "svc.pages.text"} == set(circle.split(" <- "))
