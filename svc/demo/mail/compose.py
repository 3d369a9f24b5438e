"""Makes the bytes of a message from a letter: headers, alternatives, quotations, attachments.

Deterministic: ids, boundaries and dates follow from the conversation's key and the letter's number, so that the same
``now`` always gives the same bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape
from typing import Final

from svc.clock import Millis
from svc.demo.mail import files
from svc.demo.mail.model import Conversation, FixtureMessage, Letter, Person, RawLetter, span_ms

MAX_QUOTED_LINES: Final = 12
CHARS_PER_WORD: Final = 11
"""In an encoded word, which may be 75 characters long: 11 of the longest characters make 60."""

_FOLD: Final = "\r\n "
_TEXT_STYLE: Final = "font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:1.5;color:#202830"
_QUOTE_STYLE: Final = "margin:0 0 0 8px;padding-left:12px;border-left:2px solid #c8d0d8;color:#5a6672"


@dataclass(frozen=True, kw_only=True)
class LetterWriter:
    """Makes the messages of one mailbox. The fields: its owner, the time, and the people and pages in use."""

    owner: str
    authority: str
    now: Millis
    people: Mapping[str, Person]
    pages: Mapping[str, str]

    def messages(self, conversation: Conversation) -> list[FixtureMessage]:
        """The messages of one conversation, as the owner's mailbox holds them."""
        first_new = len(conversation.letters) - conversation.unread
        return [
            FixtureMessage(
                provider_id=f"{self.owner}-{conversation.key}-{number + 1:02}",
                thread_key=f"{self.owner}-{conversation.key}",
                labels=self._labels(conversation, letter, unread=number >= first_new),
                received_at=self.now - span_ms(letter.ago),
                raw=self._raw(conversation, number),
            )
            for number, letter in enumerate(conversation.letters)
        ]

    def raw_message(self, letter: RawLetter) -> FixtureMessage:
        received_at = self.now - span_ms(letter.ago)
        raw = letter.raw.replace(b"{date}", _date(received_at).encode())
        return FixtureMessage(
            provider_id=f"{self.owner}-{letter.key}-01",
            thread_key=f"{self.owner}-{letter.key}",
            labels=frozenset({letter.where, "UNREAD"} if letter.unread else {letter.where}),
            received_at=received_at,
            raw=raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        )

    def _labels(self, conversation: Conversation, letter: Letter, *, unread: bool) -> frozenset[str]:
        labels = set(conversation.labels)
        if letter.sender == self.owner:
            labels.add("SENT")
        else:
            labels.update(filter(None, (conversation.where, "UNREAD" if unread else "")))
        if conversation.starred and letter is conversation.letters[-1]:
            labels.add("STARRED")
        return frozenset(labels)

    def _raw(self, conversation: Conversation, number: int) -> bytes:
        letter = conversation.letters[number]
        previous = conversation.letters[number - 1] if number else None
        message = EmailMessage(policy=SMTP)
        message.set_content(self._text(letter, previous), cte="quoted-printable")
        if letter.page:
            message.add_alternative(self.pages[letter.page], subtype="html", cte="quoted-printable")
        elif not letter.plain:
            message.add_alternative(self._html_alternative(letter, previous), subtype="html", cte="quoted-printable")
        if letter.invitation:
            self._add_invitation(message, conversation, letter)
        for file in map(files.made, letter.files):
            main, _, sub = file.mime.partition("/")
            message.add_attachment(file.content, maintype=main, subtype=sub, filename=file.name)
        for level, part in enumerate(part for part in message.walk() if part.is_multipart()):
            part.set_boundary(f"=_{conversation.key}-{number + 1:02}-{level}")
        return self._header_block(conversation, number) + message.as_bytes()

    def _header_block(self, conversation: Conversation, number: int) -> bytes:
        letter = conversation.letters[number]
        earlier = [self._message_id(conversation, one) for one in range(number)]
        headers = {
            "From": _mailbox(self.people[letter.sender]),
            "To": self._mailboxes(self._recipients(conversation, letter)),
            "Cc": self._mailboxes(letter.cc),
            "Subject": _encoded(conversation.subject if number == 0 else f"Re: {conversation.subject}"),
            "Date": _date(self.now - span_ms(letter.ago)),
            "Message-ID": self._message_id(conversation, number),
            "In-Reply-To": earlier[-1] if earlier else "",
            "References": _FOLD.join(earlier),
            **self._origin(letter),
            **letter.headers,
        }
        return "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value).encode()

    def _origin(self, letter: Letter) -> dict[str, str]:
        """The header that the mailbox's server adds to a mail whose sender it has verified."""
        if letter.sender == self.owner:
            return {}
        domain = self.people[letter.sender].address.partition("@")[2]
        found = f"dkim=pass header.d={domain}; dmarc=pass header.from={domain}"
        return {"Authentication-Results": f"{self.authority}; {found}"}

    def _mailboxes(self, people: Sequence[str]) -> str:
        return f",{_FOLD}".join(_mailbox(self.people[one]) for one in people)

    def _recipients(self, conversation: Conversation, letter: Letter) -> list[str]:
        everyone = dict.fromkeys((self.owner, *conversation.between, *(one.sender for one in conversation.letters)))
        return [one for one in everyone if one != letter.sender and one not in letter.cc]

    def _message_id(self, conversation: Conversation, number: int) -> str:
        domain = self.people[conversation.letters[number].sender].address.partition("@")[2]
        return f"<{conversation.key}.{number + 1}@{domain}>"

    def _add_invitation(self, message: EmailMessage, conversation: Conversation, letter: Letter) -> None:
        """Adds the invitation twice: as an alternative, for calendars, and as a file, for other programs."""
        if letter.invitation is None:
            return
        organizer = self.people[letter.sender].address
        text = files.calendar(
            letter.invitation,
            uid=f"{conversation.key}.{organizer}",
            organizer=organizer,
            attendees=[self.people[one].address for one in self._recipients(conversation, letter)],
            now=self.now,
        )
        message.add_alternative(text, subtype="calendar", params={"method": "REQUEST"}, cte="base64")
        message.add_attachment(text.encode(), maintype="application", subtype="ics", filename="invite.ics")

    def _text(self, letter: Letter, previous: Letter | None) -> str:
        if previous is None or letter.page:
            return letter.text + "\n"
        quoted = "\n".join(f"> {line}".rstrip() for line in _quotable(previous))
        return f"{letter.text}\n\n{self._attribution(previous)}\n{quoted}\n"

    def _html_alternative(self, letter: Letter, previous: Letter | None) -> str:
        body = f'<div style="{_TEXT_STYLE}">{_paragraphs(letter.text)}</div>'
        if previous is not None:
            lines = "<br>".join(map(escape, _quotable(previous)))
            body += f"<br><div>{escape(self._attribution(previous))}</div>"
            body += f'<blockquote dir="auto" style="{_QUOTE_STYLE}">{lines}</blockquote>'
        return f"<html><body>{body}</body></html>"

    def _attribution(self, letter: Letter) -> str:
        moment = datetime.fromtimestamp((self.now - span_ms(letter.ago)) // 1_000, tz=UTC)
        return f"On {moment.day} {moment:%B %Y}, {self.people[letter.sender].name} wrote:"


def _mailbox(person: Person) -> str:
    name = f'"{person.name}"' if person.name.isascii() else _encoded(person.name)
    return f"{name} <{person.address}>"


def _encoded(text: str) -> str:
    """A header's text; as encoded words (RFC 2047) where it is not ASCII."""
    if text.isascii():
        return text
    chunks = [text[start : start + CHARS_PER_WORD] for start in range(0, len(text), CHARS_PER_WORD)]
    return _FOLD.join(f"=?utf-8?B?{base64.b64encode(chunk.encode()).decode()}?=" for chunk in chunks)


def _date(instant: Millis) -> str:
    return format_datetime(datetime.fromtimestamp(instant // 1_000, tz=UTC))


def _paragraphs(text: str) -> str:
    return "".join(f'<p dir="auto">{escape(part).replace(chr(10), "<br>")}</p>' for part in text.split("\n\n"))


def _quotable(letter: Letter) -> list[str]:
    lines = letter.text.split("\n")
    return lines[:MAX_QUOTED_LINES] + (["[…]"] if len(lines) > MAX_QUOTED_LINES else [])
