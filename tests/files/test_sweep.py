"""The clean-up deletes after a day what nothing names, and nothing that is named or still being uploaded."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from svc.clock import DAY_MS, HOUR_MS, VirtualClock
from svc.files.actions import RESTORABLE_MS, forget_deleted
from svc.files.tasks import CLEAN_UP_INTERVAL_S, JOBS, SETTLE_S, BlobCleanUp
from svc.scheduler import Scheduler
from svc.store import Invariant, ReadTx, run_fsck
from tests.files.uploads import uploaded
from tests.quiet import all_quiet
from tests.support.service import Service


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def age(service: Service, sha256: str, milliseconds: int) -> None:
    """Let a blob have been stored so long ago, as the service's clock has it."""
    stored_ns = (service.workspace.clock.now() - milliseconds) * 1_000_000
    os.utime(path_of(service, sha256), ns=(stored_ns, stored_ns))


def path_of(service: Service, sha256: str) -> Path:
    return service.workspace.home.blobs / sha256[:2] / sha256


def clean_up_of(service: Service, *more: Invariant) -> BlobCleanUp:
    workspace = service.workspace
    references = [row for feature in workspace.features for row in feature.invariants if row.yields == "blobs"]
    return BlobCleanUp(
        store=workspace.store,
        blobs=workspace.blobs,
        clock=workspace.clock,
        threads=workspace.threads,
        references=[*references, *more],
        log=workspace.log,
    )


def blobs(service: Service) -> set[str]:
    return set(service.workspace.blobs.each_sha())


async def test_what_nothing_names_goes_after_a_day(service: Service) -> None:
    old, young = [(await service.workspace.blobs.put(data)).sha256 for data in (b"old", b"young")]
    age(service, old, DAY_MS + HOUR_MS)
    age(service, young, DAY_MS - HOUR_MS)
    assert await clean_up_of(service).run() == 1
    assert blobs(service) == {young}
    assert "files.blobs_removed" in service.log.events("info")


async def test_what_is_named_stays_however_old_it_is(service: Service) -> None:
    attachments = [{"filename": "a.txt", "mime": "text/plain", "text": "attached"}]
    await service.synced("With a file", attachments=attachments)
    await uploaded(service, b"uploaded")
    before = blobs(service)
    assert len(before) == 4  # a body, its raw bytes, an attachment, an upload
    for sha256 in before:
        age(service, sha256, 1_000 * DAY_MS)
    assert await clean_up_of(service).run() == 0
    assert blobs(service) == before
    assert await problems(service) == []


async def test_a_deleted_files_content_goes_once_no_file_names_it_and_none_can_come_back(
    service: Service, wall: VirtualClock
) -> None:
    first, second = [await uploaded(service, b"shared") for _ in range(2)]
    age(service, sha(b"shared"), 3 * DAY_MS)
    for record in (first, second):
        await service.mutate("files.delete", id=record["id"])
        await clean_up_of(service).run()
        assert blobs(service) == {sha(b"shared")}
    wall.offset_ms += RESTORABLE_MS
    assert await service.workspace.store.write(forget_deleted) == 2
    await clean_up_of(service).run()
    assert blobs(service) == set()
    assert await problems(service) == []


async def test_a_blob_whose_record_is_committed_during_the_sweep_stays(service: Service) -> None:
    """As when the wall's clock has jumped, so that a new blob looks old."""
    ref = await service.workspace.blobs.put(b"on its way")
    age(service, ref.sha256, 2 * DAY_MS)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clean_up_of(service).run)
        await trio.sleep(SETTLE_S / 2)
        await service.workspace.store.write(
            lambda tx: tx.run(
                """
                insert into files (id, sha256, name, mime, size, origin, created_at)
                values ('fil_x', :sha256, 'x', 'text/plain', 10, 'upload', 0)
                """,
                sha256=ref.sha256,
            )
        )
    assert blobs(service) == {ref.sha256}
    assert await problems(service) == []


@pytest.mark.parametrize("way", ["put", "put_stream"])
async def test_a_blob_that_is_stored_again_during_the_sweep_stays(service: Service, way: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"again"

    store = service.workspace.blobs
    ref = await store.put(b"again")
    age(service, ref.sha256, 2 * DAY_MS)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clean_up_of(service).run)
        await trio.sleep(SETTLE_S / 2)
        await (store.put(b"again") if way == "put" else store.put_stream(pieces(), limit=10))
    assert blobs(service) == {ref.sha256}


async def test_an_upload_in_flight_is_left_alone(service: Service) -> None:
    go_on = trio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield bytes(1_000_000)
        await go_on.wait()
        yield b"end"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: service.workspace.blobs.put_stream(body(), limit=10**9))
        await all_quiet()
        await clean_up_of(service).run()
        go_on.set()
    assert blobs(service) == {sha(bytes(1_000_000) + b"end")}


async def test_a_feature_that_names_blobs_keeps_them(service: Service) -> None:
    """Whatever names blobs tells so by its invariant, the same that ``svc fsck`` checks."""
    ref = await service.workspace.blobs.put(b"another feature's")
    age(service, ref.sha256, 2 * DAY_MS)

    def named(tx: ReadTx) -> Iterable[str]:
        yield ref.sha256

    await clean_up_of(service, Invariant(name="its blobs", check=named, yields="blobs")).run()
    assert blobs(service) == {ref.sha256}
    await clean_up_of(service).run()
    assert blobs(service) == set()


@pytest.mark.thorough
async def test_a_sweep_in_many_batches_takes_all_that_should_go(service: Service) -> None:
    await uploaded(service, b"kept")
    for ref in await service.workspace.blobs.put_all([b"%d" % number for number in range(30)]):
        age(service, ref.sha256, 2 * DAY_MS)
    age(service, sha(b"kept"), 2 * DAY_MS)
    assert await replace(clean_up_of(service), batch_blobs=7).run() == 30
    assert blobs(service) == {sha(b"kept")}


@pytest.mark.thorough
async def test_the_service_sweeps_every_six_hours_by_itself(service: Service, clock: MockClock) -> None:
    assert {job.name for job in JOBS} <= {state.name for state in service.workspace.service(Scheduler).states()}
    ref = await service.workspace.blobs.put(b"left over")
    age(service, ref.sha256, DAY_MS)
    clock.jump(CLEAN_UP_INTERVAL_S - 60)
    await trio.sleep(59)
    assert blobs(service) == {ref.sha256}
    await trio.sleep(SETTLE_S + 2)
    assert blobs(service) == set()


async def problems(service: Service) -> list[str]:
    workspace = service.workspace
    invariants = [row for feature in workspace.features for row in feature.invariants]
    return await workspace.store.read(run_fsck, invariants=invariants, blobs=workspace.blobs, secrets=None)
