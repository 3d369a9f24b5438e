"""Actions with labels and time: star, spam, trash, labels that people made; snooze, and end a snooze.

A label is added where mail programs add it: a star, ``INBOX`` and ``UNREAD`` to the newest visible message, all others
to each message of the thread. A label is removed from each message. Drafts are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import DAY_MS, Millis
from svc.errors import Invalid
from svc.mail.labelling.inbox_actions import enter_inbox, leave_inbox
from svc.mail.labelling.queries import due_snoozes, next_snooze_at
from svc.mail.labelling.step import Opened, Step, newest_visible
from svc.mail.model import DRAFT, HIDDEN_LABELS, IMPORTANT, INBOX, SPAM, STARRED, TRASH, UNREAD, Account, MessageRow
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import snoozes
from svc.mail.threads.label_queries import label_named
from svc.principal import Principal, system
from svc.store import ReadTx, Tx

SETTABLE: Final = frozenset({INBOX, UNREAD, STARRED, IMPORTANT, SPAM, TRASH})
"""The system labels that a person may set. All others depend on what a message is."""

ON_THE_NEWEST: Final = frozenset({INBOX, UNREAD, STARRED})
MAX_SNOOZE_MS: Final = 5 * 366 * DAY_MS
"""How far ahead a thread may be snoozed. Beyond: 400 `invalid`."""
WAKE_BATCH: Final = 200  # threads of one transaction

_AWAY: Final = frozenset({SPAM, TRASH})
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Names:
    """Labels by name; several accounts may have a label of the same name."""

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()

    @property
    def contradict(self) -> bool:
        return not {name.casefold() for name in self.add}.isdisjoint(name.casefold() for name in self.remove)


_NO_NAMES: Final = Names()


def set_labels(
    tx: Tx,
    principal: Principal,
    *,
    thread_ids: Sequence[str],
    add: frozenset[str],
    remove: frozenset[str],
    names: Names = _NO_NAMES,
    group: str | None = None,
) -> None:
    """Add and remove labels. Spam and trash leave the inbox, so ``INBOX`` can't be added together with them.

    ``names`` are labels that people made, looked up in each thread's own account. A label to be added must exist there.
    """
    if add & remove or names.contradict or (INBOX in add and add & _AWAY):
        raise Invalid("These labels contradict each other.")
    if add & _AWAY:
        remove |= {INBOX}
    step = Step(tx=tx, principal=principal)
    here: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for opened in step.threads(thread_ids):
        if opened.account.id not in here:
            _require_settable(tx, opened.account, add | remove)
            here[opened.account.id] = _ids_of(tx, opened.account, names)
        added, removed = here[opened.account.id]
        relabel_thread(step, opened, add=add | added, remove=remove | removed)
    step.finish("trash" if TRASH in add else "spam" if SPAM in add else "labels", group=group)


def snooze(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], until: Millis, group: str | None = None) -> None:
    """Take threads out of the inbox until that time, here and at the provider."""
    if not tx.now < until <= tx.now + MAX_SNOOZE_MS:
        raise Invalid("A thread can be snoozed until a time to come, within five years.")
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        if not opened.row.visible:
            raise Invalid("What is spam or trash as a whole can't be snoozed.")
        leave_inbox(step, opened)
        step.snooze(opened, until=until)
    step.finish("snooze", group=group)


def unsnooze(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """Bring threads back to the inbox before their time. A thread that is not snoozed stays where it is."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        if opened.row.snoozed_until is not None:
            enter_inbox(step, opened)
    step.finish("unsnooze", group=group)


def wake(tx: Tx) -> Millis | None:
    """Bring back the threads that are due, each once, as unread. Returns when the next is due; now, where more are."""
    due = due_snoozes(tx, limit=WAKE_BATCH)
    step = Step(tx=tx, principal=system("mail-snooze"))
    for one in due:
        opened = step.thread(one.thread_id)
        if opened is not None:  # the provider may have deleted it in the meantime
            enter_inbox(step, opened, also=frozenset({UNREAD}))
        snoozes.end(tx, thread_id=one.thread_id)
    step.finish(None)
    return tx.now if len(due) == WAKE_BATCH else next_snooze_at(tx)


def known_labels(tx: ReadTx, account: Account) -> frozenset[str]:
    """The labels that can be set on a message of this account now."""
    return SETTABLE | {label.id for label in thread_queries.labels(tx, account.id).values() if not label.system}


def _ids_of(tx: Tx, account: Account, names: Names) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of the labels to add and to remove in this account. A name to remove that it does not have is ignored."""
    add = {name: _made_label(tx, account, name) for name in names.add}
    missing = sorted(name for name, label_id in add.items() if label_id is None)
    if missing:
        raise Invalid(f"{account.address} has no such label: {', '.join(missing)}")
    remove = (_made_label(tx, account, name) for name in names.remove)
    return frozenset(filter(None, add.values())), frozenset(filter(None, remove))


def _made_label(tx: Tx, account: Account, name: str) -> str | None:
    label = label_named(tx, account.id, name)
    return None if label is None or label.system else label.id


def _require_settable(tx: Tx, account: Account, wanted: frozenset[str]) -> None:
    unknown = wanted - known_labels(tx, account)
    if unknown:
        named = ", ".join(sorted(unknown))
        raise Invalid(f"{account.address} has no such label, or it can't be set by hand: {named}")


def relabel_thread(step: Step, opened: Opened, *, add: frozenset[str] = _NONE, remove: frozenset[str] = _NONE) -> None:
    """Add labels where mail programs add them, and remove labels from each message."""
    messages = [message for message in opened.messages if DRAFT not in message.labels]
    if not messages:
        return
    everywhere = add - ON_THE_NEWEST
    newest = _newest_after(messages, add=everywhere, remove=remove)
    for message in messages:
        added, removed = everywhere, remove
        if message is newest:
            added |= add & ON_THE_NEWEST
            removed |= _AWAY if INBOX in add else frozenset()
        step.relabel(opened, message, add=added, remove=removed)


def _newest_after(messages: Sequence[MessageRow], *, add: frozenset[str], remove: frozenset[str]) -> MessageRow:
    """The newest message that is visible after the change. A thread that leaves spam or trash becomes visible again."""
    visible = [one for one in messages if not ((frozenset(one.labels) - remove) | add) & HIDDEN_LABELS]
    return visible[-1] if visible else newest_visible(messages)
