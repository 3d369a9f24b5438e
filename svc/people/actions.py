"""Actions on people: mail reports them, and their owner files them under pages.

The mail feature calls :func:`meet` in the transaction that stores a message, once for each message that is really new.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Final

from svc.clock import Millis
from svc.errors import NotFound
from svc.pages import EVERYONE, NO_PAGE, Grant, make_private, page_path, readable_page, tell_of_below
from svc.people import card, queries
from svc.people.model import (
    PERSON_CHANGED,
    PERSON_NEWS,
    PUBLIC_DOMAINS,
    TOPIC,
    Direction,
    Filing,
    Person,
    Suggestion,
    domain_of,
    heavier,
    is_person,
    plain_address,
    shown_name,
    weight_of,
)
from svc.people.queries import MAKER
from svc.people.settings import OWN
from svc.people.words import words_of
from svc.principal import Principal
from svc.store import EVERYONE as EVERYBODY_SIGNED_IN
from svc.store import Tx

NOBODY: Final = "You have no correspondent with that address."


def meet(
    tx: Tx,
    *,
    owner_id: str | None,
    own: Set[str],
    name: str,
    address: str,
    at: Millis,
    direction: Direction,
) -> None:
    """A mail was received from, or sent to, this address. ``own`` are the plain addresses of the owner's accounts.

    Programs and the owner are skipped. A person whom the owner writes to gets a page, unless the setting skips their
    domain. A person who only writes to the owner is suggested.
    """
    address = plain_address(address)
    if address in own or not is_person(address):
        return
    name = shown_name(name, address=address)
    known = queries.person(tx, owner_id=owner_id, address=address)
    if known is not None:
        _meet_again(tx, known, own=own, name=name, at=at, direction=direction)
        return
    place = _first_place(tx, owner_id=owner_id, own=own, name=name, address=address, written_to=direction == "sent")
    tx.run(
        """
        insert into people (
            owner_id, address, name, page_id, filing, first_seen_at, last_seen_at, received, sent, weight,
            suggestion
        ) values (
            :owner_id, :address, :name, :page_id, :filing, :at, :at, :received, :sent, :weight, :suggestion
        )
        """,
        owner_id=owner_id,
        address=address,
        name=name,
        page_id=place.page_id,
        filing=place.filing,
        suggestion=place.suggestion,
        at=at,
        received=int(direction == "received"),
        sent=int(direction == "sent"),
        weight=weight_of(at, direction),
    )
    person_id = tx.value("select last_insert_rowid()")  # `returning` gets slower with each existing row
    _index(tx, person_id, owner_id=owner_id, name=name, address=address)


def set_page(tx: Tx, principal: Principal, *, address: str, path: str | None) -> None:
    """File a correspondent under another page that the caller may read, or under none. The user's choice is final."""
    people = queries.own_people(tx, principal, address=address)
    if not people:
        raise NotFound(NOBODY)
    page = None if path is None else readable_page(tx, principal, page_path(path))
    if path is not None and page is None:
        raise NotFound(NO_PAGE)
    for one in people:
        _file(tx, one, _Place(page_id=page.id if page else None, filing="user"))
        tell(tx, principal, one)


def add(tx: Tx, principal: Principal, *, address: str) -> None:
    """Make a suggested person one of the people, as if the caller had written to them."""
    people = queries.own_people(tx, principal, address=address)
    if not people:
        raise NotFound(NOBODY)
    for one in people:
        if one.suggestion is not None:
            _file(tx, one, _page_for(tx, owner_id=one.owner_id, name=one.name, address=one.address))
            tell(tx, principal, one)


def dismiss(tx: Tx, principal: Principal, *, addresses: Iterable[str]) -> None:
    """Stop suggesting these people until the caller writes to them. A person who is not a suggestion does
    not change.
    """
    for address in addresses:
        for one in queries.own_people(tx, principal, address=address):
            if one.suggestion == "open":
                tx.run("update people set suggestion = 'dismissed' where id = :id", id=one.id)


def tell(tx: Tx, principal: Principal, person: Person) -> None:
    """Report that a person has a new name or a new page: as live news, and as a recorded event for consumers."""
    payload = {"address": person.address}
    tx.emit(
        topic=TOPIC,
        kind=PERSON_NEWS,
        id=person.address,
        payload=payload,
        audience=person.owner_id,
        device_id=principal.device_id,
    )
    tx.record(type=PERSON_CHANGED, payload=payload, audience=person.owner_id, device_id=principal.device_id)


def let_go(tx: Tx, *, owner_id: str | None, addresses: Iterable[str]) -> None:
    """These addresses are now the owner's own, so they are removed from the people. Their pages stay."""
    for address in sorted({plain_address(one) for one in addresses}):
        known = queries.person(tx, owner_id=owner_id, address=address)
        if known is not None:
            _unindex(tx, known)
            tx.run("delete from people where id = :id", id=known.id)
            tell(tx, MAKER, known)


