"""A mailbox at Dovecot through the whole service: what is done here arrives there, and the other way round."""

from __future__ import annotations

import random
from typing import Any

import pytest
import trio

from svc.formats import mime
from svc.mail.model import SENT, SPAM, STARRED, TRASH, UNREAD
from svc.mail.providers.imap.rows import folders as folder_rows
from svc.mail.providers.imap.rows import moves
from svc.mail.sync import tasks
from tests.mail.imap.dovecot_account import PLAIN_IMAP, DovecotAccount, begun, letter
from tests.peers.dovecot import ADDRESS
from tests.peers.needs import DOVECOT, needs
from tests.sizes import HANGS_S, MAILBOX_STORY
from tests.support.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT), pytest.mark.thorough]


async def test_the_folders_of_a_server_are_the_labels_here(dovecot_account: DovecotAccount) -> None:
    server = dovecot_account.server
    server.deliver("INBOX", letter("New"))
    server.deliver("INBOX", letter("Read and starred"), flags="(\\Seen \\Flagged $label2)")
    server.deliver("Archive", letter("Kept"), flags="(\\Seen)")
    server.deliver("Junk", letter("Bad"))
    server.deliver("Trash", letter("Gone"), flags="(\\Seen)")
    server.make("Boats/Sails &AOk-")
    server.deliver("Boats/Sails &AOk-", letter("Own"), flags="(\\Seen)")
    await begun(dovecot_account)
    assert await dovecot_account.stored() == {
        "New": {"INBOX", UNREAD},
        "Read and starred": {"INBOX", STARRED, "keyword/$label2"},
        "Kept": set(),
        "Bad": {SPAM, UNREAD},
        "Gone": {TRASH},
        "Own": {"folder/Boats/Sails &AOk-"},
    }
    assert set(await dovecot_account.threads()) == {"New", "Read and starred"}
    labels = {
        one["id"]: one["name"]
        for one in await dovecot_account.service.query("mail.labels", accountId=dovecot_account.account_id)
    }
    assert labels["keyword/$label2"] == "Work"
    assert labels["folder/Boats/Sails &AOk-"] == "Boats/Sails é"


async def test_what_is_done_here_arrives_there_and_can_be_taken_back(dovecot_account: DovecotAccount) -> None:
    dovecot_account.server.deliver("INBOX", *(letter(name) for name in ("One", "Two", "Three", "Four")))
    await begun(dovecot_account)
    threads, ids = await dovecot_account.threads(), await dovecot_account.ids()
    mutate = dovecot_account.service.mutate
    await mutate("mail.archive", threadIds=[threads["One"], threads["Two"]])
    await mutate("mail.open", threadId=threads["Three"])
    await mutate("mail.setLabels", threadIds=[threads["Three"]], add=[STARRED])
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[TRASH])
    await dovecot_account.synced(3)
    assert set(dovecot_account.there("Archive")) == {"One", "Two"}
    assert dovecot_account.there("INBOX") == {"Three": {"\\Seen", "\\Flagged"}}
    assert set(dovecot_account.there("Trash")) == {"Four"}
    assert await dovecot_account.ids() == ids
    await mutate("mail.undo")
    await dovecot_account.synced(3)
    assert set(dovecot_account.there("INBOX")) == {"Three", "Four"}
    await mutate("mail.setLabels", threadIds=[threads["Four"]], add=[SPAM])
    await mutate("mail.markUnread", threadIds=[threads["Three"]])
    await dovecot_account.synced(3)
    assert set(dovecot_account.there("Junk")) == {"Four"}
    assert dovecot_account.there("INBOX") == {"Three": {"\\Flagged"}}
    assert await dovecot_account.service.rows("select * from mail_mirror") == []
    assert await dovecot_account.ids() == ids


