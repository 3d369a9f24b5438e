"""The migrations of mail: accounts, their labels, threads, messages; the outbox of label changes and the failures.

``thread_rows.py`` keeps the values that a list shows in columns of ``mail_threads`` and ``mail_accounts``, so no read
ever counts or groups messages. The partial indexes have the order in which the lists are read.
"""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.mail.accounts.tables import OWN_ADDRESSES
from svc.mail.accounts.tables import TABLES as SHARING_TABLES
from svc.mail.authentication.tables import TABLES as AUTHENTICATION_TABLES
from svc.mail.bulk.tables import BULK_TABLES
from svc.mail.health.tables import TABLES as HEALTH_TABLES
from svc.mail.images.tables import BOUND
from svc.mail.images.tables import FORGETTING as FORGETTING_PICTURES
from svc.mail.images.tables import TABLES as IMAGES_TABLES
from svc.mail.invitations.tables import ANSWERED_ORGANIZERS, PROPOSALS
from svc.mail.invitations.tables import TABLES as INVITATIONS_TABLES
from svc.mail.labelling.tables import TABLES as LABELLING_TABLES
from svc.mail.porting.tables import IMPORTS_TABLES
from svc.mail.proposing.tables import TABLES as PROPOSING_TABLES
from svc.mail.providers.imap.tables import (
    DRAFT_CONTENTS,
    DRAFT_TEXTS,
    MADE_KEYWORDS,
    MOVES,
    OWN_DRAFTS,
    RENAMED,
    SERVER_IDS,
)
from svc.mail.providers.imap.tables import TABLES as IMAP_TABLES
from svc.mail.providers.tables import NUMBERED_DRAFTS
from svc.mail.reading.tables import FORGETTING, WARNINGS
from svc.mail.search.tables import ERASED_WHEN_ASKED, VOCABULARY
from svc.mail.search.tables import TABLES as SEARCH_TABLES
from svc.mail.sending.tables import DRAFT_COPIES, FOLLOWED_DRAFTS, SENT_BY, TAKEN_DRAFTS
from svc.mail.sending.tables import TABLES as SENDING_TABLES
from svc.mail.snippets.tables import TABLES as SNIPPETS_TABLES
from svc.mail.tables import TABLES
from svc.mail.threads.own_words.tables import TABLES as OWN_WORDS_TABLES
from svc.mail.threads.tables import (
    BLOCKED_SENDERS,
    DRAFTS_APART,
    DRAFTS_NOT_RECEIVED,
    FILTERED_TABLES,
    JOINED_TABLES,
    MARKED_ADDRESSES,
    MET_TOGETHER,
    MUTES_TABLES,
    REFERENCES_TABLES,
    UNREAD_TWINS,
    WRITERS,
)
from svc.mail.unsubscribing.tables import BY_MAIL as UNSUBSCRIBED_BY_MAIL
from svc.mail.unsubscribing.tables import TABLES as UNSUBSCRIBING_TABLES

MIGRATIONS = Migrations("mail")


@MIGRATIONS(name="m001_mail")
def m001_mail(db: Database) -> None:
    for statement in TABLES:
        db.execute(statement)


@MIGRATIONS(name="m002_sending")
def m002_sending(db: Database) -> None:
    for statement in SENDING_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m003_search")
def m003_search(db: Database) -> None:
    for statement in SEARCH_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m004_labelling")
def m004_labelling(db: Database) -> None:
    for statement in LABELLING_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m005_images")
def m005_images(db: Database) -> None:
    for statement in (*IMAGES_TABLES, WARNINGS):
        db.execute(statement)


@MIGRATIONS(name="m007_twins")
def m007_twins(db: Database) -> None:
    for statement in (
        "alter table mail_threads add column twins text",
        "alter table mail_threads add column leads integer not null default 1",
        "create index mail_threads_twins on mail_threads (twins) where twins is not null",
        "alter table mail_accounts add column unread_twins integer not null default 0",
    ):
        db.execute(statement)


@MIGRATIONS(name="m006_health")
def m006_health(db: Database) -> None:
    for statement in HEALTH_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m008_forgetting")
def m008_forgetting(db: Database) -> None:
    for statement in (*FORGETTING_PICTURES, *FORGETTING):
        db.execute(statement)


@MIGRATIONS(name="m009_own_words")
def m009_own_words(db: Database) -> None:
    for statement in OWN_WORDS_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m010_mending")
def m010_mending(db: Database) -> None:
    """Finds the messages of a raw blob by its hash."""
    db.execute("create index mail_messages_raw on mail_messages (raw_sha256)")


@MIGRATIONS(name="m011_drafts_not_received")
def m011_drafts_not_received(db: Database) -> None:
    """Corrects drafts that carry INBOX: they were counted as received mail."""
    for statement in DRAFTS_NOT_RECEIVED:
        db.execute(statement)


