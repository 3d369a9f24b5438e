"""Who wrote in a thread: kept for its row with each change, each once, by their first mails."""

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
from tests.support.mailbox import MIA, Rig

INBOX = ("INBOX",)


async def wrote(rig: Rig, sender: str, *, labels: Sequence[str] = INBOX, thread: str = "a", bulk: bool = False) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, MIA, "Plans"
    if bulk:
        message["List-Id"] = "<cranes.lists.example.org>"
    message.set_content("Yes.")
    await trio.sleep(60)
    await rig.inject(raw=message.as_bytes(), thread=thread, labels=frozenset(labels))


async def named(rig: Rig) -> list[tuple[Any, ...]]:
    return await rig.rows(
        """
        select value ->> '$.name', value ->> '$.address', value ->> '$.own', value ->> '$.bulk'
        from mail_threads t, json_each(t.writers) order by t.id, key
        """
    )


async def test_each_is_named_once_by_their_first_mail(rig: Rig) -> None:
    await wrote(rig, "Noa Lind <noa@example.net>")
    await wrote(rig, f"Mia <{MIA}>", labels=("SENT",))
    await wrote(rig, "Cranes <cranes@lists.example.org>", bulk=True)
    await wrote(rig, "N. <NOA@example.net>")
    await rig.synced()
    assert await named(rig) == [
        ("Noa Lind", "noa@example.net", 0, 0),
        ("Mia", MIA, 1, 0),
        ("Cranes", "cranes@lists.example.org", 0, 1),
    ]


async def test_who_writes_alone_is_named_by_the_row_already(rig: Rig) -> None:
    await wrote(rig, "Noa Lind <noa@example.net>")
    await wrote(rig, "Noa <noa@example.net>")
    await wrote(rig, "Zoe <zoe@example.net>", thread="b")
    await rig.synced()
    assert await named(rig) == []


async def test_drafts_and_spam_bring_nobody_where_there_is_other_mail(rig: Rig) -> None:
    await wrote(rig, "Noa <noa@example.net>")
    await wrote(rig, "Eve <eve@example.net>", labels=("SPAM",))
    await wrote(rig, f"Mia <{MIA}>", labels=("DRAFT",))
    await wrote(rig, "Eve <eve@example.net>", labels=("SPAM",), thread="b")
    await wrote(rig, "Mallory <mallory@example.net>", labels=("SPAM",), thread="b")
    await rig.synced()
    assert {name for name, *_ in await named(rig)} == {"Eve", "Mallory"}


async def test_of_very_many_the_first_and_the_last_are_kept(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "AT_EACH_END", 2)
    for name in "abcdef":
        await wrote(rig, f"{name} <{name}@example.net>")
    await rig.synced()
    assert [name for name, *_ in await named(rig)] == ["a", "b", "e", "f"]


async def test_mail_that_was_there_before_is_named_alike(rig: Rig) -> None:
    for at in range(2 * writers.AT_EACH_END + 3):
        await wrote(rig, f"N{at} <n{at}@example.net>", bulk=at == 1)
    await wrote(rig, f"Mia <{MIA}>", labels=("SENT",))
    await wrote(rig, "Noa <noa@example.net>", thread="b")
    await wrote(rig, "Noa <noa@example.net>", thread="b")
    await wrote(rig, "Eve <eve@example.net>", labels=("SPAM",), thread="c")
    await wrote(rig, f"Mia <{MIA}>", labels=("TRASH", "SENT"), thread="c")
    await rig.synced()
    wanted = await rig.rows("select id, json(writers) from mail_threads order by id")
    old = Database(sqlite3.connect(":memory:", isolation_level=None))
    MIGRATIONS.apply(old, stop_before="m012_undo_moves")
    UNDO.apply(old)
    MIGRATIONS.apply(old, stop_before="m053_writers")
    for table in ("mail_accounts", "mail_threads", "mail_messages"):
        names = [one.name for one in old[table].columns]
        for row in await rig.rows(f"select {', '.join(names)} from {table}"):
            old.execute(f"insert into {table} ({', '.join(names)}) values ({', '.join('?' * len(names))})", list(row))
    MIGRATIONS.apply(old, stop_before="m063_met_together")
    assert old.execute("select id, json(writers) from mail_threads order by id").fetchall() == wanted
    assert len(wanted) == 3
