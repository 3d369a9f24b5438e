"""Keeps copies of the drafts that were written here as drafts at Gmail.

A Gmail draft has a stable id and holds one message; each change of the draft, by any program, gives it a new message
id. So we know our copy by the message id that Gmail returned for it. The process may be killed, or get no answer,
before it can store that id. So it first notes the mark that the message carries. Before it makes another copy, it looks
for that mark in the drafts with unknown messages.

What another program made of a copy is a draft of its own: we never overwrite it, we only take it over (``instead_of``).
Gmail has no conditional change, so a change by another program in the instant between our read and our write is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

import trio

from svc.mail.model import DRAFT
from svc.mail.providers import draft_rows as rows
from svc.mail.providers.draft_mark import MAX_HEAD_BYTES, draft_mark, mark_in
from svc.mail.providers.draft_rows import Copy
from svc.mail.providers.gmail import shapes
from svc.mail.providers.gmail.call import Call, carrying, segment
from svc.mail.providers.seam import MessageGone, ProviderFault
from svc.store import Store

FIELDS: Final = "drafts(id,message(id,threadId)),nextPageToken"
PUT_FIELDS: Final = "id,message(id,threadId)"
MAX_PAGES: Final = 20
PAGE: Final = 500
LOOKED_AT: Final = 50
"""How many of the newest unknown drafts are searched for a copy of ours."""
LATE_S: Final = 3.0
"""The pause before a second search: a copy that was sent just before a crash may appear with a delay."""

T = TypeVar("T")


class Asking(Protocol):
    """Makes calls: implemented by :class:`svc.mail.providers.gmail.provider.GmailProvider`."""

    async def record(self, call: Call, kind: type[T]) -> T: ...

    async def done(self, call: Call) -> None: ...

    async def raw(self, message_id: str) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class GmailDrafts:
    account_id: str
    store: Store
    asking: Asking
    _seen: dict[str, str] = field(default_factory=dict)
    """The draft id by message id, as of the last listing. A message is in one draft only."""

    async def keep(
        self, raw: bytes, *, mark: str, instead_of: Sequence[str] = (), thread_id: str | None = None
    ) -> None:
        copy = draft_mark(raw[:MAX_HEAD_BYTES])
        assert copy is not None
        there = await self._ours(mark, instead_of)
        is_new = await self.store.write(rows.claim, account_id=self.account_id, mark=mark, copy=copy)
        try:
            draft = await self._put(raw, next(iter(there), None), thread_id)
        except ProviderFault as fault:
            if is_new and not fault.may_have_happened:
                await self.store.write(rows.take_back, account_id=self.account_id, copy=copy)
            raise
        for one in there[1:]:
            await self._delete(one)
        await self.store.write(
            rows.settle,
            account_id=self.account_id,
            mark=mark,
            copy=copy,
            draft_id=draft.id,
            message_id=draft.message.id,
        )

    async def drop(self, mark: str, *, instead_of: Sequence[str] = ()) -> None:
        for one in await self._ours(mark, instead_of):
            await self._delete(one)
        await self.store.write(rows.release, account_id=self.account_id, mark=mark)

    async def there(self, mark: str) -> bool:
        return bool(await self._ours(mark, ()))

    async def whose(self, message_id: str, raw: bytes) -> str | None:
        """For a message among the drafts: the mark of the draft here from which another program made it, if any. Raises
        :class:`MessageGone` for a copy of ours, since sync must not store it as a message."""
        known = await self.store.read(rows.copies, account_id=self.account_id)
        copy = draft_mark(raw[:MAX_HEAD_BYTES])
        if any(one.message_id == message_id or (one.message_id is None and one.copy == copy) for one in known):
            raise MessageGone("It is the copy of a draft that was written here.")
        marks = {one.draft_id: one.mark for one in known if one.draft_id is not None}
        if not marks:
            return None
        is_marked = copy is not None and mark_in(copy) in marks.values()
        if is_marked or message_id not in self._seen:
            await self._listed()
        if is_marked and message_id not in self._seen:
            raise MessageGone("It is an earlier copy of a draft that was written here.")
        return marks.get(self._seen.get(message_id, ""))

    async def hidden(self) -> int:
        return await self.store.read(rows.settled, account_id=self.account_id)

    # What Gmail has

    async def _ours(self, mark: str, instead_of: Sequence[str]) -> list[str]:
        """The ids of the drafts at Gmail that hold a copy of this draft, or one of these messages."""
        known = await self.store.read(rows.copies, account_id=self.account_id)
        mine = [one for one in known if one.mark == mark]
        if not mine and not instead_of:
            return []
        there = await self._listed()
        named = [*(one.message_id for one in mine if one.message_id is not None), *instead_of]
        found = [there[message_id] for message_id in named if message_id in there]
        lost = frozenset(one.copy for one in mine if one.message_id is None)
        if lost:
            again = await self._lost(lost, known, there)
            if not again:
                await trio.sleep(LATE_S)
                again = await self._lost(lost, known, await self._listed())
            found += again
        return list(dict.fromkeys(found))

    async def _lost(self, copies: frozenset[str], known: Sequence[Copy], there: Mapping[str, str]) -> list[str]:
        """The draft ids of copies that were sent without an answer, for example before a crash."""
        told = {one.message_id for one in known}
        found: list[str] = []
        for message_id in [one for one in there if one not in told][:LOOKED_AT]:
            with suppress(MessageGone):
                raw = await self.asking.raw(message_id)
                if draft_mark(raw[:MAX_HEAD_BYTES]) in copies:
                    found.append(there[message_id])
        return found

    async def _listed(self) -> dict[str, str]:
        """All draft ids by the ids of their messages, newest first."""
        found: dict[str, str] = {}
        token: str | None = None
        for _ in range(MAX_PAGES):
            query = [("maxResults", str(PAGE)), ("fields", FIELDS)]
            if token is not None:
                query.append(("pageToken", token))
            page = await self.asking.record(Call(name="drafts.list", path="drafts", query=tuple(query)), shapes.Drafts)
            found.update((one.message.id, one.id) for one in page.drafts or ())
            token = page.nextPageToken or None
            if token is None:
                break
        self._seen.clear()
        self._seen.update(found)
        return found

    # Changes

    async def _put(self, raw: bytes, place: str | None, thread_id: str | None) -> shapes.Draft:
        """Writes the draft. If Gmail no longer has the draft or the thread, tries again without the missing one."""
        *ways, last = dict.fromkeys([(place, thread_id), (place, None), (None, thread_id), (None, None)])
        for draft_id, thread in ways:
            with suppress(MessageGone):
                return await self._put_so(raw, draft_id, thread)
        return await self._put_so(raw, *last)

    async def _put_so(self, raw: bytes, draft_id: str | None, thread_id: str | None) -> shapes.Draft:
        call = Call(
            name="drafts.create" if draft_id is None else "drafts.update",
            method="POST" if draft_id is None else "PUT",
            path="drafts" if draft_id is None else f"drafts/{segment(draft_id)}",
            query=(("fields", PUT_FIELDS),),
            writes=True,
            large=True,
            not_found=_gone,
        )
        return await self.asking.record(carrying(call, raw, thread_id=thread_id, draft=True), shapes.Draft)

    async def _delete(self, draft_id: str) -> None:
        with suppress(MessageGone):
            await self.asking.done(
                Call(
                    name="drafts.delete",
                    method="DELETE",
                    path=f"drafts/{segment(draft_id)}",
                    writes=True,
                    answers=False,
                    not_found=_gone,
                )
            )


def _gone(_: str) -> ProviderFault:
    return MessageGone("The draft no longer exists at Gmail.")


async def draft_of(drafts: GmailDrafts | None, message_id: str, labels: Set[str], raw: bytes) -> str | None:
    """See :meth:`GmailDrafts.whose`. Makes no call for mail that is not a draft."""
    return None if drafts is None or DRAFT not in labels else await drafts.whose(message_id, raw)
