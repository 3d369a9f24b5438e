"""Our own threading, where a provider has none: the same groups in any order, and each thread keeps its id."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc import undo
from svc.clock import VirtualClock
from svc.formats.person import Person
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import queries as account_queries
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.labelling import actions as labelling
from svc.mail.labelling import inbox_actions
from svc.mail.labelling.reversals import REVERSAL
from svc.mail.model import INBOX, SENT, UNREAD, Account, Incoming, MessageHeaders
from svc.mail.sending.invariants import INVARIANTS as SENDING_INVARIANTS
from svc.mail.sync import ingest
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import thread_rows
from svc.mail.threads.invariants import INVARIANTS
from svc.principal import UNCLAIMED
from svc.store import Tx
from tests.mail.bare import bare_tx
from tests.mail.folder_provider import FolderMailbox, FolderProvider
from tests.support.mailbox import MailSync

MIA = "mia@example.org"
BOTH = frozenset({INBOX, UNREAD})


@dataclass(frozen=True)
class Mail:
    """A message by what it says of others: its own id (or none), and those it names, the oldest first."""

    key: str
    own: str | None
    names: tuple[str, ...] = ()


@dataclass
class Box:
    """An account whose provider has no threads, in a database in memory."""

    tx: Tx = field(default_factory=bare_tx)
    address: str = MIA
    account_id: str = ""

    def __post_init__(self) -> None:
        self.account_id = account_actions.connect(self.tx, UNCLAIMED, address=self.address, provider="folders")

    @property
    def account(self) -> Account:
        account = account_queries.account(self.tx, self.account_id)
        assert account is not None
        return account

    def arrive(self, one: Mail, *, labels: frozenset[str] = BOTH) -> None:
        self.tx.now += 1_000
        ingest.store_one(
            self.tx, account_id=self.account_id, message=_incoming(one, self.tx.now, labels), steps=INGEST_STEPS
        )

    def arrive_together(self, mails: Iterable[Mail]) -> None:
        """A page of a full sync: one transaction."""
        self.tx.run("update mail_accounts set sweep_cursor = '1' where id = :id", id=self.account_id)
        incoming = tuple(_incoming(one, self.tx.now, BOTH) for one in mails)
        page = ingest.FullSyncPage(incoming=incoming, seen=(), passed=(), next_page_token=None)
        ingest.store_page(self.tx, account_id=self.account_id, page=page, steps=INGEST_STEPS)

    def thread_of(self, key: str) -> str:
        return str(
            self.tx.value(
                "select thread_id from mail_messages where account_id = :account and provider_message_id = :key",
                account=self.account_id,
                key=key,
            )
        )

    def grouping(self) -> set[frozenset[str]]:
        rows = self.tx.all(
            """
            select group_concat(provider_message_id, ' ') from mail_messages where account_id = :id group by thread_id
            """,
            id=self.account_id,
        )
        return {frozenset(str(keys).split()) for (keys,) in rows}

    def shown(self) -> set[str]:
        """The threads as somebody sees them who has heard all live updates."""
        there: set[str] = set()
        for one in self.tx.emitted:
            if one.kind == "thread.changed":
                there.add(one.id)
            elif one.kind == "thread.removed":
                there.remove(one.id)
        return there

    def check(self) -> None:
        checks = [one for one in (*INVARIANTS, *SENDING_INVARIANTS) if one.yields == "problems"]
        assert [problem for one in checks for problem in one.check(self.tx)] == []
        assert self.shown() == {str(thread_id) for (thread_id,) in self.tx.all("select id from mail_threads")}
        assert self.tx.one("pragma foreign_key_check") is None


def _incoming(one: Mail, now: int, labels: frozenset[str]) -> Incoming:
    return Incoming(
        provider_message_id=one.key,
        provider_thread_id=None,
        labels=labels,
        message_id_header=one.own,
        sent_at=now,
        sender=Person(name="Noa", address="noa@example.org"),
        subject="The same for all",
        snippet=one.key,
        headers=MessageHeaders(in_reply_to=one.names[-1] if one.names else None, references=one.names),
        body_sha256=f"{one.own or one.key:0>64}",
        raw_sha256="1" * 64,
        raw_size=10,
    )


def groups_of(mails: Sequence[Mail]) -> set[frozenset[str]]:
    """The same by another way: what shares a name is joined until nothing changes."""
    parts = [({one.key}, {*one.names, one.own} - {None}) for one in mails]
    merged = True
    while merged:
        merged = False
        for first in parts:
            for other in parts:
                if first is not other and first[1] & other[1]:
                    first[0].update(other[0])
                    first[1].update(other[1])
                    parts.remove(other)
                    merged = True
                    break
            if merged:
                break
    return {frozenset(keys) for keys, _ in parts}


ROOT = Mail("root", "a")
REPLY = Mail("reply", "b", ("a",))
ANSWER = Mail("answer", "c", ("a", "b"))
OTHER = Mail("other", "x")
BRIDGE = Mail("bridge", "y", ("c", "x"))
NAMELESS = Mail("nameless", None)

some_names = st.sampled_from("abcdefgh")
some_mails = st.lists(
    st.tuples(st.none() | some_names, st.lists(some_names, max_size=3, unique=True)), min_size=1, max_size=7
).map(lambda drawn: [Mail(f"m{at}", own, tuple(names)) for at, (own, names) in enumerate(drawn)])


@pytest.mark.parametrize(
    "order", [*permutations((ROOT, REPLY, ANSWER))], ids=lambda order: " ".join(m.key for m in order)
)
def test_a_conversation_is_one_thread_in_any_order(order: Sequence[Mail]) -> None:
    box = Box()
    for one in order:
        box.arrive(one)
        box.check()
    assert box.grouping() == {frozenset({"root", "reply", "answer"})}


def test_what_only_has_the_same_subject_stays_apart() -> None:
    box = Box()
    for one in (ROOT, OTHER, NAMELESS, Mail("nameless-too", None)):
        box.arrive(one)
    assert len(box.grouping()) == 4
    box.check()


def test_a_message_that_names_two_threads_joins_them_and_the_older_keeps_its_id() -> None:
    box = Box()
    for one in (ROOT, OTHER, ANSWER):
        box.arrive(one)
    older = box.thread_of("root")
    assert box.thread_of("other") != older
    told = len(box.tx.emitted)
    box.arrive(BRIDGE)
    assert box.grouping() == {frozenset({"root", "other", "answer", "bridge"})}
    assert box.thread_of("bridge") == older
    news = [(one.kind, one.id == older) for one in box.tx.emitted[told:] if one.topic == "mail"]
    assert news == [("thread.removed", False), ("thread.changed", True)]
    assert box.account.unread_threads == 1
    box.check()


def test_of_threads_made_in_one_transaction_only_the_last_is_told() -> None:
    box = Box()
    box.arrive_together((ROOT, OTHER, ANSWER, BRIDGE))
    assert [one.kind for one in box.tx.emitted if one.topic == "mail"] == ["thread.changed"]
    box.check()


@pytest.mark.thorough
@settings(max_examples=150)
@given(some_mails, st.randoms(use_true_random=False), st.booleans())
def test_any_order_of_arrival_gives_the_same_threads(mails: list[Mail], chance: random.Random, together: bool) -> None:
    chance.shuffle(mails)
    box = Box()
    if together:
        half = len(mails) // 2
        box.arrive_together(mails[:half])
        box.arrive_together(mails[half:])
    else:
        for one in mails:
            box.arrive(one)
            box.check()
    assert box.grouping() == groups_of(mails)
    box.check()


@pytest.mark.thorough
@settings(max_examples=60)
@given(some_mails, some_mails, st.randoms(use_true_random=False))
def test_two_accounts_with_the_same_mails_stay_true_while_threads_are_joined(
    mails: list[Mail], others: list[Mail], chance: random.Random
) -> None:
    """One person's two accounts: duplicates are found across them, whatever joins on either side."""
    mia = Box()
    ben = Box(tx=mia.tx, address="ben@example.org")
    arriving = [(mia, one) for one in mails] + [(ben, one) for one in others]
    chance.shuffle(arriving)
    for box, one in arriving:
        box.arrive(one)
        box.check()
    assert (mia.grouping(), ben.grouping()) == (groups_of(mails), groups_of(others))