@MIGRATIONS(name="m012_undo_moves")
def m012_undo_moves(db: Database) -> None:
    """Moves the undo log to the table of the undo feature."""
    db.execute(
        """
        insert into undo_steps (user_id, kind, what, concerns, inverse, at)
        select user_id, kind, what, thread_ids, inverse, at from mail_undo order by id
        """
    )
    db.execute("drop table mail_undo")


@MIGRATIONS(name="m013_sender_names")
def m013_sender_names(db: Database) -> None:
    """The name in ``From`` of an account. Null: not set yet. Empty: the person wants no name."""
    db.execute("alter table mail_accounts add column sender_name text")


@MIGRATIONS(name="m014_any_provider")
def m014_any_provider(db: Database) -> None:
    """Allows any provider: the code lists the providers, and the position of the sync is an opaque cursor.

    The check of the old column is dropped together with the column. So the table is not made anew, and the tables that
    refer to it stay valid.
    """
    for statement in (
        "alter table mail_accounts rename column history_id to cursor",
        "alter table mail_accounts rename column sweep_history_id to sweep_cursor",
        "alter table mail_accounts add column any_provider text not null default ''",
        "update mail_accounts set any_provider = provider",
        "alter table mail_accounts drop column provider",
        "alter table mail_accounts rename column any_provider to provider",
    ):
        db.execute(statement)


@MIGRATIONS(name="m015_search_follows")
def m015_search_follows(db: Database) -> None:
    """A consumer of the events of stored mail queues messages for search from now on. Older mail is queued already."""
    db.execute("drop trigger mail_search_stored")


@MIGRATIONS(name="m016_references")
def m016_references(db: Database) -> None:
    """Threads that svc builds itself, for providers that have none."""
    for statement in REFERENCES_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m017_drafts_apart")
def m017_drafts_apart(db: Database) -> None:
    """Counts drafts apart: the message count of a thread included its drafts."""
    for statement in DRAFTS_APART:
        db.execute(statement)


@MIGRATIONS(name="m018_search_erases")
def m018_search_erases(db: Database) -> None:
    """Search erases its rows of an account when asked, like every owner of tables."""
    for statement in ERASED_WHEN_ASKED:
        db.execute(statement)


@MIGRATIONS(name="m019_joined")
def m019_joined(db: Database) -> None:
    """The ids of threads that were joined to another, each with that other thread, so that old links still work."""
    for statement in JOINED_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m020_failed_changes")
def m020_failed_changes(db: Database) -> None:
    """Renames the step ``mirror`` to ``change``. A check lists the steps, so the table is made anew."""
    for statement in (
        """
        create table mail_failed (              -- single messages that failed and were skipped
            account_id text not null references mail_accounts (id) on delete cascade,
            provider_message_id text not null,
            step text not null check (step in ('fetch', 'store', 'change')),
            reason text not null,
            attempts integer not null,
            first_at integer not null,
            last_at integer not null,
            primary key (account_id, provider_message_id, step)
        ) strict, without rowid
        """,
        """
        insert into mail_failed (account_id, provider_message_id, step, reason, attempts, first_at, last_at)
        select account_id, provider_message_id, iif(step = 'mirror', 'change', step), reason, attempts, first_at,
            last_at
        from mail_ledger
        """,
        "drop table mail_ledger",
        "alter table mail_failed rename to mail_ledger",
    ):
        db.execute(statement)


@MIGRATIONS(name="m021_imap")
def m021_imap(db: Database) -> None:
    """The content of IMAP mailboxes at their servers, as it was at the last look."""
    for statement in IMAP_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m022_filters")
def m022_filters(db: Database) -> None:
    """Every list with a filter: only unread, to me, with attachments, starred."""
    for statement in FILTERED_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m023_mutes")
def m023_mutes(db: Database) -> None:
    """Muted threads."""
    for statement in MUTES_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m030_imports")
def m030_imports(db: Database) -> None:
    """Imports of mailboxes, each a run."""
    for statement in IMPORTS_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m031_imap_keywords")
def m031_imap_keywords(db: Database) -> None:
    """Labels made in svc, at IMAP servers that keep them as keywords."""
    for statement in MADE_KEYWORDS:
        db.execute(statement)


@MIGRATIONS(name="m030_sharing")
def m030_sharing(db: Database) -> None:
    """The people with whom accounts are shared, and who did what in a shared account."""
    for statement in (*SHARING_TABLES, *SENT_BY):
        db.execute(statement)


@MIGRATIONS(name="m042_authentication")
def m042_authentication(db: Database) -> None:
    """The verified origin of a message, and trust in a sender that holds only for mail with a verified origin."""
    for statement in (*AUTHENTICATION_TABLES, *BOUND):
        db.execute(statement)


@MIGRATIONS(name="m043_unsubscribing")
def m043_unsubscribing(db: Database) -> None:
    """The results of unsubscribing."""
    for statement in UNSUBSCRIBING_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m044_invitations")
def m044_invitations(db: Database) -> None:
    """What calendar files in mail say, and what was answered."""
    for statement in INVITATIONS_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m045_draft_copies")
