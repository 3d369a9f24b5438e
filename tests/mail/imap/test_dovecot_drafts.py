"""Drafts at Dovecot: what is written here lies among the server's drafts, and is told from those of other programs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from svc.formats import mime
from svc.mail.model import DRAFT, TRASH
from svc.mail.providers.imap import drafting
from svc.mail.sending.draft_copying import DraftCopier
from tests.mail.imap.dovecot_account import DovecotAccount, begun, letter
from tests.peers.needs import DOVECOT, needs
from tests.support.waiting import until

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]


async def saved(dovecot_account: DovecotAccount, subject: str, **more: object) -> dict[str, Any]:
    wanted = {"accountId": dovecot_account.account_id, "to": ["bob@else.test", "car"], "html": "<p>So far</p>", **more}
    answer: dict[str, Any] = await dovecot_account.service.mutate("mail.saveDraft", subject=subject, **wanted)
    return answer


async def told(dovecot_account: DovecotAccount) -> None:
    """The server has all drafts, and all that was found there is decided. No pause is waited for."""
    store = dovecot_account.service.workspace.store
    await store.write(lambda tx: tx.run(_DUE, now=tx.now))

    async def is_told() -> bool:
        await store.write(lambda tx: tx.run("update mail_draft_finds set next_at = :now", now=tx.now))
        dovecot_account.service.workspace.service(DraftCopier).look()
        return not await dovecot_account.service.rows(_OPEN)

    await until(is_told, what="the server to have heard of all drafts")


_DUE = "update mail_draft_copies set next_at = :now where next_at is not null"
_OPEN = "select 1 from mail_draft_copies where next_at is not null union all select 1 from mail_draft_finds"


async def test_a_draft_lies_there_is_replaced_and_goes_with_the_one_here(dovecot_account: DovecotAccount) -> None:
    await begun(dovecot_account)
    first = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    ((raw, flags),) = dovecot_account.server.mails("Drafts")
    there = mime.parse_message(raw)
    assert flags == {"\\Draft", "\\Seen"}
    assert (there.subject, [one.address for one in there.to]) == ("Boats", ["bob@else.test"])
    await saved(dovecot_account, "More boats", id=first["id"], version=first["version"])
    await told(dovecot_account)
    ((raw, _),) = dovecot_account.server.mails("Drafts")
    again = mime.parse_message(raw)
    assert (again.subject, again.message_id) == ("More boats", there.message_id)
    await dovecot_account.service.mutate("mail.deleteDraft", id=first["id"])
    await told(dovecot_account)
    assert dovecot_account.server.mails("Drafts") == []
    await dovecot_account.synced(2)
    assert await dovecot_account.service.rows("select * from mail_imap_places") == []


async def test_a_draft_that_is_sent_lies_among_the_sent_mail_alone(dovecot_account: DovecotAccount) -> None:
    await begun(dovecot_account)
    draft = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    wanted = {"accountId": dovecot_account.account_id, "to": ["bob@else.test"], "html": "<p>Hi</p>"}
    await dovecot_account.service.mutate("mail.send", draftId=draft["id"], subject="Boats", **wanted)
    await told(dovecot_account)
    assert dovecot_account.server.mails("Drafts") == []
    assert len(dovecot_account.server.relay.mails) == 1


async def test_a_copy_that_was_put_there_before_a_crash_is_found_again(dovecot_account: DovecotAccount) -> None:
    """A process that died after it stored the new copy and before it removed the old one leaves two with one mark."""
    await begun(dovecot_account)
    first = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    ((raw, _),) = dovecot_account.server.mails("Drafts")
    dovecot_account.server.deliver("Drafts", raw, flags="(\\Draft)")
    await dovecot_account.synced(2)
    assert await dovecot_account.stored() == {}
    await saved(dovecot_account, "More boats", id=first["id"], version=first["version"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"More boats"}
    assert len(dovecot_account.server.mails("Drafts")) == 1


async def test_our_own_copy_is_no_message_here_whatever_is_done_to_it_there(dovecot_account: DovecotAccount) -> None:
    dovecot_account.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(dovecot_account)
    await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    await dovecot_account.synced(2)
    assert await dovecot_account.stored() == {"Elsewhere": {DRAFT}}
    dovecot_account.server.do("Drafts", ("STORE", "1:*", "+FLAGS", "(\\Flagged)"))
    await dovecot_account.service.mutate("mail.resync", accountId=dovecot_account.account_id)
    await dovecot_account.synced(2)
    assert set(await dovecot_account.stored()) == {"Elsewhere"}
    (account,) = await dovecot_account.service.query("mail.accounts")
    assert account["messages"] == 1
    dovecot_account.server.do("Drafts", ("MOVE", str(dovecot_account.server.uid("Drafts", "Boats")), "Trash"))
    await dovecot_account.synced(2)
    assert (await dovecot_account.stored())["Boats"] >= {TRASH}


def edit(dovecot_account: DovecotAccount, before: str, after: str, *, removes: bool = True, dates: bool = True) -> None:
    """As another program does it: a new one beside the old one, which goes then. Some leave every field in it that they
    do not know, ours among them, and a few the date, too."""
    ((raw, _),) = dovecot_account.server.mails("Drafts")
    uid = str(dovecot_account.server.uid("Drafts", before))
    dated = re.sub(rb"(?m)^Date: .*$", b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r", raw) if dates else raw
    edited = dated.replace(f"Subject: {before}".encode(), f"Subject: {after}".encode())
    dovecot_account.server.deliver("Drafts", edited, flags="(\\Draft \\Seen)")
    if removes:
        dovecot_account.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))


async def mine(dovecot_account: DovecotAccount) -> list[str]:
    return [str(subject) for (subject,) in await dovecot_account.service.rows("select subject from mail_drafts")]


async def test_what_another_program_makes_of_our_copy_is_the_draft_here_and_goes_on_on_either_side(
    dovecot_account: DovecotAccount,
) -> None:
    await begun(dovecot_account)
    first = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    edit(dovecot_account, "Boats", "Ships")
    await dovecot_account.synced()
    await told(dovecot_account)
    assert (await mine(dovecot_account), await dovecot_account.stored()) == (["Ships"], {"Ships": {DRAFT}})
    await saved(dovecot_account, "Rafts", id=first["id"], version=first["version"] + 1)
    await told(dovecot_account)
    await dovecot_account.synced(2)
    assert (set(dovecot_account.there("Drafts")), await mine(dovecot_account), await dovecot_account.stored()) == (
        {"Rafts"},
        ["Rafts"],
        {},
    )
    edit(dovecot_account, "Rafts", "Ferries", dates=False)
    await dovecot_account.synced()
    await told(dovecot_account)
    assert (set(dovecot_account.there("Drafts")), await mine(dovecot_account)) == ({"Ferries"}, ["Ferries"])


async def test_one_that_another_program_has_sent_ends_here(dovecot_account: DovecotAccount) -> None:
    await begun(dovecot_account)
    await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    ((raw, _),) = dovecot_account.server.mails("Drafts")
    uid = str(dovecot_account.server.uid("Drafts", "Boats"))
    dovecot_account.server.deliver("Sent", raw, flags="(\\Seen)")
    dovecot_account.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))
    await dovecot_account.synced(2)
    await told(dovecot_account)
    assert (await mine(dovecot_account), dovecot_account.server.mails("Drafts")) == ([], [])


async def test_what_another_program_makes_of_our_copy_while_it_is_changed_here_stays_beside_it(
    dovecot_account: DovecotAccount,
) -> None:
    await begun(dovecot_account)
    first = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    edit(dovecot_account, "Boats", "Canoe", removes=False, dates=False)
    await saved(dovecot_account, "More boats", id=first["id"], version=first["version"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"Canoe", "More boats"}
    await dovecot_account.service.mutate("mail.deleteDraft", id=first["id"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"Canoe"}
    assert await dovecot_account.service.rows("select * from mail_imap_drafts") == []


async def test_a_copy_that_the_servers_search_does_not_find_yet_is_replaced_all_the_same(
    dovecot_account: DovecotAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some take a while to index what is new."""
    monkeypatch.setattr(drafting, "MARK_FIELD", "X-Not-There")
    await begun(dovecot_account)
    first = await saved(dovecot_account, "Boats")
    await told(dovecot_account)
    await saved(dovecot_account, "More boats", id=first["id"], version=first["version"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"More boats"}
    await dovecot_account.service.mutate("mail.deleteDraft", id=first["id"])
    await told(dovecot_account)
    assert dovecot_account.server.mails("Drafts") == []
    await dovecot_account.synced(2)
    assert await dovecot_account.service.rows("select * from mail_imap_places") == []


async def taken_up(dovecot_account: DovecotAccount, subject: str) -> dict[str, Any]:
    answer = await dovecot_account.service.mutate("mail.takeUpDraft", messageId=(await dovecot_account.ids())[subject])
    draft: dict[str, Any] = await dovecot_account.service.query("mail.draft", id=answer["draftId"])
    return draft


async def test_a_draft_of_another_program_is_continued_and_its_change_replaces_it(
    dovecot_account: DovecotAccount,
) -> None:
    dovecot_account.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    dovecot_account.server.deliver("Drafts", letter("Untouched"), flags="(\\Draft \\Seen)")
    await begun(dovecot_account)
    draft = await taken_up(dovecot_account, "Elsewhere")
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"Elsewhere", "Untouched"}
    await saved(dovecot_account, "Here", id=draft["id"], version=draft["version"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"Here", "Untouched"}
    assert len(dovecot_account.server.mails("Drafts")) == 2
    await dovecot_account.synced(2)
    assert await dovecot_account.stored() == {"Untouched": {DRAFT}}
    assert [one["subject"] for one in await dovecot_account.service.query("mail.drafts")] == ["Here"]
    assert await dovecot_account.service.rows("select * from mail_draft_originals") == []


async def test_what_another_program_made_of_it_meanwhile_stays_beside_the_one_here(
    dovecot_account: DovecotAccount,
) -> None:
    """With the same Message-ID and the same size: nothing but its UID tells it from the one that was opened here."""
    dovecot_account.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(dovecot_account)
    draft = await taken_up(dovecot_account, "Elsewhere")
    uid = str(dovecot_account.server.uid("Drafts", "Elsewhere"))
    edited = letter("Elsewhere").replace(b"Hi.", b"Ho!")
    dovecot_account.server.deliver("Drafts", edited, flags="(\\Draft \\Seen)")
    dovecot_account.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))
    await saved(dovecot_account, "Here", id=draft["id"], version=draft["version"])
    await told(dovecot_account)
    await dovecot_account.synced(2)
    there = {
        mime.parse_message(raw).subject: mime.parse_message(raw).text
        for raw, _ in dovecot_account.server.mails("Drafts")
    }
    assert there.keys() == {"Here", "Elsewhere"}
    assert (there["Elsewhere"] or "").strip() == "Ho!"
    ((shown,),) = await dovecot_account.service.rows("select snippet from mail_messages")
    assert shown == "Ho!"


async def test_a_server_that_can_not_remove_one_alone_gets_no_copy_and_the_draft_says_so(
    dovecot_account: DovecotAccount,
) -> None:
    dovecot_account.without = frozenset({"UIDPLUS"})
    dovecot_account.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(dovecot_account)
    draft = await taken_up(dovecot_account, "Elsewhere")
    await saved(dovecot_account, "Here", id=draft["id"], version=draft["version"])
    await told(dovecot_account)
    assert set(dovecot_account.there("Drafts")) == {"Elsewhere"}
    (row,) = await dovecot_account.service.query("mail.drafts")
    assert row["notes"] == [f"Not copied to the mailbox: {drafting.NO_REMOVAL}"]