def test_threads_of_one_group_of_duplicates_that_are_joined_are_told_as_removed_once() -> None:
    mia = Box()
    ben = Box(tx=mia.tx, address="ben@example.org")
    for box, one in (
        (ben, Mail("c", None, ("c",))),
        (mia, Mail("a", "a", ("a", "b"))),
        (ben, Mail("a", "a")),
        (ben, Mail("b", "b")),
        (mia, Mail("b", "b")),
        (ben, Mail("all", None, ("a", "b", "c"))),
    ):
        box.arrive(one)
        box.check()


def test_a_message_that_is_gone_parts_nothing_and_an_empty_thread_leaves_no_names() -> None:
    box = Box()
    for one in (ROOT, REPLY, ANSWER):
        box.arrive(one)
    thread_id = box.thread_of("root")
    for key in ("reply", "root", "answer"):
        stored = box.tx.one("select id, thread_id from mail_messages where provider_message_id = :key", key=key)
        assert stored is not None
        ingest.delete_message(box.tx, box.account, message_id=stored[0])
        thread_rows.refresh_thread(box.tx, box.account, stored[1], device_id="dev_test")
        box.check()
    assert box.tx.all("select * from mail_references") == []
    box.arrive(ANSWER)
    assert box.thread_of("answer") == thread_id


