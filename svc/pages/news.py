"""Live updates about pages: sent to exactly the users who may read them, in the transaction of the change.

A change of a page with others below is sent once, with its path: it covers everything below, too. Only users who can't
read the page itself but something below it (a page with grants or an owner of its own) get an update for that one
instead.

An update of a changed page is also recorded as ``page-changed``, for durable consumers. Pages that a feature makes for
itself (:func:`tell_of_below`) are not recorded: there may be thousands at once, and no person acted.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from svc.pages.model import paths_above
from svc.pages.queries import SUBTREE
from svc.principal import Principal
from svc.store import EVERYONE as EVERYBODY_SIGNED_IN
from svc.store import ReadTx, Tx, json_array

TOPIC: Final = "pages"
PAGE_CHANGED: Final = "page-changed"
"""The event of a change. Its ``pageId`` also covers all pages below ``path``."""
PageNews = Literal["page.changed", "page.removed"]

_Group = tuple[str | None, str | None]  # owner and source: pages of one group have the same readers


@dataclass(frozen=True, kw_only=True)
class Reach:
    """A page and the audiences that may read it (:meth:`Tx.emit` defines an audience)."""

    page_id: str
    path: str
    readers: Set[str | None]


def reach_of(tx: ReadTx, path: str, *, alone: bool = False) -> list[Reach]:
    """The readers of the page at ``path``; and, unless ``alone``, each page below whose readers differ from those above
    it.

    The page itself comes first.
    """
    place = "p.path = :path" if alone else SUBTREE
    rows = tx.all(f"select p.id, p.path, p.owner_id, p.source_id from pages p where {place} order by p.path", path=path)
    tops: dict[str, tuple[str, _Group]] = {}
    for page_id, page_path, owner_id, source_id in rows:
        group = (owner_id, source_id)
        above = next((tops[higher][1] for higher in paths_above(page_path) if higher in tops), None)
        if above != group:
            tops[page_path] = (page_id, group)
    readers = _readers_by_source(tx, {group[1] for _, group in tops.values() if group[1] is not None})
    return [
        Reach(page_id=page_id, path=top, readers=_audiences(owner_id, readers.get(source_id or "", frozenset())))
        for top, (page_id, (owner_id, source_id)) in tops.items()
    ]


def tell(tx: Tx, principal: Principal, kind: PageNews, reaches: Sequence[Reach]) -> None:
    """Send a change for the result of :func:`reach_of`: of the first page, and of the others to users who can't see the
    first."""
    first, *others = reaches
    _emit(tx, principal, kind, first, first.readers)
    if EVERYBODY_SIGNED_IN in first.readers:
        return
    for reach in others:
        _emit(tx, principal, kind, reach, reach.readers - first.readers)


def tell_of_below(tx: Tx, principal: Principal, *, path: str, page_id: str, audience: str | None) -> None:
    """Send one reader an update about ``page_id``, which is at or below ``path``: once per transaction, however many
    pages there are."""
    payload = {"path": path}
    encoded = msgspec.json.encode(payload)
    if not any(row.topic == TOPIC and row.audience == audience and row.payload == encoded for row in tx.emitted):
        tx.emit(
            topic=TOPIC,
            kind="page.changed",
            id=page_id,
            payload=payload,
            audience=audience,
            device_id=principal.device_id,
        )


def tell_of_new(tx: Tx, principal: Principal, made: Sequence[tuple[str, str, str | None, str | None]]) -> None:
    """Send updates about many new pages, each a ``(page id, path, owner, source)``, to the readers of each."""
    readers = _readers_by_source(tx, {source_id for *_, source_id in made if source_id is not None})
    audiences = {
        group: _in_order(_audiences(group[0], readers.get(group[1] or "", frozenset())))
        for group in {(owner_id, source_id) for *_, owner_id, source_id in made}
    }
    told = [
        (page_id, path, audience)
        for page_id, path, owner_id, source_id in made
        for audience in audiences[owner_id, source_id]
    ]
    tx.emit_many(
        topic=TOPIC,
        kind="page.changed",
        updates=[(page_id, {"path": path}, audience) for page_id, path, audience in told],
        device_id=principal.device_id,
    )
    tx.record_many(
        type=PAGE_CHANGED,
        records=[({"pageId": page_id, "path": path}, audience) for page_id, path, audience in told],
        device_id=principal.device_id,
    )


def tell_the_excluded(tx: Tx, principal: Principal, *, before: Reach, after: Reach) -> None:
    """Tell users who could read a page and no longer can that it is removed."""
    if EVERYBODY_SIGNED_IN not in after.readers:
        _emit(tx, principal, "page.removed", before, before.readers - after.readers)


def _emit(tx: Tx, principal: Principal, kind: PageNews, reach: Reach, audiences: Set[str | None]) -> None:
    for audience in _in_order(audiences):
        tx.emit(
            topic=TOPIC,
            kind=kind,
            id=reach.page_id,
            payload={"path": reach.path},
            audience=audience,
            device_id=principal.device_id,
        )
        if kind == "page.changed":
            tx.record(
                type=PAGE_CHANGED,
                payload={"pageId": reach.page_id, "path": reach.path},
                audience=audience,
                device_id=principal.device_id,
            )


def _readers_by_source(tx: ReadTx, source_ids: Set[str]) -> dict[str, frozenset[str]]:
    rows = tx.all(
        """
        select s.id, s.owner_id from pages s
        where s.id in (select value from json_each(:ids)) and s.owner_id is not null
        union all
        select g.page_id, iif(g.grantee = 'everyone', '*', g.grantee) from page_grants g
        where g.page_id in (select value from json_each(:ids))
        """,
        ids=json_array(source_ids),
    )
    found: dict[str, set[str]] = {}
    for source_id, reader in rows:
        found.setdefault(str(source_id), set()).add(cast(str, reader))
    return {source_id: frozenset(readers) for source_id, readers in found.items()}


def _in_order(audiences: Set[str | None]) -> list[str | None]:
    return sorted(audiences, key=lambda one: one or "")


def _audiences(owner_id: str | None, others: Set[str]) -> Set[str | None]:
    """The audiences of a page. Everyone is one audience. A page without an owner is sent to those who see
    everything."""
    if EVERYBODY_SIGNED_IN in others:
        return frozenset({EVERYBODY_SIGNED_IN})
    return frozenset(others | {owner_id}) if owner_id is not None or not others else others
