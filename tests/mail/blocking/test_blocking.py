"""Blocked senders: where their mail goes as it arrives, what stays, and how a block is taken back."""

from __future__ import annotations

from typing import Final

import pytest

from svc import undo
from svc.errors import Forbidden, Invalid, NotFound
from svc.mail.blocking import actions
from svc.mail.blocking.actions import REVERSAL
from svc.mail.threads.blocks import BlockedTo
from svc.store import Tx
from tests.support.mailbox import MIA, MailSync, mail, user
from tests.support.service import Service

PEST: Final = "Pest <Pest@Shop.example>"
OTHER: Final = "mia@work.example"


async def message_id(mail_sync: MailSync, provider_id: str) -> str:
    found = await mail_sync.rows(
        """
        select m.id from mail_messages m join mail_accounts a on a.id = m.account_id
        where m.provider_message_id = :id and a.address = :address
        """,
        id=provider_id,
        address=MIA,
    )
    return str(found[0][0])


async def from_pest(
    mail_sync: MailSync, subject: str = "Offer", *, address: str = MIA, labels: str = "INBOX UNREAD"
) -> str:
    raw = mail(subject, sender=PEST)
    return await mail_sync.inject(raw=raw, address=address, labels=frozenset(labels.split()))


async def block(mail_sync: MailSync, provider_id: str, *, to: BlockedTo = "trash", everywhere: bool = True) -> str:
    return await mail_sync.store.write(
        actions.block_sender,
        mail_sync.principal,
        message_id=await message_id(mail_sync, provider_id),
        to=to,
        everywhere=everywhere,
    )


@pytest.mark.parametrize(("to", "label"), [("trash", "TRASH"), ("spam", "SPAM")])
async def test_what_a_blocked_sender_sends_goes_there_as_it_arrives_and_at_the_provider(
    mail_sync: MailSync, to: BlockedTo, label: str
) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    assert await block(mail_sync, first, to=to) == "pest@shop.example"
    second, friend = await from_pest(mail_sync, "Another offer"), await mail_sync.inject("Hello")
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, first) == {"INBOX", "UNREAD"}
    assert await mail_sync.labels_here(account_id, second) == {label, "UNREAD"}
    assert await mail_sync.labels_here(account_id, friend) == {"INBOX", "UNREAD"}
    await mail_sync.loop_of(account_id).sync_now()
    assert await mail_sync.labels_at_provider(second) == {label, "UNREAD"}
    assert await mail_sync.labels_here(account_id, second) == {label, "UNREAD"}
    assert await mail_sync.pending() == []
    assert await mail_sync.problems() == []


