"""A place is found by an index, however many messages a mailbox has, and also before there are statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest

from svc.mail.model import INBOX
from svc.mail.providers.imap.roles import Place
from svc.mail.providers.imap.rows import copies, folders, messages, queries
from svc.mail.providers.imap.rows.model import Arrival, FolderRow
from svc.store import Tx
from tests.mail.bare import bare_tx

SOME: Final = 20
MANY: Final = 50 * SOME
COUNTED: Final = 10
"""Instructions of SQLite that are counted as one."""


@pytest.mark.parametrize("has_server_ids", [False, True])
def test_new_messages_take_no_longer_in_a_large_mailbox(has_server_ids: bool) -> None:
    tx, folder = _mailbox()
    at_first = _effort(tx, lambda: _arrive(tx, folder, range(1, SOME), has_server_ids=has_server_ids))
    _arrive(tx, folder, range(SOME, MANY), has_server_ids=has_server_ids)
    assert _effort(tx, lambda: _arrive(tx, folder, range(MANY, MANY + SOME), has_server_ids=has_server_ids)) < (
        2 * at_first
    )


def test_a_look_for_what_is_missing_takes_no_longer_in_a_large_mailbox() -> None:
    tx, folder = _mailbox()

    def look() -> None:
        assert not queries.lost(tx, account_id="acc")
        assert not copies.awaited(tx, account_id="acc", before=tx.now, tries=3)

    at_first = _effort(tx, look)
    _arrive(tx, folder, range(1, MANY))
    assert _effort(tx, look) == at_first


def _mailbox() -> tuple[Tx, FolderRow]:
    tx = bare_tx()
    tx.run(
        """
        insert or ignore into mail_accounts (id, owner_id, address, provider, state, created_at)
        values ('acc', 'usr', 'mia@example.org', 'imap', 'caught-up', 0)
        """
    )
    (folder,) = folders.store_folders(tx, account_id="acc", found=[Place(name=b"INBOX", label=INBOX, shown="Inbox")])
    return tx, folder


def _arrive(tx: Tx, folder: FolderRow, uids: Sequence[int], *, has_server_ids: bool = False) -> None:
    found = [
        Arrival(
            uid=uid,
            mark=f"mark {uid}",
            filings=frozenset({f"filing {uid}"}),
            arrived_at=uid,
            size=1,
            seen=False,
            flagged=False,
            keywords=frozenset(),
            server_id=str(uid) if has_server_ids else None,
        )
        for uid in uids
    ]
    messages.store_arrivals(tx, account_id="acc", folder=folder, uid_validity=1, found=found, is_told=False)


def _effort(tx: Tx, work: Callable[[], None]) -> int:
    """How much SQLite has to do for it."""
    done = 0

    def count() -> int:
        nonlocal done
        done += 1
        return 0

    tx._connection.set_progress_handler(count, COUNTED)
    work()
    tx._connection.set_progress_handler(None, 0)
    return done
