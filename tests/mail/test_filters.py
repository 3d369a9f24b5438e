"""Lists by filter: of each kind of list, page by page, over accounts, kept true by whatever changes a message."""

from __future__ import annotations

import sqlite3
from email.message import EmailMessage

import trio
from sqlite_utils import Database

from svc.mail.labelling import actions
from svc.mail.migrations import MIGRATIONS
from svc.mail.threads import filtered
from tests.support.mailbox import MIA, MailSync, mail
from tests.support.service import Service

NOA = "noa@example.org"


def letter(subject: str, *, to: str = MIA, cc: str = "", file: bool = False) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Noa <noa@example.org>", to, subject
    if cc:
        message["Cc"] = cc
    message.set_content("Hi.")
    if file:
        message.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="plan.pdf")
    return message.as_bytes()


async def subjects(service: Service, **wanted: object) -> list[str]:
    return [thread["subject"] for thread in (await service.query("mail.threads", **wanted))["threads"]]


async def listed(mail_sync: MailSync, lists: dict[str, str], *, leading: bool) -> list[str]:
    rows = await mail_sync.store.read(
        filtered.threads, lists=[lists], only="starred", cursor=None, limit=9, leading=leading
    )
    return [row.id for row in rows]


async def passing(mail_sync: MailSync, name: str) -> dict[str, list[str]]:
    rows = await mail_sync.rows(
        """
        select f.filter, t.subject from mail_filtered_threads f join mail_threads t on t.id = f.thread_id
        where f.list = :name order by f.at desc
        """,
        name=name,
    )
    found: dict[str, list[str]] = {}
    for only, subject in rows:
        found.setdefault(str(only), []).append(str(subject))
    return found


async def test_each_filter_shows_what_passes_it_and_no_more(mail_sync: MailSync) -> None:
    for raw, labels in (
        (letter("plain", to="list@example.org"), {"INBOX"}),
        (letter("to me"), {"INBOX"}),
        (letter("a copy", to="x@example.org", cc="Mia <MIA+news@example.org>"), {"INBOX", "UNREAD"}),
        (letter("a file", to="list@example.org", file=True), {"INBOX", "STARRED"}),
        (letter("away", file=True), {"UNREAD", "Label_7"}),
    ):
        await mail_sync.inject(raw=raw, labels=frozenset(labels))
        await trio.sleep(60)
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    assert await passing(mail_sync, "in:inbox") == {
        "unread": ["a copy"],
        "to-me": ["a copy", "to me"],
        "attachment": ["a file"],
        "starred": ["a file"],
    }
    assert await passing(mail_sync, "in:skipped") == {"unread": ["away"], "to-me": ["away"], "attachment": ["away"]}
    assert await passing(mail_sync, "label:Label_7") == await passing(mail_sync, "in:skipped")
    assert await passing(mail_sync, "label:STARRED") == {"attachment": ["a file"], "starred": ["a file"]}
    assert await mail_sync.problems() == []


async def test_filtered_lists_follow_each_change(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    sync = mail_sync.sync_of(account_id)
    assert await passing(mail_sync, "in:inbox") == {"unread": ["two"], "to-me": ["two"]}
    ((thread_id,),) = await mail_sync.rows("select id from mail_threads")
    star = frozenset({"STARRED"})
    gone = frozenset({"UNREAD", "INBOX"})
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=[str(thread_id)], add=star, remove=gone
    )
    assert await passing(mail_sync, "in:inbox") == {}
    assert await passing(mail_sync, "in:skipped") == {"starred": ["two"], "to-me": ["two"]}
    await mail_sync.inject("three", thread="t")
    await sync.step()
    assert await passing(mail_sync, "in:inbox") == {"unread": ["three"], "starred": ["three"], "to-me": ["three"]}
    assert await mail_sync.problems() == []
    for number in (1, 2, 3):
        await mail_sync.fake_mail.delete(address=MIA, message_id=f"fake-{number}")
    await sync.step()
    assert await mail_sync.rows("select * from mail_filtered_threads") == []
    assert await mail_sync.problems() == []