async def test_what_is_done_there_arrives_here(dovecot_account: DovecotAccount) -> None:
    server = dovecot_account.server
    server.deliver("INBOX", *(letter(name) for name in ("Moved", "Flagged", "Deleted", "Stays")))
    await begun(dovecot_account)
    ids = await dovecot_account.ids()
    server.deliver("INBOX", letter("New"))
    server.do("INBOX", ("STORE", f"{server.uid('INBOX', 'Flagged')}", "+FLAGS", "(\\Seen \\Flagged Boats)"))
    server.do("INBOX", ("MOVE", f"{server.uid('INBOX', 'Moved')}", "Archive"))
    server.do("INBOX", ("STORE", f"{server.uid('INBOX', 'Deleted')}", "+FLAGS", "(\\Deleted)"), ("EXPUNGE", "1:*"))
    await dovecot_account.synced()
    assert await dovecot_account.stored() == {
        "Moved": {UNREAD},
        "Flagged": {"INBOX", STARRED, "keyword/Boats"},
        "Stays": {"INBOX", UNREAD},
        "New": {"INBOX", UNREAD},
    }
    now = await dovecot_account.ids()
    assert {name: now[name] for name in ("Moved", "Flagged", "Stays")} == {
        name: ids[name] for name in ("Moved", "Flagged", "Stays")
    }


async def test_a_label_that_is_made_here_is_a_keyword_there(dovecot_account: DovecotAccount) -> None:
    dovecot_account.server.deliver("INBOX", letter("One"))
    await begun(dovecot_account)
    made = await dovecot_account.service.mutate(
        "mail.createLabel", accountId=dovecot_account.account_id, name="Boats & Sails/é"
    )
    assert made["id"] == "keyword/Boats_&-_Sails/&AOk-"
    threads = await dovecot_account.threads()
    await dovecot_account.service.mutate("mail.setLabels", threadIds=[threads["One"]], add=[made["id"]])
    await dovecot_account.synced(2)
    assert dovecot_account.there("INBOX") == {"One": {"Boats_&-_Sails/&AOk-"}}
    labels = {
        one["id"]: one["name"]
        for one in await dovecot_account.service.query("mail.labels", accountId=dovecot_account.account_id)
    }
    assert labels[made["id"]] == "Boats & Sails/é"
    again = await dovecot_account.service.mutate(
        "mail.createLabel", accountId=dovecot_account.account_id, name="boats & sails/É"
    )
    assert again["id"] == made["id"]
    await dovecot_account.service.mutate("mail.setLabels", threadIds=[threads["One"]], remove=[made["id"]])
    await dovecot_account.synced(2)
    assert dovecot_account.there("INBOX") == {"One": set()}
    names = {
        one["name"] for one in await dovecot_account.service.query("mail.labels", accountId=dovecot_account.account_id)
    }
    assert "Boats & Sails/é" in names


async def test_a_folder_that_is_numbered_anew_keeps_its_messages(dovecot_account: DovecotAccount) -> None:
    server = dovecot_account.server
    server.make("Boats")
    server.deliver("Boats", *(letter(name) for name in ("One", "Two", "Three")))
    await begun(dovecot_account)
    ids = await dovecot_account.ids()
    server.number_anew("Boats", "Two", "Three")
    await dovecot_account.synced(3)
    now = await dovecot_account.ids()
    assert now == {name: ids[name] for name in ("Two", "Three")}
    before = len(await dovecot_account.service.rows("select * from mail_imap_places"))
    assert before == 2


@pytest.mark.parametrize("dovecot_account", [PLAIN_IMAP], indirect=True)
async def test_a_move_that_ended_after_its_copy_goes_on_though_the_folder_is_numbered_anew(
    dovecot_account: DovecotAccount,
) -> None:
    server = dovecot_account.server
    server.make("Boats")
    server.deliver("Boats", letter("One"))
    await begun(dovecot_account)
    (thread,) = (await dovecot_account.threads("skipped")).values()
    await dovecot_account.service.workspace.store.write(
        _copy_begun, dovecot_account.account_id
    )  # as whoever died had written down
    server.do("Boats", ("COPY", str(server.uid("Boats", "One")), "Archive"))
    server.number_anew("Boats", "One")
    await dovecot_account.service.mutate("mail.setLabels", threadIds=[thread], remove=["folder/Boats"])
    assert await waiting(dovecot_account) == []
    await dovecot_account.synced(3)
    assert dovecot_account.there("Boats") == {}
    assert set(dovecot_account.there("Archive")) == {"One"}
    assert await dovecot_account.stored() == {"One": {UNREAD}}


