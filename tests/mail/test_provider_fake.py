"""The fake mailbox: hooks, faults, and a journal that rebuilds the very same world, torn or not."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import pytest
import trio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from svc.errors import NotFound
from svc.fakes.mail.provider import FakeWorld, Fault, Operation
from svc.mail.providers.seam import (
    GrantLost,
    HistoryExpired,
    LostAnswer,
    MessageGone,
    Provider,
    ProviderFault,
    Refused,
    Throttled,
    Unreachable,
)
from svc.nursery import ThreadPool
from tests.full_disk import files_end_at
from tests.recorded_log import StoppedClock
from tests.sizes import examples
from tests.support.mailbox import MIA, Rig, mail

NONE: Final[frozenset[str]] = frozenset()
STARRED: Final = frozenset({"STARRED"})


def world_at(journal: Path) -> FakeWorld:
    world = FakeWorld(journal=journal, clock=StoppedClock(), threads=ThreadPool(limit=2, name="fake"))
    world.load()
    return world


def contents(world: FakeWorld) -> Mapping[str, object]:
    """All that a world knows, comparable."""
    return {address: world.mailbox(address) for address in world.addresses}


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    """A mailbox without a service."""
    return world_at(tmp_path / "fake.jsonl")


async def arrive(world: FakeWorld, address: str = MIA) -> None:
    await world.inject(address=address, raw=mail(), thread_key=None, labels=frozenset({"INBOX", "UNREAD"}))


# Hooks


async def test_a_change_by_a_hook_is_seen_through_the_provider(rig: Rig) -> None:
    first, second = await rig.inject("one", thread="t"), await rig.inject("two", thread="t")
    provider = rig.world.provider(MIA)
    since = (await provider.profile()).cursor
    await rig.world.set_labels(address=MIA, message_id=first, labels=STARRED | {"INBOX"})
    await rig.world.delete(address=MIA, message_id=second)
    assert (await provider.get(first)).labels == {"STARRED", "INBOX"}
    with pytest.raises(MessageGone):
        await provider.get(second)
    listed = await provider.list_messages(label="STARRED")
    assert [(ref.id, ref.thread_id) for ref in listed.messages] == [(first, "key-t")]
    changes = (await provider.history(since=since)).changes
    assert [(change.kind, change.message_id, change.labels) for change in changes] == [
        ("labels-added", first, STARRED),
        ("labels-removed", first, {"UNREAD"}),
        ("deleted", second, NONE),
    ]


async def test_pages_of_messages_and_of_history_end(rig: Rig) -> None:
    for number in range(230):
        await rig.inject(f"Mail {number}")
    provider = rig.world.provider(MIA)
    token, listed = None, []
    while True:
        page = await provider.list_messages(page_token=token, limit=100)
        listed += [ref.id for ref in page.messages]
        token = page.next_page_token
        if token is None:
            break
    assert sorted(listed) == sorted(rig.world.mailbox(MIA).messages)
    first = await provider.history(since="1000")
    assert len(first.changes) == 100
    assert first.next_page_token == "100"
    assert len((await provider.history(since="1000", page_token="200")).changes) == 30


async def test_an_expired_history_is_refused_and_the_present_one_is_not(rig: Rig) -> None:
    await rig.inject()
    provider = rig.world.provider(MIA)
    before = (await provider.profile()).cursor
    await rig.world.expire_history(address=MIA)
    with pytest.raises(HistoryExpired):
        await provider.history(since=before)
    assert (await provider.history(since=(await provider.profile()).cursor)).changes == ()


async def test_the_same_change_twice_is_one_change(rig: Rig) -> None:
    message = await rig.inject()
    provider = rig.world.provider(MIA)
    await provider.modify(message, add=STARRED, remove=NONE)
    after_one = (await provider.profile()).cursor
    await provider.modify(message, add=STARRED, remove=frozenset({"TRASH"}))
    assert (await provider.profile()).cursor == after_one


async def test_who_comes_at_the_same_time_gets_ids_of_their_own(rig: Rig) -> None:
    await rig.inject(address="noa@example.org")
    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(rig.inject, f"Mail {number}")
            nursery.start_soon(rig.world.provider("noa@example.org").send, mail(f"Mail {number}"))
    assert len(rig.world.mailbox(MIA).messages) == 10
    assert len(rig.world.mailbox("noa@example.org").sent) == 10
    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(rig.world.provider(MIA).create_label, f"Label {number}")
    assert len(await rig.world.provider(MIA).labels()) == 8 + 10


async def test_a_message_that_goes_while_it_is_changed_leaves_a_journal_that_can_be_read(rig: Rig) -> None:
    message = await rig.inject()
    refused: list[type[Exception]] = []

    async def noting(change: Callable[[], Awaitable[object]]) -> None:
        try:
            await change()
        except (MessageGone, NotFound) as error:
            refused.append(type(error))

    provider = rig.world.provider(MIA)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(noting, lambda: rig.world.delete(address=MIA, message_id=message))
            nursery.start_soon(noting, lambda: provider.modify(message, add=STARRED, remove=NONE))
            nursery.start_soon(noting, lambda: rig.world.set_labels(address=MIA, message_id=message, labels=NONE))
    assert set(refused) == {MessageGone, NotFound}
    assert contents(world_at(rig.world.journal)) == contents(rig.world)


async def test_a_hook_on_what_is_not_there_is_refused_and_not_recorded(rig: Rig) -> None:
    await rig.inject()
    before = rig.world.journal.read_bytes()
    with pytest.raises(NotFound):
        await rig.world.delete(address=MIA, message_id="fake-7")
    with pytest.raises(NotFound):
        await rig.world.set_labels(address=MIA, message_id="fake-7", labels=NONE)
    with pytest.raises(NotFound):
        await rig.world.expire_history(address="nobody@example.org")
    assert rig.world.journal.read_bytes() == before


# Faults

CALLS: Final[Mapping[Operation, Callable[[Provider], Awaitable[object]]]] = {
    "list": lambda provider: provider.list_messages(),
    "get": lambda provider: provider.get("fake-1"),
    "history": lambda provider: provider.history(since="1000"),
    "send": lambda provider: provider.send(mail("sent")),
    "modify": lambda provider: provider.modify("fake-1", add=STARRED, remove=NONE),
}
GONE: Final[Mapping[Operation, type[ProviderFault]]] = {
    "list": Refused,
    "get": MessageGone,
    "history": HistoryExpired,
    "send": Refused,
    "modify": MessageGone,
}
RAISED: Final[Mapping[Fault, type[ProviderFault]]] = {
    403: Refused,
    429: Throttled,
    500: Unreachable,
    "timeout": LostAnswer,
    "cut": LostAnswer,
    "lost-answer": LostAnswer,
}


@pytest.mark.parametrize("operation", CALLS)
@pytest.mark.parametrize("fault", [*RAISED, 404])
async def test_a_fault_strikes_as_often_as_asked_and_then_the_call_works(
    world: FakeWorld, operation: Operation, fault: Fault
) -> None:
    await arrive(world)
    world.fault(address=MIA, operation=operation, fault=fault, times=2)
    expected = GONE[operation] if fault == 404 else RAISED[fault]
    for _ in range(2):
        with pytest.raises(expected):
            await CALLS[operation](world.provider(MIA))
    await CALLS[operation](world.provider(MIA))


@pytest.mark.parametrize("operation", CALLS)
async def test_one_401_is_mended_by_a_refresh_and_two_are_a_lost_grant(world: FakeWorld, operation: Operation) -> None:
    await arrive(world)
    world.fault(address=MIA, operation=operation, fault=401, times=1)
    await CALLS[operation](world.provider(MIA))
    world.fault(address=MIA, operation=operation, fault=401, times=2)
    with pytest.raises(GrantLost):
        await CALLS[operation](world.provider(MIA))


@pytest.mark.parametrize("fault", ["lost-answer", "cut", "timeout", 500, 429, 403, 404])
async def test_only_a_lost_answer_means_that_it_was_done(world: FakeWorld, fault: Fault) -> None:
    await arrive(world)
    for operation in ("send", "modify"):
        world.fault(address=MIA, operation=operation, fault=fault, times=1)
        with pytest.raises(ProviderFault):
            await CALLS[operation](world.provider(MIA))
    done = fault == "lost-answer"
    assert len(world.mailbox(MIA).sent) == int(done)
    assert ("STARRED" in (await world.provider(MIA).get("fake-1")).labels) == done


async def test_a_fault_is_one_mailboxs_own_and_a_restart_clears_it(world: FakeWorld) -> None:
    await arrive(world)
    await arrive(world, "noa@example.org")
    world.fault(address=MIA, operation="list", fault=500, times=1)
    await world.provider("noa@example.org").list_messages()
    await world_at(world.journal).provider(MIA).list_messages()
    with pytest.raises(Unreachable):
        await world.provider(MIA).list_messages()


# The journal


async def test_every_line_is_durable_before_anybody_is_told(rig: Rig) -> None:
    for number in range(3):
        await rig.inject(f"Mail {number}")
        assert contents(world_at(rig.world.journal)) == contents(rig.world)


async def test_a_torn_last_line_is_dropped_at_every_byte(rig: Rig, tmp_path: Path) -> None:
    await rig.inject("one")
    kept = contents(world_at(rig.world.journal))
    whole = rig.world.journal.read_bytes()
    await rig.inject("two", raw="Subject: Ünïcödé\n\nx".encode())
    torn = rig.world.journal.read_bytes()
    journal = tmp_path / "torn.jsonl"
    for end in range(len(whole), len(torn)):
        journal.write_bytes(torn[:end])
        assert contents(world_at(journal)) == kept
        assert journal.read_bytes() == whole


async def test_a_line_that_the_disk_cuts_short_leaves_nothing_that_later_lines_would_follow(rig: Rig) -> None:
    await rig.inject("one")
    whole = rig.world.journal.read_bytes()
    with files_end_at(len(whole) + 40), pytest.raises(OSError, match="File too large"):
        await rig.inject("two")
    assert rig.world.journal.read_bytes() == whole
    await rig.inject("three")
    assert contents(world_at(rig.world.journal)) == contents(rig.world)


class TheJournalHoldsTheWorld(RuleBasedStateMachine):
    """Whatever was done, a world rebuilt from the journal is the world in memory; also when a crash tore a line."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(mkdtemp(prefix="fake-world-"))
        self.world = world_at(self.home / "fake.jsonl")

    def teardown(self) -> None:
        shutil.rmtree(self.home)

    @property
    def ids(self) -> list[str]:
        return sorted(self.world.mailbox(MIA).messages) if MIA in self.world.addresses else []

    def _run(self, flow: Callable[[], Awaitable[object]]) -> None:
        async def run() -> None:
            await flow()

        trio.run(run)

    @rule(subject=st.text(max_size=5), thread=st.none() | st.sampled_from("ab"))
    def inject(self, subject: str, thread: str | None) -> None:
        raw = f"Subject: {subject}\n\nx".encode("utf-8", "replace")
        self._run(lambda: self.world.inject(address=MIA, raw=raw, thread_key=thread, labels=frozenset({"INBOX"})))

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), labels=st.frozensets(st.sampled_from(("INBOX", "UNREAD", "STARRED"))))
    def set_labels(self, data: st.DataObject, labels: frozenset[str]) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        self._run(lambda: self.world.set_labels(address=MIA, message_id=chosen, labels=labels))

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), add=st.frozensets(st.sampled_from(("INBOX", "STARRED"))))
    def modify(self, data: st.DataObject, add: frozenset[str]) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        provider = self.world.provider(MIA)
        self._run(lambda: provider.modify(chosen, add=add, remove=frozenset({"UNREAD"})))

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        self._run(lambda: self.world.delete(address=MIA, message_id=chosen))

    @precondition(lambda self: MIA in self.world.addresses)
    @rule(name=st.sampled_from(("Clients", "Taxes")))
    def label(self, name: str) -> None:
        with suppress(Refused):
            self._run(lambda: self.world.provider(MIA).create_label(name, color="#16a766"))

    @precondition(lambda self: MIA in self.world.addresses)
    @rule(number=st.integers(min_value=9, max_value=11))
    def delete_label(self, number: int) -> None:
        self._run(lambda: self.world.delete_label(address=MIA, label_id=f"Label_{number}"))

    @precondition(lambda self: self.ids)
    @rule(add=st.frozensets(st.sampled_from(("INBOX", "STARRED"))))
    def modify_many(self, add: frozenset[str]) -> None:
        provider = self.world.provider(MIA)
        self._run(lambda: provider.modify_many([*self.ids, "gone"], add=add, remove=frozenset({"UNREAD"})))

    @precondition(lambda self: MIA in self.world.addresses)
    @rule(thread=st.none() | st.just("key-a"))
    def send(self, thread: str | None) -> None:
        self._run(lambda: self.world.provider(MIA).send(b"Subject: sent\n\nx", thread_id=thread))

    @precondition(lambda self: MIA in self.world.addresses)
    @rule()
    def expire(self) -> None:
        self._run(lambda: self.world.expire_history(address=MIA))

    @rule(junk=st.sampled_from((b"", b"{", b'{"op":"delete","address":"', b'{"op":"insert"}')))
    def restart(self, junk: bytes) -> None:
        if junk:
            with (self.home / "fake.jsonl").open("ab") as journal:
                journal.write(junk)
        before = contents(self.world)
        self.world = world_at(self.home / "fake.jsonl")
        assert contents(self.world) == before


TestTheJournalHoldsTheWorld = TheJournalHoldsTheWorld.TestCase
TestTheJournalHoldsTheWorld.settings = settings(max_examples=examples(40), stateful_step_count=25)
