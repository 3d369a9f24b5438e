"""Whose each table of mail is: the folder that writes it, and that offers to erase an account's rows of it.

``tests/test_tables.py`` reads every statement of the service against this. What ingest stores of a mailbox is one state
that three folders keep together (``threads``, ``changes``, ``sync``), so those are named in :data:`INGEST_WRITES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "accounts": ("mail_accounts", "mail_labels", "mail_ledger"),
    "threads": ("mail_threads", "mail_messages", "mail_thread_labels", "mail_snoozes", "mail_references"),
    "changes": ("mail_mirror",),
    "search": (
        "mail_search",
        "mail_search_body",
        "mail_search_fts",
        "mail_search_gone",
        "mail_search_named",
        "mail_search_queue",
        "mail_search_state",
    ),
    "images": ("mail_remote_images", "mail_trusted_senders"),
    "reading": ("mail_clean",),
    "sending": ("mail_outgoing", "mail_drafts", "mail_signatures"),
}

INGEST: Final = frozenset({"threads", "changes", "sync"})
INGEST_WRITES: Final = frozenset({"mail_accounts", "mail_labels", "mail_ledger", "mail_messages", "mail_mirror"})

TABLES: Final = tuple(table for tables in OWNERS.values() for table in tables)
