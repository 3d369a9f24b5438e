"""Recipients: what a person types becomes people a message can go to, or a refusal that names what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given

from svc.errors import Invalid
from svc.formats.person import Person
from svc.formats.text import clean_line
from svc.formats.writing import mailbox_text, parse_mailboxes, recipients, sendable_address
from svc.formats.writing.addresses import MAX_RECIPIENTS

from .test_headers import TEXT


@pytest.mark.parametrize(
    ("typed", "people"),
    [
        ("ann@x", [("", "ann@x")]),
        ("  Ann Smith <Ann@X.Example> ", [("Ann Smith", "Ann@x.example")]),
        ("a@x.example, b@y.example", [("", "a@x.example"), ("", "b@y.example")]),
        ("Ann <a@x>; Bo <b@y>", [("Ann", "a@x"), ("Bo", "b@y")]),
        ('"Smith, Ann" <a@x>', [("Smith, Ann", "a@x")]),
        ("Jörg Müller <joerg@bücher.example>", [("Jörg Müller", "joerg@xn--bcher-kva.example")]),
        ("a@BÜCHER。example", [("", "a@xn--bcher-kva.example")]),
        ("a@straße.example", [("", "a@xn--strae-oqa.example")]),
        ("a@xn--bcher-kva.example", [("", "a@xn--bcher-kva.example")]),
        ("o'brien+tag@x.example", [("", "o'brien+tag@x.example")]),
        ("a..b.@docomo.example", [("", "a..b.@docomo.example")]),
        ('"john doe"@x.example', [("", '"john doe"@x.example')]),
        ("a@[192.0.2.1]", [("", "a@[192.0.2.1]")]),
        ("mailto:a@x.example", [("", "a@x.example")]),
        ("Ann\r\nBcc: e@x.example <a@x.example>", [("e@x.example", "a@x.example")]),
        ("Ann\u2028Cc <a@x.example>", [("Ann Cc", "a@x.example")]),
        ("=?utf-8?q?=0D=0ABcc:=20e?= <a@x.example>", [("Bcc: e", "a@x.example")]),
        ("Ann a@x.example.", [("Ann", "a@x.example")]),
        ("An\u202en <a@x.example>", [("Ann", "a@x.example")]),
        ("", []),
        (" , ; ", []),
    ],
)
def test_what_is_typed_becomes_people(typed: str, people: list[tuple[str, str]]) -> None:
    assert [(one.name, one.address) for one in parse_mailboxes([typed])] == people


@pytest.mark.parametrize(
    "typed",
    [
        "ann",
        "Ann Smith",
        "Ann Smith <>",
        "@x.example",
        "ann@",
        "ann@x..example",
        "ann@-x.example",
        "ann@x_y.example",
        "a@b@x.example",
        "jörg@x.example",
        "a@\ue000.example",
        f"{'a' * 65}@x.example",
        f"a@{'b' * 64}.example",
        f"a@{'b.' * 130}example",
        "a@x.example\x00, b",
        "<=?utf-8?q?x?=@y.example>",
        '"a\\"b"@x.example',
    ],
)
def test_what_is_no_address_is_refused_by_name(typed: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_mailboxes(["fine@x.example", typed])
    assert "“" in refused.value.detail


def test_a_refusal_says_what_to_change() -> None:
    with pytest.raises(Invalid, match=r"“jörg@x.example” can't be sent to: before the “@” only unaccented"):
        parse_mailboxes(["Jörg <jörg@x.example>"])
    with pytest.raises(Invalid, match="“Ann Smith” has no e-mail address"):
        parse_mailboxes(["Ann Smith"])


def test_nobody_stands_in_two_lists() -> None:
    found = recipients(to=["Ann <ann@x>, ANN@X", "bo@x"], cc=["Bo <bo@X>", "cy@x"], bcc=["cy@x", "Ann@x", "Di <di@x>"])
    assert [one.address for one in found.to] == ["ann@x", "bo@x"]
    assert [one.address for one in found.cc] == ["cy@x"]
    assert [one.address for one in found.bcc] == ["di@x"]
    assert len(found.everyone) == 4


def test_five_hundred_recipients_are_the_most() -> None:
    many = [f"p{index}@x.example" for index in range(MAX_RECIPIENTS)]
    assert len(recipients(to=many[:200], cc=many[200:400], bcc=many[400:]).everyone) == MAX_RECIPIENTS
    for to in ([*many, "one@too.example"], [", ".join([*many, "one@too.example"])]):
        with pytest.raises(Invalid, match="500 people at most"):
            recipients(to=to)


def test_names_cannot_fill_the_header() -> None:
    with pytest.raises(Invalid, match="too long together"):
        recipients(to=[f'"{"日" * 250}" <p{index}@x.example>' for index in range(400)])


@given(TEXT)
def test_any_text_is_refused_or_sendable(typed: str) -> None:
    try:
        people = parse_mailboxes([typed])
    except Invalid as refused:
        detail = refused.detail
        assert clean_line(detail) == detail
        return
    for person in people:
        assert person.address.isascii()
        assert person.address.isprintable()
        assert sendable_address(person.address) == person.address


@given(TEXT)
def test_a_person_written_for_a_field_reads_as_the_same_person(name: str) -> None:
    (read,) = parse_mailboxes([mailbox_text(Person(name=name, address="a@x.example"))])
    assert read.address == "a@x.example"
    assert parse_mailboxes([mailbox_text(read)]) == [read]


def test_a_quoted_local_part_survives_the_field() -> None:
    for name in ("", "Ann"):
        person = Person(name=name, address='"john doe"@x.example')
        assert parse_mailboxes([mailbox_text(person)]) == [person]
