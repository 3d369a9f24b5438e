"""Our own copies of sent mail. Each is expected in its folder; if the server does not file it, we do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from svc.clock import Millis
from svc.ids import derived_id
from svc.mail.providers.imap.rows.messages import insert
from svc.mail.providers.imap.rows.model import Arrival, FolderRow
from svc.store import ReadTx, Tx


@dataclass(frozen=True, kw_only=True)
class Awaited:
    """A copy that was not seen in its folder yet. ``tries``: how often we tried to file it."""

    id: str
    sha256: str
    folder_name: bytes
    since: Millis
    tries: int


def expect_copy(
    tx: Tx,
    *,
    account_id: str,
    folder: FolderRow,
    filing: str,
    mark: str,
    sha256: str,
    size: int,
    labels: frozenset[str] = frozenset(),
) -> str:
    """Notes that a sent mail will be in the folder, filed by the server or by us. Returns its id. ``labels``: its
    labels beside the folder's."""
    message_id = derived_id("imap", account_id, "sent", filing)
    known = tx.one("select 1 from mail_imap_places where account_id = :a and id = :id", a=account_id, id=message_id)
    if known is None:
        copy = Arrival(
            uid=0,
            mark=mark,
            filings=frozenset(),
            arrived_at=tx.now,
            size=size,
            seen=True,
            flagged=False,
            keywords=labels,
        )
        insert(tx, account_id, message_id, folder_id=folder.id, arrival=copy, uid=None)
        tx.run(
            """
            update mail_imap_places set filing = :filing, filing_sha256 = :sha256
            where account_id = :account_id and id = :id
            """,
            filing=filing,
            sha256=sha256,
            account_id=account_id,
            id=message_id,
        )
    return message_id


def awaited(tx: ReadTx, *, account_id: str, before: Millis, tries: int) -> list[Awaited]:
    """The missing copies of mail that was sent before ``before``, with fewer than ``tries`` tries."""
    rows = tx.all(
        """
        select p.id, p.filing_sha256, f.name, p.arrived_at, p.filed_tries
        from mail_imap_places p indexed by mail_imap_places_filing join mail_imap_folders f on f.id = p.folder_id
        where p.account_id = :id and p.filing is not null and p.uid is null and p.arrived_at < :before
            and p.filed_tries < :tries
        """,
        id=account_id,
        before=before,
        tries=tries,
    )
    return [
        Awaited(id=str(one), sha256=str(sha256), folder_name=cast(bytes, name), since=cast(int, at), tries=cast(int, n))
        for one, sha256, name, at, n in rows
    ]


def note_filed(tx: Tx, *, account_id: str, message_id: str) -> None:
    """Counts a try to file a copy. Called before it is sent, so that the try counts whatever the result."""
    tx.run(
        "update mail_imap_places set filed_tries = filed_tries + 1 where account_id = :account_id and id = :id",
        account_id=account_id,
        id=message_id,
    )
