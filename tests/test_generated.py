"""The generated pages say what the code says, and the golden schema shows a review what changed."""

from __future__ import annotations

import ast
import re
from dataclasses import fields

import pytest

from svc.app import FAKES, FEATURES
from svc.generate import pages
from svc.generate_limits import SVC, Limit, limits, rows, written
from svc.generate_types import _Names, declarations, router
from svc.protocol import DEFAULT_LIMITS, Limits, Wire
from svc.protocol.trpc import BATCH_MAX_CALLS
from svc.protocol.websocket import SocketLimits

REAL = tuple(feature for feature in FEATURES if feature is not FAKES)


def test_every_generated_file_is_fresh() -> None:
    stale = [path.name for path, content in pages().items() if not path.exists() or path.read_text() != content]
    assert stale == [], "run `make gen`"


def test_every_procedure_stands_in_the_types_of_the_web_app_except_the_fakes() -> None:
    said = set(re.findall(r'^  "([\w.]+)": \{', declarations(REAL), re.MULTILINE))
    assert said == {row.name for feature in REAL for row in feature.procedures}


def test_an_input_may_leave_out_what_has_a_default_and_an_output_never_does() -> None:
    said = declarations(REAL)
    assert "interface MailDisconnectInput {\n  accountId: string;\n  erase?: boolean;\n}" in said
    outputs = re.findall(r"^interface \w+Out \{(.*?)^\}", said, re.MULTILINE | re.DOTALL)
    assert outputs
    assert not any("?:" in fields for fields in outputs)


def test_a_name_of_few_words_and_what_may_be_nothing_are_told_apart_from_any_text() -> None:
    said = declarations(REAL)
    assert '  role: "admin" | "member";' in said
    assert "  lastSyncedAt: string | null;" in said


def test_every_type_of_the_router_can_be_imported_also_one_whose_comment_has_several_lines() -> None:
    said = router(REAL, version="1.0.0")
    exported = re.findall(r"^export interface (\w+)", said, re.MULTILINE)
    assert set(exported) == set(re.findall(r"^(?:export )?interface (\w+)", said, re.MULTILINE))
    assert re.search(r"^ \*/\nexport interface ", said, re.MULTILINE)
    assert not re.search(r"^export +\*", said, re.MULTILINE)


def test_two_structs_of_one_name_in_a_feature_are_refused() -> None:
    """Else one of the two would be described by the other's fields."""

    class ThreadOut(Wire, frozen=True):
        id: str

    ThreadOut.__module__ = "svc.mail.elsewhere"
    names = _Names()
    names.of(ThreadOut, is_input=False)

    class Other(Wire, frozen=True):
        id: int

    Other.__module__, Other.__name__ = "svc.mail.third", "ThreadOut"
    with pytest.raises(ValueError, match="two structs are called MailThreadOut"):
        names.of(Other, is_input=False)


def test_a_note_below_a_number_makes_a_row_of_limits_with_the_number_that_the_code_uses() -> None:
    found = {(one.module, one.name): one for one in limits()}
    assert found["protocol/trpc", "BATCH_MAX_CALLS"] == Limit(
        module="protocol/trpc",
        name="BATCH_MAX_CALLS",
        value=BATCH_MAX_CALLS,
        bounds="Calls of one batch",
        beyond="400 `BAD_REQUEST`; none of them runs",
    )
    assert written(found["protocol/limits", "Limits.idle_s"]) == f"{DEFAULT_LIMITS.idle_s:g} s"
    assert "`SVC_UPLOAD_MAX_BYTES`" in written(found["files/settings", "UPLOAD_MAX_BYTES"])


def test_limits_of_a_folder_that_no_table_names_get_a_table_of_their_own() -> None:
    limit = Limit(module="new_habits/model", name="MAX_HABITS", value=7, bounds="Habits", beyond="409")
    tables = rows([limit])
    assert list(tables)[-1] == "New habits"
    assert tables["New habits"] == [("Habits", "7", "409", "`new_habits/model`: `MAX_HABITS`")]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("MAX_BYTES", 3 * 1024 * 1024, "3 MiB"),
        ("MAX_BYTES", 1_500, "1,500 bytes"),
        ("MAX_BYTES", 1_536, "1,536 bytes"),
        ("Limits.rate_bytes_s", 1_024, "1 KiB a second"),
        ("DEADLINE_S", 0.5, "0.5 s"),
        ("MAX_LATE_MS", 12 * 3_600_000, "12 hours"),
        ("LIFETIME_MS", 5 * 60_000, "5 minutes"),
        ("MAX_SNOOZE_MS", 1_830 * 86_400_000, "1,830 days"),
        ("MAX_CHARS", 2_000, "2,000 characters"),
        ("MAX_THREADS", 250_000, "250,000"),
    ],
)
def test_a_limit_is_written_with_the_unit_that_its_name_says(name: str, value: float, shown: str) -> None:
    assert written(Limit(module="", name=name, value=value, bounds="", beyond="")) == shown


def test_whatever_bounds_a_client_or_a_mail_says_what_happens_beyond_it() -> None:
    """Every field of the two records, and every ``MAX`` where clients come in, and of a module that notes one."""
    noted = {(one.module, one.name) for one in limits()}
    records = {("protocol/limits", f"Limits.{one.name}") for one in fields(Limits)}
    records |= {("protocol/websocket", f"SocketLimits.{one.name}") for one in fields(SocketLimits)}
    coming_in = ("protocol/", "doors/", "surface/", "files/")
    modules = {path.relative_to(SVC).with_suffix("").as_posix() for path in SVC.rglob("*.py")}
    asked = {one for one in modules if one.startswith(coming_in)} | {module for module, _ in noted}
    maxima = {(module, name) for module in asked - NOT_FOR_CLIENTS for name in _maxima(module)}
    assert maxima | records <= noted, sorted((maxima | records) - noted)


NOT_FOR_CLIENTS = {"protocol/pinned", "protocol/link", "protocol/egress", "protocol/static", "protocol/guard"}
"""What svc asks of others, the files of the app, and how long a browser may keep an answer."""


def _maxima(module: str) -> set[str]:
    tree = ast.parse((SVC / f"{module}.py").read_text())
    targets = [one.target for one in tree.body if isinstance(one, ast.AnnAssign)]
    return {one.id for one in targets if isinstance(one, ast.Name) and re.search("^(?!_).*(^|_)MAX(_|$)", one.id)}
