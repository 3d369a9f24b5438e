"""Quotes the original below a reply or a forward, and makes the subject.

The quoted text is a stranger's: its HTML is rebuilt by the policy for outgoing HTML, its names and subject are escaped,
and its remote images keep their ``https`` addresses, as the sender wrote them. Nothing is fetched here.

A subject gets ``Re:`` or ``Fwd:`` once, and loses earlier prefixes in any language. Prefixes of one letter (Italian
``R:``) and words that begin real subjects (``Ref:``) are left alone: one prefix too many is harmless, a lost word of
the subject is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType
from typing import Final, Literal

from svc.clock import Millis
from svc.formats.html import plan, shows_something, text_fallback, text_to_html
from svc.formats.html.escaping import LINK_ATTRIBUTES, escape_text, printable
from svc.formats.mime.model import MAX_LINE_CHARS
from svc.formats.person import Person
from svc.formats.text import clean_line, cut
from svc.formats.writing.outgoing_html import OutgoingHtml, outgoing_html

QuoteKind = Literal["reply", "forward"]

MAX_SHOWN_PEOPLE: Final = 100
"""People of each list in the header block of a forward."""

_QUOTE_STYLE: Final = "margin:0 0 0 4px;padding:0 0 0 12px;border-left:2px solid #8a8f98"
_REPLIED: Final = (
    "re|aw|antw|antwort|sv|vs|vá|odp|odg|ynt|atb|rif|rép|bls|res|απ|σχετ|отв|ответ|回复|回覆|答复|返信|답장"
)
_FORWARDED: Final = "fwd|fw|wg|tr|vb|vl|rv|enc|doorst|pd|ilt|İlt|trs|πρθ|пересл|转发|轉寄|転送|전달"
_PREFIX: Final = re.compile(
    rf"\s*+(?:{_REPLIED}|{_FORWARDED})\s?(?:\[[0-9]{{1,3}}\]|\([0-9]{{1,3}}\)|[\^*][0-9]{{1,3}})?\s?[:：]\s*+",
    re.IGNORECASE,
)
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NO_IMAGES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Original:
    """A message as stored: its columns, its headers and its body, not sanitized."""

    sender: Person
    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    subject: str
    sent_at: Millis
    html: str | None
    text: str


def quote(
    original: Original,
    *,
    kind: QuoteKind,
    images: Mapping[str, str] = _NO_IMAGES,
    zone: tzinfo = UTC,
    as_text: bool = False,
) -> OutgoingHtml:
    """The original as HTML, to be put below the new text.

    ``images``: the new content id of each inline part that is sent along, by its id in the original. ``zone``: for
    showing its date. ``as_text``: for HTML that took too long. Ask :func:`svc.formats.html.plan` where this may run: it
    costs as much as sanitizing ``original.html``.
    """
    body = _body(original, images=images, as_text=as_text)
    if kind == "reply":
        opening = f"<div>{_escaped(attribution(original, zone=zone))}</div>"
        html = f'{opening}<blockquote type="cite" style="{_QUOTE_STYLE}">{body.html}</blockquote>'
    else:
        html = f"<div>{_header_block(original, zone=zone)}</div><br><div>{body.html}</div>"
    return OutgoingHtml(html=html, content_ids=body.content_ids, truncated=body.truncated)


def attribution(original: Original, *, zone: tzinfo = UTC) -> str:
    who = original.sender.name or original.sender.address
    when = told_date(original.sent_at, zone=zone)
    return f"On {when}, {clean_line(who)} wrote:" if who else f"On {when}, somebody wrote:"


def told_date(instant: Millis, *, zone: tzinfo = UTC) -> str:
    """``Tue, 27 Oct 2026 at 09:00 UTC``, in English for any locale of the machine."""
    at = datetime.fromtimestamp(instant // 1_000, tz=zone)
    name = at.tzname() or at.strftime("%z")
    day = f"{_DAYS[at.weekday()]}, {at.day} {_MONTHS[at.month - 1]} {at.year}"
    return f"{day} at {at.hour:02}:{at.minute:02} {name}"


def reply_subject(subject: str) -> str:
    return _prefixed("Re:", subject)


def forward_subject(subject: str) -> str:
    return _prefixed("Fwd:", subject)


def bare_subject(subject: str) -> str:
    """The subject without the prefixes of replies and forwards."""
    subject = clean_line(subject)
    position = 0
    while match := _PREFIX.match(subject, position):
        position = match.end()
    return subject[position:].strip()


def _prefixed(prefix: str, subject: str) -> str:
    return cut(f"{prefix} {bare_subject(subject)}".strip(), limit=MAX_LINE_CHARS)


def _body(original: Original, *, images: Mapping[str, str], as_text: bool) -> OutgoingHtml:
    if original.html is None:
        return OutgoingHtml(html=_without_targets(text_to_html(original.text)))
    if as_text or plan(original.html) == "text":
        fallback = text_fallback(original.html)
        return OutgoingHtml(html=_without_targets(fallback.html), truncated=fallback.truncated)
    rebuilt = outgoing_html(original.html, images=images)
    if not shows_something(rebuilt.html) and clean_line(original.text):
        return OutgoingHtml(html=_without_targets(text_to_html(original.text)))
    return rebuilt


def _header_block(original: Original, *, zone: tzinfo) -> str:
    rows = [
        ("From", _people([original.sender])),
        ("Date", told_date(original.sent_at, zone=zone)),
        ("Subject", clean_line(original.subject)),
        ("To", _people(original.to)),
        ("Cc", _people(original.cc)),
    ]
    shown = [f"<b>{name}:</b> {_escaped(value)}" for name, value in rows if value]
    return "<br>".join(["---------- Forwarded message ----------", *shown])


def _people(people: Sequence[Person]) -> str:
    shown = [_person(one) for one in people[:MAX_SHOWN_PEOPLE]]
    more = len(people) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def _person(person: Person) -> str:
    name, address = clean_line(person.name), clean_line(person.address)
    return f"{name} <{address}>" if name and address else name or address


def _escaped(text: str) -> str:
    return escape_text(printable(text))


def _without_targets(html: str) -> str:
    """``text_to_html`` writes links for the frame. In its text every ``>`` is escaped, so this matches only tags."""
    return html.replace(f"{LINK_ATTRIBUTES}>", ">")
