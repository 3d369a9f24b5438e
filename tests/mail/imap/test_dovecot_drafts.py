"""Drafts at Dovecot: what is written here lies among the server's drafts, and is told from those of other programs."""

from __future__ import annotations

import re
from typing import Any

import pytest
import trio

from svc.formats import mime
from svc.mail.model import DRAFT, TRASH
from svc.mail.providers.imap import drafting
from svc.mail.sending.draft_copying import DraftCopier
from tests.mail.imap.office import Office, begun, letter
from tests.peers.needs import DOVECOT, needs

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]


async def saved(office: Office, subject: str, **more: object) -> dict[str, Any]:
    wanted = {"accountId": office.account_id, "to": ["bob@else.test", "car"], "html": "<p>So far</p>", **more}
    answer: dict[str, Any] = await office.service.mutate("mail.saveDraft", subject=subject, **wanted)
    return answer


async def told(office: Office) -> None:
    """The server has heard of everything, and what was found there is decided: nobody waits for the end of a pause."""
    store = office.service.workspace.store
    await store.write(lambda tx: tx.run(_DUE, now=tx.now))
    while True:
        await store.write(lambda tx: tx.run("update mail_draft_finds set next_at = :now", now=tx.now))
        office.service.workspace.service(DraftCopier).look()
        if not await office.service.rows(_OPEN):
            return
        await trio.sleep(0.02)


_DUE = "update mail_draft_copies set next_at = :now where next_at is not null"
_OPEN = "select 1 from mail_draft_copies where next_at is not null union all select 1 from mail_draft_finds"


async def test_a_draft_lies_there_is_replaced_and_goes_with_the_one_here(office: Office) -> None:
    await begun(office)
    first = await saved(office, "Boats")
    await told(office)
    ((raw, flags),) = office.server.mails("Drafts")
    there = mime.parse_message(raw)
    assert flags == {"\\Draft", "\\Seen"}
    assert (there.subject, [one.address for one in there.to]) == ("Boats", ["bob@else.test"])
    await saved(office, "More boats", id=first["id"], version=first["version"])
    await told(office)
    ((raw, _),) = office.server.mails("Drafts")
    again = mime.parse_message(raw)
    assert (again.subject, again.message_id) == ("More boats", there.message_id)
    await office.service.mutate("mail.deleteDraft", id=first["id"])
    await told(office)
    assert office.server.mails("Drafts") == []
    await office.synced(2)
    assert await office.service.rows("select * from mail_imap_places") == []


async def test_a_draft_that_is_sent_lies_among_the_sent_mail_alone(office: Office) -> None:
    await begun(office)
    draft = await saved(office, "Boats")
    await told(office)
    wanted = {"accountId": office.account_id, "to": ["bob@else.test"], "html": "<p>Hi</p>"}
    await office.service.mutate("mail.send", draftId=draft["id"], subject="Boats", **wanted)
    await told(office)
    assert office.server.mails("Drafts") == []
    assert len(office.server.relay.mails) == 1


async def test_a_copy_that_was_put_there_before_a_crash_is_found_again(office: Office) -> None:
    """Whoever died between the new one and the removal of the old one leaves two of one mark."""
    await begun(office)
    first = await saved(office, "Boats")
    await told(office)
    ((raw, _),) = office.server.mails("Drafts")
    office.server.deliver("Drafts", raw, flags="(\\Draft)")
    await office.synced(2)
    assert await office.stored() == {}
    await saved(office, "More boats", id=first["id"], version=first["version"])
    await told(office)
    assert set(office.there("Drafts")) == {"More boats"}
    assert len(office.server.mails("Drafts")) == 1


async def test_our_own_copy_is_no_message_here_whatever_is_done_to_it_there(office: Office) -> None:
    office.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(office)
    await saved(office, "Boats")
    await told(office)
    await office.synced(2)
    assert await office.stored() == {"Elsewhere": {DRAFT}}
    office.server.do("Drafts", ("STORE", "1:*", "+FLAGS", "(\\Flagged)"))
    await office.service.mutate("mail.resync", accountId=office.account_id)
    await office.synced(2)
    assert set(await office.stored()) == {"Elsewhere"}
    (account,) = await office.service.query("mail.accounts")
    assert account["messages"] == 1
    office.server.do("Drafts", ("MOVE", str(office.server.uid("Drafts", "Boats")), "Trash"))
    await office.synced(2)
    assert (await office.stored())["Boats"] >= {TRASH}


def edit(office: Office, before: str, after: str, *, removes: bool = True, dates: bool = True) -> None:
    """As another program does it: a new one beside the old one, which goes then. Some leave every field in it that they
    do not know, ours among them, and a few the date, too."""
    ((raw, _),) = office.server.mails("Drafts")
    uid = str(office.server.uid("Drafts", before))
    dated = re.sub(rb"(?m)^Date: .*$", b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r", raw) if dates else raw
    edited = dated.replace(f"Subject: {before}".encode(), f"Subject: {after}".encode())
    office.server.deliver("Drafts", edited, flags="(\\Draft \\Seen)")
    if removes:
        office.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))


async def mine(office: Office) -> list[str]:
    return [str(subject) for (subject,) in await office.service.rows("select subject from mail_drafts")]


