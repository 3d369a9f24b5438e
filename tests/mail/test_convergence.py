"""Whatever happens in a mailbox, in whatever order it is told, with whatever faults: the same end as a fresh sync."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.fakes.mail.provider import FakeProvider, FakeWorld, Operation
from svc.mail.labelling import inbox_actions
from svc.mail.providers.seam import HistoryPage, ListPage, ProviderFault
from svc.nursery import ThreadPool
from tests.recorded_log import RecordedLog
from tests.sizes import examples
from tests.support.mailbox import MIA, MailSync, mail, open_mail_sync

pytestmark = pytest.mark.thorough

MADE_LABEL: Final = "Label_9"
LABELS: Final = ("INBOX", "UNREAD", "STARRED", "SPAM", "TRASH", "SENT", MADE_LABEL)
FAULTS: Final = (403, 404, 429, 500, "timeout", "cut", "lost-answer")

a_message = st.integers(min_value=0, max_value=30)
some_labels = st.frozensets(st.sampled_from(LABELS))
an_event = st.one_of(
    st.tuples(st.just("insert"), st.integers(min_value=0, max_value=3), some_labels),
    st.tuples(st.just("relabel"), a_message, some_labels),
    st.tuples(st.just("delete"), a_message),
    st.tuples(st.just("expire")),
    st.tuples(st.just("step"), st.integers()),
    st.tuples(st.just("fault"), st.sampled_from(("list", "get", "history")), st.sampled_from(FAULTS)),
)


@dataclass(frozen=True, kw_only=True)
class Untidy(FakeProvider):
    """Lists and tells the truth, but shuffled, with repeats, and while more happens."""

    rng: random.Random

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        page = await super().list_messages(label=label, page_token=page_token, limit=min(limit, 3))
        refs = [*page.messages, *page.messages[:1]]
        self.rng.shuffle(refs)
        return ListPage(messages=tuple(refs), next_page_token=page.next_page_token)

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        page = await super().history(since=since, page_token=page_token)
        changes = [*page.changes, *self.rng.sample(page.changes, len(page.changes) // 2)]
        self.rng.shuffle(changes)
        return HistoryPage(changes=tuple(changes), next_page_token=page.next_page_token, cursor=page.cursor)


@settings(max_examples=examples(25))
@given(st.lists(an_event, max_size=40), st.integers())
async def test_any_script_of_events_faults_and_steps_ends_as_a_fresh_sync_does(
    script: Sequence[tuple[object, ...]], seed: int
) -> None:
    with TemporaryDirectory() as home:
        async with _mail_sync(Path(home) / "lived") as mail_sync:
            untidy = Untidy(world=mail_sync.fake_mail, address=MIA, rng=random.Random(seed))
            await mail_sync.inject(raw=_dated(0))
            assert (await mail_sync.fake_mail.create_label(MIA, "Clients")).id == MADE_LABEL
            account_id = await mail_sync.connect()
            for number, (kind, *values) in enumerate(script, 1):
                await _play(mail_sync, account_id, untidy, number, kind, values)
            lied = any(event[:2] == ("fault", "get") and event[2] in (403, 404) for event in script)
            await _settle(mail_sync, account_id, untidy, lied=lied)
            lived = await mail_sync.state()
            announced = await mail_sync.rows("select count(*) from events where type = 'mail-received'")
            assert await mail_sync.problems() == []
        async with _mail_sync(Path(home) / "fresh", journal=Path(home) / "lived" / "fake.jsonl") as mail_sync:
            account_id = await mail_sync.connect()
            await mail_sync.sync_of(account_id).step()
            assert lived == await mail_sync.state()
            assert announced[0][0] >= (await mail_sync.account(account_id)).messages


@settings(max_examples=examples(15))
@given(st.lists(st.tuples(a_message, some_labels), max_size=30), st.randoms(use_true_random=False))
async def test_history_told_in_any_order_ends_in_the_mailbox_as_it_is(
    relabels: Sequence[tuple[int, frozenset[str]]], rng: random.Random
) -> None:
    with TemporaryDirectory() as home:
        async with _mail_sync(Path(home)) as mail_sync:
            account_id = await mail_sync.synced("one", "two", "three")
            for number, labels in relabels:
                await mail_sync.fake_mail.set_labels(address=MIA, message_id=f"fake-{number % 3 + 1}", labels=labels)
            await mail_sync.sync_of(account_id, Untidy(world=mail_sync.fake_mail, address=MIA, rng=rng)).step()
            for number in (1, 2, 3):
                here = await mail_sync.labels_here(account_id, f"fake-{number}")
                assert here == await mail_sync.labels_at_provider(f"fake-{number}")


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(st.sampled_from(("here", "there", "step")), a_message, st.booleans()), max_size=25))
async def test_changes_here_and_there_end_in_agreement(script: Sequence[tuple[str, int, bool]]) -> None:
    with TemporaryDirectory() as home:
        async with _mail_sync(Path(home)) as mail_sync:
            account_id = await mail_sync.synced("one", "two", "three")
            loop = mail_sync.loop_of(account_id)
            for where, number, inbox in script:
                message_id = f"fake-{number % 3 + 1}"
                if where == "here":
                    act = inbox_actions.unarchive if inbox else inbox_actions.archive
                    thread_id = await mail_sync.thread_id_of(message_id)
                    await mail_sync.store.write(act, mail_sync.principal, thread_ids=[thread_id])
                elif where == "there":
                    labels = frozenset({"INBOX"}) if inbox else frozenset({"STARRED"})
                    await mail_sync.fake_mail.set_labels(address=MIA, message_id=message_id, labels=labels)
                else:
                    await loop.sync_now()
            await loop.sync_now()
            await loop.sync_now()
            assert await mail_sync.pending() == []
            for message_id in ("fake-1", "fake-2", "fake-3"):
                assert await mail_sync.labels_here(account_id, message_id) == await mail_sync.labels_at_provider(
                    message_id
                )
            assert await mail_sync.problems() == []


def _mail_sync(home: Path, *, journal: Path | None = None):  # type: ignore[no-untyped-def]
    clock = VirtualClock()
    threads = ThreadPool(limit=8, name="test")
    return open_mail_sync(home, clock=clock, log=RecordedLog(clock), threads=threads, journal=journal)


def _dated(number: int) -> bytes:
    return mail(f"Mail {number}", date=f"Mon, 19 Oct 2026 {number // 60:02}:{number % 60:02}:00 +0000")


async def _play(
    mail_sync: MailSync, account_id: str, provider: FakeProvider, number: int, kind: object, values: Sequence[object]
) -> None:
    match kind, *values:
        case "insert", int(thread), frozenset() as labels:
            await mail_sync.inject(raw=_dated(number), thread=f"t{thread}", labels=labels)
        case "relabel", int(chosen), frozenset() as labels:
            if message_id := _chosen(mail_sync.fake_mail, chosen):
                await mail_sync.fake_mail.set_labels(address=MIA, message_id=message_id, labels=labels)
        case "delete", int(chosen):
            if message_id := _chosen(mail_sync.fake_mail, chosen):
                await mail_sync.fake_mail.delete(address=MIA, message_id=message_id)
        case "expire", *_:
            await mail_sync.fake_mail.expire_history(address=MIA)
        case "fault", operation, fault:
            mail_sync.fake_mail.fault(address=MIA, operation=operation, fault=fault, times=1)  # type: ignore[arg-type]
        case _:
            with suppress(ProviderFault):
                await mail_sync.sync_of(account_id, provider).step()
    await trio.sleep(1)


def _chosen(fake_mail: FakeWorld, number: int) -> str | None:
    ids = list(fake_mail.mailbox(MIA).messages)
    return ids[number % len(ids)] if ids else None


async def _settle(mail_sync: MailSync, account_id: str, provider: FakeProvider, *, lied: bool) -> None:
    """The weather clears, and one step brings everything. Where the provider said of a message that is there that it
    was gone or refused, only the next full sync can find it."""
    operations: tuple[Operation, ...] = ("list", "get", "history")
    for operation in operations:
        while mail_sync.fake_mail.next_fault(MIA, operation):
            pass
    if lied:
        await mail_sync.store.write(lambda tx: tx.run("delete from mail_ledger"))
        await mail_sync.fake_mail.expire_history(address=MIA)
    await mail_sync.sync_of(account_id, provider).step()
    assert (await mail_sync.account(account_id)).state == "caught-up"
