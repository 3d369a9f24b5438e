"""Keeps what a person has agreed to: how a server is reached, and each tool as it was when they saw it.

Owns the tables ``mcp_servers`` and ``mcp_tools``. A tool may be used only as long as its server describes it, word for
word, as agreed. A new or changed tool waits for a person's agreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from svc import runs
from svc.errors import Conflict, NotFound
from svc.mcp.servers import McpServer
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array
from svc.worker.mcp import LOOK, Listed, Seen, digest_of

State = Literal["new", "allowed", "changed", "gone"]
CAPABILITY: Final = "mcp."


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with everything that its digest covers, for people."""

    target: str
    version: str
    tool: Listed


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """``agreed``: the tool as it was when a person agreed; ``None`` if nobody did."""

    name: str
    digest: str
    said: Said
    agreed: Said | None
    agreed_digest: str | None
    gone: bool

    @property
    def state(self) -> State:
        if self.gone:
            return "gone"
        if self.agreed_digest is None:
            return "new"
        return "allowed" if self.agreed_digest == self.digest else "changed"


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What is stored about one server."""

    launch: str
    run_id: str | None
    version: str
    title: str
    left_out: tuple[str, ...]
    looked_at: int | None


def kept(tx: ReadTx, server_id: str) -> Kept | None:
    row = tx.one(
        "select launch, run_id, version, title, left_out, looked_at from mcp_servers where id = :id", id=server_id
    )
    if row is None:
        return None
    return Kept(
        launch=cast(str, row[0]),
        run_id=cast("str | None", row[1]),
        version=cast(str, row[2]),
        title=cast(str, row[3]),
        left_out=tuple(msgspec.json.decode(cast(str, row[4]), type=list[str])),
        looked_at=cast("int | None", row[5]),
    )


def pinned(tx: ReadTx, server_id: str) -> list[Pinned]:
    rows = tx.all(
        """
        select name, digest, said, agreed_digest, agreed_said, gone from mcp_tools where server_id = :id order by name
        """,
        id=server_id,
    )
    return [
        Pinned(
            name=row[0],
            digest=row[1],
            said=msgspec.json.decode(row[2], type=Said),
            agreed_digest=row[3],
            agreed=None if row[4] is None else msgspec.json.decode(row[4], type=Said),
            gone=bool(row[5]),
        )
        for row in rows
    ]


def connect(tx: Tx, server: McpServer, *, launch: str, user_id: str | None) -> str:
    """A person agrees to how it is reached: begin a run that looks at it. Returns the run's id."""
    if server.problem:
        raise Conflict(server.problem)
    if launch != server.declaration.launch:
        raise Conflict("It was changed since you looked. Look again.")
    run_id = runs.begin(
        tx,
        user_id,
        LOOK,
        {"server": server.name},
        title=f"Look at the MCP server {server.name}",
        capabilities=grants_of(server),
    )
    tx.run(
        """
        insert into mcp_servers (id, launch, run_id, connected_at) values (:id, :launch, :run_id, :now)
        on conflict (id) do update set launch = excluded.launch, run_id = excluded.run_id,
            connected_at = excluded.connected_at
        """,
        id=server.id,
        launch=launch,
        run_id=run_id,
        now=tx.now,
    )
    return run_id


def grants_of(server: McpServer) -> tuple[str, ...]:
    """The capabilities of a run that uses the server."""
    return (f"{CAPABILITY}{server.name}", *server.declaration.capabilities)


def note(tx: Tx, server: McpServer, seen: Seen, *, by_environment: bool) -> None:
    """Store what a look has found. ``by_environment``: the person who set the environment has agreed to the tools found
    at first.
    """
    first = by_environment and tx.value("select looked_at from mcp_servers where id = :id", id=server.id) is None
    tx.run(
        """
        update mcp_servers set version = :version, title = :title, left_out = :left_out, looked_at = :now
        where id = :id
        """,
        version=seen.version,
        title=seen.title,
        left_out=json_array(seen.left_out),
        now=tx.now,
        id=server.id,
    )
    tx.run("update mcp_tools set gone = 1 where server_id = :id", id=server.id)
    for tool in seen.tools:
        digest = digest_of(server.declaration.launch, seen.version, tool)
        said = Said(target=server.declaration.target, version=seen.version, tool=tool)
        tx.run(
            """
            insert into mcp_tools (server_id, name, digest, said) values (:id, :name, :digest, :said)
            on conflict (server_id, name) do update set digest = excluded.digest, said = excluded.said, gone = 0
            """,
            id=server.id,
            name=tool.name,
            digest=digest,
            said=msgspec.json.encode(said).decode(),
        )
        if first:
            _agree(tx, server.id, tool.name)
    tx.run("delete from mcp_tools where server_id = :id and gone = 1 and agreed_digest is null", id=server.id)


def allow(tx: Tx, server: McpServer, wanted: Mapping[str, str]) -> None:
    """Store a person's agreement to these tools, each with the digest of what they saw."""
    known = {one.name: one for one in pinned(tx, server.id)}
    for name, digest in wanted.items():
        one = known.get(name)
        if one is None or one.gone:
            raise NotFound(f"{name[:100]} is no tool of {server.name} now.")
        if one.digest != digest:
            raise Conflict(f"{name} was changed since you looked. Look again.")
        _agree(tx, server.id, name)


def forbid(tx: Tx, server: McpServer, names: Iterable[str]) -> None:
    for name in names:
        tx.run(
            """
            update mcp_tools set agreed_digest = null, agreed_said = null, agreed_at = null
            where server_id = :id and name = :name
            """,
            id=server.id,
            name=name,
        )
    tx.run("delete from mcp_tools where server_id = :id and gone = 1 and agreed_digest is null", id=server.id)


def _agree(tx: Tx, server_id: str, name: str) -> None:
    tx.run(
        """
        update mcp_tools set agreed_digest = digest, agreed_said = said, agreed_at = :now
        where server_id = :id and name = :name
        """,
        id=server_id,
        name=name,
        now=tx.now,
    )


def may_use(tx: ReadTx, server: McpServer, *, run_id: str, principal: Principal) -> bool:
    """Whether this run may connect to the server now: it is the run that looks at it, or a call of one of its tools was
    approved.
    """
    if tx.value("select 1 from mcp_servers where id = :id and run_id = :run_id", id=server.id, run_id=run_id):
        return True
    prefix = f"mcp.{server.name}."
    found = tx.value(
        """
        select 1 from tool_calls where run_id = :run_id and state = 'begun' and waits is null
            and substr(tool, 1, :length) = :prefix limit 1
        """,
        run_id=run_id,
        length=len(prefix),
        prefix=prefix,
    )
    return found is not None


def under_way(tx: ReadTx) -> int:
    """The number of approved calls of MCP servers that have not ended, in runs that have not ended."""
    return int(
        tx.value(
            """
            select count(*) from tool_calls t join runs r on r.id = t.run_id
            where t.state = 'begun' and t.waits is null and t.tool like 'mcp.%' and r.state in ('running', 'waiting')
            """
        )
    )


def look_of(tx: ReadTx, run_id: str | None) -> tuple[bool, str]:
    """Whether the newest look is still running, and the problem that it found."""
    row = None if run_id is None else tx.one("select state, output from runs where id = :id", id=run_id)
    if row is None:
        return False, ""
    state, output = row
    if state in {"failed", "cancelled"}:
        return False, "It could not be looked at: the run that was to do it has ended."
    if state != "done":
        return True, ""
    said = msgspec.json.decode(output) if output else None
    problem = said.get("problem") if isinstance(said, dict) else None
    return False, problem if isinstance(problem, str) else ""
