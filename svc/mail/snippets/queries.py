"""The statements that read snippets. Nobody sees the snippets of others."""

from __future__ import annotations

from typing import Final, cast

from svc.mail.accounts.access import who
from svc.mail.snippets.model import Snippet
from svc.principal import Principal
from svc.store import ReadTx, Row, texts_of

OWN: Final = "(:everything or owner_id is :user_id)"
_COLUMNS: Final = "id, name, html, subject, to_addresses, cc_addresses, bcc_addresses, updated_at"


def snippets(tx: ReadTx, principal: Principal) -> list[Snippet]:
    """All snippets of the caller, sorted by name."""
    rows = tx.all(f"select {_COLUMNS} from mail_snippets where {OWN} order by name_key, id", **who(principal))
    return [_snippet(row) for row in rows]


def _snippet(row: Row) -> Snippet:
    return Snippet(
        id=cast(str, row[0]),
        name=cast(str, row[1]),
        html=cast(str, row[2]),
        subject=cast(str, row[3]),
        to=texts_of(row[4]),
        cc=texts_of(row[5]),
        bcc=texts_of(row[6]),
        updated_at=cast(int, row[7]),
    )
