"""Invariants of people, checked by ``svc fsck``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from svc.people.model import is_person, plain_address
from svc.people.words import words_of
from svc.store import Invariant, ReadTx


def _addresses(tx: ReadTx) -> Iterator[str]:
    for person_id, address in tx.each("select id, address from people"):
        if address != plain_address(address) or not is_person(address):
            yield f"person {person_id} has an address that is nobody's"


def _words(tx: ReadTx) -> Iterator[str]:
    expected: set[tuple[str, str, int]] = set()
    for person_id, owner_id, name, address in tx.each("select id, owner_id, name, address from people"):
        expected |= {(owner_id or "", word, person_id) for word in words_of(name, address)}
    found = set(tx.each("select owner_id, word, person_id from people_words"))
    for person_id in sorted({row[2] for row in found ^ expected}):
        yield f"person {person_id} is found by other words than name and address have"


def _owners(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        "select id from people where owner_id is not null and owner_id not in (select id from users) order by id"
    )
    return [f"person {person_id} belongs to somebody who is not there" for (person_id,) in rows]


def _filing(tx: ReadTx) -> Iterable[str]:
    rows = tx.all("select id from people where filing = 'skipped' and page_id is not null order by id")
    return [f"person {person_id} is filed although nobody did it" for (person_id,) in rows]


def _suggestions(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        "select id from people where suggestion is not null and (page_id is not null or sent > 0 or filing <> 'auto')"
    )
    return [f"person {person_id} is suggested, and is one of the people already" for (person_id,) in rows]


def _together(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select t.person_id from people_together t
        join people one on one.id = t.person_id join people other on other.id = t.other_id
        where one.owner_id is not other.owner_id or t.mails > min(one.sent, other.sent) or not exists (
            select 1 from people_together back
            where back.person_id = t.other_id and back.other_id = t.person_id and back.mails = t.mails
        ) order by 1
        """
    )
    return [f"person {person_id} goes together with somebody as no mail says" for (person_id,) in rows]


INVARIANTS = (
    Invariant(name="a person's address is spelled in one way", check=_addresses),
    Invariant(name="a person is found by their name and address", check=_words),
    Invariant(name="a person's owner is a user", check=_owners),
    Invariant(name="who is suggested has no page and was never written to", check=_suggestions),
    Invariant(name="who is written to together is so in both directions, and of one owner", check=_together),
    Invariant(name="a colleague is filed by hand only", check=_filing),
)
