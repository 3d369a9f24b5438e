"""Each table is in an export, or is made again from what is, or is named among what is left out."""

from __future__ import annotations

from typing import Final

from svc.app import FEATURES
from svc.store import TABLES as STORE_TABLES
from tests.test_architecture import ROOT

IN_IT: Final = """
    users preferences people files deleted_files notify_preferences triage_people triage_senders meetings meeting_lines
    mail_accounts mail_messages mail_threads mail_thread_labels mail_labels mail_drafts mail_outgoing
    mail_blocked_senders mail_mutes mail_snoozes mail_snippets mail_signatures mail_trusted_senders mail_shares
    pages page_revisions page_grants page_trust page_trash page_trash_files page_trash_grants page_trash_revisions
"""

MADE_AGAIN: Final = """
    blob_damage consumer_failures consumers events outbox meta idempotency_keys okf_files okf_queue okf_troubles
    page_files page_links page_search page_search_queue page_edit_pages page_edits people_skipped people_together
    people_words meaning_faults meaning_queue meaning_vectors replica_blobs replica_state
    mail_authentication mail_clean mail_dkim_keys mail_filtered_threads mail_invitation_times mail_invitations
    mail_joined_threads mail_ledger mail_marked_addresses mail_references mail_remote_images mail_search
    mail_search_body mail_search_fts page_search_fts mail_search_gone mail_search_named mail_search_queue
    mail_search_state mail_search_vocabulary
    mail_draft_copies mail_draft_finds mail_draft_originals mail_imap_changes mail_imap_copies mail_imap_drafts
    mail_imap_folders mail_imap_keywords mail_imap_leftovers mail_imap_places mail_mirror mail_provider_drafts
    gitops_conflicts gitops_files gitops_state page_managed page_managers plugin_pins
"""
"""From mail, pages and files, or by the other side: a server, a repository."""

LEFT_OUT: Final = {
    "runs": "runs agent_runs agent_said agent_schedules approvals run_attempts run_steps run_tools "
    "run_trust tool_calls",
    "cost": "model_calls model_run_ceilings",
    "sessions": "sessions",
    "devices": "devices pairing_codes claim_tokens",
    "credentials": "secrets identities oauth_states mcp_sign_ins capability_audit",
    "invitations to this server": "invites",
    "ceilings": "model_ceilings",
    "recogniser": "meeting_settings",
    "plugins": "plugins plugin_actors",
    "MCP servers": "mcp_servers mcp_tools",
    "search by meaning": "meaning_people",
    "which mailboxes notify": "notify_accounts",
    "pushes": "push_browsers push_queue",
    "addresses": "mail_own_addresses",
    "answers to invitations": "mail_invitation_answers",
    "unsubscribed": "mail_unsubscribed",
    "in shared mailboxes": "mail_acts",
    "what rules did": "rule_runs rule_acts rule_batches rule_habits rule_habits_seen",
    "suggestions": "rule_never mail_proposed_replies mail_proposal_answers",
    "kind of each thread": "triage_threads",
    "marked page you trusted": "page_vouched",
    "undo": "undo_steps",
    "under way": "mail_imports mail_bulk_changes mail_bulk_steps mail_bulk_threads partial_uploads",
}
"""By the words that say so in docs/import-and-export.md."""


def test_each_table_is_exported_or_made_again_or_said_to_be_left_out() -> None:
    tables = {*STORE_TABLES, *(table for feature in FEATURES for table in feature.tables)}
    sorted_out = " ".join((IN_IT, MADE_AGAIN, *LEFT_OUT.values())).split()
    assert sorted(sorted_out) == sorted(tables)
    page = (ROOT / "docs" / "import-and-export.md").read_text()
    said = " ".join(page[page.index("### What is not in the archive") :].split()).casefold()
    assert [words for words in LEFT_OUT if words.casefold() not in said] == []
