"""The tables of invitations, as ``m044_invitations``, ``m065_proposals`` and ``m067_answered_organizers`` make them.
Their meaning must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_invitations (
        message_id text not null references mail_messages (id) on delete cascade,
        account_id text not null references mail_accounts (id) on delete cascade,
        uid text not null,
        recurrence_id text not null,            -- empty: the whole series, or a single event
        method text not null,
        sequence integer not null,
        stamp integer not null,
        genuine integer not null,               -- 1: its organizer sent it
        file_sha256 text not null,
        found text not null,                    -- JSON: formats.invitations.Invitation
        primary key (message_id, uid, recurrence_id)
    ) strict, without rowid
    """,
    "create index mail_invitations_uid on mail_invitations (account_id, uid)",
    """
    create table mail_invitation_answers (
        account_id text not null references mail_accounts (id) on delete cascade,
        uid text not null,
        recurrence_id text not null,
        sequence integer not null,              -- the SEQUENCE of the answered version
        answer text not null check (answer in ('accepted', 'tentative', 'declined')),
        message_id text not null,               -- the mail that was answered
        outgoing_id text not null,
        summary text not null,
        at integer not null,
        primary key (account_id, uid, recurrence_id)
    ) strict, without rowid
    """,
    """
    create table mail_invitation_times (
        account_id text not null references mail_accounts (id) on delete cascade,
        uid text not null,
        recurrence_id text not null,
        starts integer not null,
        ends integer not null,
        primary key (account_id, uid, recurrence_id, starts)
    ) strict, without rowid
    """,
    "create index mail_invitation_times_starts on mail_invitation_times (account_id, starts)",
)

PROPOSALS = (
    """
    create table mail_proposal_answers (        -- answers to proposed times; the organizer is a user here
        message_id text not null references mail_messages (id) on delete cascade,
        uid text not null,
        recurrence_id text not null,
        account_id text not null references mail_accounts (id) on delete cascade,
        answer text not null check (answer in ('accepted', 'declined')),
        outgoing_id text not null,
        at integer not null,
        primary key (message_id, uid, recurrence_id)
    ) strict, without rowid
    """,
    "create index mail_proposal_answers_account on mail_proposal_answers (account_id)",
)

ANSWERED_ORGANIZERS = (
    "alter table mail_invitation_answers add column organizer text not null default ''",  # address; empty: none named
    """
    update mail_invitation_answers as a set organizer = coalesce((
        select i.found ->> '$.organizer.address' from mail_invitations i
        where i.message_id = a.message_id and i.uid = a.uid and i.recurrence_id = a.recurrence_id
    ), '')
    """,
)
