"""Taking a credential out of what passes by, however it is cut into pieces and however it is spelled."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.broker.redaction import Redactor

KEY = "sk-ant/123+456"


def passed(data: bytes, cuts: list[int], *values: str) -> bytes:
    redactor = Redactor(values)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    return b"".join([*map(redactor.feed, pieces), redactor.end()])


@pytest.mark.thorough
@given(
    st.text("sk-ant/123+456 x", max_size=40), st.text("sk-ant/123+456 x", max_size=40), st.lists(st.integers(0, 100))
)
def test_however_it_is_cut_the_value_never_comes_through(before: str, after: str, cuts: list[int]) -> None:
    data = (before + KEY + after).encode()
    shown = passed(data, cuts, KEY)
    assert KEY.encode() not in shown
    assert len(shown) == len(data)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_what_holds_no_value_comes_through_unchanged(data: bytes, cuts: list[int]) -> None:
    if KEY.encode() not in data:
        assert passed(data, cuts, KEY) == data


def test_each_spelling_of_it_is_covered() -> None:
    hard = 'a"b/c d\\e'
    spelled = [json.dumps(hard), json.dumps(hard).replace("/", "\\/"), quote(hard, safe="")]
    spelled.append(base64.b64encode(hard.encode()).decode())
    for text in spelled:
        inner = text.strip('"')
        assert Redactor([hard]).text(f"<{text}>") == f"<{text.replace(inner, '*' * len(inner))}>"


def test_nothing_waits_but_what_may_be_the_beginning_of_a_value() -> None:
    redactor = Redactor([KEY])
    assert redactor.feed(b"data: hello\n\n") == b"data: hello\n\n"
    assert redactor.feed(b"so sk-an") == b"so "
    assert redactor.feed(b"tic.") == b"sk-antic."
    assert redactor.feed(b"s") == b""
    assert redactor.end() == b"s"


def test_of_two_values_the_longer_is_covered_whole() -> None:
    assert Redactor(["abcdefgh", "abcdefghij"]).text("abcdefghij abcdefgh") == "********** ********"
    assert Redactor([]).text("abc") == "abc"
    assert Redactor([""]).feed(b"abc") == b"abc"


def test_what_is_too_short_for_a_secret_spoils_no_answer() -> None:
    assert Redactor(["token"]).whole(b'{"total_tokens": 7}') == b'{"total_tokens": 7}'
