"""The credentials of cells: which cell a token authenticates. Only digests are stored; a token that was replaced is
never valid again."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.control_plane.database import Rows
from svc.control_plane.migrations import take_turns
from svc.control_plane.settings import CellToken, digest_of

KEPT_DIGESTS: Final = 20


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The caller: one credential, of one cell of one tenant."""

    credential_id: str
    tenant_id: str
    cell_id: str
    disabled: bool


@dataclass(frozen=True, kw_only=True)
class Upserted:
    """How many credentials are new or have a new token, and which were left unchanged because the given token is an old
    one."""

    changed: int
    retired: tuple[str, ...]


def cell_of(connection: Rows, token: str) -> Cell | None:
    """The cell of a token, disabled or not; ``None`` for an unknown token."""
    row = connection.execute(
        """
        select credential_id, tenant_id, cell_id, disabled_at is not null, token_digest
        from control_plane.credentials where credential_id = %s
        """,
        (token.partition(".")[0],),
    ).fetchone()
    known = bytes(row[4]) if row is not None else bytes(32)
    is_right = hmac.compare_digest(known, digest_of(token))
    if row is None or not is_right:
        return None
    return Cell(credential_id=row[0], tenant_id=row[1], cell_id=row[2], disabled=row[3])


def upsert(connection: Rows, tokens: Sequence[CellToken]) -> Upserted:
    """Stores the credentials from the settings, at boot.

    A disabled credential stays disabled. A replica that starts again with older settings does not restore an older
    token.
    """
    if not tokens:
        return Upserted(changed=0, retired=())
    take_turns(connection)
    changed, retired = 0, []
    for token in sorted(tokens, key=lambda one: one.credential_id):
        done = connection.execute(
            """
            insert into control_plane.credentials as known (credential_id, tenant_id, cell_id, token_digest)
            values (%(credential)s, %(tenant)s, %(cell)s, %(digest)s)
            on conflict (credential_id) do update set
                tenant_id = excluded.tenant_id, cell_id = excluded.cell_id, token_digest = excluded.token_digest,
                retired_digests = case when known.token_digest = excluded.token_digest then known.retired_digests
                    else (known.token_digest || known.retired_digests)[:%(kept)s] end,
                updated_at = now()
            where excluded.token_digest <> all (known.retired_digests)
                and (known.token_digest, known.tenant_id, known.cell_id)
                    <> (excluded.token_digest, excluded.tenant_id, excluded.cell_id)
            """,
            {
                "credential": token.credential_id,
                "tenant": token.tenant_id,
                "cell": token.cell_id,
                "digest": token.digest,
                "kept": KEPT_DIGESTS,
            },
        )
        changed += done.rowcount
        if done.rowcount == 0 and _is_retired(connection, token):
            retired.append(token.credential_id)
    return Upserted(changed=changed, retired=tuple(retired))


def _is_retired(connection: Rows, token: CellToken) -> bool:
    found = connection.execute(
        "select 1 from control_plane.credentials where credential_id = %s and %s = any (retired_digests)",
        (token.credential_id, token.digest),
    ).fetchone()
    return found is not None
