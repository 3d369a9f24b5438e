"""The cache of cookies and tokens: an unknown one costs no read, and no change is missed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Concatenate, Generic, ParamSpec, TypeVar

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.identity import actions
from svc.identity.actions import Claiming
from svc.identity.model import Proof
from svc.identity.remembered import Remembered
from svc.identity.service import Identity
from svc.store import ReadTx, Tx
from tests.identity.people import Person, pair, sign_in
from tests.support.service import MIA, Service

P = ParamSpec("P")
T = TypeVar("T")
THREAD_WAITS_S = 60.0
"""Of real time, so that a test which failed before it let go ends."""


@dataclass
class Held(Generic[T]):
    """A step in a thread whose first call has done its work and comes back when it is let go."""

    has_worked: trio.Event = field(default_factory=trio.Event)
    calls: int = 0
    _may_return: threading.Event = field(default_factory=threading.Event)

    def holding(self, work: Callable[P, T]) -> Callable[P, T]:
        token = trio.lowlevel.current_trio_token()

        def held(*args: P.args, **kwargs: P.kwargs) -> T:
            found = work(*args, **kwargs)
            self.calls += 1
            if self.calls == 1:
                token.run_sync_soon(self.has_worked.set)
                assert self._may_return.wait(THREAD_WAITS_S)
            return found

        return held

    def let_go(self) -> None:
        self._may_return.set()


@dataclass
class Counted:
    """How often a query ran."""

    times: int = 0

    def counting(self, query: Callable[Concatenate[ReadTx, P], T]) -> Callable[Concatenate[ReadTx, P], T]:
        def counted(tx: ReadTx, /, *args: P.args, **kwargs: P.kwargs) -> T:
            self.times += 1
            return query(tx, *args, **kwargs)

        return counted


@pytest.fixture
def identity(service: Service, monkeypatch: pytest.MonkeyPatch) -> Identity:
    """Each look-up is in a thread, as one is that turns out to be large: only there can something come between."""
    monkeypatch.setattr(service.workspace.store, "read_small", service.workspace.store.read)
    return service.workspace.service(Identity)


def with_cookie(service: Service, value: str) -> Person:
    return Person(service, {"cookie": f"svc_session={value}"})


def with_token(service: Service, value: str) -> Person:
    return Person(service, {"x-svc-device-token": value})


async def is_in(person: Person) -> bool:
    return (await person.ask("GET", "/trpc/mail.accounts")).status == 200


def _sessions(identity: Identity) -> Remembered:
    return identity._sessions


def _devices(identity: Identity) -> Remembered:
    return identity._devices


@pytest.mark.parametrize(("kind", "carrying"), [(_sessions, with_cookie), (_devices, with_token)])
async def test_any_number_of_foreign_ones_costs_one_read_until_somebody_is_let_in(
    service: Service,
    identity: Identity,
    kind: Callable[[Identity], Remembered],
    carrying: Callable[[Service, str], Person],
) -> None:
    remembered, reads = kind(identity), Counted()
    remembered.look_up = reads.counting(remembered.look_up)
    mia = await sign_in(service, MIA)
    for number in range(10):
        assert not await is_in(carrying(service, f"foreign-{number}"))
    assert reads.times == 1
    phone = await pair(mia)
    reads.times = 0
    for person in (mia, phone) * 5:
        assert await is_in(person)
        assert not await is_in(carrying(service, "foreign"))
    assert reads.times <= 2  # the good one of this kind, and the first foreign one where that came before it


async def test_who_signs_in_while_a_foreign_cookie_is_looked_up_is_in_at_once(
    service: Service, identity: Identity
) -> None:
    await sign_in(service, MIA)
    held = Held[object]()
    identity._sessions.given_out = held.holding(identity._sessions.given_out)  # type: ignore[assignment]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_in, with_cookie(service, "foreign"))
        await held.has_worked.wait()
        mia = await sign_in(service, MIA)
        held.let_go()
    assert await is_in(mia)


async def test_a_phone_that_is_paired_while_a_foreign_token_is_looked_up_is_in_at_once(
    service: Service, identity: Identity
) -> None:
    mia = await sign_in(service, MIA)
    held = Held[object]()
    identity._devices.given_out = held.holding(identity._devices.given_out)  # type: ignore[assignment]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_in, with_token(service, "sdt_foreign"))
        await held.has_worked.wait()
        phone = await pair(mia)
        held.let_go()
    assert await is_in(phone)


async def test_a_session_that_ends_while_its_cookie_is_looked_up_stays_ended(
    service: Service, identity: Identity
) -> None:
    laptop, phone = await sign_in(service, MIA), await sign_in(service, MIA)
    (other,) = [row["id"] for row in await laptop.query("auth.sessions") if not row["current"]]
    held = Held[object]()
    identity._sessions.look_up = held.holding(identity._sessions.look_up)  # type: ignore[assignment]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_in, phone)
        await held.has_worked.wait()
        await laptop.mutate("auth.revokeSession", id=other)
        held.let_go()
    assert not await is_in(phone)
    assert await is_in(laptop)


async def test_a_revocation_counts_also_where_its_caller_went_away_during_the_commit(
    service: Service, identity: Identity
) -> None:
    mia = await sign_in(service, MIA)
    phone = await pair(mia)
    (device,) = [row["id"] for row in await mia.query("devices.list") if row["kind"] == "mobile"]

    def revoke(tx: Tx) -> None:
        tx.run("update devices set revoked = 1 where id = :id", id=device)

    await _write_and_go_away(service, identity, revoke, meanwhile=phone)
    assert not await is_in(phone)


async def test_a_claim_counts_also_where_its_caller_went_away_during_the_commit(
    service: Service, identity: Identity
) -> None:
    def claim(tx: Tx) -> None:
        actions.sign_in(
            tx,
            proof=Proof(email=MIA),
            invite=None,
            claiming=Claiming(freely=True, hooks=()),
            old_cookie=None,
            device_name="",
            seen_from="",
        )

    stranger = Person(service)
    await _write_and_go_away(service, identity, claim, meanwhile=stranger)
    assert not await is_in(stranger)


async def _write_and_go_away(
    service: Service, identity: Identity, action: Callable[[Tx], None], *, meanwhile: Person
) -> None:
    held, caller = Held[None](), trio.CancelScope()

    async def write() -> None:
        with caller:
            await identity.write(held.holding(action))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        await held.has_worked.wait()
        caller.cancel()
        assert await is_in(meanwhile)  # nothing is committed yet
        held.let_go()
    await service.workspace.store.write(lambda tx: None)  # the commit before this one is done


async def test_with_more_sessions_than_are_kept_everybody_is_still_let_in_and_nobody_else(
    service: Service, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.identity.remembered.MAX_GIVEN_OUT", 2)
    lists = Counted()
    identity._sessions.given_out = lists.counting(identity._sessions.given_out)
    people = [await sign_in(service, MIA) for _ in range(3)]
    lists.times = 0
    for person in people:
        assert await is_in(person)
        assert not await is_in(with_cookie(service, "foreign"))
    assert identity._sessions._given_out is None
    assert lists.times == 1


async def test_a_session_that_had_ended_is_known_where_the_clock_is_set_back(
    service: Service, identity: Identity, wall: VirtualClock
) -> None:
    mia = await sign_in(service, MIA)
    wall.offset_ms += 31 * DAY_MS
    identity.forget()
    assert not await is_in(with_cookie(service, "foreign"))
    assert not await is_in(mia)
    wall.offset_ms -= 31 * DAY_MS
    assert await is_in(mia)


async def test_a_token_is_no_cookie_and_a_cookie_no_token_also_while_they_are_remembered(service: Service) -> None:
    mia = await sign_in(service, MIA)
    phone = await pair(mia)
    assert await is_in(mia)
    assert await is_in(phone)
    assert not await is_in(with_cookie(service, phone.fields["x-svc-device-token"]))
    assert not await is_in(with_token(service, mia.fields["cookie"].partition("=")[2]))
