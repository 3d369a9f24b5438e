"""The statements that read data for an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.store import ReadTx

_MAIL: Final = """
    (select m.raw_sha256 from mail_messages m where m.thread_id = x.thread_id order by m.sent_at desc, m.id limit 1)
"""
"""The newest mail of a thread, by the hash of its bytes: it identifies the thread, because ids differ in
another home."""


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    address: str
    provider: str
    owner: str | None


@dataclass(frozen=True, kw_only=True)
class File:
    """``owner`` is an address."""

    id: str
    owner: str | None
    sha256: str
    name: str
    mime: str
    size: int
    created_at: Millis


@dataclass(frozen=True, kw_only=True)
class User:
    email: str
    name: str
    role: str


def users(tx: ReadTx) -> list[User]:
    rows = tx.all("select email, name, role from users order by created_at, id")
    return [User(email=email, name=name, role=role) for email, name, role in rows]


def has_others(tx: ReadTx, *, user_id: str | None) -> bool:
    """Whether there is a user besides this one."""
    return tx.value("select 1 from users where id is not :me limit 1", me=user_id) is not None


def accounts(tx: ReadTx) -> list[Account]:
    """Accounts that have mail."""
    rows = tx.all(
        """
        select a.id, a.address, a.provider, u.email from mail_accounts a left join users u on u.id = a.owner_id
        where a.messages > 0 and not a.erasing order by a.created_at, a.id
        """
    )
    return [Account(id=row[0], address=row[1], provider=row[2], owner=row[3]) for row in rows]


def deleted_files(tx: ReadTx) -> list[tuple[File, Millis]]:
    """Deleted files that can be restored, with the time of their deletion."""
    rows = tx.all(
        """
        select f.id, u.email, f.sha256, f.name, f.mime, f.size, f.created_at, f.deleted_at
        from deleted_files f left join users u on u.id = f.owner_id order by f.id
        """
    )
    return [
        (File(id=row[0], owner=row[1], sha256=row[2], name=row[3], mime=row[4], size=row[5], created_at=row[6]), row[7])
        for row in rows
    ]


def files(tx: ReadTx, *, after: str, limit: int) -> list[File]:
    """All files except attachments, which are in their mails."""
    rows = tx.all(
        """
        select f.id, u.email, f.sha256, f.name, f.mime, f.size, f.created_at
        from files f left join users u on u.id = f.owner_id
        where f.id > :after and f.origin not glob 'mail:*' order by f.id limit :limit
        """,
        after=after,
        limit=limit,
    )
    return [
        File(id=row[0], owner=row[1], sha256=row[2], name=row[3], mime=row[4], size=row[5], created_at=row[6])
        for row in rows
    ]


@dataclass(frozen=True, kw_only=True)
class Revision:
    """``author`` is an address."""

    title: str
    author: str | None
    at: Millis
    body: str


def revision(tx: ReadTx, *, page_id: str, number: int) -> Revision | None:
    row = tx.one(
        """
        select r.title, u.email, r.at, r.body from page_revisions r left join users u on u.id = r.author_id
        where r.page_id = :id and r.revision = :number
        """,
        id=page_id,
        number=number,
    )
    return None if row is None else Revision(title=row[0], author=row[1], at=row[2], body=row[3])


def current(tx: ReadTx, page_id: str) -> tuple[str | None, Millis, Millis] | None:
    """``(author, created at, updated at)`` of a page; the author, an address, is that of its current text."""
    row = tx.one(
        """
        select u.email, p.created_at, p.updated_at
        from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision
            left join users u on u.id = r.author_id
        where p.id = :id
        """,
        id=page_id,
    )
    return None if row is None else (row[0], row[1], row[2])


@dataclass(frozen=True, kw_only=True)
class DeletedPage:
    """``owner``, ``deleted_by`` and the grantees are addresses; ``files`` are those that it shows."""

    id: str
    deletion_id: str
    is_top: bool
    path: str
    owner: str | None
    access: str
    revision: int
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis
    deleted_by: str | None
    grants: list[tuple[str, str]]
    files: list[str]


def deleted_page_ids(tx: ReadTx) -> list[str]:
    """The ids of pages that can be restored."""
    return [str(row[0]) for row in tx.all("select id from page_trash order by deleted_at, deletion_id, path")]


def deleted_page(tx: ReadTx, page_id: str) -> DeletedPage | None:
    row = tx.one(
        """
        select t.id, t.deletion_id, t.is_top, t.path, u.email, t.access, t.revision, t.created_at, t.updated_at,
            t.deleted_at, d.email
        from page_trash t left join users u on u.id = t.owner_id left join users d on d.id = t.deleted_by
        where t.id = :id
        """,
        id=page_id,
    )
    if row is None:
        return None
    grants = tx.all(
        """
        select coalesce(u.email, g.grantee), g.level from page_trash_grants g left join users u on u.id = g.grantee
        where g.page_id = :id and (u.id is not null or g.grantee = 'everyone') order by 1
        """,
        id=page_id,
    )
    files = tx.all("select file_id from page_trash_files where page_id = :id order by 1", id=page_id)
    return DeletedPage(
        id=row[0],
        deletion_id=row[1],
        is_top=bool(row[2]),
        path=row[3],
        owner=row[4],
        access=row[5],
        revision=row[6],
        created_at=row[7],
        updated_at=row[8],
        deleted_at=row[9],
        deleted_by=row[10],
        grants=[(to, level) for to, level in grants],
        files=[file_id for (file_id,) in files],
    )


def deleted_revision(tx: ReadTx, *, page_id: str, number: int) -> Revision | None:
    row = tx.one(
        """
        select r.title, u.email, r.at, r.body from page_trash_revisions r left join users u on u.id = r.author_id
        where r.page_id = :id and r.revision = :number
        """,
        id=page_id,
        number=number,
    )
    return None if row is None else Revision(title=row[0], author=row[1], at=row[2], body=row[3])


@dataclass(frozen=True, kw_only=True)
class DraftRow:
    """``mail``: of the thread that it answers; ``quoted``: the mail quoted below its text, and how. Lists are JSON."""

    id: str
    is_outgoing: bool
    owner: str | None
    account: str
    to: str
    cc: str
    bcc: str
    subject: str
    html: str
    attachments: str
    sender: str | None
    in_reply_to: str | None
    references: str | None
    send_at: Millis | None
    mail: str | None
    quoted: str | None
    quoted_how: str | None


def drafts(tx: ReadTx) -> list[DraftRow]:
    """Drafts, and mail that waits to be sent or could not be sent."""
    rows = tx.all(
        f"""
        select x.id, 0, u.email, a.address, x.to_addresses, x.cc_addresses, x.bcc_addresses, x.subject, x.html,
            x.attachments, x.from_address, x.in_reply_to, x.reference_ids, null, {_MAIL}, q.raw_sha256,
            x.quote ->> 'kind'
        from mail_drafts x join mail_accounts a on a.id = x.account_id left join users u on u.id = x.owner_id
            left join mail_messages q on q.id = x.quote ->> 'messageId'
        union all
        select x.id, 1, u.email, a.address, x.to_addresses, x.cc_addresses, x.bcc_addresses, x.subject, x.html,
            x.attachments, x.from_address, x.in_reply_to, x.reference_ids, x.send_at, {_MAIL}, q.raw_sha256,
            x.quoted ->> 'kind'
        from mail_outgoing x join mail_accounts a on a.id = x.account_id
            left join users u on u.id = coalesce(x.sent_by, x.owner_id)
            left join mail_messages q on q.id = x.quoted ->> 'messageId'
        where x.state in ('scheduled', 'held', 'overdue', 'failed')
        order by 1
        """
    )
    return [
        DraftRow(
            id=row[0],
            is_outgoing=bool(row[1]),
            owner=row[2],
            account=row[3],
            to=row[4],
            cc=row[5],
            bcc=row[6],
            subject=row[7],
            html=row[8],
            attachments=row[9],
            sender=row[10],
            in_reply_to=row[11],
            references=row[12],
            send_at=row[13],
            mail=row[14],
            quoted=row[15],
            quoted_how=row[16],
        )
        for row in rows
    ]


def blocked(tx: ReadTx) -> list[tuple[str | None, str | None, str, str]]:
    """``(owner, account, address, where its mail goes)``; without an account: for all accounts of the owner."""
    rows = tx.all(
        """
        select u.email, a.address, b.address, b.place from mail_blocked_senders b
            left join users u on u.id = b.owner_id left join mail_accounts a on a.id = b.account_id
        order by b.id
        """
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def set_aside(tx: ReadTx) -> list[tuple[str, str, Millis | None]]:
    """``(account, mail, until)`` of threads that return to the inbox at that time, or are muted if there is none."""
    rows = tx.all(
        f"""
        select a.address, {_MAIL}, x.until from mail_snoozes x join mail_accounts a on a.id = x.account_id
        union all
        select a.address, {_MAIL}, null from mail_mutes x join mail_accounts a on a.id = x.account_id
        order by 1, 2, 3
        """
    )
    return [(row[0], row[1], row[2]) for row in rows if row[1] is not None]


def preferences(tx: ReadTx) -> list[tuple[str | None, str]]:
    rows = tx.all("select u.email, p.wanted from preferences p left join users u on u.id = p.user_id order by 1")
    return [(email, str(wanted)) for email, wanted in rows]


def people(tx: ReadTx) -> list[tuple[str | None, str, str, str | None, str]]:
    """``(owner, address, name, page, how it was filed)``."""
    rows = tx.all(
        """
        select u.email, p.address, p.name, g.path, p.filing
        from people p left join users u on u.id = p.owner_id left join pages g on g.id = p.page_id order by p.id
        """
    )
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def ids_of_users(tx: ReadTx) -> dict[str, str]:
    """The ids of users by address."""
    return dict(tx.all("select email, id from users"))


def weight(tx: ReadTx) -> int:
    """The approximate size of an export: the exact bytes of mail and files, and an estimate for the rest."""
    found = tx.value(
        """
        select (select coalesce(sum(size), 0) from files where origin not glob 'mail:*')
            + (select coalesce(sum(size), 0) from deleted_files)
            + (select coalesce(sum(raw_size), 0) from mail_messages)
            + ((select count(*) from page_revisions) + (select count(*) from page_trash_revisions)) * 4096
            + (select count(*) from meeting_lines) * 256
        """
    )
    return cast(int, found)


def is_empty(tx: ReadTx) -> bool:
    """Whether the home has no users and no data yet."""
    found = tx.value(
        """
        select exists (select 1 from users) or exists (select 1 from pages) or exists (select 1 from files)
            or exists (select 1 from mail_accounts)
        """
    )
    return not found
