"""The tables of the escrow service, in the schema ``control_plane``. SQL only; a step that was released never changes.

Replicas that boot together take turns by an advisory lock of the transaction, which also holds through a pooler that
gives each transaction another connection.
"""

from __future__ import annotations

from typing import Final

from psycopg import Connection

SCHEMA: Final = "control_plane"
LOCK: Final = 0x5356_4345_5343  # "SVCESC": whoever migrates, or upserts credentials, holds it

_CREDENTIALS: Final = """
create table control_plane.credentials (
    credential_id text primary key,
    tenant_id text not null,
    cell_id text not null,
    token_digest bytea not null check (octet_length(token_digest) = 32),
    retired_digests bytea[] not null default '{}',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    disabled_at timestamptz
);
create index credentials_by_tenant on control_plane.credentials (tenant_id);
"""

_KEYS: Final = """
create table control_plane.wrapped_keys (
    tenant_id text not null,
    version bigint not null check (version > 0),
    wrapped_key text not null,
    kms_key_id text not null,
    context jsonb not null,
    credential_id text not null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, version)
);
"""

_AUDIT: Final = """
create table control_plane.audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    tenant_id text not null,
    cell_id text not null,
    credential_id text not null,
    action text not null,
    outcome text not null,
    version bigint,
    request_id text not null
);
create index audit_by_tenant on control_plane.audit (tenant_id, id);
create function control_plane.keep_as_written() returns trigger language plpgsql as $$
begin
    raise exception '%.% is append-only', tg_table_schema, tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_is_append_only before update or delete on control_plane.audit
    for each row execute function control_plane.keep_as_written();
create trigger audit_is_kept before truncate on control_plane.audit
    for each statement execute function control_plane.keep_as_written();
create trigger wrapped_keys_are_never_rewritten before update on control_plane.wrapped_keys
    for each row execute function control_plane.keep_as_written();
"""

_ALWAYS: Final = """
alter table control_plane.audit enable always trigger audit_is_append_only;
alter table control_plane.audit enable always trigger audit_is_kept;
alter table control_plane.wrapped_keys enable always trigger wrapped_keys_are_never_rewritten;
"""
"""The triggers also run in a session that is set to replicate."""

STEPS: Final[tuple[tuple[str, str], ...]] = (
    ("credentials", _CREDENTIALS),
    ("wrapped keys", _KEYS),
    ("audit", _AUDIT),
    ("written for good", _ALWAYS),
)
"""In order; the number of a step is its position, from 1 on."""


def migrate(connection: Connection[tuple[object, ...]]) -> list[str]:
    """Applies the missing steps in the open transaction; returns their names. If none is missing, no right to create
    tables is needed: a role that only reads and writes rows is enough."""
    take_turns(connection)
    there = connection.execute("select to_regclass('control_plane.migrations') is not null").fetchone()
    if there != (True,):
        if connection.execute("select 1 from pg_namespace where nspname = %s", (SCHEMA,)).fetchone() is None:
            connection.execute("create schema control_plane")
        connection.execute(
            """
            create table control_plane.migrations (
                number integer primary key, name text not null, applied_at timestamptz not null default now()
            )
            """
        )
    done = {number for (number,) in connection.execute("select number from control_plane.migrations")}
    applied = []
    for number, (name, sql) in enumerate(STEPS, 1):
        if number in done:
            continue
        connection.execute(sql.encode())
        connection.execute("insert into control_plane.migrations (number, name) values (%s, %s)", (number, name))
        applied.append(name)
    return applied


def take_turns(connection: Connection[tuple[object, ...]]) -> None:
    """Waits until no other replica migrates. The lock ends with the transaction."""
    connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
