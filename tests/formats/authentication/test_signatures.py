"""DKIM, checked with a kept library: what holds, what does not, and what holds but proves too little."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.authentication import check_signatures
from tests.support.signing import key_of, name_of, signed

RAW = b"From: Noa <noa@example.org>\r\nTo: mia@example.org\r\nSubject: Hi\r\n\r\nHello.\r\n"
NAME = name_of("example.org")
KEYS = {NAME: key_of()[1]}


def state(raw: bytes, keys: dict[str, bytes | None] | None = None) -> str:
    (found,) = check_signatures(raw, dict(KEYS) if keys is None else keys)
    return found.state


def test_a_signature_holds_until_a_byte_changes() -> None:
    raw = signed(RAW)
    (found,) = check_signatures(raw, KEYS)
    assert (found.state, found.domain) == ("valid", "example.org")
    assert {"from", "to", "subject"} <= set(found.covers)
    assert state(raw.replace(b"Hello", b"Hullo")) == "invalid"
    assert state(raw.replace(b"Subject: Hi", b"Subject: Ho")) == "invalid"


@pytest.mark.parametrize(
    ("raw", "keys", "expected"),
    [
        (signed(RAW, length=True), KEYS, "partial"),
        (signed(RAW, algorithm=b"rsa-sha1"), KEYS, "weak"),
        (signed(RAW), {}, "unchecked"),
        (signed(RAW), {NAME: None}, "no-key"),
        (signed(RAW), {NAME: b"v=DKIM1; p="}, "invalid"),
        (signed(RAW), {NAME: b"\xff\x00"}, "invalid"),
        (signed(RAW, bits=1_024), {NAME: key_of(1_024)[1]}, "valid"),
    ],
    ids=["length", "sha1", "no answer", "no key", "revoked", "no record", "1024"],
)
def test_what_proves_too_little_is_told(raw: bytes, keys: dict[str, bytes | None], expected: str) -> None:
    assert state(raw, dict(keys)) == expected


def test_a_second_from_that_is_not_signed_proves_nothing() -> None:
    raw = b"From: Boss <boss@bank.example>\r\n" + signed(RAW)
    assert state(raw) != "valid"
    hidden = signed(RAW).replace(b"From: Noa", b"fRoM: Noa", 1)
    assert state(hidden) == "valid"


def test_no_more_signatures_are_checked_than_a_few() -> None:
    head = signed(RAW).removesuffix(RAW)
    assert len(check_signatures(head * 30 + RAW, KEYS)) == 5


@given(st.binary(max_size=300), st.binary(max_size=100))
@settings(max_examples=50)
def test_no_bytes_raise(value: bytes, record: bytes) -> None:
    check_signatures(b"DKIM-Signature: " + value + b"\r\n" + RAW, {NAME: record})
    check_signatures(value, {})
    check_signatures(signed(RAW), {NAME: record})
