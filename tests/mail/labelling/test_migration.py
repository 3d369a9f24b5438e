"""What the migrations make of a home from before there were lists by label, and undo as a feature of its own."""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database

from svc.mail.migrations import MIGRATIONS
from svc.undo.migrations import MIGRATIONS as UNDO


def test_threads_that_were_there_before_are_listed_by_their_labels_and_steps_are_kept() -> None:
    db = Database(sqlite3.connect(":memory:", isolation_level=None))
    MIGRATIONS.apply(db, stop_before="m004_labelling")
    db.execute(
        """
        insert into mail_accounts (id, address, provider, state, created_at)
        values ('acc', 'mia@example.org', 'fake', 'caught-up', 0)
        """
    )
    db.execute("insert into mail_labels (account_id, label_id, name, system) values ('acc', 'Label_1', 'Clients', 0)")
    db.execute(
        """
        insert into mail_threads (id, account_id, provider_thread_id, last_message_at, labels)
        values ('thr', 'acc', 't', 7, '["CATEGORY_SOCIAL","INBOX","Label_1","STARRED","UNREAD"]')
        """
    )
    MIGRATIONS.apply(db, stop_before="m012_undo_moves")
    db.execute(
        """
        insert into mail_undo (user_id, kind, what, thread_ids, inverse, at)
        values ('mia', 'labels', 'archive', '["thr"]', '{}', 7)
        """
    )
    UNDO.apply(db)
    MIGRATIONS.apply(db, stop_before="m063_met_together")
    listed = db.execute("select account_id, label_id, last_message_at, thread_id from mail_thread_labels").fetchall()
    assert listed == [("acc", "Label_1", 7, "thr"), ("acc", "STARRED", 7, "thr")]
    assert db.execute("select name, gone from mail_labels").fetchall() == [("Clients", 0)]
    assert db.execute("select user_id, kind, what, concerns from undo_steps").fetchall() == [
        ("mia", "labels", "archive", '["thr"]')
    ]
