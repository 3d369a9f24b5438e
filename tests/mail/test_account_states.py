"""The sync's table of transitions, held by the real functions: random events, every transition, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.machine import ForbiddenTransition
from svc.mail.accounts import actions, progress, queries
from svc.mail.accounts.states import SYNC, AccountEvent
from svc.mail.accounts.wire import Progress, account_summary
from svc.mail.health import actions as health_actions
from svc.mail.model import Account, AccountState
from svc.principal import UNCLAIMED
from svc.store import ReadTx, SecretSource, Tx
from tests.mail.bare import bare_tx, undone

MIA: Final = "mia@example.org"
EVENTS: Final[tuple[AccountEvent, ...]] = get_args(AccountEvent)
BY_PERSON: Final = {"connect", "connect_where_it_was", "disconnect"}


class _NoCredentials:
    """A place where nothing is kept."""

    def read(self, tx: ReadTx, name: str) -> bytes | None:
        return None

    def write(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        raise AssertionError("nothing is kept here")

    def remove(self, tx: Tx, name: str) -> bool:
        return False


@dataclass
class Mailbox:
    """One account in a database of its own, and the ways in which each event really comes about."""

    tx: Tx = field(default_factory=bare_tx)

    def __post_init__(self) -> None:
        actions.connect(self.tx, UNCLAIMED, address=MIA, provider="fake")

    @property
    def account(self) -> Account:
        account = queries.account_by_address(self.tx, MIA)
        assert account is not None
        return account

    def can_happen(self, event: AccountEvent) -> bool:
        """The table, and what a row has to say beside its state."""
        account = self.account
        is_behind = not account.cursor or account.full_sync_cursor is not None
        if event in {"connect", "connect_where_it_was"} and is_behind != (event == "connect"):
            return False
        if event == "list" and (account.cursor is not None or account.full_sync_cursor is not None):
            return False
        if event in {"resume_full_sync", "finish_full_sync"} and account.full_sync_cursor is None:
            return False
        return SYNC.allows(account.state, event)

    def happen(self, event: AccountEvent) -> None:
        before = self.account
        _HOW[event](self.tx, before.id)
        assert self.account.state == SYNC.after(before.state, event)

    def changes_nothing(self, event: AccountEvent) -> None:
        """The table refuses it; and what the provider says of a disconnected account is dropped."""
        before = self.account
        with pytest.raises(ForbiddenTransition):
            progress.move(self.tx, before, event)
        if before.state == "disconnected" and event not in BY_PERSON:
            _HOW[event](self.tx, before.id)
        assert self.account == before


def _connect(tx: Tx, account_id: str) -> None:
    assert actions.connect(tx, UNCLAIMED, address=MIA, provider="fake") == account_id


def _disconnect(tx: Tx, account_id: str) -> None:
    health_actions.disconnect(tx, _NoCredentials(), UNCLAIMED, account_id=account_id, erase=False)


_HOW: dict[AccountEvent, Callable[[Tx, str], object]] = {
    "connect": _connect,
    "connect_where_it_was": _connect,
    "list": lambda tx, account: progress.listed(tx, account_id=account, done=2, total=3),
    "begin_full_sync": lambda tx, account: progress.begin_full_sync(tx, account_id=account, cursor="7", total=3),
    "resume_full_sync": lambda tx, account: progress.resume_full_sync(tx, account_id=account),
    "finish_full_sync": lambda tx, account: progress.finish_full_sync(tx, account_id=account),
    "finish_poll": lambda tx, account: progress.finish_poll(tx, account_id=account, cursor="8", provider_total=None),
    "wait": lambda tx, account: progress.set_trouble(
        tx, account_id=account, event="wait", problem="Slow down.", cause="other"
    ),
    "lose_grant": lambda tx, account: progress.set_trouble(
        tx, account_id=account, event="lose_grant", problem="Revoked.", cause="revoked"
    ),
    "disconnect": _disconnect,
}


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*EVENTS, "forget_cursor"]), max_size=40))
def test_any_events_lead_where_the_table_says_and_the_others_change_nothing(events: list[Any]) -> None:
    mailbox = Mailbox()
    assert mailbox.account.state in SYNC.initial
    for event in events:
        if event == "forget_cursor":
            progress.forget_cursor(mailbox.tx, account_id=mailbox.account.id)
        elif mailbox.can_happen(event):
            mailbox.happen(event)
        elif not SYNC.allows(mailbox.account.state, event):
            mailbox.changes_nothing(event)


def test_every_transition_of_the_table_really_happens() -> None:
    """By the functions of the program, from every kind of row that they lead to."""
    seen: set[tuple[AccountState, AccountEvent]] = set()
    _explore(Mailbox(), seen, set())
    assert seen == set(SYNC.table)


def _explore(mailbox: Mailbox, seen: set[tuple[AccountState, AccountEvent]], known: set[object]) -> None:
    account = mailbox.account
    kind = (account.state, account.cursor is None, account.full_sync_cursor is None)
    if kind in known:
        return
    known.add(kind)
    for event in EVENTS:
        if mailbox.can_happen(event):
            with undone(mailbox.tx):
                mailbox.happen(event)
                seen.add((account.state, event))
                _explore(mailbox, seen, known)
    with undone(mailbox.tx):
        progress.forget_cursor(mailbox.tx, account_id=account.id)
        _explore(mailbox, seen, known)


def test_the_end_of_a_full_sync_that_is_told_twice_keeps_the_cursor() -> None:
    """A step that is cancelled may have committed its last write, and is repeated."""
    mailbox = Mailbox()
    mailbox.happen("begin_full_sync")
    mailbox.happen("finish_full_sync")
    progress.finish_full_sync(mailbox.tx, account_id=mailbox.account.id)
    assert (mailbox.account.state, mailbox.account.cursor) == ("caught-up", "7")


def test_the_list_of_a_mailbox_has_a_progress_of_its_own() -> None:
    mailbox = Mailbox()
    shown: list[Progress | None] = [account_summary(mailbox.tx, mailbox.account).progress]
    events: tuple[AccountEvent, ...] = ("list", "wait", "list", "begin_full_sync", "finish_full_sync")
    for event in events:
        mailbox.happen(event)
        shown.append(account_summary(mailbox.tx, mailbox.account).progress)
    listing = Progress(done=2, total=3, listing=True)
    assert shown == [None, listing, None, listing, Progress(done=0, total=3, listing=False), None]
    assert mailbox.tx.emitted[-1].topic == "accounts"


def test_a_mailbox_that_is_connected_again_shows_no_progress_of_before() -> None:
    mailbox = Mailbox()
    events: tuple[AccountEvent, ...] = ("list", "disconnect", "connect")
    for event in events:
        mailbox.happen(event)
    assert account_summary(mailbox.tx, mailbox.account).progress is None


def test_the_same_trouble_is_told_once() -> None:
    mailbox = Mailbox()
    mailbox.happen("wait")
    told = len(mailbox.tx.emitted)
    mailbox.happen("wait")
    assert len(mailbox.tx.emitted) == told


def test_a_resync_that_comes_during_a_poll_is_not_lost_at_its_end() -> None:
    mailbox = Mailbox()
    tx, account_id = mailbox.tx, mailbox.account.id
    progress.begin_full_sync(tx, account_id=account_id, cursor="7", total=0)
    progress.finish_full_sync(tx, account_id=account_id)
    progress.finish_poll(tx, account_id=account_id, cursor="8", provider_total=None)
    assert mailbox.account.cursor == "8"
    health_actions.resync(tx, UNCLAIMED, account_id=account_id)
    progress.finish_poll(tx, account_id=account_id, cursor="9", provider_total=None)
    assert mailbox.account.cursor is None
