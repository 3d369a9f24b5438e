"""Mail: accounts of any provider, every thread synced, and the unified inbox.

Owns the tables ``mail_*`` and one sync loop for each account. It never sends unsanitized HTML to a browser, and never
counts messages to show a list. Each folder or module imports only those before it::

    settings < wire < model < providers < accounts < threads < changes < sync < search < labelling < bulk < blocking
        < authentication < images < proposing < reading < connecting < sending < snippets < unsubscribing < invitations
        < sharing < porting < mending < health < ingest_steps < service < tables < migrations < owners < commands
        < feature

A folder has no names in its own ``__init__.py``: later folders import its modules.

Other features use only this module: records, queries, and actions on a transaction. Each takes a principal, and
answers as if the things that the principal may not see did not exist. After a commit that changed threads or accepted
a mail, call :func:`carry_on`: it wakes the loops that send the change to the provider.
"""

from svc.mail.accounts.actions import connect as connect_account
from svc.mail.accounts.queries import (
    account_by_address,
    account_for,
    accounts,
    connected_account,
    connected_accounts,
    owner_name,
    shared_count,
)
from svc.mail.authentication.keys import SigningKeys
from svc.mail.commands import import_mail
from svc.mail.labelling.actions import relabel_thread, set_labels, snooze, unsnooze
from svc.mail.labelling.inbox_actions import archive, leave_inbox, mark_unread, unarchive
from svc.mail.labelling.inbox_actions import open_thread as mark_read
from svc.mail.labelling.reversals import take_back as take_back_changes
from svc.mail.labelling.step import Changes, Opened, Step
from svc.mail.model import (
    DRAFT,
    HIDDEN_LABELS,
    INBOX,
    SENT,
    STARRED,
    UNREAD,
    Account,
    AccountState,
    AttachmentRef,
    Body,
    Label,
    MessageHeaders,
    MessageRow,
    ThreadRow,
    thread_id_of,
)
from svc.mail.porting import bringing_back
from svc.mail.porting.actions import create_local
from svc.mail.porting.exporting import Export as MailExport
from svc.mail.porting.keeping import keep_mails
from svc.mail.porting.model import Tally as MailTally
from svc.mail.porting.sources import Item as KeptMail
from svc.mail.porting.sources import open_file as open_mail
from svc.mail.proposing.replies import ProposedReply, propose
from svc.mail.proposing.replies import drop as drop_proposal
from svc.mail.proposing.replies import for_principal as proposal_for
from svc.mail.providers.kinds import kind_of
from svc.mail.providers.table import Providers
from svc.mail.reading.reader import text_of_body
from svc.mail.search.own_text import OwnText, body_chars, own_texts
from svc.mail.search.procedures import Mixed, free_words
from svc.mail.search.wire import FoundThreadOut, SearchInput
from svc.mail.sending.actions import accept as send
from svc.mail.sending.actions import checked_recipients
from svc.mail.sending.answering import Answer, answer_to
from svc.mail.sending.drafts import save as save_draft
from svc.mail.sending.model import Draft, Outgoing, SendRequest
from svc.mail.sending.queries import addresses_of
from svc.mail.service import carry_on, hold_ms, make_label, read_thread, search, search_mixed, start_account, sync_now
from svc.mail.sync.received import MAIL_RECEIVED
from svc.mail.threads.label_queries import label_named, labels_of
from svc.mail.threads.queries import Cursor, message, message_for, messages_of, thread_for
from svc.mail.threads.queries import threads as list_threads
from svc.mail.threads.wire import ThreadsOut, decode_cursor, encode_cursor_at, thread_summaries
from svc.mail.wire import Id

__all__ = [
    "DRAFT",
    "HIDDEN_LABELS",
    "INBOX",
    "MAIL_RECEIVED",
    "SENT",
    "STARRED",
    "UNREAD",
    "Account",
    "AccountState",
    "Answer",
    "AttachmentRef",
    "Body",
    "Changes",
    "Cursor",
    "Draft",
    "FoundThreadOut",
    "Id",
    "KeptMail",
    "Label",
    "MailExport",
    "MailTally",
    "MessageHeaders",
    "MessageRow",
    "Mixed",
    "Opened",
    "Outgoing",
    "OwnText",
    "ProposedReply",
    "Providers",
    "SearchInput",
    "SendRequest",
    "SigningKeys",
    "Step",
    "ThreadRow",
    "ThreadsOut",
    "account_by_address",
    "account_for",
    "accounts",
    "addresses_of",
    "answer_to",
    "archive",
    "body_chars",
    "bringing_back",
    "carry_on",
    "checked_recipients",
    "connect_account",
    "connected_account",
    "connected_accounts",
    "create_local",
    "decode_cursor",
    "drop_proposal",
    "encode_cursor_at",
    "free_words",
    "hold_ms",
    "import_mail",
    "keep_mails",
    "kind_of",
    "label_named",
    "labels_of",
    "leave_inbox",
    "list_threads",
    "make_label",
    "mark_read",
    "mark_unread",
    "message",
    "message_for",
    "messages_of",
    "open_mail",
    "own_texts",
    "owner_name",
    "proposal_for",
    "propose",
    "read_thread",
    "relabel_thread",
    "save_draft",
    "search",
    "search_mixed",
    "send",
    "set_labels",
    "shared_count",
    "snooze",
    "start_account",
    "sync_now",
    "take_back_changes",
    "text_of_body",
    "thread_for",
    "thread_id_of",
    "thread_summaries",
    "unarchive",
    "unsnooze",
]
