"""State machines as data: what a table may say, and that nothing but the one mover of each writes a state."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from svc.app import FEATURES
from svc.machine import AnyMachine, ForbiddenTransition, Machine, Transition
from svc.mail.accounts.states import SYNC
from svc.mail.sending.states import SENDING
from svc.runs.states import RUN
from svc.store import fresh_schema

ROOT = Path(__file__).parent.parent

KEPT_IN: dict[str, tuple[AnyMachine, str, str]] = {
    "mail_outgoing": (SENDING, "svc/mail/sending/moving.py", "svc/mail/sending/actions.py"),
    "mail_accounts": (SYNC, "svc/mail/accounts/progress.py", "svc/mail/accounts/actions.py"),
    "runs": (RUN, "svc/runs/moving.py", "svc/runs/actions.py"),
}
"""By table: its machine, the one module that moves its rows, and the one that makes them."""

_UPDATE = re.compile(r"\bupdate\s+(?:or\s+\w+\s+)?(\w+|\{\})\s+set\b(.*?)(?:\bwhere\b|$)", re.DOTALL | re.IGNORECASE)
_INSERT = re.compile(r"\b(?:insert|replace)\s+(?:or\s+\w+\s+)?into\s+(\w+)", re.IGNORECASE)


def door(**changed: object) -> Machine[str, str]:
    rows = {
        "states": ("open", "shut"),
        "initial": ("open",),
        "transitions": (Transition("close", ("open",), "shut", "It closes."),),
    } | changed
    return Machine(name="A door", **rows)  # type: ignore[arg-type]


def test_an_event_leads_where_the_table_says_and_nowhere_else() -> None:
    assert door().after("open", "close") == "shut"
    assert door().allows("open", "close")
    assert not door().allows("shut", "close")
    assert door().sources("close") == {"open"}
    with pytest.raises(ForbiddenTransition, match="A door: close can't happen while shut"):
        door().after("shut", "close")


def test_an_event_without_a_target_keeps_the_state() -> None:
    knock: Transition[str, str] = Transition("knock", ("open", "shut"), None, "Somebody knocks.")
    assert door(transitions=(knock,)).after("shut", "knock") == "shut"


def test_a_table_with_an_event_twice_or_a_state_that_is_not_listed_is_refused() -> None:
    close: Transition[str, str] = Transition("close", ("open",), "shut", "It closes.")
    with pytest.raises(ValueError, match="an event stands twice"):
        door(transitions=(close, close))
    with pytest.raises(ValueError, match=r"differ in \{'ajar'\}"):
        door(states=("open", "shut", "ajar"))


MACHINES = [pytest.param(machine, id=machine.name) for feature in FEATURES for machine in feature.machines]


def test_each_machine_of_a_feature_is_held_by_this_file() -> None:
    assert {id(row[0]) for row in KEPT_IN.values()} == {
        id(machine) for feature in FEATURES for machine in feature.machines
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_every_state_is_reached_from_the_initial_ones(machine: AnyMachine) -> None:
    reached: set[str] = set()
    found = set(machine.initial)
    while found - reached:
        reached |= found
        found = {after for (state, _), after in machine.table.items() if state in reached}
    assert reached == set(machine.states)


@pytest.mark.parametrize("table", KEPT_IN)
def test_the_database_allows_exactly_the_states_of_the_table(table: str) -> None:
    (made,) = re.findall(rf"^CREATE TABLE \"?{table}\"? \((.*?)^\)", schema(), re.MULTILINE | re.DOTALL)
    (allowed,) = re.findall(r"\bstate text not null check \(state in\s*\(([^)]*)\)\)", made)
    assert set(re.findall(r"'([\w-]+)'", allowed)) == set(KEPT_IN[table][0].states)


@pytest.mark.thorough
@pytest.mark.parametrize("table", KEPT_IN)
def test_one_statement_moves_a_row_and_one_makes_it(table: str) -> None:
    _, mover, maker = KEPT_IN[table]
    moving = [
        path
        for path, sql in statements()
        for updated, columns in _UPDATE.findall(sql)
        if updated in {table, "{}"} and re.search(r"\bstate\s*=", columns)
    ]
    making = [path for path, sql in statements() for inserted in _INSERT.findall(sql) if inserted == table]
    assert moving == [mover]
    assert making == [maker]


@cache
def schema() -> str:
    return fresh_schema([feature.migrations for feature in FEATURES if feature.migrations])


@cache
def statements() -> tuple[tuple[str, str], ...]:
    """Every text of the program, of the files that change rows, with ``{}`` for what is filled in."""
    found: list[tuple[str, str]] = []
    for path in sorted((ROOT / "svc").rglob("*.py")):
        source = path.read_text()
        if not re.search("update|into", source, re.IGNORECASE):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                text = node.value
            else:
                continue
            found.append((str(path.relative_to(ROOT)), text))
    return tuple(found)
