"""One mail received by two accounts of one person is one row in Unified, whatever comes and goes in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.mail.accounts import queries as account_queries
from svc.mail.labelling import inbox_actions
from svc.mail.model import SECTIONS, ThreadRow
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import wire as thread_wire
from svc.nursery import ThreadPool
from svc.store import ReadTx
from tests.recorded_log import RecordedLog
from tests.sizes import examples
from tests.support.mailbox import MIA, MailSync, open_mail_sync

WORK: Final = "mia@work.example"
BOTH: Final = (MIA, WORK)
UNREAD_IN_INBOX: Final = frozenset({"INBOX", "UNREAD"})


def letter(message_id: str, *, text: str = "Shall we meet?", sender: str = "noa@example.org") -> bytes:
    """As two accounts get it: the same but for what each way added on top."""
    return (
        f"From: Noa <{sender}>\r\nTo: {MIA}, {WORK}\r\nSubject: Lunch\r\nDate: Sat, 21 Nov 2026 08:00:00 +0000\r\n"
        f"Message-ID: <{message_id}>\r\n\r\n{text}\r\n"
    ).encode()


def via(address: str, raw: bytes) -> bytes:
    return f"Delivered-To: {address}\r\n".encode() + raw


async def two_accounts(mail_sync: MailSync) -> tuple[str, str]:
    for address in BOTH:
        await mail_sync.inject("Only here", address=address, thread="first")
    return await mail_sync.connect(MIA), await mail_sync.connect(WORK)


async def arrive(mail_sync: MailSync, address: str, raw: bytes, *, thread: str = "t") -> str:
    return await mail_sync.inject(address=address, raw=via(address, raw), thread=thread)


async def step(mail_sync: MailSync, account_id: str, address: str) -> None:
    await mail_sync.sync_of(account_id, address=address).step()


async def unified(mail_sync: MailSync) -> list[ThreadRow]:
    def read(tx: ReadTx) -> list[ThreadRow]:
        ids = [account.id for account in account_queries.accounts(tx, mail_sync.principal)]
        return thread_queries.threads(tx, account_ids=ids, sections=("inbox",), cursor=None, limit=50)

    return await mail_sync.store.read(read)


async def lunches(mail_sync: MailSync) -> list[ThreadRow]:
    return [row for row in await unified(mail_sync) if row.subject == "Lunch"]


async def test_one_mail_in_two_accounts_is_one_row_in_unified_and_one_in_each_tab(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(mail_sync, address, letter("a@example.org"))
        await step(mail_sync, account_id, address)
    (row,) = await lunches(mail_sync)
    for account_id in (home, work):
        tab = await mail_sync.store.read(
            thread_queries.threads, account_ids=[account_id], sections=("inbox",), cursor=None, limit=50
        )
        assert [one.subject for one in tab].count("Lunch") == 1
    shown = (await mail_sync.store.read(thread_wire.thread_summaries, [row]))[0]
    assert shown.leads
    assert [duplicate.account_id for duplicate in shown.twins] == [work if row.account_id == home else home]
    assert await mail_sync.problems() == []


async def test_unified_counts_an_unread_mail_of_two_accounts_once(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(mail_sync, address, letter("a@example.org"))
        await step(mail_sync, account_id, address)
    found = [await mail_sync.account(account_id) for account_id in (home, work)]
    assert [account.unread_threads for account in found] == [2, 2]
    assert sum(account.unread_duplicates for account in found) == 1


async def test_a_forged_message_id_hides_nothing(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    await arrive(mail_sync, MIA, letter("a@example.org"))
    await step(mail_sync, home, MIA)
    await arrive(mail_sync, WORK, letter("a@example.org", text="Buy this!", sender="evil@example.net"))
    await step(mail_sync, work, WORK)
    assert len(await lunches(mail_sync)) == 2


async def test_the_thread_that_is_still_in_the_inbox_leads_when_its_twin_is_archived(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(mail_sync, address, letter("a@example.org"))
        await step(mail_sync, account_id, address)
    (first,) = await lunches(mail_sync)
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[first.id])
    (second,) = await lunches(mail_sync)
    assert second.id != first.id
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[second.id])
    assert await lunches(mail_sync) == []
    assert await mail_sync.problems() == []


async def test_of_all_mail_it_is_one_row_though_it_is_in_the_inbox_of_one_account_only(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(mail_sync, address, letter("a@example.org"))
        await step(mail_sync, account_id, address)
    (first,) = await lunches(mail_sync)
    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[first.id])
    for account_ids in ([home, work], [home], [work]):
        rows = await mail_sync.store.read(
            thread_queries.threads, account_ids=account_ids, sections=SECTIONS, cursor=None, limit=50
        )
        assert [row.subject for row in rows].count("Lunch") == 1


async def test_a_twin_whose_mail_is_deleted_at_the_provider_leaves_the_other_alone(mail_sync: MailSync) -> None:
    home, work = await two_accounts(mail_sync)
    ids = {}
    for account_id, address in ((home, MIA), (work, WORK)):
        ids[address] = await arrive(mail_sync, address, letter("a@example.org"))
        await step(mail_sync, account_id, address)
    await mail_sync.fake_mail.delete(address=MIA, message_id=ids[MIA])
    await step(mail_sync, home, MIA)
    (row,) = await lunches(mail_sync)
    assert row.account_id == work
    assert row.duplicate_group is None
    assert await mail_sync.problems() == []


an_event = st.tuples(
    st.sampled_from(BOTH),
    st.sampled_from(("arrive", "delete", "archive", "read", "sync")),
    st.integers(min_value=0, max_value=2),  # which letter
    st.integers(min_value=0, max_value=1),  # in which thread
)


@settings(max_examples=examples(40))
@given(st.lists(an_event, max_size=25))
@pytest.mark.thorough
async def test_twins_are_true_after_any_script_of_arrivals_deletions_and_actions(
    script: Sequence[tuple[str, str, int, int]],
) -> None:
    with TemporaryDirectory() as home:
        clock = VirtualClock()
        threads = ThreadPool(limit=4, name="test")
        async with open_mail_sync(Path(home), clock=clock, log=RecordedLog(clock), threads=threads) as mail_sync:
            await _play(mail_sync, script)


async def _play(mail_sync: MailSync, script: Sequence[tuple[str, str, int, int]]) -> None:
    accounts = dict(zip(BOTH, await two_accounts(mail_sync), strict=True))
    there: dict[tuple[str, int], str] = {}
    for address, what, number, thread in script:
        if what == "arrive" and (address, number) not in there:
            raw = letter(f"{number}@example.org")
            there[address, number] = await arrive(mail_sync, address, raw, thread=f"t{thread}")
        elif what == "delete" and (address, number) in there:
            await mail_sync.fake_mail.delete(address=address, message_id=there.pop((address, number)))
        elif what == "sync":
            await step(mail_sync, accounts[address], address)
        elif what in ("archive", "read"):
            for row in await lunches(mail_sync):
                if what == "archive":
                    await mail_sync.store.write(inbox_actions.archive, mail_sync.principal, thread_ids=[row.id])
                else:
                    await mail_sync.store.write(inbox_actions.open_thread, mail_sync.principal, thread_id=row.id)
        assert await mail_sync.problems() == []
    for address, account_id in accounts.items():
        await step(mail_sync, account_id, address)
    assert await mail_sync.problems() == []
