"""What happens to damaged content: recorded, mended by whoever can, and found by the check before anybody reads it."""

from __future__ import annotations

import hashlib
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from svc.clock import DAY_MS, HOUR_MS, VirtualClock
from svc.healing import Healer, Later, Mended, Outcome
from svc.healing import queries as healing_queries
from svc.healing.tasks import CHECK_STARTS_S, NOBODY, RETRIES
from svc.store import Invariant, ReadTx, Tx, run_fsck
from tests.files.uploads import uploaded
from tests.full_disk import limit_pages
from tests.healing.damaging import WAYS, Harming, blob_of, damages, delete, flip, healed, truncate
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

CONTENT = b"what somebody uploaded"
NAME = hashlib.sha256(CONTENT).hexdigest()
every_way = pytest.mark.parametrize("harm", WAYS, ids=lambda harm: harm.__name__)


async def get(service: Service, file: dict[str, object], **fields: str) -> int:
    return (await service.get(f"/files/{file['id']}/content", **fields)).status


async def problems(service: Service, *, deep: bool = False) -> list[str]:
    workspace = service.workspace
    invariants = [row for feature in workspace.features for row in feature.invariants]
    return await workspace.store.read(run_fsck, invariants=invariants, blobs=workspace.blobs, secrets=None, deep=deep)


@every_way
async def test_a_damaged_upload_is_missing_recorded_and_whole_again_once_it_is_uploaded_again(
    service: Service, harm: Harming
) -> None:
    file = await uploaded(service, CONTENT)
    other = await uploaded(service, b"another file")
    harm(blob_of(service, NAME))
    assert await get(service, file) == 404
    assert await get(service, file, range="bytes=1-2") == 404
    assert (await service.get(f"/blobs/{NAME}")).status == 404
    assert await get(service, other) == 200
    await healed(service)
    assert await damages(service) == [(NAME, "lost", NOBODY)]

    again = await uploaded(service, CONTENT)
    await healed(service)
    assert await damages(service) == [(NAME, "mended", "")]
    for one in (file, again):
        assert await get(service, one) == 200
    assert await problems(service, deep=True) == []


async def test_what_was_recorded_is_known_after_a_restart(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        file = await uploaded(service, CONTENT)
        flip(blob_of(service, NAME))
        assert await get(service, file) == 404
        await healed(service)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        assert NAME in service.workspace.blobs.suspects
        await service.workspace.blobs.put(CONTENT)
        await healed(service)
        assert await get(service, file) == 200
        assert [state for _, state, _ in await damages(service)] == ["mended"]


async def test_fsck_and_readyz_say_what_is_recorded_and_the_service_stays_ready(service: Service) -> None:
    file = await uploaded(service, CONTENT)
    flip(blob_of(service, NAME))
    await get(service, file)
    await healed(service)
    for deep in (False, True):
        (problem,) = await problems(service, deep=deep)
        assert f"the blob {NAME} is damaged; found " in problem
        assert problem.endswith(f"can't be mended by itself: {NOBODY}")
    reply = await service.get("/readyz")
    assert (reply.status, reply.json["status"]) == (200, "ready")
    assert reply.json["checks"]["blobs"] == "1 damaged, 1 of them can't be mended"
    await uploaded(service, CONTENT)
    await healed(service)
    assert "blobs" not in (await service.get("/readyz")).json["checks"]


class Slow:
    """A mender that needs several tries."""

    def __init__(self, service: Service, *outcomes: Outcome | Exception) -> None:
        self.service = service
        self.outcomes = list(outcomes)
        self.tries: list[float] = []
        self.told: list[str] = []

    async def mend(self, sha256: str) -> Outcome | None:
        self.tries.append(trio.current_time())
        await trio.sleep(1)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, Mended):
            await self.service.workspace.blobs.put(CONTENT)
        return outcome

    def tell(self, tx: Tx, sha256: str) -> None:
        self.told.append(sha256)


