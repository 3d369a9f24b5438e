"""Actions on whole threads: mark read or unread, mute, archive and move back to the inbox. Each is a ``Step``."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import NotFound
from svc.mail.labelling.step import Opened, Step, newest_visible
from svc.mail.model import HIDDEN_LABELS, INBOX, SPAM, TRASH, UNREAD, is_own
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import Tx


def open_thread(tx: Tx, principal: Principal, *, thread_id: str) -> None:
    """Mark a thread read: ``UNREAD`` is removed from each of its messages. It is not in the undo log."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads([thread_id]):
        for message in opened.messages:
            step.relabel(opened, message, remove=frozenset({UNREAD}))
    step.finish(None)


def mark_unread(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """The newest message becomes unread again, as mail programs do; the others stay read."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        step.relabel(opened, newest_visible(opened.messages), add=frozenset({UNREAD}))
    step.finish("markUnread", group=group)


def mark_unread_from(tx: Tx, principal: Principal, *, message_id: str) -> None:
    """Mark a message and all later ones of its thread unread. Mail that the account sent stays read, and so do spam,
    trash and drafts. Raises :class:`NotFound` for a message that the principal may not see."""
    message = thread_queries.message_for(tx, principal, message_id=message_id)
    if message is None:
        raise NotFound("There is no such message.")
    step = Step(tx=tx, principal=principal)
    for opened in step.threads([message.thread_id]):
        place = next(at for at, one in enumerate(opened.messages) if one.id == message_id)
        for one in opened.messages[place:]:
            labels = frozenset(one.labels)
            if not labels & HIDDEN_LABELS and not is_own(labels):
                step.relabel(opened, one, add=frozenset({UNREAD}))
    step.finish("markUnread")


def archive(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """Remove ``INBOX``: the threads move to the Skipped section."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        leave_inbox(step, opened)
    step.finish("archive", group=group)


def unarchive(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """Move threads back to the inbox. This ends their snooze and their mute, because the person wants to see them."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        enter_inbox(step, opened)
        step.mute(opened, muted=False)
    step.finish("unarchive", group=group)


def mute(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """Take threads out of the inbox; their new mail skips the inbox from now on (:mod:`svc.mail.threads.mutes`)."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        leave_inbox(step, opened)
        step.mute(opened, muted=True)
    step.finish("mute", group=group)


def unmute(tx: Tx, principal: Principal, *, thread_ids: Sequence[str], group: str | None = None) -> None:
    """Let new mail of these threads reach the inbox again. The threads stay where they are."""
    step = Step(tx=tx, principal=principal)
    for opened in step.threads(thread_ids):
        step.mute(opened, muted=False)
    step.finish("unmute", group=group)


def leave_inbox(step: Step, opened: Opened) -> None:
    for message in opened.messages:
        step.relabel(opened, message, remove=frozenset({INBOX}))


def enter_inbox(step: Step, opened: Opened, *, also: frozenset[str] = frozenset()) -> None:
    """Add ``INBOX`` and ``also`` to the newest visible message. Where all messages are spam or trash, the newest one
    leaves spam and trash."""
    newest = newest_visible(opened.messages)
    step.relabel(opened, newest, add=frozenset({INBOX}) | also, remove=frozenset({SPAM, TRASH}))
