"""Statements that read which messages a blob belongs to, and which parts of an account's mail are damaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from svc.clock import Millis
from svc.mail.model import MessageHeaders
from svc.store import ReadTx, Row

MAX_OWNERS: Final = 50
"""Messages that are looked at for one blob. Others with the same content are mended with it."""
MAX_LISTED: Final = 500

Part = Literal["body", "raw", "attachment"]


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A message that needs the blob, and all blobs that its own row names."""

    id: str
    account_id: str
    thread_id: str
    provider_message_id: str
    provider_thread_id: str
    body_sha256: str
    raw_sha256: str
    headers: MessageHeaders


@dataclass(frozen=True, kw_only=True)
class DamagedPart:
    """``name``: of the file, where it is an attachment. ``state``: as in ``svc.store.damage``."""

    thread_id: str
    subject: str
    part: Part
    name: str | None
    state: str
    reason: str
    attempts: int
    found_at: Millis


def owners(tx: ReadTx, sha256: str) -> list[Owner]:
    rows = tx.all(
        """
        select m.id, m.account_id, m.thread_id, m.provider_message_id, t.provider_thread_id, m.body_sha256,
            m.raw_sha256, m.headers
        from mail_messages m join mail_threads t on t.id = m.thread_id join mail_accounts a on a.id = m.account_id
        where not a.erasing and m.id in (
            select id from mail_messages where body_sha256 = :sha256
            union select id from mail_messages where raw_sha256 = :sha256
            union select substr(origin, 6) from files where sha256 = :sha256 and origin like 'mail:%'
        )
        order by m.id limit :limit
        """,
        sha256=sha256,
        limit=MAX_OWNERS,
    )
    return [_owner(row) for row in rows]


def is_outgoing(tx: ReadTx, sha256: str) -> bool:
    """Whether this blob holds the bytes of a mail's last attempt to be sent."""
    return tx.value("select 1 from mail_outgoing where raw_sha256 = :sha256 limit 1", sha256=sha256) is not None


def _owner(row: Row) -> Owner:
    return Owner(
        id=cast(str, row[0]),
        account_id=cast(str, row[1]),
        thread_id=cast(str, row[2]),
        provider_message_id=cast(str, row[3]),
        provider_thread_id=cast(str, row[4]),
        body_sha256=cast(str, row[5]),
        raw_sha256=cast(str, row[6]),
        headers=msgspec.json.decode(cast(str, row[7]), type=MessageHeaders),
    )


_PARTS: Final = """
    with content as (
        select coalesce(became, sha256) as sha256, state, reason, attempts, found_at from blob_damage
    ),
    part (sha256, state, reason, attempts, found_at, message_id, part, name) as (
        select d.sha256, d.state, d.reason, d.attempts, d.found_at, m.id, 'body', null
        from content d join mail_messages m on m.body_sha256 = d.sha256
        union all
        select d.sha256, d.state, d.reason, d.attempts, d.found_at, m.id, 'raw', null
        from content d join mail_messages m on m.raw_sha256 = d.sha256
        union all
        select d.sha256, d.state, d.reason, d.attempts, d.found_at, substr(f.origin, 6), 'attachment', f.name
        from content d join files f on f.sha256 = d.sha256 where f.origin like 'mail:%'
    )
"""


def counts(tx: ReadTx, account_id: str) -> tuple[int, int, int]:
    """How many blobs of the account's mail are still damaged, how many of these can't be mended, and how many were
    mended lately."""
    rows = tx.all(
        f"""
        {_PARTS} select p.state, count(distinct p.sha256)
        from part p join mail_messages m on m.id = p.message_id where m.account_id = :account_id group by p.state
        """,
        account_id=account_id,
    )
    found = {str(state): cast(int, number) for state, number in rows}
    lost = found.get("lost", 0)
    return found.get("waiting", 0) + lost, lost, found.get("mended", 0)


def damaged_parts(tx: ReadTx, account_id: str) -> list[DamagedPart]:
    """The parts that are still damaged. Those that can't be mended come first."""
    rows = tx.all(
        f"""
        {_PARTS} select m.thread_id, m.subject, p.part, p.name, p.state, p.reason, p.attempts, p.found_at
        from part p join mail_messages m on m.id = p.message_id
        where m.account_id = :account_id and p.state <> 'mended'
        order by p.state, p.found_at desc, m.id, p.part, p.name limit :limit
        """,
        account_id=account_id,
        limit=MAX_LISTED,
    )
    return [
        DamagedPart(
            thread_id=cast(str, row[0]),
            subject=cast(str, row[1]),
            part=cast(Part, row[2]),
            name=cast("str | None", row[3]),
            state=cast(str, row[4]),
            reason=cast(str, row[5]),
            attempts=cast(int, row[6]),
            found_at=cast(int, row[7]),
        )
        for row in rows
    ]
