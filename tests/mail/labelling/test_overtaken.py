"""What others do to a mail right after a change of ours reached the provider: it is newer, so it counts."""

from __future__ import annotations

from dataclasses import dataclass

import trio

from svc.fakes.mail.provider import FakeProvider
from svc.mail.labelling import actions
from tests.support.mailbox import MIA, MailSync

Labels = frozenset[str]
STARRED: Labels = frozenset({"STARRED"})
ANSWER_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Overtaken(FakeProvider):
    """A change is made at once, others change it back at once, and the answer takes its time."""

    async def modify(self, message_id: str, *, add: Labels, remove: Labels) -> None:
        await super().modify(message_id, add=add, remove=remove)
        await super().modify(message_id, add=remove, remove=add)
        await trio.sleep(ANSWER_S)


async def test_a_change_that_others_took_back_before_its_answer_came_is_taken_back_here(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=[thread_id], add=STARRED, remove=frozenset()
    )
    loop = mail_sync.loop_of(account_id, Overtaken(world=mail_sync.fake_mail, address=MIA))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop._flush_outbox)
        await trio.sleep(ANSWER_S / 2)
        await loop.sync.step()
    assert await mail_sync.pending() == []
    assert (
        await mail_sync.labels_here(account_id, "fake-1")
        == await mail_sync.labels_at_provider("fake-1")
        == {"INBOX", "UNREAD"}
    )


async def test_a_history_that_was_read_before_a_change_of_ours_does_not_take_it_back(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two")
    thread_id = await mail_sync.thread_id_of("fake-1")
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"INBOX"}))
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=[thread_id], add=frozenset({"UNREAD"}), remove=frozenset()
    )
    loop = mail_sync.loop_of(account_id)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.sync.step)
        nursery.start_soon(loop._flush_outbox)
    await loop.sync_now()
    assert await mail_sync.labels_here(account_id, "fake-1") == await mail_sync.labels_at_provider("fake-1")
