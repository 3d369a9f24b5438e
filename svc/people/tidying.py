"""Cleans up homes from the time when every sender got a page: removes strangers' pages that nobody has changed.

A page is only removed if it is exactly as it was made, and the owner never wrote to the person. The person is then
suggested, and one call (:func:`actions.add`) makes the same page again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from svc.pages import MadePage, take_away, untouched
from svc.people import actions, card, queries
from svc.people.model import Person, plain_address
from svc.people.queries import MAKER
from svc.principal import Principal
from svc.store import ReadTx, Tx

MAX_AT_ONCE: Final = 200  # each sends two live updates; a socket may be 1,000 behind


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A person whom the owner never wrote to, and the page that was made for them."""

    person: Person
    page: MadePage


def strangers(tx: ReadTx, principal: Principal) -> list[Stranger]:
    """The people whose pages :func:`tidy` would remove, by address."""
    people = queries.never_written_to(tx, principal)
    pages = untouched(tx, MAKER, page_ids={one.page_id for one in people if one.page_id is not None})
    found = [Stranger(person=one, page=pages[one.page_id]) for one in people if one.page_id in pages]
    shared = {one.page.id for one in found if len(queries.all_on_page(tx, page_id=one.page.id)) > 1}
    return [one for one in found if one.page.id not in shared and _is_where_it_was(one)]


def tidy(tx: Tx, principal: Principal, *, addresses: Collection[str] | None = None) -> int:
    """Remove these pages, if they still belong to :func:`strangers`. Returns how many. ``addresses`` is
    ``None``: all.
    """
    wanted = None if addresses is None else {plain_address(one) for one in addresses}
    gone = 0
    for one in strangers(tx, principal):
        if wanted is None or one.person.address in wanted:
            take_away(tx, MAKER, one.page)
            tx.run("update people set page_id = null, suggestion = 'open' where id = :id", id=one.person.id)
            actions.tell(tx, principal, one.person)
            gone += 1
    return gone


def _is_where_it_was(one: Stranger) -> bool:
    """Whether the page has its first path. The name and the owner may have changed, so the page's title and no owner
    are tried, too.
    """
    return one.page.path in set(_first_paths(one.person, title=one.page.title))


def _first_paths(person: Person, *, title: str) -> Iterator[str]:
    name = "" if title == person.address else title
    for owner_id in (person.owner_id, None):
        yield from card.paths(owner_id=owner_id, name=name, address=person.address)
