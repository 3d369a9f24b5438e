"""Queries that read imports, and the content of an account for its export and for mailboxes kept on this server."""

from __future__ import annotations

from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.mail.accounts.access import OWN, who
from svc.mail.porting.model import ImportRow, ImportState
from svc.mail.providers.seam import ProviderLabel
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import ReadTx, Row

_IMPORT: Final = """
    i.id, i.account_id, i.run_id, i.user_id, i.file_id, i.sha256, i.name, i.remove_file, i.state, i.position, i.percent,
    i.added, i.known, i.skipped, i.reasons, i.problem
"""
SHOWN: Final = 20


class Exported(msgspec.Struct, frozen=True):
    """A stored mail for export. ``labels``: ids."""

    id: str
    raw_sha256: str
    raw_size: int
    sender: str
    sent_at: Millis
    labels: frozenset[str]


def import_of_run(tx: ReadTx, run_id: str) -> ImportRow | None:
    row = tx.one(f"select {_IMPORT} from mail_imports i where i.run_id = :id", id=run_id)
    return None if row is None else _import(row)


def import_of(tx: ReadTx, import_id: str) -> ImportRow | None:
    row = tx.one(f"select {_IMPORT} from mail_imports i where i.id = :id", id=import_id)
    return None if row is None else _import(row)


def imports(tx: ReadTx, principal: Principal) -> list[ImportRow]:
    """The newest imports into accounts that the principal may see."""
    rows = tx.all(
        f"""
        select {_IMPORT} from mail_imports i
        where i.account_id in (select id from mail_accounts where {OWN})
        order by i.created_at desc, i.id desc limit :limit
        """,
        limit=SHOWN,
        **who(principal),
    )
    return [_import(row) for row in rows]


def is_any_unwanted(tx: ReadTx) -> bool:
    """Whether ``actions.stop_unwanted`` has anything to do."""
    found = tx.value(
        """
        select exists (
            select 1 from mail_imports where state = 'working' and not exists (
                select 1 from runs r where r.id = run_id and r.state in ('queued', 'running', 'waiting')
            )
        )
        """
    )
    return bool(found)


def next_working(tx: ReadTx) -> ImportRow | None:
    """The oldest import in progress whose run is active."""
    row = tx.one(
        f"""
        select {_IMPORT} from mail_imports i join runs r on r.id = i.run_id
        where i.state = 'working' and r.state in ('queued', 'running', 'waiting')
        order by i.created_at, i.rowid limit 1
        """
    )
    return None if row is None else _import(row)


def is_wanted(tx: ReadTx, row: ImportRow) -> bool:
    """Whether the import's run is active and its account is connected."""
    found: int = tx.value(
        """
            select exists (
                select 1 from runs r join mail_accounts a on a.id = :account_id
                where r.id = :run_id and r.state in ('queued', 'running', 'waiting') and a.state <> 'disconnected'
            )
            """,
        run_id=row.run_id,
        account_id=row.account_id,
    )
    return found == 1


def lease_of(tx: ReadTx, run_id: str) -> int:
    """The number (epoch) of the lease of the import's run. Each retry gets a new one."""
    return cast(int, tx.value("select epoch from runs where id = :id", id=run_id))


# The content of an account


def exported(tx: ReadTx, account_id: str, *, after: str, limit: int) -> list[Exported]:
    """The next mails after the id ``after``."""
    rows = tx.all(
        """
        select id, raw_sha256, raw_size, sender_address, sent_at, labels from mail_messages
        where account_id = :account_id and id > :after order by id limit :limit
        """,
        account_id=account_id,
        after=after,
        limit=limit,
    )
    return [
        Exported(
            id=cast(str, row[0]),
            raw_sha256=cast(str, row[1]),
            raw_size=cast(int, row[2]),
            sender=cast(str, row[3]),
            sent_at=cast(int, row[4]),
            labels=frozenset(msgspec.json.decode(cast(str, row[5]), type=list[str])),
        )
        for row in rows
    ]


def provider_ids(tx: ReadTx, account_id: str, *, label: str | None, after: str, limit: int) -> list[str]:
    rows = tx.all(
        """
        select provider_message_id from mail_messages m
        where account_id = :account_id and provider_message_id > :after
            and (:label is null or exists (select 1 from json_each(m.labels) where value = :label))
        order by provider_message_id limit :limit
        """,
        account_id=account_id,
        after=after,
        label=label,
        limit=limit,
    )
    return [cast(str, one) for (one,) in rows]


def own_labels(tx: ReadTx, account_id: str) -> list[ProviderLabel]:
    """The user labels of an account, without system labels."""
    return [
        ProviderLabel(id=label.id, name=label.name, system=False, color=label.color)
        for label in thread_queries.labels(tx, account_id).values()
        if not label.system
    ]


def _import(row: Row) -> ImportRow:
    return ImportRow(
        id=cast(str, row[0]),
        account_id=cast(str, row[1]),
        run_id=cast(str, row[2]),
        user_id=cast("str | None", row[3]),
        file_id=cast(str, row[4]),
        sha256=cast(str, row[5]),
        name=cast(str, row[6]),
        remove_file=bool(row[7]),
        state=cast(ImportState, row[8]),
        position=cast(int, row[9]),
        percent=cast(int, row[10]),
        added=cast(int, row[11]),
        known=cast(int, row[12]),
        skipped=cast(int, row[13]),
        reasons=tuple(msgspec.json.decode(cast(str, row[14]), type=list[str])),
        problem=cast("str | None", row[15]),
    )
