"""Muting: new messages of a thread skip the inbox, here and at the provider, and it can be taken back."""

from __future__ import annotations

from email.message import EmailMessage

import msgspec

from svc import undo
from svc.mail.labelling import inbox_actions
from svc.mail.labelling.reversals import REVERSAL
from tests.support.mailbox import MIA, MailSync

UNREAD_INBOX = frozenset({"INBOX", "UNREAD"})


def letter(subject: str, *to: str, list_id: str = "") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Noa <noa@example.org>", ", ".join(to), subject
    if list_id:
        message["List-Id"] = list_id
    message.set_content("Hi.")
    return message.as_bytes()


async def muted_thread(mail_sync: MailSync) -> tuple[str, str]:
    """Account and thread."""
    account_id = await mail_sync.synced("one", thread="t")
    ((thread_id,),) = await mail_sync.rows("select id from mail_threads")
    await mail_sync.store.write(inbox_actions.mute, mail_sync.principal, thread_ids=[str(thread_id)])
    return account_id, str(thread_id)


async def state(mail_sync: MailSync) -> tuple[object, ...]:
    """In the inbox, unread on the badge, muted."""
    ((inbox,),) = await mail_sync.rows("select sum(in_inbox) from mail_threads")
    ((badge,),) = await mail_sync.rows("select unread_threads from mail_accounts")
    ((muted,),) = await mail_sync.rows("select count(*) from mail_mutes")
    return inbox, badge, muted


async def announced(mail_sync: MailSync) -> dict[str, bool]:
    rows = await mail_sync.rows("select payload from events where type = 'mail-received' order by seq")
    told = [msgspec.json.decode(payload) for (payload,) in rows]
    return {one["subject"]: one["inbox"] for one in told}


async def test_new_messages_of_a_muted_thread_skip_the_inbox_here_and_at_the_provider(mail_sync: MailSync) -> None:
    account_id, _ = await muted_thread(mail_sync)
    assert await state(mail_sync) == (0, 0, 1)
    loop = mail_sync.loop_of(account_id)
    await mail_sync.inject("two", thread="t", raw=letter("two", MIA, "others@example.org"), labels=UNREAD_INBOX)
    await mail_sync.sync_of(account_id).step()
    assert await state(mail_sync) == (0, 0, 1)
    assert await mail_sync.labels_here(account_id, "fake-2") == {"UNREAD"}
    assert [(one, remove) for one, _, remove in await mail_sync.pending()][-1] == ("fake-2", '["INBOX"]')
    assert (await announced(mail_sync))["two"] is False
    await loop.sync_now()
    assert await mail_sync.labels_at_provider("fake-2") == {"UNREAD"}
    assert await state(mail_sync) == (0, 0, 1)
    assert await mail_sync.problems() == []


async def test_what_is_for_the_person_alone_comes_to_the_inbox_all_the_same(mail_sync: MailSync) -> None:
    account_id, _ = await muted_thread(mail_sync)
    await mail_sync.inject(
        thread="t", raw=letter("over a list", MIA, list_id="<talk.example.org>"), labels=UNREAD_INBOX
    )
    await mail_sync.sync_of(account_id).step()
    assert await state(mail_sync) == (0, 0, 1)
    await mail_sync.inject(thread="t", raw=letter("to you", MIA), labels=UNREAD_INBOX)
    await mail_sync.sync_of(account_id).step()
    assert await state(mail_sync) == (1, 1, 1)
    assert await announced(mail_sync) == {"one": True, "over a list": False, "to you": True}


async def test_spam_and_other_threads_are_none_of_its_business(mail_sync: MailSync) -> None:
    account_id, _ = await muted_thread(mail_sync)
    await mail_sync.inject(thread="t", raw=letter("spam", "x@example.org"), labels=frozenset({"SPAM", "UNREAD"}))
    await mail_sync.inject(thread="u", raw=letter("another", "x@example.org"), labels=UNREAD_INBOX)
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, "fake-2") == {"SPAM", "UNREAD"}
    assert await mail_sync.labels_here(account_id, "fake-3") == UNREAD_INBOX


async def test_muting_is_undone_and_ends_by_hand_or_with_the_way_back_to_the_inbox(mail_sync: MailSync) -> None:
    account_id, thread_id = await muted_thread(mail_sync)
    await mail_sync.store.write(undo.take_back, mail_sync.principal, reversals={REVERSAL.kind: REVERSAL})
    assert await state(mail_sync) == (1, 1, 0)
    await mail_sync.store.write(inbox_actions.mute, mail_sync.principal, thread_ids=[thread_id])
    await mail_sync.store.write(inbox_actions.unmute, mail_sync.principal, thread_ids=[thread_id])
    assert await state(mail_sync) == (0, 0, 0)
    await mail_sync.store.write(undo.take_back, mail_sync.principal, reversals={REVERSAL.kind: REVERSAL})
    assert await state(mail_sync) == (0, 0, 1)
    await mail_sync.store.write(inbox_actions.unarchive, mail_sync.principal, thread_ids=[thread_id])
    assert await state(mail_sync) == (1, 1, 0)
    await mail_sync.inject(thread="t", raw=letter("two", MIA, "others@example.org"), labels=UNREAD_INBOX)
    await mail_sync.sync_of(account_id).step()
    assert await mail_sync.labels_here(account_id, "fake-2") == UNREAD_INBOX
