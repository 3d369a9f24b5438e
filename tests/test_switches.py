"""What a public cell must not do is off there, and decided in one place."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from svc import switches
from svc.app import all_rules, all_settings
from svc.config import Config, ConfigError, read_config
from svc.switches import CONTAINER_TOOLS, EXEC, SWITCH_SETTINGS, SWITCHES, Switch, is_on, overruled

ROOT = Path(__file__).parent.parent
CELL = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "PROVIDERS": "fake"}
ASKED_FOR = {setting.name: "1" for setting in SWITCH_SETTINGS}


def read(**environ: str) -> Config:
    return read_config(all_settings(), {"HOME": "/home/mia", **environ}, all_rules())


def test_the_table_has_what_the_cloud_profile_disables() -> None:
    names = {row.name for row in SWITCHES}
    assert names == {"terminals", "kernels", "stdio-mcp", "os-exec", "containers", "local-mlops", "okf-watcher"}
    assert all(row.summary for row in SWITCHES)
    assert {row.setting for row in SWITCHES} - {None} == set(SWITCH_SETTINGS)


def test_a_part_that_nothing_asks_for_is_said_to_be_missing() -> None:
    files = [path.read_text() for path in (ROOT / "svc").rglob("*.py")]
    imports = " ".join(" ".join(re.findall(r"from svc\.switches import (.*)", text)) for text in files)
    names = {value: name for name, value in vars(switches).items() if isinstance(value, Switch)}
    for row in SWITCHES:
        is_missing = re.search(rf"\b{names[row]}\b", imports) is None
        assert ("Not in this version yet." in row.summary) is is_missing, row.name


@pytest.mark.parametrize("row", SWITCHES, ids=lambda row: row.name)
def test_each_is_off_under_cloud_also_where_its_variable_says_on(row: Switch) -> None:
    assert not is_on(read(**CELL), row)
    assert not is_on(read(**CELL, **ASKED_FOR), row)


@pytest.mark.parametrize("row", SWITCHES, ids=lambda row: row.name)
def test_under_local_each_is_on_but_what_wants_to_be_asked_for(row: Switch) -> None:
    assert is_on(read(**ASKED_FOR), row)
    assert is_on(read(), row) == (row.setting is None)


def test_the_fakes_let_agents_run_programs_and_a_zero_forbids_it() -> None:
    assert is_on(read(PROVIDERS="fake"), EXEC)
    assert not is_on(read(PROVIDERS="fake"), CONTAINER_TOOLS)
    assert not is_on(read(PROVIDERS="fake", SVC_OS_EXEC="0"), EXEC)


@pytest.mark.parametrize("value", ["on", "true", "2", "yes"])
def test_a_switch_is_one_or_zero(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(SVC_OS_EXEC=value)
    assert [fault.name for fault in caught.value.faults] == ["SVC_OS_EXEC"]


def test_who_asks_for_what_the_profile_forbids_is_told() -> None:
    assert overruled(read(**CELL, SVC_CONTAINERS="1")) == [CONTAINER_TOOLS]
    assert overruled(read(SVC_CONTAINERS="1")) == []


def test_nobody_asks_the_settings_of_a_switch_but_the_table() -> None:
    names = {"OS_EXEC", "CONTAINERS"}
    asks = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "svc").rglob("*.py"))
        if any(name in (text := path.read_text()) for name in names)
        and names & {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    ]
    assert asks == ["svc/switches.py"]