async def test_what_another_program_makes_of_our_copy_is_the_draft_here_and_goes_on_on_either_side(
    office: Office,
) -> None:
    await begun(office)
    first = await saved(office, "Boats")
    await told(office)
    edit(office, "Boats", "Ships")
    await office.synced()
    await told(office)
    assert (await mine(office), await office.stored()) == (["Ships"], {"Ships": {DRAFT}})
    await saved(office, "Rafts", id=first["id"], version=first["version"] + 1)
    await told(office)
    await office.synced(2)
    assert (set(office.there("Drafts")), await mine(office), await office.stored()) == ({"Rafts"}, ["Rafts"], {})
    edit(office, "Rafts", "Ferries", dates=False)
    await office.synced()
    await told(office)
    assert (set(office.there("Drafts")), await mine(office)) == ({"Ferries"}, ["Ferries"])


async def test_one_that_another_program_has_sent_ends_here(office: Office) -> None:
    await begun(office)
    await saved(office, "Boats")
    await told(office)
    ((raw, _),) = office.server.mails("Drafts")
    uid = str(office.server.uid("Drafts", "Boats"))
    office.server.deliver("Sent", raw, flags="(\\Seen)")
    office.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))
    await office.synced(2)
    await told(office)
    assert (await mine(office), office.server.mails("Drafts")) == ([], [])


async def test_what_another_program_makes_of_our_copy_while_it_is_changed_here_stays_beside_it(office: Office) -> None:
    await begun(office)
    first = await saved(office, "Boats")
    await told(office)
    edit(office, "Boats", "Canoe", removes=False, dates=False)
    await saved(office, "More boats", id=first["id"], version=first["version"])
    await told(office)
    assert set(office.there("Drafts")) == {"Canoe", "More boats"}
    await office.service.mutate("mail.deleteDraft", id=first["id"])
    await told(office)
    assert set(office.there("Drafts")) == {"Canoe"}
    assert await office.service.rows("select * from mail_imap_drafts") == []


async def test_a_copy_that_the_servers_search_does_not_find_yet_is_replaced_all_the_same(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some take a while to index what is new."""
    monkeypatch.setattr(drafting, "MARK_FIELD", "X-Not-There")
    await begun(office)
    first = await saved(office, "Boats")
    await told(office)
    await saved(office, "More boats", id=first["id"], version=first["version"])
    await told(office)
    assert set(office.there("Drafts")) == {"More boats"}
    await office.service.mutate("mail.deleteDraft", id=first["id"])
    await told(office)
    assert office.server.mails("Drafts") == []
    await office.synced(2)
    assert await office.service.rows("select * from mail_imap_places") == []


async def taken_up(office: Office, subject: str) -> dict[str, Any]:
    answer = await office.service.mutate("mail.takeUpDraft", messageId=(await office.ids())[subject])
    draft: dict[str, Any] = await office.service.query("mail.draft", id=answer["draftId"])
    return draft


async def test_a_draft_of_another_program_is_continued_and_its_change_replaces_it(office: Office) -> None:
    office.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    office.server.deliver("Drafts", letter("Untouched"), flags="(\\Draft \\Seen)")
    await begun(office)
    draft = await taken_up(office, "Elsewhere")
    await told(office)
    assert set(office.there("Drafts")) == {"Elsewhere", "Untouched"}
    await saved(office, "Here", id=draft["id"], version=draft["version"])
    await told(office)
    assert set(office.there("Drafts")) == {"Here", "Untouched"}
    assert len(office.server.mails("Drafts")) == 2
    await office.synced(2)
    assert await office.stored() == {"Untouched": {DRAFT}}
    assert [one["subject"] for one in await office.service.query("mail.drafts")] == ["Here"]
    assert await office.service.rows("select * from mail_draft_originals") == []


async def test_what_another_program_made_of_it_meanwhile_stays_beside_the_one_here(office: Office) -> None:
    """With the same Message-ID and the same size: nothing but its UID tells it from the one that was opened here."""
    office.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(office)
    draft = await taken_up(office, "Elsewhere")
    uid = str(office.server.uid("Drafts", "Elsewhere"))
    edited = letter("Elsewhere").replace(b"Hi.", b"Ho!")
    office.server.deliver("Drafts", edited, flags="(\\Draft \\Seen)")
    office.server.do("Drafts", ("STORE", uid, "+FLAGS", "(\\Deleted)"), ("EXPUNGE", uid))
    await saved(office, "Here", id=draft["id"], version=draft["version"])
    await told(office)
    await office.synced(2)
    there = {mime.parse_message(raw).subject: mime.parse_message(raw).text for raw, _ in office.server.mails("Drafts")}
    assert there.keys() == {"Here", "Elsewhere"}
    assert (there["Elsewhere"] or "").strip() == "Ho!"
    ((shown,),) = await office.service.rows("select snippet from mail_messages")
    assert shown == "Ho!"


async def test_a_server_that_can_not_remove_one_alone_gets_no_copy_and_the_draft_says_so(office: Office) -> None:
    office.without = frozenset({"UIDPLUS"})
    office.server.deliver("Drafts", letter("Elsewhere"), flags="(\\Draft \\Seen)")
    await begun(office)
    draft = await taken_up(office, "Elsewhere")
    await saved(office, "Here", id=draft["id"], version=draft["version"])
    await told(office)
    assert set(office.there("Drafts")) == {"Elsewhere"}
    (row,) = await office.service.query("mail.drafts")
    assert row["notes"] == [f"Not copied to the mailbox: {drafting.NO_REMOVAL}"]
