"""The generated pages say what the code says, and the golden schema shows a review what changed."""

from __future__ import annotations

import re

import pytest

from svc.app import FAKES, FEATURES
from svc.generate import pages
from svc.generate_types import _Names, declarations
from svc.protocol import Wire

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
