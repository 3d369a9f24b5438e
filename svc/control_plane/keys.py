"""The wrapped keys and their audit: all statements on them. A key is never changed; a new version is stored
beside it."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from psycopg.types.json import Jsonb

from svc.clock import rfc3339
from svc.control_plane.credentials import Cell
from svc.control_plane.database import Rows
from svc.control_plane.wire import Audit, AuditEntry, NewKey, WrappedKey

Action = Literal["key.get", "key.put", "audit.get"]
Outcome = Literal["ok", "missing", "late", "other-tenant", "disabled"]
AUDIT_ROWS: Final = 100
AUDIT_MAX_ROWS: Final = 1_000
"""Entries of the audit in one answer. Beyond: the next ones by `before`."""


def current_key(connection: Rows, tenant_id: str) -> WrappedKey | None:
    row = connection.execute(
        """
        select version, wrapped_key, kms_key_id, context, created_at from control_plane.wrapped_keys
        where tenant_id = %s order by version desc limit 1
        """,
        (tenant_id,),
    ).fetchone()
    if row is None:
        return None
    version, wrapped_key, kms_key_id, context, created_at = row
    return WrappedKey(
        tenant_id=tenant_id,
        version=version,
        wrapped_key=wrapped_key,
        kms_key_id=kms_key_id,
        context=context,
        created_at=_told(created_at),
    )


def store_key(connection: Rows, cell: Cell, key: NewKey) -> bool:
    """Stores the key if its version is the next one. Of two concurrent calls the second finds the version taken, and
    stores nothing."""
    done = connection.execute(
        """
        insert into control_plane.wrapped_keys
            (tenant_id, version, wrapped_key, kms_key_id, context, credential_id)
        select %(tenant)s, %(version)s, %(wrapped)s, %(kms)s, %(context)s, %(credential)s
        where %(version)s::bigint - 1 = coalesce(
            (select max(version) from control_plane.wrapped_keys where tenant_id = %(tenant)s), 0)
        on conflict (tenant_id, version) do nothing
        """,
        {
            "tenant": cell.tenant_id,
            "version": key.version,
            "wrapped": key.wrapped_key,
            "kms": key.kms_key_id,
            "context": Jsonb(key.context),
            "credential": cell.credential_id,
        },
    )
    return done.rowcount == 1


def note(
    connection: Rows, cell: Cell, action: Action, outcome: Outcome, *, version: int | None, request_id: str
) -> None:
    """Writes one line of the audit, under the tenant of the credential, whatever the call asked for."""
    connection.execute(
        """
        insert into control_plane.audit (tenant_id, cell_id, credential_id, action, outcome, version, request_id)
        values (%s, %s, %s, %s, %s, %s, %s)
        """,
        (cell.tenant_id, cell.cell_id, cell.credential_id, action, outcome, version, request_id),
    )


def audit_of(connection: Rows, tenant_id: str, *, before: int | None, limit: int) -> Audit:
    rows = connection.execute(
        """
        select id, at, action, outcome, credential_id, cell_id, version, request_id from control_plane.audit
        where tenant_id = %s and (%s::bigint is null or id < %s::bigint) order by id desc limit %s
        """,
        (tenant_id, before, before, limit + 1),
    ).fetchall()
    entries = [
        AuditEntry(
            id=number,
            at=_told(at),
            action=action,
            outcome=outcome,
            credential_id=credential_id,
            cell_id=cell_id,
            version=version,
            request_id=request_id,
        )
        for number, at, action, outcome, credential_id, cell_id, version, request_id in rows[:limit]
    ]
    return Audit(tenant_id=tenant_id, entries=entries, next=entries[-1].id if len(rows) > limit else None)


def _told(at: datetime) -> str:
    return rfc3339(int(at.timestamp() * 1_000))
