"""Who counts as a person, how they are found, and what their page says: pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import DAY_MS
from svc.pages import page_path
from svc.pages.links import files_in, pages_in
from svc.pages.model import page_body, page_title
from svc.people import card
from svc.people.model import heavier, is_person, plain_address, shown_name, weight_of
from svc.people.words import END, are_of, typed_words, words_of

ANYTHING = st.text(max_size=300)


@pytest.mark.parametrize(
    "address",
    [
        "ann@example.org",
        "k.tanaka@lumen.example",
        "1234567890@qq.com",
        "o'brien@example.ie",
        "müller@bücher.example",
        "ann+news@example.org",
        "max.notifier@example.org",
        "billing@example.org",
    ],
)
def test_people_have_addresses_like_these(address: str) -> None:
    assert is_person(address)


@pytest.mark.parametrize(
    "address",
    [
        "noreply@example.org",
        "no-reply@example.org",
        "no_reply@example.org",
        "github-noreply@example.org",
        "noreply+a1b2@example.org",
        "ann@users.noreply.example.org",
        "donotreply@example.org",
        "do-not-reply@example.org",
        "mailer-daemon@example.org",
        "postmaster@example.org",
        "bounce@example.org",
        "bounces+ann=example.com@example.org",
        "list-bounces@example.org",
        "x@bounces.example.org",
        "notifications@example.org",
        "reply+aaab3c4d@reply.example.org",
        "srs0=hh=tt=example.com=ann@example.org",
        "news-123456789012345@example.org",
        "0101018c2d6b0f4e7a21@eu.example.org",
    ],
)
def test_programs_have_addresses_like_these(address: str) -> None:
    assert not is_person(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ann",
        "@example.org",
        "ann@",
        "ann@localhost",
        "a@b@example.org",
        "<ann@example.org>",
        "ann@[192.0.2.1]",
        "ann@example..org",
        '"a b"@example.org',
        "a\u202eb@example.org",
        f"{'a' * 300}@example.org",
        "a/b@example.org",
    ],
)
def test_what_is_no_address_is_nobodys(address: str) -> None:
    assert not is_person(address)


def test_a_name_that_is_only_the_address_is_none() -> None:
    assert shown_name("Ann@Example.org", address="ann@example.org") == ""
    assert shown_name(" 'Ann  Smith' ", address="ann@example.org") == "Ann Smith"
    assert shown_name("Ann\u202e\x00 \u2028Smith\ud800", address="ann@example.org") == "Ann Smith"


@given(name=ANYTHING, address=st.emails())
def test_whatever_somebody_calls_themselves_their_page_can_be_made_and_links_nowhere(name: str, address: str) -> None:
    address = plain_address(address)
    name = shown_name(name, address=address)
    for path in card.paths(owner_id=None, name=name, address=address):
        assert page_path(path) == path
    assert page_title(card.title(name=name, address=address), path="crm/x")
    body = page_body(card.body(name=name, address=address))
    if is_person(address):
        assert (pages_in(body), files_in(body)) == (set(), set())


@pytest.mark.parametrize("name", ["[[secret/page]]", "![](/files/fil_x/content)", "# [a](/p/b) `c` <d> *e* _f_"])
def test_no_name_becomes_markup(name: str) -> None:
    body = card.body(name=name, address="ann@example.org")
    assert (pages_in(body), files_in(body)) == (set(), set())
    assert not set("[]<>*_#!/") & set(body.splitlines()[0].removeprefix("- Name: "))


def test_a_page_tells_the_company_but_for_where_anybody_can_have_an_address() -> None:
    assert "- Company: harbour.example" in card.body(name="Ruth", address="ruth@harbour.example")
    assert "Company" not in card.body(name="Ruth", address="ruth@gmail.com")


def test_paths_are_plain_where_that_is_possible() -> None:
    nice = {name: next(card.paths(owner_id=None, name=name, address="x@example.org")) for name in NAMES}
    assert nice == NAMES


NAMES = {
    "Tomás Rey": "crm/tomas-rey",
    "Margit Sørensen": "crm/margit-sorensen",
    "Della at Kestrel Print": "crm/della-at-kestrel-print",
    "मीरा शर्मा": "crm/मीरा-शर्मा",
    "박지호": "crm/박지호",
    "": "crm/x-example-org",
    "???": "crm/x-example-org",
}


@pytest.mark.parametrize(
    ("typed", "name", "address"),
    [
        ("sor", "Margit Sørensen", "m@example.org"),
        ("TOMAS", "Tomás Rey", "t@example.org"),
        ("tomás", "Tomas Rey", "t@example.org"),
        ("re tom", "Tomás Rey", "t@example.org"),
        ("jones", "Ann Smith-Jones", "a@example.org"),
        ("smith-jo", "Ann Smith-Jones", "a@example.org"),
        ("k.tan", "恵子", "k.tanaka@lumen.example"),
        ("lumen", "恵子", "k.tanaka@lumen.example"),
        ("恵", "田中 恵子", "k@example.org"),
        ("박지", "박지호", "j@example.org"),
        ("ann@exam", "", "ann@example.org"),
        ('"Ann', "Ann", "ann@example.org"),
    ],
)
def test_somebody_is_found_by_what_one_types(typed: str, name: str, address: str) -> None:
    words = words_of(name, address)
    assert all(any(word <= have < word + END for have in words) for word in typed_words(typed))
    assert are_of(typed_words(typed), name=name, address=address)


def test_nobody_is_found_by_what_is_in_the_middle_of_a_word() -> None:
    assert not are_of(typed_words("nes"), name="Ann Jones", address="a@x.example")
    assert not are_of(typed_words("ann bob"), name="Ann Jones", address="a@x.example")


@given(name=ANYTHING, address=ANYTHING)
def test_words_are_few_and_short_whatever_the_name_is(name: str, address: str) -> None:
    words = words_of(name, address)
    assert len(words) <= 24
    assert all(0 < len(word) <= 100 for word in words)
    assert len(typed_words(name)) <= 6


@given(st.permutations([(0, "received"), (900, "sent"), (30, "received"), (31, "sent"), (4_000, "received")]))
def test_the_weight_does_not_depend_on_the_order_in_which_mail_arrives(mails: list[tuple[int, object]]) -> None:
    def total(order: list[tuple[int, object]]) -> float:
        (first, way), *rest = order
        weight = weight_of(first * DAY_MS, "sent" if way == "sent" else "received")
        for day, direction in rest:
            weight = heavier(weight, weight_of(day * DAY_MS, "sent" if direction == "sent" else "received"))
        return weight

    assert total(mails) == pytest.approx(total(sorted(mails)))


def test_who_is_written_to_weighs_more_and_lately_more_than_long_ago() -> None:
    assert weight_of(0, "sent") > weight_of(0, "received")
    assert weight_of(200 * DAY_MS, "received") > weight_of(100 * DAY_MS, "received")
    assert heavier(weight_of(0, "sent"), weight_of(0, "sent")) > weight_of(0, "sent")