async def test_two_readers_at_once_have_it_mended_once(service: Service) -> None:
    mender = Slow(service, Mended())
    service.workspace.service(Healer).add(mender)
    file = await uploaded(service, CONTENT)
    delete(blob_of(service, NAME))
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(get, service, file)
    await healed(service)
    assert len(mender.tries) == 1
    assert mender.told == [NAME]
    assert await get(service, file) == 200


@pytest.mark.thorough
async def test_what_cannot_be_mended_now_is_tried_again_after_growing_pauses(
    service: Service, clock: MockClock
) -> None:
    asked_s = 3_000.0
    mender = Slow(service, Later(reason="Not now."), ValueError("a bug"), Later(reason="", pause_s=asked_s), Mended())
    service.workspace.service(Healer).add(mender)
    file = await uploaded(service, CONTENT)
    delete(blob_of(service, NAME))
    await get(service, file)
    await healed(service)
    assert await damages(service) == [(NAME, "waiting", "Not now.")]
    await trio.sleep(4 * RETRIES.first_s)  # the first two
    clock.jump(asked_s - 4 * RETRIES.first_s)
    await trio.sleep(4 * RETRIES.first_s)
    pauses = [later - earlier for earlier, later in zip(mender.tries, mender.tries[1:], strict=False)]
    assert len(pauses) == 3
    for pause, least in zip(pauses, (RETRIES.first_s, 2 * RETRIES.first_s, asked_s), strict=True):
        assert least <= pause <= least + 10
    assert await damages(service) == [(NAME, "mended", "")]


async def test_on_a_full_disk_damage_is_known_and_recorded_once_there_is_room(service: Service) -> None:
    workspace = service.workspace
    names = [f"{number:064x}" for number in range(300)]  # more than a page of the database has room for
    await workspace.store.write(limit_pages, 0)
    for name in names:
        assert not workspace.blobs.is_sound(name)
    await healed(service)
    assert await damages(service) == []
    await workspace.store.write(limit_pages, None)
    await trio.sleep(200)
    assert [name for name, _, _ in await damages(service)] == names


# The check


def checking_at(
    rate: int, directory: Path, wall: VirtualClock, log: RecordedLog
) -> AbstractAsyncContextManager[Service]:
    return open_service(directory, clock=wall, log=log, PROVIDERS="fake", SVC_BLOB_CHECK_BYTES_PER_SECOND=str(rate))


@every_way
async def test_the_check_finds_what_nobody_has_read(service: Service, harm: Harming) -> None:
    await uploaded(service, CONTENT)
    await uploaded(service, b"sound")
    harm(blob_of(service, NAME))
    await trio.sleep(CHECK_STARTS_S + 60)
    assert [(sha256, state) for sha256, state, _ in await damages(service)] == [(NAME, "lost")]


