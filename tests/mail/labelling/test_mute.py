"""Muting: new messages of a thread skip the inbox, here and at the provider, and it can be taken back."""

from __future__ import annotations

from email.message import EmailMessage

import msgspec

from svc import undo
from svc.mail.labelling import inbox_actions
from svc.mail.labelling.reversals import REVERSAL
from tests.support.mailbox import MIA, Rig

UNREAD_INBOX = frozenset({"INBOX", "UNREAD"})


def letter(subject: str, *to: str, list_id: str = "") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Noa <noa@example.org>", ", ".join(to), subject
    if list_id:
        message["List-Id"] = list_id
    message.set_content("Hi.")
    return message.as_bytes()


async def muted_thread(rig: Rig) -> tuple[str, str]:
    """Account and thread."""
    account_id = await rig.synced("one", thread="t")
    ((thread_id,),) = await rig.rows("select id from mail_threads")
    await rig.store.write(inbox_actions.mute, rig.principal, thread_ids=[str(thread_id)])
    return account_id, str(thread_id)


async def state(rig: Rig) -> tuple[object, ...]:
    """In the inbox, unread on the badge, muted."""
    ((inbox,),) = await rig.rows("select sum(in_inbox) from mail_threads")
    ((badge,),) = await rig.rows("select unread_threads from mail_accounts")
    ((muted,),) = await rig.rows("select count(*) from mail_mutes")
    return inbox, badge, muted


async def announced(rig: Rig) -> dict[str, bool]:
    rows = await rig.rows("select payload from events where type = 'mail-received' order by seq")
    told = [msgspec.json.decode(payload) for (payload,) in rows]
    return {one["subject"]: one["inbox"] for one in told}


async def test_new_messages_of_a_muted_thread_skip_the_inbox_here_and_at_the_provider(rig: Rig) -> None:
    account_id, _ = await muted_thread(rig)
    assert await state(rig) == (0, 0, 1)
    loop = rig.loop_of(account_id)
    await rig.inject("two", thread="t", raw=letter("two", MIA, "others@example.org"), labels=UNREAD_INBOX)
    await rig.sync_of(account_id).step()
    assert await state(rig) == (0, 0, 1)
    assert await rig.labels_here(account_id, "fake-2") == {"UNREAD"}
    assert [(one, remove) for one, _, remove in await rig.pending()][-1] == ("fake-2", '["INBOX"]')
    assert (await announced(rig))["two"] is False
    await loop.sync_now()
    assert await rig.labels_at_provider("fake-2") == {"UNREAD"}
    assert await state(rig) == (0, 0, 1)
    assert await rig.problems() == []


async def test_what_is_for_the_person_alone_comes_to_the_inbox_all_the_same(rig: Rig) -> None:
    account_id, _ = await muted_thread(rig)
    await rig.inject(thread="t", raw=letter("over a list", MIA, list_id="<talk.example.org>"), labels=UNREAD_INBOX)
    await rig.sync_of(account_id).step()
    assert await state(rig) == (0, 0, 1)
    await rig.inject(thread="t", raw=letter("to you", MIA), labels=UNREAD_INBOX)
    await rig.sync_of(account_id).step()
    assert await state(rig) == (1, 1, 1)
    assert await announced(rig) == {"one": True, "over a list": False, "to you": True}


async def test_spam_and_other_threads_are_none_of_its_business(rig: Rig) -> None:
    account_id, _ = await muted_thread(rig)
    await rig.inject(thread="t", raw=letter("spam", "x@example.org"), labels=frozenset({"SPAM", "UNREAD"}))
    await rig.inject(thread="u", raw=letter("another", "x@example.org"), labels=UNREAD_INBOX)
    await rig.sync_of(account_id).step()
    assert await rig.labels_here(account_id, "fake-2") == {"SPAM", "UNREAD"}
    assert await rig.labels_here(account_id, "fake-3") == UNREAD_INBOX


async def test_muting_is_undone_and_ends_by_hand_or_with_the_way_back_to_the_inbox(rig: Rig) -> None:
    account_id, thread_id = await muted_thread(rig)
    await rig.store.write(undo.take_back, rig.principal, reversals={REVERSAL.kind: REVERSAL})
    assert await state(rig) == (1, 1, 0)
    await rig.store.write(inbox_actions.mute, rig.principal, thread_ids=[thread_id])
    await rig.store.write(inbox_actions.unmute, rig.principal, thread_ids=[thread_id])
    assert await state(rig) == (0, 0, 0)
    await rig.store.write(undo.take_back, rig.principal, reversals={REVERSAL.kind: REVERSAL})
    assert await state(rig) == (0, 0, 1)
    await rig.store.write(inbox_actions.unarchive, rig.principal, thread_ids=[thread_id])
    assert await state(rig) == (1, 1, 0)
    await rig.inject(thread="t", raw=letter("two", MIA, "others@example.org"), labels=UNREAD_INBOX)
    await rig.sync_of(account_id).step()
    assert await rig.labels_here(account_id, "fake-2") == UNREAD_INBOX
