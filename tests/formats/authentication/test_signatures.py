"""DKIM, checked with a kept library: what holds, what does not, and what holds but proves too little."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.authentication import check_signatures
from tests.support.signing import key_of, name_of, signed

RAW = b"From: Noa <noa@example.org>\r\nTo: mia@example.org\r\nSubject: Hi\r\n\r\nHello.\r\n"
NAME = name_of("example.org")


def published() -> dict[str, bytes | None]:
    """The key is made by the first test that wants it: each process of the tests loads this file."""
    return {NAME: key_of()[1]}


def state(raw: bytes, keys: dict[str, bytes | None] | None = None) -> str:
    (found,) = check_signatures(raw, published() if keys is None else keys)
    return found.state


def test_a_signature_holds_until_a_byte_changes() -> None:
    raw = signed(RAW)
    (found,) = check_signatures(raw, published())
    assert (found.state, found.domain) == ("valid", "example.org")
    assert {"from", "to", "subject"} <= set(found.covers)
    assert state(raw.replace(b"Hello", b"Hullo")) == "invalid"
    assert state(raw.replace(b"Subject: Hi", b"Subject: Ho")) == "invalid"


@pytest.mark.parametrize(
    ("raw", "keys", "expected"),
    [
        (lambda: signed(RAW, length=True), published, "partial"),
        (lambda: signed(RAW, algorithm=b"rsa-sha1"), published, "weak"),
        (lambda: signed(RAW), dict, "unchecked"),
        (lambda: signed(RAW), lambda: {NAME: None}, "no-key"),
        (lambda: signed(RAW), lambda: {NAME: b"v=DKIM1; p="}, "invalid"),
        (lambda: signed(RAW), lambda: {NAME: b"\xff\x00"}, "invalid"),
        (lambda: signed(RAW, bits=1_024), lambda: {NAME: key_of(1_024)[1]}, "valid"),
    ],
    ids=["length", "sha1", "no answer", "no key", "revoked", "no record", "1024"],
)
def test_what_proves_too_little_is_told(
    raw: Callable[[], bytes], keys: Callable[[], dict[str, bytes | None]], expected: str
) -> None:
    assert state(raw(), keys()) == expected


def test_a_second_from_that_is_not_signed_proves_nothing() -> None:
    raw = b"From: Boss <boss@bank.example>\r\n" + signed(RAW)
    assert state(raw) != "valid"
    hidden = signed(RAW).replace(b"From: Noa", b"fRoM: Noa", 1)
    assert state(hidden) == "valid"


def test_no_more_signatures_are_checked_than_a_few() -> None:
    head = signed(RAW).removesuffix(RAW)
    assert len(check_signatures(head * 30 + RAW, published())) == 5


@pytest.mark.thorough
@given(st.binary(max_size=300), st.binary(max_size=100))
@settings(max_examples=50)
def test_no_bytes_raise(value: bytes, record: bytes) -> None:
    check_signatures(b"DKIM-Signature: " + value + b"\r\n" + RAW, {NAME: record})
    check_signatures(value, {})
    check_signatures(signed(RAW), {NAME: record})


# RFC 8463, appendix A: one mail, signed by both algorithms

VECTOR = """\
DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=test; t=1528637909; h=from : to : subject :
 date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3
 DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz
 dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game.  Are you hungry yet?

Joe.
""".replace("\n", "\r\n").encode()
ED25519 = "brisbane._domainkey.football.example.com"
PUBLISHED: dict[str, bytes | None] = {
    ED25519: b"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "test._domainkey.football.example.com": (
        b"v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/"
        b"J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOT"
        b"IKT+l/K4w3QIDAQAB"
    ),
}


def states(raw: bytes, **replaced: bytes | None) -> list[str]:
    return [one.state for one in check_signatures(raw, PUBLISHED | {ED25519: replaced.get("key", PUBLISHED[ED25519])})]


def test_an_ed25519_signature_holds_as_its_rfc_has_it() -> None:
    assert states(VECTOR) == ["valid", "valid"]
    first, _ = check_signatures(VECTOR, PUBLISHED)
    assert first.domain == "football.example.com"


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"dinner", b"supper"), (b"hungry", b"angry"), (b"b=/gCr", b"b=/gCs"), (b"Joe Six", b"Jim Six")],
)
def test_an_ed25519_signature_ends_with_a_byte(before: bytes, after: bytes) -> None:
    assert states(VECTOR.replace(before, after))[0] == "invalid"


@pytest.mark.parametrize(
    "key",
    [
        b"v=DKIM1; k=ed25519; p=PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        b"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQ=",
        b"v=DKIM1; k=ed25519; p=!",
        b"v=DKIM1; k=ed25519; p=",
        PUBLISHED["test._domainkey.football.example.com"],
    ],
    ids=["another", "short", "no base64", "revoked", "of the other kind"],
)
def test_an_ed25519_signature_by_another_key_proves_nothing(key: bytes) -> None:
    assert states(VECTOR, key=key)[0] in {"invalid", "unreadable"}
