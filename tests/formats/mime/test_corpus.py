"""Real mail: the SpamAssassin corpus, read whole, and held against the standard library where that reads it."""

from __future__ import annotations

import email
import re
from collections.abc import Callable, Mapping, Sequence
from email import policy
from email.message import EmailMessage
from typing import Final, TypeVar

import pytest

from svc.formats.mime import ParsedMessage, parse_message
from tests.peers.needs import CORPUS, needs

from . import corpus
from .test_properties import check

pytestmark = [pytest.mark.peer, needs(CORPUS), pytest.mark.thorough]

T = TypeVar("T")

_NOT_PLAIN: Final = re.compile(r"[^\x21-\x7e]+")


def test_real_mail_is_read_clean_and_nearly_all_of_it_has_its_fields() -> None:
    messages = [parse_message(path.read_bytes()) for path in corpus.paths()]
    for message in messages:
        check(message)
    assert share(messages, lambda message: bool(message.subject)) > 0.99
    assert share(messages, lambda message: message.sender is not None and "@" in message.sender.address) > 0.99
    assert share(messages, lambda message: message.date is not None) > 0.99
    assert share(messages, lambda message: message.message_id is not None) > 0.99
    assert share(messages, lambda message: bool(message.text.strip() or message.html)) > 0.99
    assert share(messages, lambda message: bool(message.snippet)) > 0.99


def test_the_standard_library_reads_the_same_in_nearly_all_of_it() -> None:
    agreements: dict[str, list[bool]] = {name: [] for name in COMPARED}
    for path in corpus.paths():
        raw = path.read_bytes()
        message = parse_message(raw)
        other = email.message_from_bytes(raw, policy=policy.default)
        for name, (ours, theirs) in COMPARED.items():
            try:
                expected = comparable(theirs(other))
            except (LookupError, ValueError, AttributeError, TypeError):
                continue  # what it raises on some real mail; the reason for a reader of our own
            agreements[name].append(comparable(ours(message)) == expected)
    assert {name: share(found, bool) for name, found in agreements.items() if share(found, bool) < 0.98} == {}


def share(items: Sequence[T], is_so: Callable[[T], bool]) -> float:
    return sum(map(is_so, items)) / len(items)


def comparable(value: object) -> object:
    """Texts by their visible ASCII: in charsets the two are meant to differ."""
    return _NOT_PLAIN.sub("", value) if isinstance(value, str) else value


def sender_of(message: ParsedMessage) -> str:
    return message.sender.address if message.sender else ""


def standard_sender(message: EmailMessage) -> str:
    return str(message["from"].addresses[0].addr_spec) if message["from"] else ""


def standard_date(message: EmailMessage) -> int | None:
    return round(message["date"].datetime.timestamp() * 1_000) if message["date"] else None


def standard_body(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    return str(body.get_content()) if body is not None else ""


COMPARED: Final[Mapping[str, tuple[Callable[[ParsedMessage], object], Callable[[EmailMessage], object]]]] = {
    "subject": (lambda message: message.subject, lambda other: str(other["subject"] or "")),
    "sender": (sender_of, standard_sender),
    "date": (lambda message: message.date, standard_date),
    "text": (lambda message: message.text, lambda other: standard_body(other, "plain")),
    "html": (lambda message: message.html or "", lambda other: standard_body(other, "html")),
}
