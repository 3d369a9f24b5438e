"""Queries of people. Those that take a principal or an owner have the owner in their ``where``, so no user finds
another user's people; the others are for the service itself, or come after that check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, cast

from svc.pages import readable_titles
from svc.people.model import Correspondent, Filing, PageRef, Person, Suggestion, plain_address
from svc.people.words import END, are_of
from svc.principal import Principal, system
from svc.store import ReadTx, Row, Value, json_array

MAKER: Final = system("people")
"""It makes the pages."""
MAX_ON_A_PAGE: Final = 100
DENSE: Final = 1_000
"""From this many people with one word on, it is cheaper to go through all people, best first, until enough
are found.
"""
WALKED: Final = 2_000

_PERSON: Final = """
    p.id, p.owner_id, p.address, p.name, p.page_id, p.filing, p.first_seen_at, p.last_seen_at, p.received, p.sent,
    p.weight, p.suggestion
"""
_OWN: Final = "(:everything or p.owner_id is :user_id)"  # a device that was paired before the claim has no user yet


def person(tx: ReadTx, *, owner_id: str | None, address: str) -> Person | None:
    """For the service's own loops, which have no principal. ``address`` is a plain one."""
    row = tx.one(
        f"select {_PERSON} from people p where p.owner_id is :owner_id and p.address = :address",
        owner_id=owner_id,
        address=address,
    )
    return None if row is None else _person(row)


def own_people(tx: ReadTx, principal: Principal, *, address: str) -> list[Person]:
    """The caller's person with that address. A principal that sees everything may find one per owner, the
    latest first.
    """
    address = plain_address(address)
    found = [person(tx, owner_id=owner_id, address=address) for owner_id in _owners(tx, principal)]
    return sorted((one for one in found if one is not None), key=lambda one: (-one.last_seen_at, one.id))


def on_page(tx: ReadTx, principal: Principal, *, page_id: str) -> list[Person]:
    """The caller's correspondents filed under a page, those with the most mail first."""
    rows = tx.all(
        f"""
        select {_PERSON} from people p where p.page_id = :page_id and {_OWN}
        order by p.weight desc, p.id limit :most
        """,
        page_id=page_id,
        most=MAX_ON_A_PAGE,
        **_who(principal),
    )
    return [_person(row) for row in rows]


def all_on_page(tx: ReadTx, *, page_id: str) -> list[int]:
    """The ids of all people filed under a page, of every owner."""
    return [cast(int, person_id) for (person_id,) in tx.all("select id from people where page_id = :id", id=page_id)]


def suggested(tx: ReadTx, principal: Principal, *, limit: int) -> list[Person]:
    """People who wrote to the caller and are suggested: the caller may add each to their people. The most
    likely first.
    """
    found: list[Person] = []
    for owner_id in _owners(tx, principal):
        rows = tx.all(
            f"""
            select {_PERSON} from people p where p.owner_id is :owner_id and p.suggestion = 'open'
            order by p.weight desc, p.id limit :limit
            """,
            owner_id=owner_id,
            limit=limit,
        )
        found += map(_person, rows)
    return sorted(found, key=lambda one: (-one.weight, one.id))[:limit]


def pages_of(tx: ReadTx, principal: Principal, people: Iterable[Person]) -> dict[int, PageRef]:
    """By person id: the page of each, if ``principal`` may read it."""
    filed = {one.id: one.page_id for one in people if one.page_id is not None}
    titles = readable_titles(tx, principal, set(filed.values())) if filed else {}
    return {
        person_id: PageRef(id=page_id, path=titles[page_id][0], title=titles[page_id][1])
        for person_id, page_id in filed.items()
        if page_id in titles
    }


def never_written_to(tx: ReadTx, principal: Principal) -> list[Person]:
    """The caller's people with an automatic page to whom the caller has never written."""
    rows = tx.all(
        f"""
        select {_PERSON} from people p
        where {_OWN} and p.sent = 0 and p.filing = 'auto' and p.page_id is not null order by p.address, p.id
        """,
        **_who(principal),
    )
    return [_person(row) for row in rows]


def skipped_domains(tx: ReadTx) -> frozenset[str]:
    """The setting in force: domains, and `own`."""
    return frozenset([str(domain) for (domain,) in tx.all("select domain from people_skipped")])


# For the mail feature


def titles(tx: ReadTx, *, owner_id: str | None, addresses: Iterable[str]) -> dict[str, str]:
    """By plain address: the owner's name for each of those correspondents, which is the title of their page."""
    known = people_of(tx, owner_id=owner_id, addresses=addresses)
    pages = pages_of(tx, reader(owner_id), known.values())
    return {one.address: pages[one.id].title for one in known.values() if one.id in pages}


def filing(tx: ReadTx, *, owner_id: str | None, addresses: Sequence[str]) -> PageRef | None:
    """The page of the first of ``addresses`` that belongs to a correspondent. A colleague is skipped, unless filed by
    hand, and so is a person who is only suggested. A person without a page, or with a page that the owner may no longer
    read, is not skipped: then the result is ``None``.
    """
    known = people_of(tx, owner_id=owner_id, addresses=addresses)
    for address in addresses:
        found = known.get(plain_address(address))
        if found is not None and found.filing != "skipped" and found.suggestion is None:
            return pages_of(tx, reader(owner_id), [found]).get(found.id)
    return None


