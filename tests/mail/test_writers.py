"""The writers of a thread: kept in its row with each change, each once, in the order of their first mails."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

import pytest
import trio
from sqlite_utils import Database

from svc.mail.migrations import MIGRATIONS
from svc.mail.threads import writers
from svc.undo.migrations import MIGRATIONS as UNDO
from tests.support.mailbox import MIA, MailSync

INBOX = ("INBOX",)


async def wrote(
    mail_sync: MailSync, sender: str, *, labels: Sequence[str] = INBOX, thread: str = "a", bulk: bool = False
) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, MIA, "Plans"
    if bulk:
        message["List-Id"] = "<cranes.lists.example.org>"
    message.set_content("Yes.")
    await trio.sleep(60)
    await mail_sync.inject(raw=message.as_bytes(), thread=thread, labels=frozenset(labels))


async def named(mail_sync: MailSync) -> list[tuple[Any, ...]]:
    return await mail_sync.rows(
        """
        select value ->> '$.name', value ->> '$.address', value ->> '$.own', value ->> '$.bulk'
        from mail_threads t, json_each(t.writers) order by t.id, key
        """
    )


async def test_each_is_named_once_by_their_first_mail(mail_sync: MailSync) -> None:
    await wrote(mail_sync, "Noa Lind <noa@example.net>")
    await wrote(mail_sync, f"Mia <{MIA}>", labels=("SENT",))
    await wrote(mail_sync, "Cranes <cranes@lists.example.org>", bulk=True)
    await wrote(mail_sync, "N. <NOA@example.net>")
    await mail_sync.synced()
    assert await named(mail_sync) == [
        ("Noa Lind", "noa@example.net", 0, 0),
        ("Mia", MIA, 1, 0),
        ("Cranes", "cranes@lists.example.org", 0, 1),
    ]


async def test_who_writes_alone_is_named_by_the_row_already(mail_sync: MailSync) -> None:
    await wrote(mail_sync, "Noa Lind <noa@example.net>")
    await wrote(mail_sync, "Noa <noa@example.net>")
    await wrote(mail_sync, "Zoe <zoe@example.net>", thread="b")
    await mail_sync.synced()
    assert await named(mail_sync) == []


async def test_drafts_and_spam_bring_nobody_where_there_is_other_mail(mail_sync: MailSync) -> None:
    await wrote(mail_sync, "Noa <noa@example.net>")
    await wrote(mail_sync, "Eve <eve@example.net>", labels=("SPAM",))
    await wrote(mail_sync, f"Mia <{MIA}>", labels=("DRAFT",))
    await wrote(mail_sync, "Eve <eve@example.net>", labels=("SPAM",), thread="b")
    await wrote(mail_sync, "Mallory <mallory@example.net>", labels=("SPAM",), thread="b")
    await mail_sync.synced()
    assert {name for name, *_ in await named(mail_sync)} == {"Eve", "Mallory"}


async def test_of_very_many_the_first_and_the_last_are_kept(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "AT_EACH_END", 2)
    for name in "abcdef":
        await wrote(mail_sync, f"{name} <{name}@example.net>")
    await mail_sync.synced()
    assert [name for name, *_ in await named(mail_sync)] == ["a", "b", "e", "f"]


async def test_mail_that_was_there_before_is_named_alike(mail_sync: MailSync) -> None:
    for at in range(2 * writers.AT_EACH_END + 3):
        await wrote(mail_sync, f"N{at} <n{at}@example.net>", bulk=at == 1)
    await wrote(mail_sync, f"Mia <{MIA}>", labels=("SENT",))
    await wrote(mail_sync, "Noa <noa@example.net>", thread="b")
    await wrote(mail_sync, "Noa <noa@example.net>", thread="b")
    await wrote(mail_sync, "Eve <eve@example.net>", labels=("SPAM",), thread="c")
    await wrote(mail_sync, f"Mia <{MIA}>", labels=("TRASH", "SENT"), thread="c")
    await mail_sync.synced()
    wanted = await mail_sync.rows("select id, json(writers) from mail_threads order by id")
    old = Database(sqlite3.connect(":memory:", isolation_level=None))
    MIGRATIONS.apply(old, stop_before="m012_undo_moves")
    UNDO.apply(old)
    MIGRATIONS.apply(old, stop_before="m053_writers")
    for table in ("mail_accounts", "mail_threads", "mail_messages"):
        names = [one.name for one in old[table].columns]
        for row in await mail_sync.rows(f"select {', '.join(names)} from {table}"):
            old.execute(f"insert into {table} ({', '.join(names)}) values ({', '.join('?' * len(names))})", list(row))
    MIGRATIONS.apply(old, stop_before="m063_met_together")
    assert old.execute("select id, json(writers) from mail_threads order by id").fetchall() == wanted
    assert len(wanted) == 3
