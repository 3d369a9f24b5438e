"""What is read for an export. Statements only."""

from __future__ import annotations

from dataclasses import dataclass

from svc.clock import Millis
from svc.store import ReadTx


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


def accounts(tx: ReadTx) -> list[Account]:
    """With mail in them."""
    rows = tx.all(
        """
        select a.id, a.address, a.provider, u.email from mail_accounts a left join users u on u.id = a.owner_id
        where a.messages > 0 and not a.erasing order by a.created_at, a.id
        """
    )
    return [Account(id=row[0], address=row[1], provider=row[2], owner=row[3]) for row in rows]


def files(tx: ReadTx, *, after: str, limit: int) -> list[File]:
    """All but attachments, which are in their mails."""
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
    """By address."""
    return dict(tx.all("select email, id from users"))


def is_empty(tx: ReadTx) -> bool:
    """Nobody, and nothing of anybody, is here yet."""
    found = tx.value(
        """
        select exists (select 1 from users) or exists (select 1 from pages) or exists (select 1 from files)
            or exists (select 1 from mail_accounts)
        """
    )
    return not found
