"""Storage of the sign-ins at MCP servers: the table ``mcp_sign_ins``, and two kinds of secrets, our client there and
the tokens. All of it is valid only for the address that it was made for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.connections import Credentials, Tokens, keep_tokens
from svc.mcp.signing.discovery import Challenge, Client, Found, scopes_of
from svc.store import ReadTx, Tx

_TOKENS: Final = "idp.oauth.mcp."
_CLIENT: Final = "idp.oauth.mcp-client."


@dataclass(frozen=True, kw_only=True)
class Kept:
    """``ended``: why the earlier access is no longer valid."""

    url: str
    challenge: Challenge
    found: Found | None
    signed_in_at: int | None
    ended: str

    @property
    def signed_in(self) -> bool:
        return self.signed_in_at is not None and not self.ended

    @property
    def missing(self) -> tuple[str, ...]:
        """The scopes that the server wants, but that the sign-in did not ask for."""
        if not self.signed_in or self.found is None:
            return ()
        return tuple(one for one in scopes_of(self.challenge.scope) if one not in self.found.scopes)


def tokens_name(server_id: str) -> str:
    return _TOKENS + server_id


def kept(tx: ReadTx, server_id: str, url: str) -> Kept | None:
    row = tx.one(
        "select url, challenge, found, signed_in_at, ended from mcp_sign_ins where server_id = :id and url = :url",
        id=server_id,
        url=url,
    )
    if row is None:
        return None
    return Kept(
        url=cast(str, row[0]),
        challenge=msgspec.json.decode(cast(str, row[1]), type=Challenge),
        found=None if row[2] is None else msgspec.json.decode(cast(str, row[2]), type=Found),
        signed_in_at=cast("int | None", row[3]),
        ended=cast(str, row[4]),
    )


def challenged(tx: Tx, credentials: Credentials, server_id: str, url: str, challenge: Challenge) -> None:
    """The server at this address wants a sign-in. What was stored for another address is deleted."""
    if kept(tx, server_id, url) is None:
        forget(tx, credentials, server_id)
    tx.run(
        """
        insert into mcp_sign_ins (server_id, url, challenge) values (:id, :url, :challenge)
        on conflict (server_id) do update set challenge = excluded.challenge
        """,
        id=server_id,
        url=url,
        challenge=msgspec.json.encode(challenge).decode(),
    )


def keep_found(tx: Tx, credentials: Credentials, server_id: str, url: str, found: Found) -> bool:
    """Store the discovery. Returns whether it ended an existing access: another issuer must not get what this one
    granted.
    """
    known = kept(tx, server_id, url)
    is_others = known is not None and known.found is not None and known.found.issuer != found.issuer
    if is_others:
        credentials.remove(tx, tokens_name(server_id))
        tx.run("update mcp_sign_ins set signed_in_at = null, ended = '' where server_id = :id", id=server_id)
    tx.run(
        "update mcp_sign_ins set found = :found where server_id = :id and url = :url",
        id=server_id,
        url=url,
        found=msgspec.json.encode(found).decode(),
    )
    return is_others


def granted(tx: Tx, credentials: Credentials, server_id: str, url: str, tokens: Tokens) -> None:
    keep_tokens(tx, credentials, name=tokens_name(server_id), tokens=tokens)
    tx.run(
        "update mcp_sign_ins set signed_in_at = :now, ended = '' where server_id = :id and url = :url",
        id=server_id,
        url=url,
        now=tx.now,
    )


def end(tx: Tx, server_id: str, url: str, why: str) -> None:
    """Mark the access as ended. Its stored data is useless now, and the next sign-in replaces it."""
    tx.run(
        """
        update mcp_sign_ins set ended = :why where server_id = :id and url = :url and signed_in_at is not null
        """,
        id=server_id,
        url=url,
        why=why,
    )


def forget(tx: Tx, credentials: Credentials, server_id: str) -> bytes | None:
    """Delete all of it. Returns the tokens, so that they can be revoked."""
    tokens = credentials.read(tx, tokens_name(server_id))
    credentials.remove(tx, tokens_name(server_id))
    credentials.remove(tx, _CLIENT + server_id)
    tx.run("delete from mcp_sign_ins where server_id = :id", id=server_id)
    return tokens


def client_of(tx: Tx, credentials: Credentials, server_id: str, issuer: str) -> Client | None:
    """Our client at exactly that issuer: no issuer may see the client of another."""
    data = credentials.read(tx, _CLIENT + server_id)
    found = None if data is None else msgspec.json.decode(data, type=Client)
    return found if found is not None and found.issuer == issuer else None


def keep_client(tx: Tx, credentials: Credentials, server_id: str, client: Client) -> None:
    credentials.write(tx, _CLIENT + server_id, msgspec.json.encode(client))


def drop_registered(tx: Tx, credentials: Credentials, server_id: str) -> None:
    """Delete a client that the issuer no longer knows: the next sign-in registers a new one. A client that a person
    entered stays; they must fix it.
    """
    data = credentials.read(tx, _CLIENT + server_id)
    if data is not None and msgspec.json.decode(data, type=Client).registered:
        credentials.remove(tx, _CLIENT + server_id)


def everybody(tx: ReadTx) -> list[str]:
    """The ids of the servers with stored data."""
    return [cast(str, row[0]) for row in tx.all("select server_id from mcp_sign_ins order by server_id")]
