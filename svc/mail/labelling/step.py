"""A step: one action of a person on any number of threads, sent to the provider and undoable as one.

A step changes the local state, and queues the changes for the provider (``mail_mirror``) in the same transaction. For a
thread that the principal may not see it raises the same error as for one that does not exist; a thread that they may
only read is refused. The undo log stores only real changes, so taking a step back does not touch changes that others
made to the same messages since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from svc import undo
from svc.clock import Millis
from svc.errors import NotFound
from svc.mail.accounts import access, acts
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.changes import outbox
from svc.mail.labelling.queries import snoozed_until
from svc.mail.model import DRAFT, HIDDEN_LABELS, Account, MessageRow, ThreadRow
from svc.mail.threads import message_rows, mutes, snoozes, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import Tx

KIND: Final = "labels"
_NONE: Final[frozenset[str]] = frozenset()


class MessageChange(msgspec.Struct, frozen=True, array_like=True):
    """The labels that a step added to a message and removed from it. Labels that did not change are not listed."""

    message_id: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


class SnoozeBefore(msgspec.Struct, frozen=True, array_like=True):
    thread_id: str
    until: Millis | None


class MuteBefore(msgspec.Struct, frozen=True, array_like=True):
    thread_id: str
    muted: bool


class Changes(msgspec.Struct, frozen=True):
    """All changes of a step, as the undo log stores them."""

    messages: tuple[MessageChange, ...]
    snoozes: tuple[SnoozeBefore, ...]
    mutes: tuple[MuteBefore, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A thread as a step found it; ``messages`` oldest first."""

    account: Account
    row: ThreadRow
    messages: tuple[MessageRow, ...]


@dataclass(kw_only=True)
class Step:
    """Collects changes until :meth:`finish`, which updates the threads' rows and tells the clients."""

    tx: Tx
    principal: Principal
    _accounts: dict[str, Account] = field(default_factory=dict)
    _touched: dict[str, Opened] = field(default_factory=dict)
    _changes: list[MessageChange] = field(default_factory=list)
    _mutes: list[MuteBefore] = field(default_factory=list)

    def threads(self, thread_ids: Iterable[str]) -> Iterator[Opened]:
        """Each thread once, as it is now. Raises :class:`NotFound` at the first that the principal may not see, and
        :class:`Forbidden` at the first that they may only read."""
        for thread_id in dict.fromkeys(thread_ids):
            opened = self.thread(thread_id)
            if opened is None:
                seen = thread_queries.thread_for(self.tx, self.principal, thread_id=thread_id) is not None
                raise access.refuse("act") if seen else NotFound("There is no such thread.")
            yield opened

    def thread(self, thread_id: str) -> Opened | None:
        """The thread as it is now; ``None`` where the principal may not act on it."""
        row = thread_queries.thread_for(self.tx, self.principal, thread_id=thread_id)
        if row is None:
            return None
        account = self._accounts.get(row.account_id) or account_queries.account(self.tx, row.account_id)
        assert account is not None
        if account.id not in self._accounts:
            if not access.allows(access.access_of(self.tx, self.principal, account), "act"):
                return None
            self._accounts[account.id] = account
        return Opened(account=account, row=row, messages=tuple(thread_queries.messages_of(self.tx, row.id)))

    def relabel(
        self, opened: Opened, message: MessageRow, *, add: frozenset[str] = _NONE, remove: frozenset[str] = _NONE
    ) -> None:
        """Change a message's labels. Writes nothing where nothing changes. A label in both sets is added."""
        before = frozenset(message.labels)
        after = (before - remove) | add
        if after == before:
            return
        added, removed = after - before, before - after
        message_rows.write_labels(self.tx, opened.account, message_id=message.id, labels=after)
        outbox.queue(self.tx, self.principal, message, add=added, remove=removed)
        self._touched[opened.row.id] = opened
        self._changes.append(
            MessageChange(message_id=message.id, added=tuple(sorted(added)), removed=tuple(sorted(removed)))
        )

    def snooze(self, opened: Opened, *, until: Millis | None) -> None:
        """Set the time at which the thread comes back to the inbox. ``None`` ends the snooze."""
        if until == opened.row.snoozed_until:
            return
        self._touched[opened.row.id] = opened
        if until is None:
            snoozes.end(self.tx, thread_id=opened.row.id)
        else:
            snoozes.begin(self.tx, thread_id=opened.row.id, account_id=opened.account.id, until=until)

    def mute(self, opened: Opened, *, muted: bool) -> None:
        """Set whether the thread's new messages skip the inbox from now on."""
        if muted == opened.row.muted:
            return
        self._touched[opened.row.id] = opened
        self._mutes.append(MuteBefore(thread_id=opened.row.id, muted=opened.row.muted))
        if muted:
            mutes.begin(self.tx, thread_id=opened.row.id, account_id=opened.account.id)
        else:
            mutes.end(self.tx, thread_id=opened.row.id)

    def finish(self, what: str | None, *, group: str | None = None) -> None:
        """End the step: one live update for each thread and each account. ``what``: the step's name in the undo log;
        ``None`` for a step that can't be taken back. ``group``: joins several calls into one undo step."""
        changes = self.close(what)
        if what is not None and self._touched:
            concerns = list(self._touched)
            undo.record(self.tx, self.principal, kind=KIND, what=what, concerns=concerns, inverse=changes, group=group)

    def close(self, what: str | None) -> Changes:
        """End the step without an entry in the undo log, for a caller that stores the changes itself."""
        device_id = self.principal.device_id
        for opened in self._touched.values():
            thread_rows.refresh_thread(self.tx, opened.account, opened.row.id, device_id=device_id)
        for account_id in dict.fromkeys(opened.account.id for opened in self._touched.values()):
            account_news.emit_account(self.tx, account_id, device_id=device_id)
        if what is not None:
            self._note(what)
        return Changes(messages=tuple(self._changes), snoozes=self._snoozes_before(), mutes=tuple(self._mutes))

    def _note(self, what: str) -> None:
        for account in self._accounts.values():
            touched = [opened.row.id for opened in self._touched.values() if opened.account.id == account.id]
            acts.note(self.tx, self.principal, account, what=what, thread_ids=touched)

    def _snoozes_before(self) -> tuple[SnoozeBefore, ...]:
        """The earlier snoozes of threads whose snooze has changed. A snooze also ends by itself, when its thread comes
        back to the inbox or goes away for good."""
        return tuple(
            SnoozeBefore(thread_id=opened.row.id, until=opened.row.snoozed_until)
            for opened in self._touched.values()
            if snoozed_until(self.tx, opened.row.id) != opened.row.snoozed_until
        )


def newest_visible(messages: Sequence[MessageRow]) -> MessageRow:
    """The newest message that is not hidden. Where all are hidden, the newest that is no draft; else the newest."""
    visible = [one for one in messages if not HIDDEN_LABELS & set(one.labels)]
    return (visible or [one for one in messages if DRAFT not in one.labels] or list(messages))[-1]
