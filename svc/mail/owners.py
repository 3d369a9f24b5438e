"""Which folder owns each table of mail. The owner writes the table, and has a function that erases an account's rows.

``tests/test_tables.py`` checks every statement of the service against this. Other code that has to write a table calls
a function of the owning folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc.erase import Erase
from svc.mail.accounts import letting_go
from svc.mail.changes import outbox
from svc.mail.health import erasing as health
from svc.mail.invitations import erasing as invitations
from svc.mail.porting import erasing as porting
from svc.mail.proposing import erasing as proposing
from svc.mail.providers import draft_rows
from svc.mail.providers.imap.rows import messages as imap
from svc.mail.search import actions as search
from svc.mail.sending import erasing as sending
from svc.mail.threads import erasing as threads

OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "providers": (
        "mail_imap_folders",
        "mail_imap_places",
        "mail_imap_changes",
        "mail_imap_keywords",
        "mail_imap_drafts",
        "mail_imap_copies",
        "mail_imap_leftovers",
        "mail_provider_drafts",
    ),
    "accounts": ("mail_accounts", "mail_labels", "mail_ledger", "mail_shares", "mail_acts", "mail_own_addresses"),
    "threads": (
        "mail_threads",
        "mail_messages",
        "mail_thread_labels",
        "mail_filtered_threads",
        "mail_marked_addresses",
        "mail_snoozes",
        "mail_mutes",
        "mail_blocked_senders",
        "mail_references",
        "mail_joined_threads",
    ),
    "changes": ("mail_mirror",),
    "search": (
        "mail_search",
        "mail_search_body",
        "mail_search_fts",
        "mail_search_gone",
        "mail_search_named",
        "mail_search_queue",
        "mail_search_state",
        "mail_search_vocabulary",
    ),
    "bulk": ("mail_bulk_steps", "mail_bulk_threads", "mail_bulk_changes"),
    "authentication": ("mail_authentication", "mail_dkim_keys"),
    "images": ("mail_remote_images", "mail_trusted_senders"),
    "proposing": ("mail_proposed_replies",),
    "reading": ("mail_clean",),
    "invitations": ("mail_invitations", "mail_invitation_answers", "mail_invitation_times", "mail_proposal_answers"),
    "unsubscribing": ("mail_unsubscribed",),
    "sending": (
        "mail_outgoing",
        "mail_drafts",
        "mail_draft_copies",
        "mail_draft_originals",
        "mail_draft_finds",
        "mail_signatures",
    ),
    "snippets": ("mail_snippets",),
    "porting": ("mail_imports",),
}

TABLES: Final = tuple(table for tables in OWNERS.values() for table in tables)

ERASES: Final[tuple[Erase, ...]] = (
    letting_go.erase,
    imap.erase,
    draft_rows.erase,
    health.erase_events,
    health.erase_news,
    threads.erase,
    outbox.erase,
    search.erase,
    proposing.erase,
    sending.erase,
    invitations.erase,
    porting.erase,
)
"""In the order of the folders. They are called in reverse, so the account's own row is deleted last. Some folders have
no function here: rows of ``images`` and ``reading`` belong to people or bodies, and a body's rows are deleted with the
last message that has it (``reading/tables.py``). Rows of ``authentication`` and ``unsubscribing`` are deleted with
their message. DKIM keys, and the rows of ``bulk`` (ids of threads and messages), expire."""
