"""The fake mailbox: hooks, faults, and a journal that rebuilds the same mailboxes, also when its last line is torn."""

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
from tests.support.mailbox import MIA, MailSync, mail

NONE: Final[frozenset[str]] = frozenset()
STARRED: Final = frozenset({"STARRED"})


def fake_mail_at(journal: Path) -> FakeWorld:
    fake_mail = FakeWorld(journal=journal, clock=StoppedClock(), threads=ThreadPool(limit=2, name="fake"))
    fake_mail.load()
    return fake_mail


def contents(fake_mail: FakeWorld) -> Mapping[str, object]:
    """All mailboxes, comparable."""
    return {address: fake_mail.mailbox(address) for address in fake_mail.addresses}


@pytest.fixture
def fake_mail(tmp_path: Path) -> FakeWorld:
    """A mailbox without a service."""
    return fake_mail_at(tmp_path / "fake.jsonl")


async def arrive(fake_mail: FakeWorld, address: str = MIA) -> None:
    await fake_mail.inject(address=address, raw=mail(), thread_key=None, labels=frozenset({"INBOX", "UNREAD"}))


# Hooks


async def test_a_change_by_a_hook_is_seen_through_the_provider(mail_sync: MailSync) -> None:
    first, second = await mail_sync.inject("one", thread="t"), await mail_sync.inject("two", thread="t")
    provider = mail_sync.fake_mail.provider(MIA)
    since = (await provider.profile()).cursor
    await mail_sync.fake_mail.set_labels(address=MIA, message_id=first, labels=STARRED | {"INBOX"})
    await mail_sync.fake_mail.delete(address=MIA, message_id=second)
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


async def test_pages_of_messages_and_of_history_end(mail_sync: MailSync) -> None:
    for number in range(230):
        await mail_sync.inject(f"Mail {number}")
    provider = mail_sync.fake_mail.provider(MIA)
    token, listed = None, []
    while True:
        page = await provider.list_messages(page_token=token, limit=100)
        listed += [ref.id for ref in page.messages]
        token = page.next_page_token
        if token is None:
            break
    assert sorted(listed) == sorted(mail_sync.fake_mail.mailbox(MIA).messages)
    first = await provider.history(since="1000")
    assert len(first.changes) == 100
    assert first.next_page_token == "100"
    assert len((await provider.history(since="1000", page_token="200")).changes) == 30


async def test_an_expired_history_is_refused_and_the_present_one_is_not(mail_sync: MailSync) -> None:
    await mail_sync.inject()
    provider = mail_sync.fake_mail.provider(MIA)
    before = (await provider.profile()).cursor
    await mail_sync.fake_mail.expire_history(address=MIA)
    with pytest.raises(HistoryExpired):
        await provider.history(since=before)
    assert (await provider.history(since=(await provider.profile()).cursor)).changes == ()


async def test_the_same_change_twice_is_one_change(mail_sync: MailSync) -> None:
    message = await mail_sync.inject()
    provider = mail_sync.fake_mail.provider(MIA)
    await provider.modify(message, add=STARRED, remove=NONE)
    after_one = (await provider.profile()).cursor
    await provider.modify(message, add=STARRED, remove=frozenset({"TRASH"}))
    assert (await provider.profile()).cursor == after_one


async def test_who_comes_at_the_same_time_gets_ids_of_their_own(mail_sync: MailSync) -> None:
    await mail_sync.inject(address="noa@example.org")
    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(mail_sync.inject, f"Mail {number}")
            nursery.start_soon(mail_sync.fake_mail.provider("noa@example.org").send, mail(f"Mail {number}"))
    assert len(mail_sync.fake_mail.mailbox(MIA).messages) == 10
    assert len(mail_sync.fake_mail.mailbox("noa@example.org").sent) == 10
    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(mail_sync.fake_mail.provider(MIA).create_label, f"Label {number}")
    assert len(await mail_sync.fake_mail.provider(MIA).labels()) == 8 + 10