def test_a_snooze_and_a_draft_follow_the_thread_that_was_joined() -> None:
    box = Box()
    box.arrive(ROOT, labels=frozenset({SENT}))
    box.arrive(OTHER)
    older, gone = box.thread_of("root"), box.thread_of("other")
    until = box.tx.now + 3_600_000
    labelling.snooze(box.tx, UNCLAIMED, thread_ids=[gone], until=until)
    box.tx.run(
        """
        insert into mail_drafts (id, account_id, to_addresses, cc_addresses, bcc_addresses, subject, html, snippet,
            attachments, thread_id, version, created_at, updated_at)
        values ('drf', :account, '[]', '[]', '[]', '', '', '', '[]', :gone, 1, 0, 0)
        """,
        account=box.account_id,
        gone=gone,
    )
    box.arrive(BRIDGE, labels=frozenset({SENT}))
    box.arrive(Mail("link", None, ("x", "a")), labels=frozenset({SENT}))
    assert box.grouping() == {frozenset({"root", "other", "bridge", "link"})}
    assert box.tx.all("select thread_id, until from mail_snoozes") == [(older, until)]
    assert box.tx.value("select thread_id from mail_drafts") == older
    box.check()


def test_the_id_of_a_thread_that_was_joined_leads_to_the_one_it_became() -> None:
    box = Box()
    for one in (ROOT, OTHER, Mail("third", "t")):
        box.arrive(one)
    ids = {key: box.thread_of(key) for key in ("root", "other", "third")}
    box.arrive(Mail("link", None, ("x", "t")))
    assert led_to(box, ids["third"]) == box.thread_of("link")
    box.arrive(Mail("again", None, ("a", "t")))
    assert {led_to(box, thread_id) for thread_id in ids.values()} == {box.thread_of("root")}
    inbox_actions.archive(box.tx, UNCLAIMED, thread_ids=[ids["third"]])
    assert box.tx.value("select sum(in_inbox) from mail_messages") == 0
    box.check()


def test_a_joined_thread_that_is_empty_leads_nowhere() -> None:
    box = Box()
    for one in (ROOT, OTHER):
        box.arrive(one)
    gone = box.thread_of("other")
    box.arrive(Mail("link", None, ("x", "a")))
    for message_id, thread_id in box.tx.all("select id, thread_id from mail_messages"):
        ingest.delete_message(box.tx, box.account, message_id=message_id)
        thread_rows.refresh_thread(box.tx, box.account, thread_id, device_id="dev_test")
    assert led_to(box, gone) is None
    box.arrive(OTHER)
    assert led_to(box, gone) == gone


def led_to(box: Box, thread_id: str) -> str | None:
    found = thread_queries.thread_for(box.tx, UNCLAIMED, thread_id=thread_id)
    return None if found is None else found.id


def test_a_step_is_taken_back_in_the_thread_that_its_messages_are_in_now() -> None:
    box = Box()
    box.arrive(ROOT)
    box.arrive(OTHER)
    inbox_actions.archive(box.tx, UNCLAIMED, thread_ids=[box.thread_of("other")])
    box.arrive(Mail("link", None, ("x", "a")))
    taken_back = undo.take_back(box.tx, UNCLAIMED, reversals={REVERSAL.kind: REVERSAL})
    assert taken_back is not None
    assert box.tx.value("select in_inbox from mail_messages where provider_message_id = 'other'") == 1
    box.check()


async def test_a_mailbox_without_threads_is_synced_into_threads(
    mail_sync: MailSync, wall: VirtualClock, tmp_path: Path
) -> None:
    """The whole way: raw mails behind the seam, read by a full sync and then by polls, with search beside it."""
    box = FolderMailbox(address=MIA, clock=wall)
    account_id = await mail_sync.store.write(account_actions.connect, UNCLAIMED, address=MIA, provider="folders")
    sync = mail_sync.sync_of(account_id, FolderProvider(box=box))
    box.deliver(_raw("<c@x>", references="<a@x> <b@x>"), folder=INBOX)
    await sync.step()
    box.deliver(_raw("<q@x>"), folder=INBOX)
    await sync.step()
    await mail_sync.follow()
    await mail_sync.indexer().catch_up()
    box.deliver(_raw("<a@x>"), folder=INBOX)
    box.deliver(_raw("<z@x>", references="<q@x> <c@x>"), folder=INBOX)
    await sync.step()
    assert await mail_sync.rows("select count(*), count(distinct thread_id) from mail_messages") == [(4, 1)]
    assert await mail_sync.rows("select count(*), unread_threads from mail_threads, mail_accounts") == [(1, 1)]
    found = await mail_sync.rows("select distinct s.thread_id = t.id from mail_search s, mail_threads t")
    assert found == [(1,)]
    assert await mail_sync.problems() == []


def _raw(own: str, *, references: str = "") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"], message["Message-ID"] = "noa@example.org", MIA, "Boats", own
    if references:
        message["References"] = references
    message.set_content("Hi.")
    return message.as_bytes()