async def test_nobody_is_told_of_it(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    await block(mail_sync, first)
    await from_pest(mail_sync, "Another offer")
    await mail_sync.sync_of(account_id).step()
    ((payload,),) = await mail_sync.rows(
        "select payload from events where type = 'mail-received' order by seq desc limit 1"
    )
    assert '"inbox":false' in payload


async def test_a_block_of_one_account_holds_there_alone_and_one_of_all_in_all(mail_sync: MailSync) -> None:
    here, there = await mail_sync.connect(), await mail_sync.connect(OTHER)
    first = await from_pest(mail_sync)
    await from_pest(mail_sync, address=OTHER)  # the first sync leaves all where it is
    for account_id, address in ((here, MIA), (there, OTHER)):
        await mail_sync.sync_of(account_id, address=address).step()
    await block(mail_sync, first, everywhere=False)
    second = await from_pest(mail_sync, address=OTHER)
    await mail_sync.sync_of(there, address=OTHER).step()
    assert await mail_sync.labels_here(there, second) == {"INBOX", "UNREAD"}
    await block(mail_sync, first, to="spam")
    third, fourth = await from_pest(mail_sync, address=OTHER), await from_pest(mail_sync)
    await mail_sync.sync_of(there, address=OTHER).step()
    await mail_sync.sync_of(here).step()
    assert await mail_sync.labels_here(there, third) == {"SPAM", "UNREAD"}
    assert await mail_sync.labels_here(here, fourth) == {"TRASH", "UNREAD"}, "the account's own wins"


async def test_the_first_sync_of_a_mailbox_moves_nothing(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    await block(mail_sync, first)
    old = await from_pest(mail_sync, "Old", address=OTHER)
    other = await mail_sync.connect(OTHER)
    await mail_sync.sync_of(other, address=OTHER).step()
    assert await mail_sync.labels_here(other, old) == {"INBOX", "UNREAD"}


@pytest.mark.parametrize("labels", ["SENT", "DRAFT", "SPAM UNREAD", "TRASH"])
async def test_what_is_sent_begun_or_put_away_already_stays(mail_sync: MailSync, labels: str) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    await block(mail_sync, first)
    second = await from_pest(mail_sync, labels=labels)
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, second) == set(labels.split())
    assert await mail_sync.pending() == []


async def test_one_of_several_in_from_is_enough(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    await block(mail_sync, first)
    both = await mail_sync.inject(raw=mail("Both", sender=f"Noa <noa@example.org>, {PEST}"))
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, both) == {"TRASH", "UNREAD"}


async def test_ones_own_address_can_not_be_blocked(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    mine = await mail_sync.inject(raw=mail("To myself", sender=f"Mia <{MIA.replace('@', '+shop@')}>"))
    await mail_sync.sync_of(account_id).step()
    with pytest.raises(Invalid):
        await block(mail_sync, mine)
    await mail_sync.store.write(_put_by_hand)
    later = await mail_sync.inject(raw=mail("To myself", sender=f"Mia <{MIA}>"))
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, later) == {"INBOX", "UNREAD"}


def _put_by_hand(tx: Tx) -> None:
    tx.run("insert into mail_blocked_senders (address, place, since) values (:address, 'trash', 0)", address=MIA)


async def test_it_is_taken_back_by_undo_and_by_unblocking_and_that_by_undo(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()

    async def blocked() -> list[tuple[str, str]]:
        found = await mail_sync.store.read(actions.blocked_senders, mail_sync.principal)
        return [(one.address, one.to) for one in found]

    async def take_back() -> str | None:
        taken = await mail_sync.store.write(undo.take_back, mail_sync.principal, reversals={REVERSAL.kind: REVERSAL})
        return None if taken is None else taken.step.what

    await block(mail_sync, first, to="spam")
    await block(mail_sync, first, to="spam")  # nothing new, and nothing to take back
    await block(mail_sync, first, to="trash")
    assert await blocked() == [("pest@shop.example", "trash")]
    assert await take_back() == "block"
    assert await blocked() == [("pest@shop.example", "spam")]
    (one,) = await mail_sync.store.read(actions.blocked_senders, mail_sync.principal)
    await mail_sync.store.write(actions.unblock_sender, mail_sync.principal, block_id=one.id)
    assert await blocked() == []
    assert await take_back() == "unblock"
    assert await blocked() == [("pest@shop.example", "spam")]
    assert await take_back() == "block"
    assert await blocked() == []
    assert await take_back() is None


async def test_only_the_owner_of_an_account_blocks_in_it_and_only_for_themselves(mail_sync: MailSync) -> None:
    account_id = await mail_sync.connect()
    first = await from_pest(mail_sync)
    await mail_sync.sync_of(account_id).step()
    await mail_sync.store.write(_share, account_id)
    wanted = {"message_id": await message_id(mail_sync, first), "everywhere": True}
    with pytest.raises(Forbidden):
        await mail_sync.store.write(actions.block_sender, user("ben"), to="trash", **wanted)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await mail_sync.store.write(actions.block_sender, user("zoe"), to="trash", **wanted)  # type: ignore[arg-type]
    await mail_sync.store.write(actions.block_sender, user("mia"), to="trash", **wanted)  # type: ignore[arg-type]
    assert await mail_sync.store.read(actions.blocked_senders, user("ben")) == []
    (one,) = await mail_sync.store.read(actions.blocked_senders, user("mia"))
    with pytest.raises(NotFound):
        await mail_sync.store.write(actions.unblock_sender, user("ben"), block_id=one.id)


def _share(tx: Tx, account_id: str) -> None:
    tx.run("update mail_accounts set owner_id = 'mia' where id = :id", id=account_id)
    tx.run("insert into mail_shares (account_id, user_id, access, since) values (:id, 'ben', 'act', 0)", id=account_id)


async def test_over_the_wire(service: Service) -> None:
    await service.synced("Offer", **{"from": PEST})
    ((found,),) = await service.rows("select id from mail_messages")
    assert await service.mutate("mail.blockSender", messageId=found) == {"address": "pest@shop.example"}
    (one,) = await service.query("mail.blockedSenders")
    assert (one["address"], one["to"], one["accountId"]) == ("pest@shop.example", "trash", None)
    selected = await service.mutate("mail.selectAll", sender="pest@shop.example")
    assert selected["count"] == 1
    acted = await service.mutate("mail.actOnAll", id=selected["id"], do="trash", sender="Pest@shop.example")
    assert (acted["state"], acted["taken"]) == ("done", 1)
    await service.mutate("mail.unblockSender", id=one["id"])
    assert await service.query("mail.blockedSenders") == []