async def test_a_message_that_goes_while_it_is_changed_leaves_a_journal_that_can_be_read(mail_sync: MailSync) -> None:
    message = await mail_sync.inject()
    refused: list[type[Exception]] = []

    async def noting(change: Callable[[], Awaitable[object]]) -> None:
        try:
            await change()
        except (MessageGone, NotFound) as error:
            refused.append(type(error))

    provider = mail_sync.fake_mail.provider(MIA)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(noting, lambda: mail_sync.fake_mail.delete(address=MIA, message_id=message))
            nursery.start_soon(noting, lambda: provider.modify(message, add=STARRED, remove=NONE))
            nursery.start_soon(
                noting, lambda: mail_sync.fake_mail.set_labels(address=MIA, message_id=message, labels=NONE)
            )
    assert set(refused) == {MessageGone, NotFound}
    assert contents(fake_mail_at(mail_sync.fake_mail.journal)) == contents(mail_sync.fake_mail)


async def test_a_hook_on_what_is_not_there_is_refused_and_not_recorded(mail_sync: MailSync) -> None:
    await mail_sync.inject()
    before = mail_sync.fake_mail.journal.read_bytes()
    with pytest.raises(NotFound):
        await mail_sync.fake_mail.delete(address=MIA, message_id="fake-7")
    with pytest.raises(NotFound):
        await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-7", labels=NONE)
    with pytest.raises(NotFound):
        await mail_sync.fake_mail.expire_history(address="nobody@example.org")
    assert mail_sync.fake_mail.journal.read_bytes() == before


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
    fake_mail: FakeWorld, operation: Operation, fault: Fault
) -> None:
    await arrive(fake_mail)
    fake_mail.fault(address=MIA, operation=operation, fault=fault, times=2)
    expected = GONE[operation] if fault == 404 else RAISED[fault]
    for _ in range(2):
        with pytest.raises(expected):
            await CALLS[operation](fake_mail.provider(MIA))
    await CALLS[operation](fake_mail.provider(MIA))


@pytest.mark.parametrize("operation", CALLS)
async def test_one_401_is_mended_by_a_refresh_and_two_are_a_lost_grant(
    fake_mail: FakeWorld, operation: Operation
) -> None:
    await arrive(fake_mail)
    fake_mail.fault(address=MIA, operation=operation, fault=401, times=1)
    await CALLS[operation](fake_mail.provider(MIA))
    fake_mail.fault(address=MIA, operation=operation, fault=401, times=2)
    with pytest.raises(GrantLost):
        await CALLS[operation](fake_mail.provider(MIA))


@pytest.mark.parametrize("fault", ["lost-answer", "cut", "timeout", 500, 429, 403, 404])
async def test_only_a_lost_answer_means_that_it_was_done(fake_mail: FakeWorld, fault: Fault) -> None:
    await arrive(fake_mail)
    for operation in ("send", "modify"):
        fake_mail.fault(address=MIA, operation=operation, fault=fault, times=1)
        with pytest.raises(ProviderFault):
            await CALLS[operation](fake_mail.provider(MIA))
    done = fault == "lost-answer"
    assert len(fake_mail.mailbox(MIA).sent) == int(done)
    assert ("STARRED" in (await fake_mail.provider(MIA).get("fake-1")).labels) == done


async def test_a_fault_is_one_mailboxs_own_and_a_restart_clears_it(fake_mail: FakeWorld) -> None:
    await arrive(fake_mail)
    await arrive(fake_mail, "noa@example.org")
    fake_mail.fault(address=MIA, operation="list", fault=500, times=1)
    await fake_mail.provider("noa@example.org").list_messages()
    await fake_mail_at(fake_mail.journal).provider(MIA).list_messages()
    with pytest.raises(Unreachable):
        await fake_mail.provider(MIA).list_messages()


# The journal


async def test_every_line_is_durable_before_anybody_is_told(mail_sync: MailSync) -> None:
    for number in range(3):
        await mail_sync.inject(f"Mail {number}")
        assert contents(fake_mail_at(mail_sync.fake_mail.journal)) == contents(mail_sync.fake_mail)


async def test_a_torn_last_line_is_dropped_at_every_byte(mail_sync: MailSync, tmp_path: Path) -> None:
    await mail_sync.inject("one")
    kept = contents(fake_mail_at(mail_sync.fake_mail.journal))
    whole = mail_sync.fake_mail.journal.read_bytes()
    await mail_sync.inject("two", raw="Subject: Ünïcödé\n\nx".encode())
    torn = mail_sync.fake_mail.journal.read_bytes()
    journal = tmp_path / "torn.jsonl"
    for end in range(len(whole), len(torn)):
        journal.write_bytes(torn[:end])
        assert contents(fake_mail_at(journal)) == kept
        assert journal.read_bytes() == whole


