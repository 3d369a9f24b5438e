"""Changes one thread in a bulk step, as labelling does. Where a change makes no sense, the thread is left alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from svc.mail.bulk.model import BulkAct, Do
from svc.mail.labelling.actions import relabel_thread
from svc.mail.labelling.inbox_actions import leave_inbox
from svc.mail.labelling.step import Opened, Step, newest_visible
from svc.mail.model import DRAFT, INBOX, SPAM, STARRED, TRASH, UNREAD
from svc.mail.threads.label_queries import label_named

WHAT: Final[Mapping[Do, str]] = MappingProxyType(
    {
        "archive": "archive",
        "inbox": "unarchive",
        "unread": "markUnread",
        "snooze": "snooze",
        "mute": "mute",
        "unmute": "unmute",
        "spam": "spam",
        "trash": "trash",
    }
)
"""The names of actions in the undo log; all others are called ``labels``."""


def what(act: BulkAct) -> str:
    return WHAT.get(act.do, "labels")


def change(step: Step, opened: Opened, act: BulkAct) -> bool:
    """Change a thread. Returns whether it could be done; a thread that needs no change counts as done."""
    if act.sender is not None:
        return _put_away(step, opened, act, sender=act.sender)
    return _CHANGES[act.do](step, opened, act)


def _archive(step: Step, opened: Opened, act: BulkAct) -> bool:
    leave_inbox(step, opened)
    return True


def _to_inbox(step: Step, opened: Opened, act: BulkAct) -> bool:
    relabel_thread(step, opened, add=frozenset({INBOX}), remove=frozenset({SPAM, TRASH}))
    step.mute(opened, muted=False)
    return True


def _unread(step: Step, opened: Opened, act: BulkAct) -> bool:
    step.relabel(opened, newest_visible(opened.messages), add=frozenset({UNREAD}))
    return True


def _labels(*, add: frozenset[str] = frozenset(), remove: frozenset[str] = frozenset()) -> Change:
    def relabelled(step: Step, opened: Opened, act: BulkAct) -> bool:
        relabel_thread(step, opened, add=add, remove=remove)
        return True

    return relabelled


def _label(step: Step, opened: Opened, act: BulkAct) -> bool:
    """Add or remove the account's own label of that name. A label that the account does not have can't be added."""
    label = label_named(step.tx, opened.account.id, act.label or "")
    if label is None or label.system:
        return act.do == "unlabel"
    named = frozenset({label.id})
    if act.do == "unlabel":
        relabel_thread(step, opened, remove=named)
    else:
        relabel_thread(step, opened, add=named, remove=frozenset({INBOX}) if act.do == "file" else frozenset())
    return True


def _snooze(step: Step, opened: Opened, act: BulkAct) -> bool:
    if not opened.row.visible:
        return False
    leave_inbox(step, opened)
    step.snooze(opened, until=act.until)
    return True


def _mute(step: Step, opened: Opened, act: BulkAct) -> bool:
    leave_inbox(step, opened)
    step.mute(opened, muted=True)
    return True


def _unmute(step: Step, opened: Opened, act: BulkAct) -> bool:
    step.mute(opened, muted=False)
    return True


def _put_away(step: Step, opened: Opened, act: BulkAct, *, sender: str) -> bool:
    """Move the messages from one address to spam or trash; those of others in the thread stay."""
    wanted = frozenset({TRASH if act.do == "trash" else SPAM})
    for message in opened.messages:
        if message.sender.address.casefold() == sender and DRAFT not in message.labels:
            step.relabel(opened, message, add=wanted, remove=frozenset({INBOX}))
    return True


Change = Callable[[Step, Opened, BulkAct], bool]

_CHANGES: Final[Mapping[Do, Change]] = MappingProxyType(
    {
        "archive": _archive,
        "inbox": _to_inbox,
        "read": _labels(remove=frozenset({UNREAD})),
        "unread": _unread,
        "star": _labels(add=frozenset({STARRED})),
        "unstar": _labels(remove=frozenset({STARRED})),
        "label": _label,
        "unlabel": _label,
        "file": _label,
        "snooze": _snooze,
        "mute": _mute,
        "unmute": _unmute,
        "spam": _labels(add=frozenset({SPAM}), remove=frozenset({INBOX})),
        "trash": _labels(add=frozenset({TRASH}), remove=frozenset({INBOX})),
    }
)
