"""Stores parsed invitations and answers. Frees the dates of accepted meetings that are moved or cancelled, or of which
one date changes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from svc.formats.invitations import Answer, Invitation
from svc.mail.invitations import queries
from svc.store import Tx


def keep(
    tx: Tx, *, account_id: str, message_id: str, sender: str, files: Iterable[tuple[str, tuple[Invitation, ...]]]
) -> None:
    """Store the calendar files of a message. ``files``: the hash of each file, and the invitations in it.

    Where two files have the same event (one may be an alternative of the text, the other an attachment), the first
    counts. Stores nothing where the message is gone by now.
    """
    if not tx.value("select 1 from mail_messages where id = :id", id=message_id):
        return
    for sha256, invitations in files:
        for one in invitations:
            genuine = _is_from(one, sender)
            added = tx.run(
                """
                insert into mail_invitations (
                    message_id, account_id, uid, recurrence_id, method, sequence, stamp, genuine, file_sha256, found
                ) values (
                    :message_id, :account_id, :uid, :recurrence_id, :method, :sequence, :stamp, :genuine, :file, :found
                ) on conflict do nothing
                """,
                message_id=message_id,
                account_id=account_id,
                uid=one.uid,
                recurrence_id=one.recurrence_id,
                method=one.method,
                sequence=one.sequence,
                stamp=one.stamp,
                genuine=genuine,
                file=sha256,
                found=msgspec.json.encode(one).decode(),
            )
            if added and genuine:
                _follow(tx, account_id=account_id, one=one)


def record_answer(tx: Tx, *, account_id: str, version: queries.Version, answer: Answer, outgoing_id: str) -> None:
    """Store an answer that was accepted for sending. From now on the dates of an accepted meeting count as busy."""
    one = version.found
    tx.run(
        """
        insert into mail_invitation_answers (
            account_id, uid, recurrence_id, sequence, answer, message_id, outgoing_id, summary, organizer, at
        ) values (
            :account_id, :uid, :recurrence_id, :sequence, :answer, :message_id, :outgoing_id, :summary, :organizer, :now
        ) on conflict do update set sequence = :sequence, answer = :answer, message_id = :message_id,
            outgoing_id = :outgoing_id, summary = :summary, organizer = :organizer, at = :now
        """,
        account_id=account_id,
        uid=one.uid,
        recurrence_id=one.recurrence_id,
        sequence=one.sequence,
        answer=answer,
        message_id=version.message_id,
        outgoing_id=outgoing_id,
        summary=one.summary,
        organizer="" if one.organizer is None else one.organizer.address,
        now=tx.now,
    )
    _forget_times(tx, account_id=account_id, uid=one.uid, recurrence_id=one.recurrence_id)
    if answer != "accepted":
        return
    tx.run_many(
        """
        insert into mail_invitation_times (account_id, uid, recurrence_id, starts, ends)
        values (:account_id, :uid, :recurrence_id, :starts, :ends) on conflict do nothing
        """,
        [
            {
                "account_id": account_id,
                "uid": one.uid,
                "recurrence_id": one.recurrence_id,
                "starts": starts,
                "ends": ends,
            }
            for starts, ends in one.times
        ],
    )


def record_proposal_answer(
    tx: Tx, *, account_id: str, version: queries.Version, answer: Answer, outgoing_id: str
) -> None:
    tx.run(
        """
        insert into mail_proposal_answers (message_id, uid, recurrence_id, account_id, answer, outgoing_id, at)
        values (:message_id, :uid, :recurrence_id, :account_id, :answer, :outgoing_id, :now)
        on conflict do update set answer = :answer, outgoing_id = :outgoing_id, at = :now
        """,
        message_id=version.message_id,
        uid=version.found.uid,
        recurrence_id=version.found.recurrence_id,
        account_id=account_id,
        answer=answer,
        outgoing_id=outgoing_id,
        now=tx.now,
    )


def _is_from(one: Invitation, sender: str) -> bool:
    """Whether the sender is the right one: for an answer one of the attendees, for all else the organizer."""
    if one.method in {"REPLY", "COUNTER", "REFRESH"}:
        return any(person.address.lower() == sender.lower() for person in one.attendees)
    if one.organizer is None or not sender:
        return False
    return sender.lower() in {one.organizer.address.lower(), one.organizer_mail.lower()}


def _follow(tx: Tx, *, account_id: str, one: Invitation) -> None:
    """Apply a later message of the organizer: the dates that it moves or cancels are free again. A message about one
    date never frees the series, and another organizer's message never frees dates of this meeting."""
    if one.method not in {"REQUEST", "CANCEL"} or one.organizer is None:
        return
    if one.organizer.address.lower() not in queries.organizers_answered(tx, account_id=account_id, uid=one.uid):
        return
    answered = queries.answered(tx, account_id=account_id, uid=one.uid, recurrence_id=one.recurrence_id)
    if one.recurrence_id:
        if (instant := _instant(one.recurrence_id)) is not None:
            _forget_date(tx, account_id=account_id, uid=one.uid, starts=instant)
        if one.method == "CANCEL" or (answered is not None and answered.sequence < one.sequence):
            _forget_times(tx, account_id=account_id, uid=one.uid, recurrence_id=one.recurrence_id)
        return
    if one.method == "CANCEL":
        tx.run(
            "delete from mail_invitation_times where account_id = :account_id and uid = :uid",
            account_id=account_id,
            uid=one.uid,
        )
    elif answered is not None and answered.sequence < one.sequence:
        _forget_times(tx, account_id=account_id, uid=one.uid, recurrence_id="")


def _instant(recurrence_id: str) -> int | None:
    """``recurrence_id`` in milliseconds; ``None`` where it is not an instant in UTC."""
    if not recurrence_id.endswith("Z"):
        return None
    return round(datetime.fromisoformat(recurrence_id).timestamp() * 1_000)


def _forget_date(tx: Tx, *, account_id: str, uid: str, starts: int) -> None:
    tx.run(
        "delete from mail_invitation_times where account_id = :account_id and uid = :uid and starts = :starts",
        account_id=account_id,
        uid=uid,
        starts=starts,
    )


def _forget_times(tx: Tx, *, account_id: str, uid: str, recurrence_id: str) -> None:
    tx.run(
        """
        delete from mail_invitation_times
        where account_id = :account_id and uid = :uid and recurrence_id = :recurrence_id
        """,
        account_id=account_id,
        uid=uid,
        recurrence_id=recurrence_id,
    )
