"""Turns recipients as typed by a person into people to send to, or into a refusal that names the error.

The tolerant reader of strangers' address fields (``mime/addresses.py``) splits the text. Its result must then meet the
rules of a provider, because here the person who typed it can still correct it. A name in another script is allowed. A
domain becomes its ASCII form (RFC 5891, by the transitional rules only where these change nothing). The part before the
at sign has to be ASCII already: no other form of it exists (RFC 6531 needs every server on the way).
"""

from __future__ import annotations

import encodings.idna
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from svc.errors import Invalid
from svc.formats.mime.addresses import parse_addresses
from svc.formats.mime.model import MAX_ADDRESSES, Problems
from svc.formats.person import Person
from svc.formats.text import clean_line, cut
from svc.formats.writing.headers import mailbox_words, shown_name

MAX_RECIPIENTS: Final = MAX_ADDRESSES
"""People that one mail goes to, by To, Cc and Bcc together: as many as large providers take a message. Beyond: 400
`invalid`."""
MAX_RECIPIENT_CHARS: Final = 128 * 1024
"""Their names and addresses together, as the header has them: half of what any reader, our own included, reads of a
header. Beyond: 400 `invalid`."""
MAX_TYPED_CHARS: Final = 256 * 1024
"""One text of recipients, as typed. Beyond: 400 `invalid`."""
MAX_ADDRESS_CHARS: Final = 254
"""An address to send to: RFC 5321 section 4.5.3.1.3, without the brackets. Beyond: 400 `invalid`."""
MAX_LOCAL_CHARS: Final = 64
"""The part of an address before its @. Beyond: 400 `invalid`."""
MAX_DOMAIN_CHARS: Final = 253
"""The domain of an address. Beyond: 400 `invalid`."""
MAX_LABEL_CHARS: Final = 63
"""One label of an address's domain. Beyond: 400 `invalid`."""
MAX_SHOWN_CHARS: Final = 80
"""The part of a typed text that a refusal shows. Beyond: it is cut."""

_LOCAL: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+")
_QUOTED_LOCAL: Final = re.compile(r'"[ !#-;=?-\[\]-~]+"')
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_LITERAL: Final = re.compile(r"\[(?:IPv6:)?[0-9A-Fa-f:.]{2,45}\]")
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
_DEVIATING: Final = re.compile("[\u00df\u03c2\u1e9e]")
"""Sharp s and final sigma: older rules turn them into other letters, and so into another domain, which may be somebody
else's."""


@dataclass(frozen=True, kw_only=True)
class Recipients:
    """No address occurs twice."""

    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    bcc: tuple[Person, ...] = ()

    @property
    def everyone(self) -> tuple[Person, ...]:
        return (*self.to, *self.cc, *self.bcc)


def recipients(*, to: Iterable[str], cc: Iterable[str] = (), bcc: Iterable[str] = ()) -> Recipients:
    """To, Cc and Bcc as typed; each string holds one mailbox or several. Raises :class:`Invalid`.

    An address in two of them stays in the first, To before Cc before Bcc: nobody gets the message twice, and no visible
    recipient is hidden.
    """
    seen: set[str] = set()
    found = Recipients(to=_unseen(to, seen), cc=_unseen(cc, seen), bcc=_unseen(bcc, seen))
    if len(seen) > MAX_RECIPIENTS:
        raise Invalid(f"A message can go to {MAX_RECIPIENTS} people at most; this one names {len(seen)}.")
    if sum(len(word) + 1 for person in found.everyone for word in mailbox_words(person)) > MAX_RECIPIENT_CHARS:
        raise Invalid("The recipients' names are too long together.")
    return found