async def test_a_mail_that_is_sent_leaves_once_and_its_copy_lies_in_sent(dovecot_account: DovecotAccount) -> None:
    await begun(dovecot_account)
    answer = await dovecot_account.service.mutate(
        "mail.send",
        accountId=dovecot_account.account_id,
        to=["bob@else.test"],
        bcc=["eve@else.test"],
        subject="Boats",
        html="<p>Hi</p>",
    )
    await _until(dovecot_account, answer["outgoingId"], "sent")
    (left,) = dovecot_account.server.relay.mails
    assert set(left.recipients) == {"bob@else.test", "eve@else.test"}
    assert left.sender == ADDRESS
    assert b"eve@else.test" not in left.raw
    assert await dovecot_account.stored() == {"Boats": {SENT}}
    await dovecot_account.service.workspace.store.write(_long_ago)
    await dovecot_account.synced(3)
    assert dovecot_account.there("Sent") == {"Boats": {"\\Seen"}}
    assert await dovecot_account.stored() == {"Boats": {SENT}}
    (row,) = await dovecot_account.service.rows("select uid, filing from mail_imap_places")
    assert row[0] is not None
    assert row[1] is None


async def test_a_mail_from_another_address_of_the_account_leaves_in_an_envelope_from_its_own(
    dovecot_account: DovecotAccount,
) -> None:
    await begun(dovecot_account)
    alias = "hello@studio.test"
    await dovecot_account.service.mutate(
        "mail.setAddress", accountId=dovecot_account.account_id, address=alias, name="The Studio"
    )
    answer = await dovecot_account.service.mutate(
        "mail.send",
        accountId=dovecot_account.account_id,
        to=["bob@else.test"],
        subject="Boats",
        html="<p>Hi</p>",
        fromAddress=alias,
    )
    await _until(dovecot_account, answer["outgoingId"], "sent")
    (left,) = dovecot_account.server.relay.mails
    assert left.sender == ADDRESS
    assert b"From: The Studio <hello@studio.test>\r\n" in left.raw
    assert ADDRESS.encode() not in left.raw.partition(b"\r\n\r\n")[0].partition(b"From:")[2]
    assert await dovecot_account.stored() == {"Boats": {SENT}}


