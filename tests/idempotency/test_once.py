"""What has a key is done at most once: said again, said at the same time, said after a kill at any moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc import idempotency
from svc.clock import DAY_MS, VirtualClock, WallClock
from svc.errors import Conflict, Invalid
from svc.idempotency.migrations import MIGRATIONS
from svc.idempotency.writing import _once
from svc.nursery import ThreadPool, open_task_group
from svc.principal import UNCLAIMED, Principal
from svc.store import Store, Tx
from svc.workspace import RequestContext
from tests.migrated import lay_database

MIA: Final = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=False, via="session")
KEY: Final = "a-key-of-its-own-1"


class Wanted(idempotency.Repeatable, frozen=True, kw_only=True):
    what: str = "act"


@dataclass(kw_only=True)
class _Place:
    """As much of a workspace as the store is."""

    store: Store


@dataclass(kw_only=True)
class Caller:
    """``acted`` counts what really was done: rows of the store, written in the transaction that acts."""

    store: Store
    wall: VirtualClock
    calls: list[str] = field(default_factory=list)

    async def say(
        self, key: str | None = KEY, what: str = "act", who: Principal = MIA, *, refuse: bool = False
    ) -> dict[str, str]:
        def act(tx: Tx, said: str) -> dict[str, str]:
            self.calls.append(said)
            tx.record(type="test.acted", payload={"what": said}, audience=None, device_id="test")
            if refuse:
                raise Invalid("Not today.")
            return {"did": said, "nth": str(len(self.calls))}

        place = cast("Any", _Place(store=self.store))
        context = RequestContext(workspace=place, principal_or_none=who, request_id="")
        wanted = Wanted(idempotency_key=key, what=what)
        return await idempotency.write(context, "test.act", wanted, dict[str, str], act, what)

    async def acted(self) -> int:
        return cast("int", await self.store.read(lambda tx: tx.value("select count(*) from events")))

    async def kept(self) -> int:
        return cast("int", await self.store.read(lambda tx: tx.value("select count(*) from idempotency_keys")))


@pytest.fixture
async def caller(tmp_path: Path, wall: VirtualClock, threads: ThreadPool) -> AsyncIterator[Caller]:
    lay_database(tmp_path / "svc.sqlite3", [MIGRATIONS])
    store = Store.open(tmp_path / "svc.sqlite3", clock=wall, threads=threads, migrations=[MIGRATIONS])
    try:
        async with open_task_group() as nursery:
            started = trio.Event()
            nursery.start_soon(lambda: store.run_writer(started=started.set))
            await started.wait()
            yield Caller(store=store, wall=wall)
            nursery.cancel_scope.cancel()
    finally:
        store.close_now()


async def test_what_is_said_again_is_answered_as_the_first_time_and_done_once(caller: Caller) -> None:
    first = await caller.say()
    assert [await caller.say() for _ in range(3)] == [first] * 3
    assert await caller.acted() == 1


async def test_without_a_key_everything_is_done_as_often_as_it_is_said(caller: Caller) -> None:
    await caller.say(None)
    await caller.say(None)
    assert (await caller.acted(), await caller.kept()) == (2, 0)


async def test_ten_who_say_it_at_the_same_time_have_it_done_once(caller: Caller) -> None:
    answers: list[dict[str, str]] = []

    async def say() -> None:
        answers.append(await caller.say())

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(say)
    assert answers == [answers[0]] * 10
    assert await caller.acted() == 1


async def test_a_key_that_was_used_for_something_else_is_refused(caller: Caller) -> None:
    await caller.say()
    with pytest.raises(Conflict, match="used for something else"):
        await caller.say(what="another")
    assert await caller.acted() == 1


async def test_a_refusal_leaves_the_key_unused(caller: Caller) -> None:
    with pytest.raises(Invalid):
        await caller.say(refuse=True)
    assert (await caller.acted(), await caller.kept()) == (0, 0)
    await caller.say()
    assert await caller.acted() == 1


async def test_the_same_key_of_two_people_is_two_keys(caller: Caller) -> None:
    await caller.say(who=MIA)
    await caller.say(who=UNCLAIMED, what="another")
    assert await caller.acted() == 2


async def test_what_was_said_before_the_claim_is_the_first_admins(caller: Caller) -> None:
    first = await caller.say(who=UNCLAIMED)
    claim = idempotency.FEATURE.claim
    assert claim is not None
    await caller.store.write(claim, "usr_mia")
    assert await caller.say(who=MIA) == first
    assert await caller.acted() == 1


async def test_old_keys_are_forgotten_and_so_is_what_is_too_much(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.idempotency.keys.KEEP_KEYS", 3)
    for number in range(5):
        await caller.say(f"a-key-of-its-own-{number}")
    assert await caller.kept() == 3
    caller.wall.offset_ms += 31 * DAY_MS
    await caller.say("a-key-of-its-own-9")
    assert await caller.kept() == 1


@pytest.mark.parametrize("key", ["short", "x" * 101, "with a space in it", "with/a-slash-in-it"])
def test_a_key_is_long_enough_to_be_nobody_elses_and_plain(key: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"idempotencyKey": key}), type=Wanted)


class Killed(BaseException):
    """The process ends here: nothing after it runs, nothing uncommitted is kept."""


@pytest.mark.thorough
@given(
    said=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["whole", "before", "inside", "after"])), max_size=14)
)
def test_killed_anywhere_and_said_again_each_action_is_done_at_most_once_and_answered_as_it_was(
    said: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """``before`` and ``inside`` the action the transaction is lost with the process; ``after`` it, the answer is."""
    path = tmp_path_factory.mktemp("store") / "svc.sqlite3"
    lay_database(path, [MIGRATIONS])
    answers: dict[int, str] = {}
    done: list[int] = []

    def open_store() -> Store:
        return Store.open(path, clock=WallClock(), threads=cast("Any", None), migrations=[MIGRATIONS])

    store = open_store()
    for number, dies in said:

        def act(tx: Tx, number: int = number, dies: str = dies) -> str:
            if dies == "before":
                raise Killed
            tx.record(type="test.acted", payload={"number": number}, audience=None, device_id="test")
            if dies == "inside":
                raise Killed
            done.append(number)
            return f"{number} as the {len(done)}th"

        try:
            answer = store.write_now(_once, MIA, f"a-key-of-its-own-{number}", b"same", str, act)
        except Killed:
            assert number not in answers
        else:
            assert answers.setdefault(number, answer) == answer
        if dies != "whole":
            store.close_now()
            store = open_store()
    acted = store.read_now(lambda tx: [payload for (payload,) in tx.all("select payload from events order by seq")])
    store.close_now()
    assert acted == [f'{{"number":{number}}}' for number in done]
    assert sorted(answers) == sorted(done)