def filed_under(tx: ReadTx, *, page_ids: Iterable[str]) -> frozenset[Correspondent]:
    """The correspondents of all owners that are filed under one of these pages."""
    rows = tx.all(
        "select owner_id, address from people where page_id in (select value from json_each(:ids))",
        ids=json_array(page_ids),
    )
    return frozenset(Correspondent(owner_id, address) for owner_id, address in rows)


def reader(owner_id: str | None) -> Principal:
    """The owner of the people as a reader of pages, because mail is shown only to its owner, also in news. Without an
    owner, the reader is a principal that sees everything.
    """
    if owner_id is None:
        return MAKER
    return Principal(user_id=owner_id, device_id=MAKER.device_id, is_admin=False, via="session")


def people_of(tx: ReadTx, *, owner_id: str | None, addresses: Iterable[str]) -> dict[str, Person]:
    """By plain address: those that are the owner's correspondents."""
    rows = tx.all(
        f"""
        select {_PERSON} from json_each(:addresses) wanted cross join people p
        where p.owner_id is :owner_id and p.address = wanted.value
        """,
        owner_id=owner_id,
        addresses=json_array(dict.fromkeys(plain_address(one) for one in addresses)),
    )
    return {one.address: one for one in map(_person, rows)}


def by_ids(tx: ReadTx, ids: Sequence[int]) -> dict[int, Person]:
    """For callers that have already checked that the user may see them."""
    return {one.id: one for one in _weighed(tx, ids)}


# Suggestions


def suggestions(tx: ReadTx, principal: Principal, *, words: Sequence[str], limit: int) -> list[Person]:
    """The caller's people who have, for each of ``words``, a word that begins with it; those with the highest weight
    first.

    Without any words: those with the highest weight. One rare word is enough to find the right people directly; if each
    word is common, the people with the highest weight are searched.
    """
    found = [one for owner_id in _owners(tx, principal) for one in _suggested(tx, owner_id, words=words, limit=limit)]
    found.sort(key=lambda one: (-one.weight, one.address))
    distinct: dict[str, Person] = {}
    for one in found:
        distinct.setdefault(one.address, one)
    return list(distinct.values())[:limit]


def _suggested(tx: ReadTx, owner_id: str | None, *, words: Sequence[str], limit: int) -> list[Person]:
    ids: list[int] = []
    for word in words:
        ids = _with_word(tx, owner_id, word)
        if len(ids) < DENSE:
            return _first(_weighed(tx, ids), words, limit)
    best = _first(_weightiest(tx, owner_id), words, limit)
    # If all matches have a low weight, some of them are better than none.
    return best if len(best) == limit or not words else _first(_weighed(tx, ids), words, limit)


def _first(people: Iterable[Person], words: Sequence[str], limit: int) -> list[Person]:
    return list(islice((one for one in people if are_of(words, name=one.name, address=one.address)), limit))


def _with_word(tx: ReadTx, owner_id: str | None, word: str) -> list[int]:
    rows = tx.all(
        """
        select distinct person_id from people_words
        where owner_id = :owner_id and word >= :word and word < :end limit :most
        """,
        owner_id=owner_id or "",
        word=word,
        end=word + END,
        most=DENSE,
    )
    return [cast(int, person_id) for (person_id,) in rows]


def _weighed(tx: ReadTx, ids: Sequence[int]) -> Iterator[Person]:
    rows = tx.all(
        f"""
        select {_PERSON} from people p where p.id in (select value from json_each(:ids))
        order by p.weight desc, p.address
        """,
        ids=json_array(ids),
    )
    return map(_person, rows)


def _weightiest(tx: ReadTx, owner_id: str | None) -> Iterator[Person]:
    rows = tx.each(
        f"select {_PERSON} from people p where p.owner_id is :owner_id order by p.weight desc limit :walked",
        owner_id=owner_id,
        walked=WALKED,
    )
    return map(_person, rows)


def _owners(tx: ReadTx, principal: Principal) -> list[str | None]:
    """The owners whose people the caller may find: the caller. A principal that sees everything finds those of all
    owners.
    """
    if not principal.sees_everything:
        return [principal.user_id]
    return [None, *(cast(str, user_id) for (user_id,) in tx.all("select id from users order by created_at, id"))]


def _who(principal: Principal) -> dict[str, Value]:
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def _person(row: Row) -> Person:
    return Person(
        id=cast(int, row[0]),
        owner_id=cast("str | None", row[1]),
        address=cast(str, row[2]),
        name=cast(str, row[3]),
        page_id=cast("str | None", row[4]),
        filing=cast(Filing, row[5]),
        first_seen_at=cast(int, row[6]),
        last_seen_at=cast(int, row[7]),
        received=cast(int, row[8]),
        sent=cast(int, row[9]),
        weight=cast(float, row[10]),
        suggestion=cast("Suggestion | None", row[11]),
    )
