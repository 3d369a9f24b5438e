"""The query language: what is understood, and that no query is an error."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc.mail.search.language import MAX_TERMS, parse
from svc.mail.search.model import (
    COLUMNS,
    Before,
    HasAttachment,
    HasLabel,
    InPlace,
    InState,
    Query,
    Term,
    Text,
)
from svc.mail.search.plan import Scope, plan

NOW = round(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp() * 1_000)
DAY_MS = 24 * 3_600_000


def read(query: str) -> Query:
    return parse(query, now=NOW)


def terms(query: str) -> list[Term]:
    groups = read(query).groups
    assert all(len(group) == 1 for group in groups)
    return [group[0] for group in groups]


def at(year: int, month: int, day: int, *, zone: str = "UTC") -> int:
    return round(datetime(year, month, day, tzinfo=ZoneInfo(zone)).timestamp() * 1_000)


def test_words_phrases_and_what_is_left_out() -> None:
    assert terms('one "two three" -four -"five six" ') == [
        Term(what=Text(words="one")),
        Term(what=Text(words="two three", exact=True)),
        Term(what=Text(words="four"), negated=True),
        Term(what=Text(words="five six", exact=True), negated=True),
    ]


def test_the_last_word_may_go_on_unless_it_was_ended() -> None:
    assert terms("one two")[-1].what == Text(words="two", unfinished=True)
    assert terms("one two")[0].what == Text(words="one")
    assert terms("two ")[-1].what == Text(words="two")
    assert terms('"two"')[-1].what == Text(words="two", exact=True)
    assert terms("from:ann")[-1].what == Text(words="ann", columns=("sender",), unfinished=True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("from:ann ", Text(words="ann", columns=("sender",))),
        ("FROM:ann ", Text(words="ann", columns=("sender",))),
        ("from：ann ", Text(words="ann", columns=("sender",))),
        ('to:"Ann Smith"', Text(words="Ann Smith", columns=("recipient",), exact=True)),
        ("to:“Ann Smith” ", Text(words="Ann Smith", columns=("recipient",), exact=True)),
        ("cc:x ", Text(words="x", columns=("cc",))),
        ("bcc:x ", Text(words="x", columns=("bcc",))),
        ("subject:plan ", Text(words="plan", columns=("subject",))),
        ("filename:a.pdf ", Text(words="a.pdf", columns=("files",))),
        ("has:attachment", HasAttachment()),
        ("has:Attachments", HasAttachment()),
        ("in:inbox", InPlace(place="inbox")),
        ("in:Spam", InPlace(place="spam")),
        ("in:snoozed", InPlace(place="snoozed")),
        ("is:unread", InState(state="unread")),
        ("is:starred", InState(state="starred")),
        ('label:"Next week"', HasLabel(name="Next week")),
        ("before:2026-11-01", Before(at=at(2026, 11, 1))),
        ("before:2026/11/1", Before(at=at(2026, 11, 1))),
        ("before:2026-11", Before(at=at(2026, 11, 1))),
        ("before:2026", Before(at=at(2026, 1, 1))),
        ("before:7d", Before(at=NOW - 7 * DAY_MS)),
        ("older_than:2w", Before(at=NOW - 14 * DAY_MS)),
        ("older_than:3m", Before(at=NOW - 90 * DAY_MS)),
        ("http://x.org/a ", Text(words="http://x.org/a")),
        ("12:30 ", Text(words="12:30")),
    ],
)
def test_each_operator_is_read(query: str, expected: object) -> None:
    assert [term.what for term in terms(query)] == [expected]
    assert [(term.what, term.negated) for term in terms(f"-{query}")] == [(expected, True)]
    assert read(query).notices == ()


def test_after_is_not_before() -> None:
    assert terms("after:2026-11-01") == [Term(what=Before(at=at(2026, 11, 1)), negated=True)]
    assert terms("newer_than:1d") == [Term(what=Before(at=NOW - DAY_MS), negated=True)]
    assert terms("-after:2026-11-01") == [Term(what=Before(at=at(2026, 11, 1)))]


def test_a_day_begins_where_the_asker_is() -> None:
    (group,) = parse("before:2026-11-01", now=NOW, zone=ZoneInfo("Asia/Tokyo")).groups
    assert group[0].what == Before(at=at(2026, 11, 1, zone="Asia/Tokyo"))


@pytest.mark.parametrize("query", ["one OR two ", "one | two ", "OR one OR OR two OR "])
def test_any_of_some_words(query: str) -> None:
    assert read(query).groups == ((Term(what=Text(words="one")), Term(what=Text(words="two"))),)


def test_or_binds_tighter_than_and() -> None:
    assert [len(group) for group in read("one two OR three four ").groups] == [1, 2, 1]
    assert [len(group) for group in read("in:inbox OR is:starred one ").groups] == [2, 1]


@pytest.mark.parametrize("query", ["one OR in:inbox", "in:inbox OR one", "one OR -two", "-one OR two"])
def test_or_between_unlike_things_is_told(query: str) -> None:
    assert [len(group) for group in read(query).groups] == [1, 1]
    assert "OR joins words with words" in read(query).notices[0]


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("colour:red ", "Searched as words: colour:red"),
        ("before:someday ", "Searched as words: before:someday"),
        ("before:2026-02-30 ", "Searched as words: before:2026-02-30"),
        ("before:0000 ", "Searched as words: before:0000"),
        ("has:wings ", "Searched as words: has:wings"),
        ("is:nice ", "Searched as words: is:nice"),
        ("in:limbo ", "Searched as words: in:limbo"),
    ],
)
def test_what_is_not_understood_is_searched_as_words(query: str, notice: str) -> None:
    assert terms(query) == [Term(what=Text(words=query.strip()))]
    assert read(query).notices == (notice,)


def test_an_operator_without_a_value_is_told_and_left_out() -> None:
    assert terms("from: one ") == [Term(what=Text(words="one"))]
    assert read("from: one ").notices == ('"from:" wants a value right after the colon.',)


def test_signs_without_a_word_are_told_and_left_out() -> None:
    assert terms("one !!! ") == [Term(what=Text(words="one"))]
    assert read("one !!! ").notices == ("Nothing to search for in: !!!",)


def test_terms_are_bounded() -> None:
    query = read("a " * 100)
    assert len(query.groups) == MAX_TERMS
    assert query.notices == (f"Only the first {MAX_TERMS} terms are searched for.",)


SCOPE = Scope(
    addresses={"acc_1": "mia@example.org", "acc_2": "mia@work.example"},
    labels={"acc_1": {"Label_1": "Next week", "Lab\"el'_2": 'Quote "x"'}, "acc_2": {}},
    alone=False,
    mine=("mia@example.org", "mia@work.example"),
)
PIECES = st.sampled_from(
    ["one", '"', "-", "OR", "from:", "in:inbox", "in:", "label:", "(", ")", "*", "^", "NEAR", "AND", "NOT", "{", "}",
     ":", "+", "東京", "🎉", "before:7d", "after:2026", "me", "\\", "'", "\0", "ü", " ", "ß", "has:attachment"]
)  # fmt: skip


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    from svc.app import FEATURES
    from svc.store import fresh_schema

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(fresh_schema([one.migrations for one in FEATURES if one.migrations]))
        yield connection


@given(st.text() | st.lists(PIECES, max_size=20).map("".join) | st.lists(PIECES, max_size=12).map(" ".join))
@example("\ud800")
@example('"' * 500)
@example("a" * 500)
@example("- " * 250)
@example('label:"Quote ""x')
@example("before:9999-12-31 after:1970-01-01")
@example("from:me -to:me OR from:me")
def test_no_string_is_an_error_neither_here_nor_to_sqlite(database: sqlite3.Connection, query: str) -> None:
    parsed = read(query)
    if not parsed.groups:
        return
    planned = plan(parsed, SCOPE)
    database.execute(
        f"""
        select f.rowid from mail_search_fts f cross join mail_search s on s.id = f.rowid
        where mail_search_fts match :match and f.rowid between :low and :high and {planned.where}
        """,
        {"match": planned.match, "low": planned.low, "high": planned.high, **planned.params},
    ).fetchall()
    planned.matcher.matches(dict.fromkeys(COLUMNS, "one two"))


STATIC = Path(__file__).parents[3] / "static" / "mail"


def test_the_app_offers_only_words_that_are_understood() -> None:
    offers = (STATIC / "operators.js").read_text()
    operators = re.findall(r'\{ id: "(\w+):', offers)
    values = {name: re.findall(r'"(\w+)"', line) for name, line in re.findall(r'"(\w+):": (\[.*\])', offers)}
    assert {"from", "in", "is"} <= set(operators)
    assert set(values) == {"in", "is", "has"}
    offered = [f"{name}:{value}" for name in operators for value in values.get(name, ["2026-03-31"])]
    filtered = (STATIC / "query_words.js").read_text()
    times = re.search(r"TIMES = new Set\((\[.*\])\)", filtered)
    places = re.search(r"PLACES = \{([^}]*)\}", filtered)
    assert times
    assert places
    offered += [f"{name}:7d" for name in re.findall(r'"(\w+)"', times[1])]
    offered += [f"in:{name}" for name in re.findall(r"(\w+):", places[1])]
    assert {query: read(query).notices for query in offered if read(query).notices} == {}
