"""The lists of sent mail and of drafts: rows with the owner's words, recipients and times."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

import trio
from sqlite_utils import Database

from svc.fakes.mail.provider import FakeWorld
from svc.mail.migrations import MIGRATIONS
from svc.people.migrations import MIGRATIONS as PEOPLE
from svc.undo.migrations import MIGRATIONS as UNDO
from tests.support.mailbox import MIA, MailSync, mail
from tests.support.service import MIA as SERVICE_MIA
from tests.support.service import Service

NOA = "noa@example.org"
SENT = ["SENT"]


def letter(to: str, text: str, *, sender: str = MIA, cc: str = "", subject: str = "Plans") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, to, subject
    if cc:
        message["Cc"] = cc
    message.set_content(text)
    return message.as_bytes()


async def listed(service: Service, label: str = "Sent", **wanted: object) -> list[dict[str, Any]]:
    return list((await service.query("mail.threads", labelName=label, **wanted))["threads"])


async def arrived(
    service: Service,
    text: str,
    *,
    thread: str,
    address: str = SERVICE_MIA,
    labels: Sequence[str] = ("INBOX",),
    to: str = "",
    sender: str = "Noa Lind <noa@example.net>",
) -> None:
    """A message of one thread, a minute after the one before."""
    await trio.sleep(60)
    if address not in {one["address"] for one in await service.query("mail.accounts")}:
        await service.synced("The first", address=address)
    own = bool(set(labels) & {"SENT", "DRAFT"})
    raw = letter(to or (sender if own else address), text, sender=address if own else sender)
    fake_mail = service.workspace.service(FakeWorld)
    await fake_mail.inject(address=address, raw=raw, thread_key=thread, labels=frozenset(labels))
    await service.mutate("fake.mail.syncNow", address=address)


async def test_a_row_of_sent_says_to_whom_and_what_i_wrote_last_though_they_answered_since(service: Service) -> None:
    await arrived(service, "Shall we?", thread="a")
    await arrived(service, "Yes, at nine.", thread="a", labels=SENT, to="Noa Lind <noa@example.net>, ivo@example.net")
    await arrived(service, "Fine with me.", thread="a")
    (row,) = await listed(service)
    assert row["snippet"] == "Fine with me."
    assert row["sent"]["snippet"] == "Yes, at nine."
    assert [one["name"] or one["address"] for one in row["sent"]["to"]] == ["Noa Lind", "ivo@example.net"]
    assert row["sent"]["at"] < row["lastMessageAt"]
    assert row["draft"] is None


async def test_sent_is_ordered_by_what_i_sent_page_by_page(service: Service) -> None:
    for name in "abcde":
        await arrived(service, f"I wrote {name}", thread=name, labels=SENT)
    await arrived(service, "An answer to the oldest", thread="a")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await service.query("mail.threads", labelName="Sent", limit=2, **cursor)
        seen += [row["sent"]["snippet"] for row in page["threads"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == [f"I wrote {name}" for name in "edcba"]


async def test_sent_of_several_accounts_is_merged_by_when_each_was_sent(service: Service) -> None:
    await arrived(service, "first", thread="a", labels=SENT)
    await arrived(service, "second", thread="b", labels=SENT, address=NOA)
    await arrived(service, "third", thread="c", labels=SENT)
    await arrived(service, "they answered", thread="a")
    assert [row["sent"]["snippet"] for row in await listed(service)] == ["third", "second", "first"]


async def test_what_i_sent_and_threw_away_is_not_among_the_sent_although_its_thread_is(service: Service) -> None:
    await arrived(service, "Shall we?", thread="a")
    await arrived(service, "Never mind", thread="a", labels=["SENT", "TRASH"])
    assert await listed(service) == []
    await arrived(service, "Yes", thread="a", labels=SENT)
    await arrived(service, "No", thread="a", labels=["SENT", "TRASH"])
    assert [row["sent"]["snippet"] for row in await listed(service)] == ["Yes"]


async def test_a_row_of_drafts_is_about_what_is_drafted(service: Service) -> None:
    await arrived(service, "Shall we?", thread="a")
    await arrived(service, "Perhaps at", thread="a", labels=["DRAFT"], to="Noa Lind <noa@example.net>")
    await arrived(service, "Well?", thread="a")
    (row,) = await listed(service, "Draft")
    assert row["draft"]["snippet"] == "Perhaps at"
    assert [one["name"] for one in row["draft"]["to"]] == ["Noa Lind"]
    assert row["sent"] is None


async def test_a_draft_is_no_message_of_its_thread_until_it_is_sent(service: Service) -> None:
    await arrived(service, "Shall we?", thread="a")
    await arrived(service, "Perhaps at", thread="a", labels=["DRAFT"])
    await arrived(service, "Alone", thread="b", labels=["DRAFT"])
    counted = {
        row["draft"]["snippet"]: (row["messageCount"], row["draftCount"]) for row in await listed(service, "Draft")
    }
    assert counted == {"Perhaps at": (1, 1), "Alone": (0, 1)}
    (row,) = [row for row in (await service.query("mail.threads", section="inbox"))["threads"] if row["draft"]]
    detail = await service.query("mail.thread", id=row["id"])
    assert (detail["thread"]["messageCount"], len(detail["messages"])) == (1, 2)
    await arrived(service, "Well?", thread="a")
    (row,) = [row for row in (await service.query("mail.threads", section="inbox"))["threads"] if row["draft"]]
    assert (row["messageCount"], row["draftCount"]) == (2, 1)


async def test_the_kept_columns_follow_a_message_that_goes_and_fsck_knows(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=letter("noa@example.net", "Yes."), thread="a", labels=frozenset(SENT))
    await trio.sleep(60)
    second = await mail_sync.inject(raw=letter("ivo@example.net", "Yes again."), thread="a", labels=frozenset(SENT))
    account_id = await mail_sync.connect()
    await mail_sync.sync_of(account_id).step()
    columns = "select sent ->> '$.snippet', sent ->> '$.to[0].address', last_sent_at from mail_threads"
    ((snippet, to, _),) = await mail_sync.rows(columns)
    assert (snippet, to) == ("Yes again.", "ivo@example.net")
    await mail_sync.fake_mail.provider(MIA).modify(second, add=frozenset({"TRASH"}), remove=frozenset())
    await mail_sync.sync_of(account_id).step()
    ((snippet, to, _),) = await mail_sync.rows(columns)
    assert (snippet, to) == ("Yes.", "noa@example.net")
    assert await mail_sync.problems() == []
    await mail_sync.store.write(lambda tx: tx.run("update mail_threads set last_sent_at = 1"))
    assert [one for one in await mail_sync.problems() if "sent" in one] != []


async def test_of_many_recipients_a_row_keeps_the_first_and_how_many_more(mail_sync: MailSync) -> None:
    to = ", ".join(f"p{number}@example.net" for number in range(30))
    await mail_sync.inject(raw=letter(to, "All of you", cc="q@example.net"), labels=frozenset(SENT))
    await mail_sync.sync_of(await mail_sync.connect()).step()
    ((kept, more),) = await mail_sync.rows(
        "select json_array_length(sent, '$.to'), sent ->> '$.others' from mail_threads"
    )
    assert (kept, more) == (8, 23)


async def test_the_migration_fills_the_columns_as_sync_does(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=mail("Plans"), thread="a")
    await trio.sleep(60)
    await mail_sync.inject(
        raw=letter("Noa <noa@example.net>", "Yes.", cc="ivo@example.net"), thread="a", labels=frozenset(SENT)
    )
    await mail_sync.inject(raw=letter("Zoë <zoe@example.net>", "Per"), thread="a", labels=frozenset({"DRAFT"}))
    await mail_sync.inject(raw=letter("noa@example.net", "gone"), thread="b", labels=frozenset({"SENT", "TRASH"}))
    await mail_sync.sync_of(await mail_sync.connect()).step()
    columns = "id, last_sent_at, json(sent), last_draft_at, json(draft)"
    wanted = await mail_sync.rows(f"select {columns} from mail_threads order by id")
    counted = await mail_sync.rows("select id, messages, drafts from mail_threads order by id")
    old = Database(sqlite3.connect(":memory:", isolation_level=None))
    MIGRATIONS.apply(old, stop_before="m009_own_words")
    for table in ("mail_accounts", "mail_threads", "mail_messages"):
        kept = {str(one) for (one,) in await mail_sync.rows(f"select name from pragma_table_info('{table}')")}
        names = [one.name for one in old[table].columns if one.name in kept]
        rows = await mail_sync.rows(f"select {', '.join(names)} from {table}")
        for row in rows:
            old.execute(f"insert into {table} ({', '.join(names)}) values ({', '.join('?' * len(names))})", list(row))
    MIGRATIONS.apply(old, stop_before="m012_undo_moves")
    assert old.execute(f"select {columns} from mail_threads order by id").fetchall() == wanted
    UNDO.apply(old)
    PEOPLE.apply(old)
    MIGRATIONS.apply(old)
    assert old.execute("select id, messages, drafts from mail_threads order by id").fetchall() == counted
    assert [drafts for _, _, drafts in counted].count(1) == 1
