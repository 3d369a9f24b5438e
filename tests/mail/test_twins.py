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
from tests.support.mailbox import MIA, Rig, open_rig

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


async def two_accounts(rig: Rig) -> tuple[str, str]:
    for address in BOTH:
        await rig.inject("Only here", address=address, thread="first")
    return await rig.connect(MIA), await rig.connect(WORK)


async def arrive(rig: Rig, address: str, raw: bytes, *, thread: str = "t") -> str:
    return await rig.inject(address=address, raw=via(address, raw), thread=thread)


async def step(rig: Rig, account_id: str, address: str) -> None:
    await rig.sync_of(account_id, address=address).step()


async def unified(rig: Rig) -> list[ThreadRow]:
    def read(tx: ReadTx) -> list[ThreadRow]:
        ids = [account.id for account in account_queries.accounts(tx, rig.principal)]
        return thread_queries.threads(tx, account_ids=ids, sections=("inbox",), cursor=None, limit=50)

    return await rig.store.read(read)


async def lunches(rig: Rig) -> list[ThreadRow]:
    return [row for row in await unified(rig) if row.subject == "Lunch"]


async def test_one_mail_in_two_accounts_is_one_row_in_unified_and_one_in_each_tab(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(rig, address, letter("a@example.org"))
        await step(rig, account_id, address)
    (row,) = await lunches(rig)
    for account_id in (home, work):
        tab = await rig.store.read(
            thread_queries.threads, account_ids=[account_id], sections=("inbox",), cursor=None, limit=50
        )
        assert [one.subject for one in tab].count("Lunch") == 1
    shown = (await rig.store.read(thread_wire.thread_summaries, [row]))[0]
    assert shown.leads
    assert [duplicate.account_id for duplicate in shown.twins] == [work if row.account_id == home else home]
    assert await rig.problems() == []


async def test_unified_counts_an_unread_mail_of_two_accounts_once(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(rig, address, letter("a@example.org"))
        await step(rig, account_id, address)
    found = [await rig.account(account_id) for account_id in (home, work)]
    assert [account.unread_threads for account in found] == [2, 2]
    assert sum(account.unread_duplicates for account in found) == 1


async def test_a_forged_message_id_hides_nothing(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    await arrive(rig, MIA, letter("a@example.org"))
    await step(rig, home, MIA)
    await arrive(rig, WORK, letter("a@example.org", text="Buy this!", sender="evil@example.net"))
    await step(rig, work, WORK)
    assert len(await lunches(rig)) == 2


async def test_the_thread_that_is_still_in_the_inbox_leads_when_its_twin_is_archived(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(rig, address, letter("a@example.org"))
        await step(rig, account_id, address)
    (first,) = await lunches(rig)
    await rig.store.write(inbox_actions.archive, rig.principal, thread_ids=[first.id])
    (second,) = await lunches(rig)
    assert second.id != first.id
    await rig.store.write(inbox_actions.archive, rig.principal, thread_ids=[second.id])
    assert await lunches(rig) == []
    assert await rig.problems() == []


async def test_of_all_mail_it_is_one_row_though_it_is_in_the_inbox_of_one_account_only(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    for account_id, address in ((home, MIA), (work, WORK)):
        await arrive(rig, address, letter("a@example.org"))
        await step(rig, account_id, address)
    (first,) = await lunches(rig)
    await rig.store.write(inbox_actions.archive, rig.principal, thread_ids=[first.id])
    for account_ids in ([home, work], [home], [work]):
        rows = await rig.store.read(
            thread_queries.threads, account_ids=account_ids, sections=SECTIONS, cursor=None, limit=50
        )
        assert [row.subject for row in rows].count("Lunch") == 1


async def test_a_twin_whose_mail_is_deleted_at_the_provider_leaves_the_other_alone(rig: Rig) -> None:
    home, work = await two_accounts(rig)
    ids = {}
    for account_id, address in ((home, MIA), (work, WORK)):
        ids[address] = await arrive(rig, address, letter("a@example.org"))
        await step(rig, account_id, address)
    await rig.world.delete(address=MIA, message_id=ids[MIA])
    await step(rig, home, MIA)
    (row,) = await lunches(rig)
    assert row.account_id == work
    assert row.duplicate_group is None
    assert await rig.problems() == []


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
        async with open_rig(Path(home), clock=clock, log=RecordedLog(clock), threads=threads) as rig:
            await _play(rig, script)


async def _play(rig: Rig, script: Sequence[tuple[str, str, int, int]]) -> None:
    accounts = dict(zip(BOTH, await two_accounts(rig), strict=True))
    there: dict[tuple[str, int], str] = {}
    for address, what, number, thread in script:
        if what == "arrive" and (address, number) not in there:
            raw = letter(f"{number}@example.org")
            there[address, number] = await arrive(rig, address, raw, thread=f"t{thread}")
        elif what == "delete" and (address, number) in there:
            await rig.world.delete(address=address, message_id=there.pop((address, number)))
        elif what == "sync":
            await step(rig, accounts[address], address)
        elif what in ("archive", "read"):
            for row in await lunches(rig):
                if what == "archive":
                    await rig.store.write(inbox_actions.archive, rig.principal, thread_ids=[row.id])
                else:
                    await rig.store.write(inbox_actions.open_thread, rig.principal, thread_id=row.id)
        assert await rig.problems() == []
    for address, account_id in accounts.items():
        await step(rig, account_id, address)
    assert await rig.problems() == []
