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
from tests.mail.sending.draft_desk import OTHER, Desk, open_desk
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
async def desk(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, boxes: dict[str, FolderMailbox]
) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path, wall, log, boxes) as opened:
        yield opened


async def test_a_server_hears_of_a_draft_once_nobody_has_changed_it_for_a_moment(desk: Desk) -> None:
    saved = await desk.save("B")
    for subject in ("Bo", "Boa", "Boat"):
        await trio.sleep(REST_S - 1)
        saved = await desk.save(subject, id=saved["id"], version=saved["version"])
    assert desk.boxes[MIA].drafts_put == 0
    await desk.told()
    assert desk.there() == ["Boat"]
    assert desk.boxes[MIA].drafts_put == 1
    await desk.save("Boats", id=saved["id"], version=saved["version"])
    await desk.told()
    assert desk.there() == ["Boats"]


async def test_what_is_attached_makes_the_moment_longer(desk: Desk) -> None:
    fields = {"content-type": "text/plain", "x-svc-filename": "a.txt"}
    uploaded = (await desk.service.ask("POST", "/files", b"x" * (3 << 20), fields=fields)).json["id"]
    await desk.save("Boats", attachments=[uploaded])
    await trio.sleep(REST_S + 3)
    assert desk.boxes[MIA].drafts_put == 0
    await desk.told()
    ((_, raw),) = desk.boxes[MIA].drafts
    assert [len(one.content) for one in mime.parse_message(raw).attachments] == [3 << 20]


async def test_the_copy_says_what_it_answers_and_quotes_it(desk: Desk) -> None:
    (thread, *_) = (await desk.service.query("mail.threads", section="inbox"))["threads"]
    (message,) = (await desk.service.query("mail.thread", id=thread["id"]))["messages"]
    await desk.save("Re: Welcome", replyTo=thread["id"], quote={"messageId": message["id"], "kind": "reply"})
    await desk.told()
    ((_, raw),) = desk.boxes[MIA].drafts
    copy = mime.parse_message(raw)
    assert "Hi." in (copy.html or "")
    assert copy.in_reply_to == "welcome@mail.test"


@pytest.mark.parametrize("how", ["mail.deleteDraft", "mail.send"])
async def test_a_draft_that_is_thrown_away_or_sent_goes_from_the_server(desk: Desk, how: str) -> None:
    saved = await desk.save("Boats")
    await desk.told()
    wanted = {"accountId": desk.accounts[MIA], "to": [OTHER], "subject": "Boats", "html": "<p>Hi</p>"}
    asked = {"id": saved["id"]} if how == "mail.deleteDraft" else {"draftId": saved["id"], **wanted}
    answer = await desk.service.mutate(how, **asked)
    await desk.told()
    assert desk.there() == []
    if how == "mail.send":
        await desk.service.mutate("mail.cancelSend", id=answer["outgoingId"])
        await desk.told()
        assert desk.there() == ["Boats"]


async def test_a_draft_that_goes_to_another_account_lies_at_that_ones_server(desk: Desk) -> None:
    saved = await desk.save("Boats")
    await desk.told()
    await desk.save("Boats", address=OTHER, id=saved["id"], version=saved["version"])
    await desk.told()
    assert (desk.there(), desk.there(OTHER)) == ([], ["Boats"])


PASSING: list[ProviderFault] = [
    Unreachable("No connection."),
    LostAnswer("Cut."),
    Throttled("Slow down.", retry_after_s=90),
]


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("at", range(4))
async def test_a_fault_at_any_step_is_made_good_and_leaves_one_copy(desk: Desk, fault: ProviderFault, at: int) -> None:
    """The steps: the first copy is put, nothing to remove, the second is put, the first is removed."""
    desk.boxes[MIA].faults[:] = [*[None] * at, fault]
    saved = await desk.save("Boats")
    await desk.told()
    saved = await desk.save("More boats", id=saved["id"], version=saved["version"])
    await desk.told()
    assert desk.there() == ["More boats"]
    desk.boxes[MIA].faults[:] = [fault]
    await desk.service.mutate("mail.deleteDraft", id=saved["id"])
    await desk.told()
    assert desk.there() == []


async def test_what_a_server_refuses_waits_for_the_next_change(desk: Desk) -> None:
    desk.boxes[MIA].faults[:] = [Refused("Too large.")]
    saved = await desk.save("Boats")
    await desk.told()
    assert desk.there() == []
    assert await desk.notes() == {"Boats": ["Not copied to the mailbox: Too large."]}
    await desk.save("Small boats", id=saved["id"], version=saved["version"])
    await desk.told()
    assert desk.there() == ["Small boats"]
    assert await desk.notes() == {"Small boats": []}


async def test_what_a_server_refuses_for_now_again_and_again_waits_for_the_next_change(desk: Desk) -> None:
    faults = desk.boxes[MIA].faults
    faults[:] = [RefusedForNow("A limit is reached.")] * (REFUSED_TRIES + 5)
    saved = await desk.save("Boats")
    await desk.told()
    assert len(faults) == 4, "the first try, and as many more as a change of labels gets"
    assert await desk.notes() == {"Boats": ["Not copied to the mailbox: A limit is reached."]}
    faults.clear()
    await desk.save("Small boats", id=saved["id"], version=saved["version"])
    await desk.told()
    assert desk.there() == ["Small boats"]


async def test_a_copy_that_goes_on_to_fail_is_shown_and_its_writer_hears_of_it(desk: Desk) -> None:
    desk.boxes[MIA].faults[:] = [Unreachable("No connection.")] * 3
    await desk.save("Boats")
    await desk.told()
    told = await desk.service.rows("select payload from outbox where kind = 'task.changed' order by seq")
    heard = [json.loads(payload)["draft"]["notes"] for (payload,) in told]
    assert heard == [[], ["Not copied to the mailbox: No connection."], []]
    assert desk.there() == ["Boats"]


async def test_what_was_not_told_when_the_service_ended_is_told_when_it_runs_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, boxes: dict[str, FolderMailbox]
) -> None:
    async with open_desk(tmp_path, wall, log, boxes) as desk:
        kept = await desk.save("Kept")
        gone = await desk.save("Gone")
        await desk.told()
        await desk.save("Kept on", id=kept["id"], version=kept["version"])
        boxes[MIA].faults[:] = [Unreachable("No connection.")] * 100
        await desk.service.mutate("mail.deleteDraft", id=gone["id"])
    boxes[MIA].faults.clear()
    async with open_desk(tmp_path, wall, log, boxes) as desk:
        await desk.told()
        assert desk.there() == ["Kept on"]


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


async def test_a_copy_is_from_the_address_that_was_chosen_while_it_is_the_accounts(desk: Desk) -> None:
    wanted = {"accountId": desk.accounts[MIA], "address": "hello@studio.example"}
    await desk.service.mutate("mail.setAddress", **wanted, name="The Studio")
    saved = await desk.save("Boats", fromAddress=wanted["address"])
    await desk.told()
    (copy,) = desk.copies()
    assert copy.sender is not None
    assert (copy.sender.name, copy.sender.address) == ("The Studio", "hello@studio.example")
    await desk.service.mutate("mail.removeAddress", **wanted)
    await desk.save("Boats again", id=saved["id"], version=saved["version"], fromAddress=wanted["address"])
    await desk.told()
    assert [(one.subject, one.sender and one.sender.address) for one in desk.copies()] == [("Boats again", MIA)]