def m045_draft_copies(db: Database) -> None:
    """Copies of drafts at the mail server."""
    for statement in (*OWN_DRAFTS, *DRAFT_COPIES):
        db.execute(statement)


@MIGRATIONS(name="m046_own_addresses")
def m046_own_addresses(db: Database) -> None:
    """The addresses from which an account may send."""
    for statement in OWN_ADDRESSES:
        db.execute(statement)


@MIGRATIONS(name="m050_imap_server_ids")
def m050_imap_server_ids(db: Database) -> None:
    """The ids of messages and threads at IMAP servers that give such ids."""
    for statement in SERVER_IDS:
        db.execute(statement)


@MIGRATIONS(name="m051_taken_drafts")
def m051_taken_drafts(db: Database) -> None:
    """Drafts of other programs that are continued here, and why a draft's copy was refused."""
    for statement in TAKEN_DRAFTS:
        db.execute(statement)


@MIGRATIONS(name="m052_marked_addresses")
def m052_marked_addresses(db: Database) -> None:
    """The addresses by which the messages of an account are marked as sent to the person."""
    for statement in MARKED_ADDRESSES:
        db.execute(statement)


@MIGRATIONS(name="m053_writers")
def m053_writers(db: Database) -> None:
    """The people who wrote in a thread, for its row in a list."""
    for statement in WRITERS:
        db.execute(statement)


@MIGRATIONS(name="m054_followed_drafts")
def m054_followed_drafts(db: Database) -> None:
    """Changes that other programs make to drafts at the mail server."""
    for statement in FOLLOWED_DRAFTS:
        db.execute(statement)


@MIGRATIONS(name="m055_renamed")
def m055_renamed(db: Database) -> None:
    """Whether a mail server gave the copy of a sent mail another Message-ID."""
    for statement in RENAMED:
        db.execute(statement)


@MIGRATIONS(name="m056_unread_twins")
def m056_unread_twins(db: Database) -> None:
    """Finds unread threads that are in two accounts, which a member of both sees once in Unified."""
    db.execute(UNREAD_TWINS)


@MIGRATIONS(name="m057_snippets")
def m057_snippets(db: Database) -> None:
    for statement in SNIPPETS_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m058_vocabulary")
def m058_vocabulary(db: Database) -> None:
    """The words of each account's mail, to search for their other forms and to correct spelling."""
    for statement in VOCABULARY:
        db.execute(statement)


@MIGRATIONS(name="m060_bulk_steps")
def m060_bulk_steps(db: Database) -> None:
    """Bulk steps, with the threads that were selected and the changes that were made."""
    for statement in BULK_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m061_blocked_senders")
def m061_blocked_senders(db: Database) -> None:
    for statement in BLOCKED_SENDERS:
        db.execute(statement)


@MIGRATIONS(name="m062_proposed_replies")
def m062_proposed_replies(db: Database) -> None:
    for statement in PROPOSING_TABLES:
        db.execute(statement)


@MIGRATIONS(name="m063_met_together")
def m063_met_together(db: Database) -> None:
    for statement in MET_TOGETHER:
        db.execute(statement)


@MIGRATIONS(name="m064_numbered_drafts")
def m064_numbered_drafts(db: Database) -> None:
    """Copies of drafts at providers that give drafts ids of their own."""
    for statement in NUMBERED_DRAFTS:
        db.execute(statement)


@MIGRATIONS(name="m065_proposals")
def m065_proposals(db: Database) -> None:
    """The organizer's answers to proposals of another time for a meeting."""
    for statement in PROPOSALS:
        db.execute(statement)


@MIGRATIONS(name="m066_imap_moves")
def m066_imap_moves(db: Database) -> None:
    """Moves in two steps, at IMAP servers that have no move of their own."""
    for statement in MOVES:
        db.execute(statement)


@MIGRATIONS(name="m067_answered_organizers")
def m067_answered_organizers(db: Database) -> None:
    """Whose invitation was answered, also once its mail is gone."""
    for statement in ANSWERED_ORGANIZERS:
        db.execute(statement)


@MIGRATIONS(name="m068_texts_of_draft_copies")
def m068_texts_of_draft_copies(db: Database) -> None:
    """The size and digest of each draft copy at an IMAP server, to tell it from a version of another program."""
    for statement in DRAFT_TEXTS:
        db.execute(statement)


@MIGRATIONS(name="m069_unsubscribed_by_mail")
def m069_unsubscribed_by_mail(db: Database) -> None:
    """The mail that asked to unsubscribe, which may be held back or fail."""
    for statement in UNSUBSCRIBED_BY_MAIL:
        db.execute(statement)


@MIGRATIONS(name="m070_contents_of_draft_copies")
def m070_contents_of_draft_copies(db: Database) -> None:
    """The digest of the content of each draft copy at an IMAP server whose arrival was not answered."""
    for statement in DRAFT_CONTENTS:
        db.execute(statement)
