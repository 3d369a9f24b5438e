"""The wire types of people: inputs and outputs of the ``people.*`` procedures, and the conversion of records."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.clock import rfc3339
from svc.people.model import PageRef, Person
from svc.people.tidying import MAX_AT_ONCE, Stranger
from svc.protocol.rows import Wire

MAX_SUGGESTIONS = 50
MAX_SUGGESTED = 200
MAX_LISTED = 200
MAX_TOGETHER = 20

Address = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class SuggestInput(Wire, frozen=True):
    text: Annotated[str, msgspec.Meta(max_length=1_000)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_SUGGESTIONS)] = 8


class ListInput(Wire, frozen=True):
    """``text``: prefixes of words in names and addresses; empty for all people."""

    text: Annotated[str, msgspec.Meta(max_length=1_000)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LISTED)] = 50


class TogetherInput(Wire, frozen=True):
    addresses: Annotated[tuple[Address, ...], msgspec.Meta(max_length=MAX_TOGETHER)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_SUGGESTIONS)] = 4


class AddressInput(Wire, frozen=True):
    address: Address


class SetPageInput(Wire, frozen=True):
    address: Address
    path: Annotated[str, msgspec.Meta(max_length=4_000)] | None


class FiledInput(Wire, frozen=True):
    path: Annotated[str, msgspec.Meta(max_length=4_000)]


class SuggestedInput(Wire, frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_SUGGESTED)] = 50


class AddressesInput(Wire, frozen=True):
    addresses: Annotated[tuple[Address, ...], msgspec.Meta(max_length=MAX_AT_ONCE)]


class SuggestionOut(Wire, frozen=True):
    """``title`` and ``path`` are those of the page that the person is filed under."""

    name: str
    address: str
    title: str | None
    path: str | None


class PageRefOut(Wire, frozen=True):
    id: str
    path: str
    title: str


class PersonOut(Wire, frozen=True):
    """``messages`` counts received and sent mail; a mail that two accounts got counts twice."""

    address: str
    name: str
    title: str | None
    page: PageRefOut | None
    first_seen_at: str
    last_seen_at: str
    messages: int


class PeopleOut(Wire, frozen=True):
    """``more``: whether there are more after these."""

    people: tuple[PersonOut, ...]
    more: bool


class SuggestedOut(Wire, frozen=True):
    """``more``: whether there are more after these."""

    people: tuple[PersonOut, ...]
    more: bool


class StrangerOut(Wire, frozen=True):
    """A person whom the caller never wrote to, and the page that was made for them anyway."""

    address: str
    name: str
    page: PageRefOut
    messages: int


class TidiedOut(Wire, frozen=True):
    removed: int


def stranger(one: Stranger) -> StrangerOut:
    return StrangerOut(
        address=one.person.address,
        name=one.person.name,
        page=PageRefOut(id=one.page.id, path=one.page.path, title=one.page.title),
        messages=one.person.received,
    )


def suggestion(person: Person, page: PageRef | None) -> SuggestionOut:
    return SuggestionOut(
        name=person.name,
        address=person.address,
        title=page.title if page else None,
        path=page.path if page else None,
    )


def person_detail(person: Person, page: PageRef | None) -> PersonOut:
    return PersonOut(
        address=person.address,
        name=person.name,
        title=page.title if page else None,
        page=PageRefOut(id=page.id, path=page.path, title=page.title) if page else None,
        first_seen_at=rfc3339(person.first_seen_at),
        last_seen_at=rfc3339(person.last_seen_at),
        messages=person.received + person.sent,
    )
