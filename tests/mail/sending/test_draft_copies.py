"""Copies of drafts at the server: some seconds after the last change, one at a time, and whatever fails in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.formats import mime
from svc.mail.model import INBOX
from svc.mail.providers.seam import LostAnswer, ProviderFault, Refused, RefusedForNow, Throttled, Unreachable
from svc.mail.sending import draft_copies
from svc.mail.sending.draft_copies import DraftCopy
from svc.mail.sync.tasks import REFUSED_TRIES
from tests.mail.bare import bare_tx
from tests.mail.folder_provider import FolderMailbox
from tests.mail.sending.draft_writer import OTHER, DraftWriter, open_writer
from tests.recorded_log import RecordedLog
from tests.support.mailbox import mail
from tests.support.service import MIA

REST_S = draft_copies.REST_MS / 1_000


@pytest.fixture
async def boxes(wall: VirtualClock) -> dict[str, FolderMailbox]:
    found = {address: FolderMailbox(address=address, clock=wall) for address in (MIA, OTHER)}
    for box in found.values():
        box.deliver(b"Message-ID: <welcome@mail.test>\n" + mail("Welcome"), folder=INBOX)
    return found


@pytest.fixture
async def writer(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, boxes: dict[str, FolderMailbox]
) -> AsyncIterator[DraftWriter]:
    async with open_writer(tmp_path, wall, log, boxes) as opened:
        yield opened


async def test_a_server_hears_of_a_draft_once_nobody_has_changed_it_for_a_moment(writer: DraftWriter) -> None:
    saved = await writer.save("B")
    for subject in ("Bo", "Boa", "Boat"):
        await trio.sleep(REST_S - 1)
        saved = await writer.save(subject, id=saved["id"], version=saved["version"])
    assert writer.boxes[MIA].drafts_put == 0
    await writer.told()
    assert writer.there() == ["Boat"]
    assert writer.boxes[MIA].drafts_put == 1
    await writer.save("Boats", id=saved["id"], version=saved["version"])
    await writer.told()
    assert writer.there() == ["Boats"]


async def test_what_is_attached_makes_the_moment_longer(writer: DraftWriter) -> None:
    fields = {"content-type": "text/plain", "x-svc-filename": "a.txt"}
    uploaded = (await writer.service.ask("POST", "/files", b"x" * (3 << 20), fields=fields)).json["id"]
    await writer.save("Boats", attachments=[uploaded])
    await trio.sleep(REST_S + 3)
    assert writer.boxes[MIA].drafts_put == 0
    await writer.told()
    ((_, raw),) = writer.boxes[MIA].drafts
    assert [len(one.content) for one in mime.parse_message(raw).attachments] == [3 << 20]


async def test_the_copy_says_what_it_answers_and_quotes_it(writer: DraftWriter) -> None:
    (thread, *_) = (await writer.service.query("mail.threads", section="inbox"))["threads"]
    (message,) = (await writer.service.query("mail.thread", id=thread["id"]))["messages"]
    await writer.save("Re: Welcome", replyTo=thread["id"], quote={"messageId": message["id"], "kind": "reply"})
    await writer.told()
    ((_, raw),) = writer.boxes[MIA].drafts
    copy = mime.parse_message(raw)
    assert "Hi." in (copy.html or "")
    assert copy.in_reply_to == "welcome@mail.test"


@pytest.mark.parametrize("how", ["mail.deleteDraft", "mail.send"])
async def test_a_draft_that_is_thrown_away_or_sent_goes_from_the_server(writer: DraftWriter, how: str) -> None:
    saved = await writer.save("Boats")
    await writer.told()
    wanted = {"accountId": writer.accounts[MIA], "to": [OTHER], "subject": "Boats", "html": "<p>Hi</p>"}
    asked = {"id": saved["id"]} if how == "mail.deleteDraft" else {"draftId": saved["id"], **wanted}
    answer = await writer.service.mutate(how, **asked)
    await writer.told()
    assert writer.there() == []
    if how == "mail.send":
        await writer.service.mutate("mail.cancelSend", id=answer["outgoingId"])
        await writer.told()
        assert writer.there() == ["Boats"]


async def test_a_draft_that_goes_to_another_account_lies_at_that_ones_server(writer: DraftWriter) -> None:
    saved = await writer.save("Boats")
    await writer.told()
    await writer.save("Boats", address=OTHER, id=saved["id"], version=saved["version"])
    await writer.told()
    assert (writer.there(), writer.there(OTHER)) == ([], ["Boats"])


PASSING: list[ProviderFault] = [
    Unreachable("No connection."),
    LostAnswer("Cut."),
    Throttled("Slow down.", retry_after_s=90),
]


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("at", range(4))
async def test_a_fault_at_any_step_is_made_good_and_leaves_one_copy(
    writer: DraftWriter, fault: ProviderFault, at: int
) -> None:
    """The steps: the first copy is put, nothing to remove, the second is put, the first is removed."""
    writer.boxes[MIA].faults[:] = [*[None] * at, fault]
    saved = await writer.save("Boats")
    await writer.told()
    saved = await writer.save("More boats", id=saved["id"], version=saved["version"])
    await writer.told()
    assert writer.there() == ["More boats"]
    writer.boxes[MIA].faults[:] = [fault]
    await writer.service.mutate("mail.deleteDraft", id=saved["id"])
    await writer.told()
    assert writer.there() == []


async def test_what_a_server_refuses_waits_for_the_next_change(writer: DraftWriter) -> None:
    writer.boxes[MIA].faults[:] = [Refused("Too large.")]
    saved = await writer.save("Boats")
    await writer.told()
    assert writer.there() == []
    assert await writer.notes() == {"Boats": ["Not copied to the mailbox: Too large."]}
    await writer.save("Small boats", id=saved["id"], version=saved["version"])
    await writer.told()
    assert writer.there() == ["Small boats"]
    assert await writer.notes() == {"Small boats": []}


async def test_what_a_server_refuses_for_now_again_and_again_waits_for_the_next_change(writer: DraftWriter) -> None:
    faults = writer.boxes[MIA].faults
    faults[:] = [RefusedForNow("A limit is reached.")] * (REFUSED_TRIES + 5)
    saved = await writer.save("Boats")
    await writer.told()
    assert len(faults) == 4, "the first try, and as many more as a change of labels gets"
    assert await writer.notes() == {"Boats": ["Not copied to the mailbox: A limit is reached."]}
    faults.clear()
    await writer.save("Small boats", id=saved["id"], version=saved["version"])
    await writer.told()
    assert writer.there() == ["Small boats"]


async def test_a_copy_that_goes_on_to_fail_is_shown_and_its_writer_hears_of_it(writer: DraftWriter) -> None:
    writer.boxes[MIA].faults[:] = [Unreachable("No connection.")] * 3
    await writer.save("Boats")
    await writer.told()
    told = await writer.service.rows("select payload from outbox where kind = 'task.changed' order by seq")
    heard = [json.loads(payload)["draft"]["notes"] for (payload,) in told]
    assert heard == [[], ["Not copied to the mailbox: No connection."], []]
    assert writer.there() == ["Boats"]


async def test_what_was_not_told_when_the_service_ended_is_told_when_it_runs_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, boxes: dict[str, FolderMailbox]
) -> None:
    async with open_writer(tmp_path, wall, log, boxes) as writer:
        kept = await writer.save("Kept")
        gone = await writer.save("Gone")
        await writer.told()
        await writer.save("Kept on", id=kept["id"], version=kept["version"])
        boxes[MIA].faults[:] = [Unreachable("No connection.")] * 100
        await writer.service.mutate("mail.deleteDraft", id=gone["id"])
    boxes[MIA].faults.clear()
    async with open_writer(tmp_path, wall, log, boxes) as writer:
        await writer.told()
        assert writer.there() == ["Kept on"]


def test_a_change_while_the_server_is_told_is_told_next() -> None:
    tx = bare_tx()
    tx.run(
        """
        insert into mail_accounts (id, owner_id, address, provider, state, created_at)
        values ('acc', 'usr_owner', 'mia@example.org', 'imap', 'caught-up', 0)
        """
    )
    draft_copies.changed(tx, "drf", account_id="acc", owner_id="usr_owner")
    tx.now += draft_copies.REST_MS
    copy = draft_copies.due_of(tx, "acc")
    assert copy is not None
    draft_copies.changed(tx, "drf", account_id="acc", owner_id="usr_owner")
    draft_copies.settle(tx, copy, there=True)
    draft_copies.put_off(tx, copy, next_at=tx.now + 1, reason="No connection.")
    assert draft_copies.due_of(tx, "acc") is None
    tx.now += draft_copies.REST_MS
    again = draft_copies.due_of(tx, "acc")
    assert again == DraftCopy(draft_id="drf", account_id="acc", changes=copy.changes + 1, attempts=0)
    draft_copies.settle(tx, again, there=False)
    assert tx.all("select * from mail_draft_copies") == []


def test_a_members_draft_is_not_for_the_owners_mailbox() -> None:
    tx = bare_tx()
    tx.run(
        """
        insert into mail_accounts (id, owner_id, address, provider, state, created_at)
        values ('acc', 'usr_owner', 'mia@example.org', 'imap', 'caught-up', 0)
        """
    )
    draft_copies.changed(tx, "drf", account_id="acc", owner_id="usr_member")
    assert tx.all("select * from mail_draft_copies") == []


async def test_a_copy_is_from_the_address_that_was_chosen_while_it_is_the_accounts(writer: DraftWriter) -> None:
    wanted = {"accountId": writer.accounts[MIA], "address": "hello@studio.example"}
    await writer.service.mutate("mail.setAddress", **wanted, name="The Studio")
    saved = await writer.save("Boats", fromAddress=wanted["address"])
    await writer.told()
    (copy,) = writer.copies()
    assert copy.sender is not None
    assert (copy.sender.name, copy.sender.address) == ("The Studio", "hello@studio.example")
    await writer.service.mutate("mail.removeAddress", **wanted)
    await writer.save("Boats again", id=saved["id"], version=saved["version"], fromAddress=wanted["address"])
    await writer.told()
    assert [(one.subject, one.sender and one.sender.address) for one in writer.copies()] == [("Boats again", MIA)]
