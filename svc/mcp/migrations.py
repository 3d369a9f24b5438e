"""The tables of the MCP client: the servers that a person agreed to, and the tools exactly as they were then."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("mcp")


@MIGRATIONS(name="m001_servers")
def m001_servers(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


@MIGRATIONS(name="m002_sign_ins")
def m002_sign_ins(db: Database) -> None:
    db.execute(_SIGN_INS)


_SIGN_INS = """
    create table mcp_sign_ins (             -- one row for each server that asked for a sign-in
        server_id text primary key,         -- the page's
        url text not null,                  -- its address then; another address gets no access
        challenge text not null,            -- the server's challenge, as JSON
        found text,                         -- where to sign in, as JSON; null until it was looked up
        signed_in_at integer,
        ended text not null default ''      -- why somebody has to sign in again
    ) strict, without rowid
    """


_TABLES = (
    """
    create table mcp_servers (              -- one row for each server that somebody has connected
        id text primary key,                -- the page's id, or `env:` and the name
        launch text not null,               -- the digest of its command or address, as a person agreed to it
        run_id text,                        -- the run that last asked for its tools
        version text not null default '',
        title text not null default '',
        left_out text not null default '[]',
        looked_at integer,
        connected_at integer not null
    ) strict, without rowid
    """,
    """
    create table mcp_tools (                -- one row for each tool: its text now, and the text a person agreed to
        server_id text not null references mcp_servers (id) on delete cascade,
        name text not null,
        digest text not null,
        said text not null,
        gone integer not null default 0,
        agreed_digest text,
        agreed_said text,
        agreed_at integer,
        primary key (server_id, name)
    ) strict, without rowid
    """,
)
