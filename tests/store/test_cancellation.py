"""Cancelled at every step: nobody waits for ever, acknowledged writes are there, and nothing is there in part."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.errors import Unavailable
from svc.nursery import ThreadPool
from svc.store import Blobs, Keyring, ReadTx, Secrets, Store, Tx, run_fsck
from svc.store.blob_files import CHUNK_BYTES
from tests.cancel_everywhere import Interrupted, cancel_everywhere

STEPS_AT_LEAST = 4  # fewer would mean that the flow did not run


def emit(tx: Tx, name: str) -> str:
    tx.emit(topic="test", kind="kept", id=name, audience=None)
    return name


def kept(tx: ReadTx) -> list[str]:
    return [name for (name,) in tx.all("select ref from outbox order by seq")]


async def test_a_caller_cancelled_anywhere_harms_neither_the_store_nor_its_neighbour(
    tmp_path: Path, threads: ThreadPool
) -> None:
    async def attempt(run: Interrupted) -> None:
        path = tmp_path / f"{run.step}-{run.waiting}.sqlite3"
        store = Store.open(path, clock=VirtualClock(), threads=threads)
        acknowledged: list[str] = []

        async def caller() -> None:
            acknowledged.append(await store.write(emit, "cut"))

        async with trio.open_nursery() as nursery:
            with store.outbox.subscribe() as live:
                nursery.start_soon(partial(store.run_writer, started=lambda: None))
                await run(caller)
                await store.write(emit, "after")
                heard = [row.id for row in await live.receive()]
                while "after" not in heard:
                    heard += [row.id for row in await live.receive()]
            nursery.cancel_scope.cancel()
        names = store.read_now(kept)
        store.close_now()
        assert heard == names
        assert names in (["after"], ["cut", "after"])
        assert set(acknowledged) <= set(names)

    assert await cancel_everywhere(attempt) >= 2


@pytest.mark.thorough
async def test_a_writer_cancelled_anywhere_leaves_no_caller_without_a_true_answer(
    tmp_path: Path, threads: ThreadPool
) -> None:
    async def attempt(run: Interrupted) -> None:
        path = tmp_path / f"{run.step}-{run.waiting}.sqlite3"
        store = Store.open(path, clock=VirtualClock(), threads=threads)
        acknowledged: list[str] = []
        refused: list[str] = []

        async def caller(name: str) -> None:
            try:
                acknowledged.append(await store.write(emit, name))
                acknowledged.append(await store.write(emit, f"{name} again"))
            except Unavailable:
                refused.append(name)
            else:
                stop.cancel()

        with trio.CancelScope() as stop:
            async with trio.open_nursery() as nursery:
                for name in ("a", "b", "c"):
                    nursery.start_soon(caller, name)
                await run(partial(store.run_writer, started=lambda: None))
        names = store.read_now(kept)
        store.close_now()
        assert set(acknowledged) <= set(names)
        assert store.outbox.head() == len(names)
        assert len(refused) == 3 or stop.cancel_called

    assert await cancel_everywhere(attempt) >= STEPS_AT_LEAST


async def test_an_upload_cancelled_anywhere_is_whole_or_not_there(tmp_path: Path, threads: ThreadPool) -> None:
    pieces = [os.urandom(CHUNK_BYTES) for _ in range(3)]

    async def upload() -> AsyncIterator[bytes]:
        for piece in pieces:
            await trio.lowlevel.checkpoint()
            yield piece

    async def attempt(run: Interrupted) -> None:
        home = tmp_path / f"{run.step}-{run.waiting}"
        blobs = Blobs.open(home / "blobs", threads=threads)
        await run(partial(blobs.put_stream, limit=10**9), upload())
        assert list((home / "blobs" / ".incoming").iterdir()) == []
        stored = list(blobs.each_sha())
        assert all(map(blobs.is_sound, stored))
        assert len(stored) == 1 or run.cut

    assert await cancel_everywhere(attempt) >= STEPS_AT_LEAST


async def test_a_reader_cancelled_anywhere_gives_its_connection_back(tmp_path: Path, threads: ThreadPool) -> None:
    store = Store.open(tmp_path / "svc.sqlite3", clock=VirtualClock(), threads=threads)
    store.write_now(emit, "a")

    async def attempt(run: Interrupted) -> None:
        await run(store.read, kept)
        assert await store.read(kept) == ["a"]

    assert await cancel_everywhere(attempt) >= 2
    blobs = Blobs.open(tmp_path / "blobs", threads=threads)
    problems = await store.read(run_fsck, invariants=(), blobs=blobs, secrets=Secrets(Keyring.random()))
    assert problems == []
    store.close_now()