def skip_domains(tx: Tx, *, domains: Iterable[str]) -> None:
    """Store the setting in force from now on. People who were met before stay as filed."""
    tx.run("delete from people_skipped")
    tx.run_many("insert into people_skipped (domain) values (:domain)", [{"domain": domain} for domain in domains])


def claim(tx: Tx, user_id: str) -> None:
    """Give the people met before there was any user to the first admin."""
    tx.run("update people set owner_id = :user_id where owner_id is null", user_id=user_id)
    tx.run("update people_words set owner_id = :user_id where owner_id = ''", user_id=user_id)


# Meeting


def _meet_again(tx: Tx, known: Person, *, own: Set[str], name: str, at: Millis, direction: Direction) -> None:
    tx.run(
        """
        update people set first_seen_at = min(first_seen_at, :at), last_seen_at = max(last_seen_at, :at),
            received = received + :received, sent = sent + :sent, weight = :weight
        where id = :id
        """,
        id=known.id,
        at=at,
        received=int(direction == "received"),
        sent=int(direction == "sent"),
        weight=heavier(known.weight, weight_of(at, direction)),
    )
    # The newest name that a person uses for themselves counts. The name in the owner's mail is used only if there is
    # none.
    is_better = not known.name or (direction == "received" and at >= known.last_seen_at)
    if name and name != known.name and is_better:
        tx.run("update people set name = :name where id = :id", id=known.id, name=name)
        _unindex(tx, known)
        _index(tx, known.id, owner_id=known.owner_id, name=name, address=known.address)
    written_to = direction == "sent"
    if known.filing == "skipped" or (written_to and known.suggestion):  # the setting may have changed since
        place = _first_place(
            tx,
            owner_id=known.owner_id,
            own=own,
            name=name or known.name,
            address=known.address,
            written_to=written_to or known.sent > 0,
        )
        _file(tx, known, place)
        if place.page_id is not None:
            tell(tx, MAKER, known)  # so that rows of older mail show the new name, too


def _index(tx: Tx, person_id: int, *, owner_id: str | None, name: str, address: str) -> None:
    tx.run_many(
        "insert into people_words (owner_id, word, person_id) values (:owner_id, :word, :id)",
        [{"id": person_id, "word": word, "owner_id": owner_id or ""} for word in words_of(name, address)],
    )


def _unindex(tx: Tx, known: Person) -> None:
    tx.run_many(
        "delete from people_words where owner_id = :owner_id and word = :word and person_id = :id",
        [
            {"id": known.id, "word": word, "owner_id": known.owner_id or ""}
            for word in words_of(known.name, known.address)
        ],
    )


def _is_skipped(tx: Tx, domain: str, *, own: Set[str]) -> bool:
    skipped = queries.skipped_domains(tx)
    if domain in skipped:
        return True
    return OWN in skipped and domain not in PUBLIC_DOMAINS and domain in {domain_of(address) for address in own}


# Their pages


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a person is filed, by whom, and whether they are only suggested."""

    page_id: str | None
    filing: Filing
    suggestion: Suggestion | None = None


def _first_place(tx: Tx, *, owner_id: str | None, own: Set[str], name: str, address: str, written_to: bool) -> _Place:
    """Where a new person is filed: under a page of their own, or nowhere."""
    if _is_skipped(tx, domain_of(address), own=own):
        return _Place(page_id=None, filing="skipped")
    if written_to:
        return _page_for(tx, owner_id=owner_id, name=name, address=address)
    _have_root(tx)  # the page that shows the suggestions
    return _Place(page_id=None, filing="auto", suggestion="open")


def _page_for(tx: Tx, *, owner_id: str | None, name: str, address: str) -> _Place:
    _have_root(tx)
    title, body = card.title(name=name, address=address), card.body(name=name, address=address)
    for path in card.paths(owner_id=owner_id, name=name, address=address):
        page_id = make_private(tx, MAKER, owner_id=owner_id, path=path, title=title, body=body)
        if page_id is not None:
            tell_of_below(tx, MAKER, path=card.ROOT, page_id=page_id, audience=owner_id)
            return _Place(page_id=page_id, filing="auto")
    return _Place(page_id=None, filing="auto")


def _have_root(tx: Tx) -> None:
    """Make the page above all people's pages, which every user may read. An existing page at that path is kept."""
    if tx.value("select 1 from pages where path = :path", path=card.ROOT) is not None:
        return
    root_id = make_private(
        tx,
        MAKER,
        owner_id=tx.value("select id from users where role = 'admin' order by created_at, id limit 1"),
        path=card.ROOT,
        title=card.ROOT_TITLE,
        body=card.ROOT_BODY,
        grants=[Grant(to=EVERYONE, level="read")],
    )
    assert root_id is not None
    tell_of_below(tx, MAKER, path=card.ROOT, page_id=root_id, audience=EVERYBODY_SIGNED_IN)


def _file(tx: Tx, person: Person, place: _Place) -> None:
    tx.run(
        "update people set page_id = :page_id, filing = :filing, suggestion = :suggestion where id = :id",
        id=person.id,
        page_id=place.page_id,
        filing=place.filing,
        suggestion=place.suggestion,
    )