async def test_the_check_reads_no_faster_than_it_may_and_goes_on_where_it_was(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    rate = 1_000_000
    async with checking_at(rate, tmp_path, wall, log) as service:
        for number in range(4):
            await uploaded(service, bytes([number]) * rate)
        healer = service.workspace.service(Healer)
        began = trio.current_time()
        await healer.check()
        assert 4.0 <= trio.current_time() - began <= 4.1
        names = sorted(name for (name,) in await service.rows("select sha256 from files"))
        halfway = healing_queries.Place(after=names[1], began_at=service.workspace.clock.now())
        await service.workspace.store.write(healing_queries.keep_place, halfway)
    async with checking_at(rate, tmp_path, wall, log) as service:
        began = trio.current_time()
        await service.workspace.service(Healer).check()
        assert 2.0 <= trio.current_time() - began <= 2.1


async def test_a_round_begins_once_a_week_and_asks_again_for_what_was_given_up(
    service: Service, wall: VirtualClock
) -> None:
    file = await uploaded(service, CONTENT)
    delete(blob_of(service, NAME))
    await get(service, file)
    await healed(service)
    healer = service.workspace.service(Healer)
    await healer.check()
    await healed(service)
    mender = Slow(service, Mended())
    healer.add(mender)
    wall.offset_ms += 7 * DAY_MS - HOUR_MS
    await healer.check()
    await healed(service)
    assert mender.tries == []
    wall.offset_ms += HOUR_MS
    await healer.check()
    await healed(service)
    assert len(mender.tries) == 1
    assert await get(service, file) == 200


async def test_damage_that_nothing_names_any_more_is_forgotten(service: Service) -> None:
    file = await uploaded(service, CONTENT)
    delete(blob_of(service, NAME))
    await get(service, file)
    await healed(service)
    await deleted_for_good(service, file)
    await trio.sleep(CHECK_STARTS_S + 60)
    assert await damages(service) == []
    assert NAME not in service.workspace.blobs.suspects


async def deleted_for_good(service: Service, file: dict[str, Any]) -> None:
    """As once it can't be brought back any more."""
    await service.mutate("files.delete", id=file["id"])
    await service.workspace.store.write(lambda tx: tx.run("delete from deleted_files"))


class Reading:
    """A mender that reads the damaged blob, and takes its time before."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def mend(self, sha256: str) -> Outcome | None:
        await trio.sleep(1)
        assert not self.service.workspace.blobs.is_sound(sha256)
        return None

    def tell(self, tx: Tx, sha256: str) -> None:
        raise AssertionError("nothing is mended")


async def test_damage_that_is_forgotten_while_somebody_mends_it_stays_forgotten(service: Service) -> None:
    service.workspace.service(Healer).add(Reading(service))
    file = await uploaded(service, CONTENT)
    delete(blob_of(service, NAME))
    await get(service, file)
    await healed(service)
    await deleted_for_good(service, file)
    await service.workspace.service(Healer).check()  # its first step has the mender ask again
    await healed(service)
    assert await damages(service) == []
    assert NAME not in service.workspace.blobs.suspects


async def test_admins_are_told_how_far_the_check_is_and_what_it_has_read(service: Service) -> None:
    async def told() -> str:
        found = await service.mutate("health.check")
        (detail,) = [one["detail"] for one in found["checks"] if one["name"] == "content-rounds"]
        return str(detail)

    await uploaded(service, bytes(3 * 2**20))
    assert "has not begun yet" in await told()
    await trio.sleep(CHECK_STARTS_S + 60)
    assert (await told()).endswith(": 1 items, 3 MiB")
    await service.workspace.store.write(
        healing_queries.keep_place,
        replace(await service.workspace.store.read(healing_queries.place), after="80" + 62 * "0"),
    )
    assert "1 items, 3 MiB so far, some 50 %; the round before ended on " in await told()


async def test_the_check_moves_what_lies_where_an_earlier_version_put_it(service: Service) -> None:
    await uploaded(service, CONTENT)
    old = blob_of(service, NAME).parent / NAME[2:4] / NAME
    old.parent.mkdir()
    blob_of(service, NAME).rename(old)
    await trio.sleep(CHECK_STARTS_S + 60)
    assert blob_of(service, NAME).read_bytes() == CONTENT
    assert not old.parent.exists()


async def test_without_a_rate_nothing_is_checked(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with checking_at(0, tmp_path, wall, log) as service:
        await uploaded(service, CONTENT)
        truncate(blob_of(service, NAME))
        await trio.sleep(3 * CHECK_STARTS_S)
        assert await damages(service) == []


async def test_names_come_in_order_and_none_is_left_out(service: Service) -> None:
    names = [f"{number * 7919 % 101:064x}" for number in range(101)]

    def named(tx: ReadTx) -> list[str]:
        return [*names, *names[:50]]

    references = [Invariant(name="test", check=named, yields="blobs")]
    for limit in (1, 7, 50, 51, 100, 101, 200):
        met: list[str] = []
        last = False
        while not last:
            after = met[-1] if met else ""
            found = await service.workspace.store.read(
                healing_queries.names_after, references, after=after, limit=limit
            )
            met += found.names
            last = found.last
        assert met == sorted(names)