async def test_a_copy_that_the_server_files_itself_is_not_filed_again(dovecot_account: DovecotAccount) -> None:
    await begun(dovecot_account)
    answer = await dovecot_account.service.mutate(
        "mail.send", accountId=dovecot_account.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await _until(dovecot_account, answer["outgoingId"], "sent")
    (left,) = dovecot_account.server.relay.mails
    dovecot_account.server.deliver("Sent", left.raw, flags="(\\Seen)")
    await dovecot_account.service.workspace.store.write(_long_ago)
    await dovecot_account.synced(3)
    assert len(dovecot_account.server.subjects("Sent")) == 1
    assert await dovecot_account.stored() == {"Boats": {SENT}}
    parsed = mime.parse_message(left.raw)
    assert parsed.message_id is not None


async def test_a_copy_that_the_server_files_under_a_message_id_of_its_own_is_not_filed_again(
    dovecot_account: DovecotAccount,
) -> None:
    """As Microsoft's do."""
    await begun(dovecot_account)
    answer = await dovecot_account.service.mutate(
        "mail.send", accountId=dovecot_account.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await _until(dovecot_account, answer["outgoingId"], "sent")
    (left,) = dovecot_account.server.relay.mails
    replaced = b"Message-ID: <of@the.server>\r\n" + left.raw.replace(b"Message-ID:", ORIGINAL)
    dovecot_account.server.deliver("Sent", replaced, flags="(\\Seen)")
    await dovecot_account.service.workspace.store.write(_long_ago)
    await dovecot_account.synced(3)
    assert len(dovecot_account.server.subjects("Sent")) == 1
    assert await dovecot_account.stored() == {"Boats": {SENT}}


@pytest.mark.share(3)
@pytest.mark.parametrize("answered", ["later", "at once"])
async def test_an_answer_to_the_message_id_that_a_server_gave_our_mail_is_in_its_thread(
    dovecot_account: DovecotAccount, answered: str
) -> None:
    """As at Microsoft: who got it knows no other name. ``at once``: before the copy was met."""
    await begun(dovecot_account)
    outgoing = await dovecot_account.service.mutate(
        "mail.send", accountId=dovecot_account.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await _until(dovecot_account, outgoing["outgoingId"], "sent")
    reply = letter("Re: Boats", In_Reply_To="<of@the.server>", References="<of@the.server>")
    if answered == "at once":
        dovecot_account.server.deliver("INBOX", reply)
        await dovecot_account.synced(2)
        assert len(await dovecot_account.service.rows("select id from mail_threads")) == 2
    (left,) = dovecot_account.server.relay.mails
    replaced = b"Message-ID: <of@the.server>\r\n" + left.raw.replace(b"Message-ID:", ORIGINAL)
    dovecot_account.server.deliver("Sent", replaced, flags="(\\Seen)")
    await dovecot_account.synced(2)
    if answered == "later":
        dovecot_account.server.deliver("INBOX", reply)
        await dovecot_account.synced(2)
    assert set(await dovecot_account.stored()) == {"Boats", "Re: Boats"}
    (thread,) = await dovecot_account.service.rows("select id from mail_threads")
    detail = await dovecot_account.service.query("mail.thread", id=thread[0])
    assert {one["subject"] for one in detail["messages"]} == {"Boats", "Re: Boats"}


ORIGINAL = b"X-Microsoft-Original-Message-ID:"
FOLDER_LABELS = {"INBOX": "INBOX", "Sent": SENT, "Junk": SPAM, "Trash": TRASH, "Archive": None, "Boats": "folder/Boats"}


@pytest.mark.share(3)
async def test_whatever_happens_on_both_sides_they_agree_in_the_end(
    dovecot_account: DovecotAccount, chance: random.Random
) -> None:
    server = dovecot_account.server
    server.make("Boats")
    names = [f"Mail {number:02}" for number in range(12)]
    server.deliver("INBOX", *map(letter, names))
    await begun(dovecot_account)
    story: list[str] = []
    for step in range(MAILBOX_STORY):
        what = chance.choice((*ELSEWHERE, *HERE, "sync", "sync", "cut", "restart"))
        story.append(what)
        folder = chance.choice(list(FOLDER_LABELS))
        known = {**await dovecot_account.threads(), **await dovecot_account.threads("skipped")}
        match what:
            case "new":
                server.deliver(folder, letter(f"New {step:04}"), flags=chance.choice(("", "(\\Seen)", "(Boats)")))
            case "move" | "delete" | "flag":
                there = [name for name, _ in server.subjects(folder)]
                if what == "move":
                    there = [name for name in there if not half_moved(dovecot_account, name)]
                if there:
                    uid = str(server.uid(folder, chance.choice(there)))
                    flags = chance.choice(("(\\Seen)", "(\\Flagged)", "($label1)"))
                    command = {
                        "move": ("MOVE", uid, chance.choice(list(FOLDER_LABELS))),
                        "delete": ("STORE", uid, "+FLAGS", "(\\Deleted)"),
                        "flag": ("STORE", uid, chance.choice(("+FLAGS", "-FLAGS")), flags),
                    }[what]
                    server.do(folder, command, *([("EXPUNGE", uid)] if what == "delete" else []))
            case "number anew":
                server.number_anew("Boats", *(name for name, _ in server.subjects("Boats")))
            case "cut":
                for connection in dovecot_account.connections:
                    await connection.aclose()
                    connection.usable = True
            case "restart":
                await dovecot_account.engine.start_account(dovecot_account.account_id)
            case "sync":
                with trio.move_on_after(chance.choice((0.02, HANGS_S))):
                    await dovecot_account.engine.sync_now(dovecot_account.account_id)
            case procedure if known:
                one = [chance.choice(list(known.values()))]
                wanted: dict[str, object] = {"threadId": one[0]} if procedure == "mail.open" else {"threadIds": one}
                if procedure == "mail.setLabels":
                    wanted["add"] = [chance.choice((TRASH, SPAM, STARRED, "folder/Boats"))]
                await dovecot_account.service.mutate(procedure, **wanted)
    await agreed(dovecot_account, story)


def half_moved(dovecot_account: DovecotAccount, subject: str) -> bool:
    """A server without ``MOVE`` has both while ours copies and removes. Who moves one of them then has two mails, and
    nobody can tell that they were one."""
    return sum(subject in dovecot_account.there(folder) for folder in FOLDER_LABELS) > 1


HERE = ("mail.archive", "mail.unarchive", "mail.open", "mail.markUnread", "mail.setLabels")
ELSEWHERE = ("new", "move", "delete", "flag", "number anew")


async def agreed(dovecot_account: DovecotAccount, story: list[str]) -> None:
    """Nothing waits, and every message is here as it is there."""
    assert await waiting(dovecot_account) == [], story
    await dovecot_account.service.workspace.store.write(_all_flags_due)
    await dovecot_account.synced(3)
    there: dict[str, set[str]] = {}
    for folder, label in FOLDER_LABELS.items():
        for subject, flags in dovecot_account.server.subjects(folder):
            labels = {UNREAD} - ({UNREAD} if "\\Seen" in flags else set()) | ({label} if label else set())
            labels |= {STARRED} if "\\Flagged" in flags else set()
            assert subject not in there, f"{subject} is there twice, also in {folder}: {there[subject]}, {story}"
            there[subject] = labels | {f"keyword/{flag}" for flag in flags if not flag.startswith("\\")}
    assert await dovecot_account.stored() == there, story
    ledger = await dovecot_account.service.rows("select * from mail_ledger where step <> 'change'")
    assert ledger == [], story


async def waiting(dovecot_account: DovecotAccount) -> list[tuple[object, ...]]:
    """The changes that the server has not taken, however often it was told."""
    for _ in range(8):
        await dovecot_account.engine.sync_now(dovecot_account.account_id)
        left = await dovecot_account.service.rows("select attempts, last_error from mail_mirror")
        if not left:
            break
        await dovecot_account.service.workspace.store.write(_due)
    return left


def _all_flags_due(tx: Any) -> None:
    """A server that counts no changes is asked for the flags of folders beside the inbox only each ten minutes."""
    tx.run("update mail_imap_folders set looked_at = 0")


def _due(tx: Any) -> None:
    tx.run("update mail_mirror set next_at = 0")


async def test_a_server_that_ends_the_connection_is_gone_on_with(dovecot_account: DovecotAccount) -> None:
    dovecot_account.server.deliver("INBOX", letter("One"))
    await begun(dovecot_account)
    for connection in dovecot_account.connections:
        await connection.aclose()
        connection.usable = True  # nobody noticed
    dovecot_account.server.deliver("INBOX", letter("Two"))
    await dovecot_account.engine.sync_now(dovecot_account.account_id)
    await dovecot_account.synced(2)
    assert set(await dovecot_account.stored()) == {"One", "Two"}


@pytest.mark.share(3)
async def test_the_own_copy_is_filed_before_the_next_poll(
    dovecot_account: DovecotAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "POLL_INTERVAL_S", 1e6)
    await begun(dovecot_account)
    answer = await dovecot_account.service.mutate(
        "mail.send", accountId=dovecot_account.account_id, to=["bob@else.test"], subject="Boats", html="<p>Hi</p>"
    )
    await _until(dovecot_account, answer["outgoingId"], "sent")

    async def is_filed() -> bool:
        placed = "select 1 from mail_imap_places where uid is not null"
        return bool(dovecot_account.there("Sent") and await dovecot_account.service.rows(placed))

    await until(is_filed, what="the own copy to be filed")
    assert dovecot_account.there("Sent") == {"Boats": {"\\Seen"}}
    assert await dovecot_account.stored() == {"Boats": {SENT}}


@pytest.mark.share(3)
async def test_a_new_mail_is_here_before_the_next_poll(
    dovecot_account: DovecotAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "POLL_INTERVAL_S", 1e6)
    await begun(dovecot_account)
    dovecot_account.server.deliver("INBOX", letter("New"))

    async def is_here() -> bool:
        return set(await dovecot_account.stored()) == {"New"}

    await until(is_here, what="the new mail to be here")


def _copy_begun(tx: Any, account_id: str) -> None:
    (message_id,) = (one for (one,) in tx.all("select id from mail_imap_places"))
    (archive,) = (one.id for one in folder_rows.folders(tx, account_id=account_id) if one.name == b"Archive")
    moves.begin(tx, account_id=account_id, message_ids=[message_id], folder_id=archive, first_uid=1)


def _long_ago(tx: Any) -> None:
    tx.run("update mail_imap_places set arrived_at = arrived_at - 60000 where filing is not null")


async def _until(dovecot_account: DovecotAccount, outgoing_id: str, state: str) -> None:
    async def is_so() -> bool:
        rows = await dovecot_account.service.query("mail.outgoing")
        row = next(one for one in rows if one["id"] == outgoing_id)
        assert row["state"] == state or row["state"] not in {"failed", "uncertain"}, str(row)
        return bool(row["state"] == state)

    await until(is_so, what=f"the outgoing mail to be {state}")
