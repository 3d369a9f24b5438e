"""Finds what is similar in meaning: the vector of the query, and a scan of the items that the caller may see.

Owns the data in memory: the signs of the vectors, by space, extended from the last known id. A deleted vector may still
be among them, but its row is gone, so it is never found. If many are gone, the whole space is read again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import trio

from svc.broker import EmbeddingFault, Embeddings
from svc.clock import DAY_MS
from svc.mail import accounts
from svc.meaning import vectors
from svc.meaning.form import form_named, form_of, problem
from svc.meaning.queue import PAGES
from svc.meaning.vectors import Signs
from svc.pages import readable_ids
from svc.principal import Principal
from svc.store import ReadTx, json_array
from svc.workspace import Workspace

WITHIN_S: Final = 4.0
"""The time for the vector of a query. Beyond: the words alone decide, and the answer says so."""
NEAR: Final = 100
MIN_NEARNESS: Final = 0.15
OF_THE_BEST: Final = 0.6
"""A result less near than this part of the nearest one is about something else."""
MAX_HELD_BYTES: Final = 256 << 20
"""Bytes of signs in memory: three million vectors. Beyond: spaces that were not asked for lately are read again."""
MAX_ASKED: Final = 200
"""Vectors of recent queries. Beyond: the oldest is asked for again."""
READ_AT_ONCE: Final = 50_000
STALE_SHARE: Final = 10
"""If more than one in this many is gone, the space is read again."""


@dataclass(frozen=True, kw_only=True)
class Near:
    """The nearest first. ``problem``: why there are no results by meaning; empty if the scan was done."""

    message_ids: tuple[str, ...] = ()
    page_ids: tuple[str, ...] = ()
    problem: str = ""


@dataclass(kw_only=True)
class Finder:
    workspace: Workspace
    _held: OrderedDict[tuple[str, str], Signs] = field(default_factory=OrderedDict)
    _asked: OrderedDict[tuple[str, str], list[float]] = field(default_factory=OrderedDict)
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def near(self, principal: Principal, text: str, *, account_id: str | None) -> Near:
        """``text``: the query without its filters."""
        store = self.workspace.store
        if not text.strip():
            return Near()
        if reason := await store.read(lambda tx: problem(self.workspace, tx)):
            return Near(problem=reason)
        current = form_of(self.workspace).name
        served = await store.read(_served, principal, current=current, account_id=account_id)
        if not served:
            return Near(problem="Nothing that you may see has been read for search by meaning yet.")
        found = [await self._near_of(principal, text, form, spaces, current) for form, spaces in served.items()]
        if len(found) == 1:
            return found[0]
        return Near(  # distances of two models can't be compared as numbers
            message_ids=tuple(fused(*(one.message_ids for one in found))),
            page_ids=tuple(fused(*(one.page_ids for one in found))),
            problem=next((one.problem for one in found if one.problem), ""),
        )

    async def _near_of(self, principal: Principal, text: str, form: str, spaces: list[str], current: str) -> Near:
        """The results in the spaces of one form."""
        store = self.workspace.store
        try:
            wanted = await self._vector(principal, text, form=form)
        except EmbeddingFault as fault:
            return Near(problem=f"Only words were looked for. {fault}")
        with trio.move_on_after(WITHIN_S) as waiting:
            await self._turn.acquire()
        if waiting.cancelled_caught:
            return Near(problem="Only words were looked for: too many searches by meaning at once.")
        try:
            return await store.read(self.scan, principal, wanted, spaces=spaces, form=form, current=current)
        finally:
            self._turn.release()

    @property
    def held_bytes(self) -> int:
        """The bytes of signs in memory."""
        return sum(one.size for one in self._held.values())

    async def _vector(self, principal: Principal, text: str, *, form: str) -> list[float]:
        key = (form, text)
        if key in self._asked:
            self._asked.move_to_end(key)
            return self._asked[key]
        chosen = form_named(form)
        found = await self.workspace.service(Embeddings).embed(
            [text],
            model=chosen.model,
            dimensions=chosen.dimensions,
            account=f"meaning-query:{principal.user_id or ''}:{self.workspace.clock.now() // DAY_MS}",
            user_id=principal.user_id,
            within_s=WITHIN_S,
        )
        self._asked[key] = found[0]
        while len(self._asked) > MAX_ASKED:
            self._asked.popitem(last=False)
        return found[0]

    def scan(
        self, tx: ReadTx, principal: Principal, wanted: list[float], *, spaces: list[str], form: str, current: str
    ) -> Near:
        """Runs in a thread, one scan at a time. What the caller may see is decided before anything is ranked."""
        bits, _ = vectors.packed(wanted)
        parts = [
            (
                self._signs(tx, space, form),
                _allowed(tx, principal, form=form, current=current) if space == PAGES else None,
            )
            for space in spaces
        ]
        ids = vectors.nearest(parts, bits)
        rows = tx.all(
            """
            select id, message_id, page_id, vector from meaning_vectors
            where id in (select value from json_each(:ids)) and length(vector) = :length
            """,
            ids=json_array(ids),
            length=len(wanted),
        )
        if (len(ids) - len(rows)) * STALE_SHARE > len(ids):
            for space in spaces:
                self._held.pop((space, form), None)
        nearness = vectors.cosines([cast(bytes, row[3]) for row in rows], wanted)
        ranked = sorted(zip(nearness, rows, strict=True), key=lambda one: (-one[0], one[1][0]))
        least = max(MIN_NEARNESS, ranked[0][0] * OF_THE_BEST) if ranked else 0.0
        kept = [row for near, row in ranked if near >= least]
        message_ids = dict.fromkeys(str(row[1]) for row in kept if row[1] is not None)
        page_ids = dict.fromkeys(str(row[2]) for row in kept if row[2] is not None)
        return Near(message_ids=tuple(message_ids)[: 4 * NEAR], page_ids=tuple(page_ids)[:NEAR])

    def _signs(self, tx: ReadTx, space: str, form: str) -> Signs:
        signs = self._held.pop((space, form), None) or vectors.no_signs()
        while True:
            rows = tx.all(
                """
                select id, bits from meaning_vectors where space = :space and form = :form and id > :after
                order by id limit :limit
                """,
                space=space,
                form=form,
                after=signs.last,
                limit=READ_AT_ONCE,
            )
            before, signs = signs.last, signs.with_more(rows)
            if len(rows) < READ_AT_ONCE or signs.last == before:  # all have another length, so none has this form
                break
        self._held[space, form] = signs
        while len(self._held) > 1 and self.held_bytes > MAX_HELD_BYTES:
            self._held.popitem(last=False)
        return signs


def _served(tx: ReadTx, principal: Principal, *, current: str, account_id: str | None) -> dict[str, list[str]]:
    """The spaces that have vectors, by the form that is searched in them: the form in which the owner's items were last
    complete, or else the current one. So search works as before while another model reads everything.
    """
    own = [account.id for account in accounts(tx, principal)]
    wanted = [*own, PAGES] if account_id is None else [one for one in own if one == account_id]
    rows = tx.all(
        """
        with served (space, form) as (
            select s.value, coalesce(o.form, :current) from json_each(:spaces) s
            join mail_accounts a on a.id = s.value left join meaning_people o on o.user_id = coalesce(a.owner_id, '')
            union
            select s.value, f.form from json_each(:spaces) s, (
                select coalesce(form, :current) as form from meaning_people union select :current
            ) f where s.value = :pages
        )
        select form, space from served s
        where exists (select 1 from meaning_vectors v where v.space = s.space and v.form = s.form)
        order by form <> :current, form, space
        """,
        spaces=json_array(wanted),
        current=current,
        pages=PAGES,
    )
    found: dict[str, list[str]] = {}
    for form, space in rows:
        found.setdefault(str(form), []).append(str(space))
    return found


def _allowed(tx: ReadTx, principal: Principal, *, form: str, current: str) -> Sequence[int]:
    """The vectors of pages that the caller may read, and whose owners use this form."""
    rows = tx.all(
        """
        select v.id from json_each(:ids) p cross join meaning_vectors v on v.page_id = p.value
        join pages g on g.id = v.page_id left join meaning_people o on o.user_id = coalesce(g.owner_id, '')
        where v.form = :form and coalesce(o.form, :current) = :form
        """,
        ids=json_array(readable_ids(tx, principal)),
        form=form,
        current=current,
    )
    return [cast(int, row_id) for (row_id,) in rows]


def fused(*rankings: Sequence[str], k: int = 60) -> list[str]:
    """All items once, by reciprocal rank fusion, the best first. With equal scores, the order of the earlier ranking
    counts.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking, start=1):
            scores[one] = scores.get(one, 0.0) + 1.0 / (k + place)
    order: Mapping[str, int] = {one: place for place, one in enumerate(scores)}
    return sorted(scores, key=lambda one: (-scores[one], order[one]))
