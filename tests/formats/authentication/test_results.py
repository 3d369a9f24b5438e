"""What is read of ``Authentication-Results``: as large providers write it, and as an attacker does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.formats.authentication import ServerResult, aligned, judge, read_head
from svc.formats.authentication.results import read_field

GMAIL = (
    b"mx.google.com;\r\n dkim=pass header.i=@mail.example.com header.s=s1 header.b=Ab1;\r\n spf=pass (google"
    b'.com: domain of a-b=c@bounce.example.com designates 192.0.2.1 as permitted sender) smtp.mailfrom="a-b=c@bounce.'
    b'example.com";\r\n       dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=example.com'
)


def results(value: bytes) -> list[tuple[str, str, str]]:
    field = read_field(value)
    assert field is not None
    return [(one.method, one.result, one.domain) for one in field.results]


def test_what_gmail_writes_is_read() -> None:
    assert results(GMAIL) == [
        ("dkim", "pass", "mail.example.com"),
        ("spf", "pass", "bounce.example.com"),
        ("dmarc", "pass", "example.com"),
    ]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"mx.a.example; none", []),
        (b"mx.a.example 1; dkim/1 = pass header.d = a.example", [("dkim", "pass", "")]),
        (
            b"mx.a.example; dkim=pass (a; dmarc=pass header.from=a.example) header.d=b.example",
            [("dkim", "pass", "b.example")],
        ),
        (b'mx.a.example; dkim=fail reason="x; dmarc=pass header.from=a.example"', [("dkim", "fail", "")]),
        (b"mx.a.example; dkim=pass ((unclosed header.d=a.example; dmarc=pass", [("dkim", "pass", "")]),
        (b"mx.a.example; iprev=pass; dmarc=yes; spf=pass smtp.mailfrom=x@A.Example.", [("spf", "pass", "a.example")]),
    ],
)
def test_comments_and_quotes_hide_nothing(value: bytes, found: list[tuple[str, str, str]]) -> None:
    assert results(value) == found


def test_a_field_that_names_no_server_is_nobodys() -> None:
    assert read_field(b"spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=a.example; dmarc=pass") is None


@given(st.binary(max_size=400))
def test_no_bytes_raise(value: bytes) -> None:
    read_field(value)
    read_head(b"Authentication-Results: " + value + b"\r\nDKIM-Signature: " + value + b"\r\nList-Unsubscribe: " + value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("example.org", "EXAMPLE.org.", True),
        ("mail.example.org", "example.org", True),
        ("example.org", "a.b.example.org", True),
        ("a.example.org", "b.example.org", False),
        ("org", "example.org", False),
        ("co.uk", "bank.co.uk", False),
        ("badexample.org", "example.org", False),
        ("", "", False),
    ],
)
def test_domains_are_aligned_when_one_stands_below_the_other(one: str, other: str, same: bool) -> None:
    assert aligned(one, other) is same


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (("dmarc", "pass", "example.org"), "verified"),
        (("dmarc", "pass", "evil.test"), "unverified"),
        (("dmarc", "fail", "example.org"), "failed"),
        (("spf", "softfail", "example.org"), "unverified"),
    ],
)
def test_a_servers_word_counts_for_the_domain_in_from(result: tuple[str, str, str], verdict: str) -> None:
    method, outcome, domain = result
    said = [ServerResult(method=method, result=outcome, domain=domain)]
    found = judge(domain="example.org", server="mx.a.example", results=said, signatures=(), is_one_sender=True)
    assert found.verdict == verdict
    two = judge(domain="example.org", server="mx.a.example", results=said, signatures=(), is_one_sender=False)
    assert not two.is_verified


@pytest.mark.parametrize(
    ("fields", "https", "mailto", "one_click"),
    [
        (
            "List-Unsubscribe: <https://a.example/u>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n",
            True,
            False,
            True,
        ),
        ("List-Unsubscribe: <mailto:u@a.example>,\n <https://a.example/u>\n", True, True, False),
        (
            "List-Unsubscribe: <https://a.example/u>\n" * 2 + "List-Unsubscribe-Post: List-Unsubscribe=One-Click\n",
            True,
            False,
            False,
        ),
        (
            "List-Unsubscribe: <https://a.example/u>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click&x=1\n",
            True,
            False,
            False,
        ),
        ("List-Unsubscribe: <javascript:alert(1)>\n", None, None, False),
    ],
)
def test_the_ways_to_unsubscribe_are_read(
    fields: str, https: bool | None, mailto: bool | None, one_click: bool
) -> None:
    found = read_head(fields.encode() + b"\nbody").unsubscribe
    if https is None:
        assert found is None
        return
    assert found is not None
    assert (found.https is not None, found.mailto is not None, found.one_click) == (https, mailto, one_click)