def parse_mailboxes(texts: Iterable[str]) -> list[Person]:
    """The people in ``texts``, in order, with the addresses to send to. Raises :class:`Invalid`."""
    people: list[Person] = []
    for text in texts:
        if len(text) > MAX_TYPED_CHARS:
            raise Invalid("That is too long for a list of recipients.")
        problems = Problems()
        mailboxes = parse_addresses([clean_line(text)], problems=problems)
        if not mailboxes and clean_line(text).strip(" ,;"):
            raise Invalid(f"{_shown(text)} is no e-mail address.")
        if len(mailboxes) >= MAX_ADDRESSES and problems.notes:
            raise Invalid(f"A message can go to {MAX_RECIPIENTS} people at most.")
        for mailbox in mailboxes:
            if not mailbox.address:
                raise Invalid(f"{_shown(mailbox.name)} has no e-mail address.")
            person = Person(name=mailbox.name, address=sendable_address(mailbox.address))
            people.append(Person(name=shown_name(person), address=person.address))
    return people


def mailbox_text(person: Person) -> str:
    """A person as one string that :func:`parse_mailboxes` reads as the same person: for drafts and prefilled fields."""
    name = shown_name(person).replace("=?", "= ?")  # it would be read as an encoded word
    if not name:
        return f"<{person.address}>" if '"' in person.address else person.address
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}" <{person.address}>'


def sendable_address(address: str) -> str:
    """An address in the ASCII form for sending. Raises :class:`Invalid` if it is no address."""
    local, at, domain = address.rpartition("@")
    if not at or not local or not domain:
        raise Invalid(f"{_shown(address)} is no e-mail address.")
    if not local.isascii():
        raise Invalid(
            f"{_shown(address)} can't be sent to: before the “@” only unaccented letters, digits and signs work."
        )
    if len(local) > MAX_LOCAL_CHARS or not (_LOCAL.fullmatch(local) or _QUOTED_LOCAL.fullmatch(local)):
        raise Invalid(f"{_shown(address)} is no e-mail address: what stands before the “@” is none.")
    if "=?" in local:
        raise Invalid(f"{_shown(address)} can't be sent to: it would be read as encoded text.")
    whole = f"{local}@{ascii_domain(domain, address=address)}"
    if len(whole) > MAX_ADDRESS_CHARS:
        raise Invalid(f"{_shown(address)} is longer than an e-mail address can be.")
    return whole


def is_sendable(address: str) -> bool:
    """Whether ``address`` already has that form."""
    try:
        return sendable_address(address) == address
    except Invalid:
        return False


def _unseen(texts: Iterable[str], seen: set[str]) -> tuple[Person, ...]:
    people: list[Person] = []
    for person in parse_mailboxes(texts):
        key = person.address.lower()
        if key not in seen:
            seen.add(key)
            people.append(person)
    return tuple(people)


def ascii_domain(domain: str, *, address: str) -> str:
    """The ASCII form of a domain. Raises :class:`Invalid`, with the ``address`` that has it, if it is none."""
    if _LITERAL.fullmatch(domain):
        return domain
    labels = [_ascii_label(label, address=address) for label in _DOTS.split(domain)]
    whole = ".".join(labels)
    if len(whole) > MAX_DOMAIN_CHARS:
        raise Invalid(f"{_shown(address)} is longer than an e-mail address can be.")
    return whole


def _ascii_label(label: str, *, address: str) -> str:
    label = label if label.isascii() else _a_label(label, address=address)
    label = label.lower()
    if len(label) > MAX_LABEL_CHARS or not _LABEL.fullmatch(label):
        raise Invalid(f"{_shown(address)} is no e-mail address: what stands after the “@” is no domain.")
    return label


def _a_label(label: str, *, address: str) -> str:
    try:
        ascii_form = encodings.idna.ToASCII(label).decode("ascii")
        if not _DEVIATING.search(label):
            return ascii_form
        lower = unicodedata.normalize("NFC", "".join(character.lower() for character in label))
        return "xn--" + lower.encode("punycode").decode("ascii")
    except UnicodeError:
        raise Invalid(f"{_shown(address)} is no e-mail address: what stands after the “@” is no domain.") from None


def _shown(text: str) -> str:
    return f"“{cut(clean_line(text), limit=MAX_SHOWN_CHARS)}”"