async def test_a_filter_goes_with_any_list_and_page_by_page(service: Service) -> None:
    for number in range(5):
        labels = ["INBOX", "STARRED"] if number % 2 == 0 else ["INBOX"]
        await service.synced(f"Mail {number}", labels=labels)
        await trio.sleep(60)
    seen, more = [], dict[str, str]()
    while True:
        page = await service.query("mail.threads", section="inbox", only="starred", limit=2, **more)
        seen += [thread["subject"] for thread in page["threads"]]
        if page["nextCursor"] is None:
            break
        more["cursor"] = page["nextCursor"]
    assert seen == ["Mail 4", "Mail 2", "Mail 0"]
    assert await subjects(service, labelName="Inbox", only="starred") == seen
    assert await subjects(service, labelName="Starred", only="starred") == seen
    assert await subjects(service, labelName="Starred", only="attachment") == []
    assert await subjects(service, section="skipped", only="unread") == []
    assert await subjects(service, labelName="Sent", only="to-me") == []


async def test_one_mail_in_two_accounts_is_one_row_of_a_filtered_list(mail_sync: MailSync) -> None:
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <1@example.org>\r\nSubject:", 1)
    ids = {}
    for address in (MIA, NOA):
        await mail_sync.inject(address=address, raw=raw, labels=frozenset({"INBOX", "STARRED"}))
        ids[address] = await mail_sync.connect(address)
        await mail_sync.sync_of(ids[address], address=address).step()
    ((leader,),) = await mail_sync.rows("select id from mail_threads where leads")
    for name, leading in (("in:inbox", True), ("label:STARRED", False)):
        lists = dict.fromkeys(ids.values(), name)
        assert await listed(mail_sync, lists, leading=leading) == [leader]
        for account_id in ids.values():
            assert len(await listed(mail_sync, {account_id: name}, leading=leading)) == 1


async def test_a_page_of_a_filtered_list_is_one_walk(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    plan = await mail_sync.rows(
        """
        explain query plan select t.id from mail_filtered_threads l join mail_threads t on t.id = l.thread_id
        where l.account_id = 'a' and l.list = 'b' and l.filter = 'c' and (l.at, l.thread_id) < (1, 'd')
        order by l.at desc, l.thread_id desc limit 50
        """
    )
    steps = [str(step[3]) for step in plan]
    assert "SEARCH l USING PRIMARY KEY" in steps[0]
    assert not any("TEMP B-TREE" in step for step in steps)


def test_mail_that_was_there_before_passes_the_filters_after() -> None:
    db = Database(sqlite3.connect(":memory:", isolation_level=None))
    MIGRATIONS.apply(db, stop_before="m012_undo_moves")
    db.execute("create table undo_steps (user_id, kind, what, concerns, inverse, at)")
    MIGRATIONS.apply(db, stop_before="m022_filters")
    db.execute(
        """
        insert into mail_accounts (id, address, provider, state, created_at)
        values ('a', 'm@x', 'fake', 'caught-up', 0)
        """
    )
    db.execute(
        """
        insert into mail_threads (id, account_id, provider_thread_id, last_message_at, labels, in_inbox, unread,
            visible)
        values ('t', 'a', 't', 7, '["INBOX","STARRED","UNREAD"]', 1, 1, 1)
        """
    )
    for number, to in (("1", "M+Tag@x"), ("2", "else@x")):
        db.execute(
            """
            insert into mail_messages (id, account_id, thread_id, provider_message_id, sent_at, stored_at, sender_name,
                sender_address, subject, snippet, headers, labels, in_inbox, unread, visible, own, attachments,
                body_sha256, raw_sha256, raw_size, seen_sweep)
            values (?, 'a', 't', ?, 7, 7, '', '', '', '', json_object('to', json_array(json_object('address', ?))),
                '[]', 1, 1, 1, 0, 0, '', '', 1, 1)
            """,
            [number, number, to],
        )
    MIGRATIONS.apply(db, stop_before="m063_met_together")
    assert db.execute("select id, to_me from mail_messages order by 1").fetchall() == [("1", 1), ("2", 0)]
    found = db.execute("select list, filter, at, thread_id from mail_filtered_threads order by 1, 2").fetchall()
    assert found == [
        *(("in:inbox", only, 7, "t") for only in ("starred", "to-me", "unread")),
        *(("label:STARRED", only, 7, "t") for only in ("starred", "to-me", "unread")),
    ]