async def test_a_line_that_the_disk_cuts_short_leaves_nothing_that_later_lines_would_follow(
    mail_sync: MailSync,
) -> None:
    await mail_sync.inject("one")
    whole = mail_sync.fake_mail.journal.read_bytes()
    with files_end_at(len(whole) + 40), pytest.raises(OSError, match="File too large"):
        await mail_sync.inject("two")
    assert mail_sync.fake_mail.journal.read_bytes() == whole
    await mail_sync.inject("three")
    assert contents(fake_mail_at(mail_sync.fake_mail.journal)) == contents(mail_sync.fake_mail)


class TheJournalHoldsEverything(RuleBasedStateMachine):
    """Mailboxes rebuilt from the journal always equal those in memory, also when a crash tore a line."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(mkdtemp(prefix="fake-mail-"))
        self.fake_mail = fake_mail_at(self.home / "fake.jsonl")

    def teardown(self) -> None:
        shutil.rmtree(self.home)

    @property
    def ids(self) -> list[str]:
        return sorted(self.fake_mail.mailbox(MIA).messages) if MIA in self.fake_mail.addresses else []

    def _run(self, flow: Callable[[], Awaitable[object]]) -> None:
        async def run() -> None:
            await flow()

        trio.run(run)

    @rule(subject=st.text(max_size=5), thread=st.none() | st.sampled_from("ab"))
    def inject(self, subject: str, thread: str | None) -> None:
        raw = f"Subject: {subject}\n\nx".encode("utf-8", "replace")
        self._run(lambda: self.fake_mail.inject(address=MIA, raw=raw, thread_key=thread, labels=frozenset({"INBOX"})))

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), labels=st.frozensets(st.sampled_from(("INBOX", "UNREAD", "STARRED"))))
    def set_labels(self, data: st.DataObject, labels: frozenset[str]) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        self._run(lambda: self.fake_mail.set_labels(address=MIA, message_id=chosen, labels=labels))

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), add=st.frozensets(st.sampled_from(("INBOX", "STARRED"))))
    def modify(self, data: st.DataObject, add: frozenset[str]) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        provider = self.fake_mail.provider(MIA)
        self._run(lambda: provider.modify(chosen, add=add, remove=frozenset({"UNREAD"})))

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.ids))
        self._run(lambda: self.fake_mail.delete(address=MIA, message_id=chosen))

    @precondition(lambda self: MIA in self.fake_mail.addresses)
    @rule(name=st.sampled_from(("Clients", "Taxes")))
    def label(self, name: str) -> None:
        with suppress(Refused):
            self._run(lambda: self.fake_mail.provider(MIA).create_label(name, color="#16a766"))

    @precondition(lambda self: MIA in self.fake_mail.addresses)
    @rule(number=st.integers(min_value=9, max_value=11))
    def delete_label(self, number: int) -> None:
        self._run(lambda: self.fake_mail.delete_label(address=MIA, label_id=f"Label_{number}"))

    @precondition(lambda self: self.ids)
    @rule(add=st.frozensets(st.sampled_from(("INBOX", "STARRED"))))
    def modify_many(self, add: frozenset[str]) -> None:
        provider = self.fake_mail.provider(MIA)
        self._run(lambda: provider.modify_many([*self.ids, "gone"], add=add, remove=frozenset({"UNREAD"})))

    @precondition(lambda self: MIA in self.fake_mail.addresses)
    @rule(thread=st.none() | st.just("key-a"))
    def send(self, thread: str | None) -> None:
        self._run(lambda: self.fake_mail.provider(MIA).send(b"Subject: sent\n\nx", thread_id=thread))

    @precondition(lambda self: MIA in self.fake_mail.addresses)
    @rule()
    def expire(self) -> None:
        self._run(lambda: self.fake_mail.expire_history(address=MIA))

    @rule(junk=st.sampled_from((b"", b"{", b'{"op":"delete","address":"', b'{"op":"insert"}')))
    def restart(self, junk: bytes) -> None:
        if junk:
            with (self.home / "fake.jsonl").open("ab") as journal:
                journal.write(junk)
        before = contents(self.fake_mail)
        self.fake_mail = fake_mail_at(self.home / "fake.jsonl")
        assert contents(self.fake_mail) == before


TestTheJournalHoldsEverything = TheJournalHoldsEverything.TestCase
TestTheJournalHoldsEverything.settings = settings(max_examples=examples(40), stateful_step_count=25)
