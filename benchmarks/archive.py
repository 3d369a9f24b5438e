"""What being kept elsewhere costs, and how soon it is back.

Ingest with the archiver beside it and without, in interleaved rounds, and how far the archive was behind at the end.
A home restored from a folder and a replica of this machine, every blob fetched, hashed and read back, beside ``cp -r``
of what is there then. An export and its import beside ``tar``.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.mailroom import Mailroom, open_mailroom, page_of, some_mails, sync_disks
from benchmarks.report import Table, count, median, paired_ratio, ratio
from svc.app import FEATURES
from svc.backup.catalogue import Catalogue
from svc.backup.control import Control
from svc.backup.litestream import ArchiveFault, Litestream, found_program
from svc.backup.target import Target, place_of
from svc.clock import WallClock
from svc.files import add_file
from svc.mail.ingest_steps import INGEST_STEPS
from svc.mail.sync import ingest
from svc.nursery import ThreadPool
from svc.protocol.egress import Egress
from svc.store import BlobRef, Blobs, Home, Ledger, Store, Tx
from tests.peers.buckets import listens
from tests.support.process import free_port, until

MAILS: Final = 1_500
QUICK_MAILS: Final = 300
ROUNDS: Final = 21
DATABASE_BYTES: Final = 2**30
QUICK_DATABASE_BYTES: Final = 2**24
BLOBS: Final = 100_000
QUICK_BLOBS: Final = 1_000
BLOB_BYTES: Final = 8 * 1024
ROW_BYTES: Final = 64 * 1024
TOKEN: Final = "a-token-of-the-benchmark"
START_S: Final = 60.0
SYNC_S: Final = 60


def run(quick: bool) -> Iterable[Table]:
    try:
        found_program(None, os.environ)
    except ArchiveFault as fault:
        yield Table(title="archive", columns=("",), notes=[str(fault)])
        return
    yield _beside_ingest(quick)
    with TemporaryDirectory() as directory:
        home = Path(directory) / "home"
        mail = Path(directory) / "one.eml"
        mail.write_bytes(b"Subject: one\n\nWith it the home begins, and its key.\n")
        _timed(_svc("mail", "import", str(mail)), _settings(home))
        trio.run(_lay, home, QUICK_DATABASE_BYTES if quick else DATABASE_BYTES, QUICK_BLOBS if quick else BLOBS)
        yield _restored(Path(directory), home)
        yield _exported(Path(directory), home)


def _beside_ingest(quick: bool) -> Table:
    mails, what = some_mails(QUICK_MAILS if quick else MAILS)
    alone, beside, lags = list[float](), list[float](), list[float]()
    for _ in range(ROUNDS):
        with TemporaryDirectory() as directory:
            for archived in random.sample((False, True), 2):  # the second finds a warmer machine, and a fuller disk
                sync_disks()
                took_s, lag_s = trio.run(partial(_ingest, Path(directory), mails, archived=archived))
                (beside if archived else alone).append(len(mails) / took_s)
                if archived:
                    lags.append(lag_s)
    table = Table(title="Ingest with the archiver beside it", columns=("", "mails/s", "x alone", "lag at the end s"))
    table.add("alone", count(median(alone)), "1.00", "-")
    table.add("archived to a folder", count(median(beside)), paired_ratio(beside, alone), f"{median(lags):.2f}")
    table.notes.append(
        f"{len(mails)} mails: {what}; medians of {ROUNDS} pairs, each in a random order; the aim is 0.95"
    )
    table.notes.append("lag: from the last commit until the target holds it, asked for at once")
    return table


async def _ingest(directory: Path, mails: Sequence[bytes], *, archived: bool) -> tuple[float, float]:
    """Seconds for all mails, and how long the archive was behind then."""
    home = directory / ("archived" if archived else "alone")
    async with open_mailroom(home, mails) as room:
        database = home / "svc.sqlite3"
        if not archived:
            return await _store_all(room), 0.0
        await room.store.leave_checkpoints(to_another=True)
        Ledger(home / "ledger.sqlite3").make()
        tool = _tool(directory, database=database, ledger=home / "ledger.sqlite3")
        config, socket = home / "archive.json", home / "archive.sock"
        config.write_bytes(tool.config(socket=socket))
        command = tool.replicating(config)
        async with trio.open_nursery() as nursery, Egress(socket_path=str(socket)) as egress:
            await nursery.start(partial(trio.run_process, command, capture_stderr=True, check=False))
            control = Control(egress=egress, path=str(database))
            await _answers(control)
            took_s = await _store_all(room)
            began = time.perf_counter()
            position = await control.sync(wait_s=SYNC_S)
            assert position.replicated_txid == position.txid, "all was sent"
            lag_s = time.perf_counter() - began
            nursery.cancel_scope.cancel()
        return took_s, lag_s


async def _store_all(room: Mailroom) -> float:
    began = time.perf_counter()
    for refs in room.pages():
        page = page_of(await room.fetcher.fetch(refs))
        await room.store.write(ingest.store_page, account_id=room.account_id, page=page, steps=INGEST_STEPS)
    return time.perf_counter() - began


async def _answers(control: Control) -> None:
    with trio.fail_after(START_S):
        while True:
            try:
                await control.sync(wait_s=SYNC_S)
                return
            except ArchiveFault:
                await trio.sleep(0.1)


def _tool(directory: Path, *, database: Path, ledger: Path) -> Litestream:
    return Litestream(
        program=found_program(None, os.environ),
        target=Target(place=place_of("file", str(directory / "archive"))),
        database=database,
        ledger=ledger,
        environ=os.environ,
    )


async def _lay(home: Path, database_bytes: int, blobs: int) -> None:
    """A home with that many uploads, and so much in its database."""
    threads = ThreadPool(limit=4, name="bench")
    with Home.open(home) as opened:
        sets = [feature.migrations for feature in FEATURES if feature.migrations]
        store = Store.open(opened.database, clock=WallClock(), threads=threads, migrations=sets)
        kept = Blobs.open(opened.blobs, threads=threads)
        rng = random.Random(1)
        for start in range(0, blobs, 500):
            refs = await kept.put_all([rng.randbytes(BLOB_BYTES) for _ in range(min(500, blobs - start))])
            await trio.to_thread.run_sync(partial(store.write_now, _add, start, refs))
        await store.close()
        connection = sqlite3.connect(opened.database)
        connection.execute("create table filler (content blob not null)")
        rows = ((rng.randbytes(ROW_BYTES),) for _ in range(database_bytes // ROW_BYTES))
        connection.executemany("insert into filler values (?)", rows)
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.close()


def _add(tx: Tx, start: int, refs: Sequence[BlobRef]) -> None:
    for number, ref in enumerate(refs, start):
        add_file(
            tx,
            id=f"fil_{number:020d}",
            owner_id=None,
            sha256=ref.sha256,
            name=f"{number}.bin",
            mime="text/plain",
            size=ref.size,
            origin="upload",
        )


def _restored(directory: Path, home: Path) -> Table:
    ledger = Home.ledger_of(home)
    Catalogue(Ledger(ledger)).begin(Home.id_of(home), {})
    tool = _tool(directory, database=Home.database_of(home), ledger=ledger)
    config = directory / "once.json"
    config.write_bytes(tool.config())
    trio.run(tool.base_backup, config)
    for blob in (path for path in (home / "blobs").rglob("*") if len(path.name) == 64):
        there = directory / "replica" / blob.name[:2] / blob.name[2:4] / blob.name
        there.parent.mkdir(parents=True, exist_ok=True)
        os.link(blob, there)
    with _replica(directory / "replica") as url:
        settings = _settings(home) | {"ARCHIVE_FILE_PREFIX": str(directory / "archive")}
        settings |= {"SVC_BLOB_REPLICA_URL": url, "SVC_BLOB_REPLICA_TOKEN": TOKEN}
        sync_disks()
        ours = _timed(_svc("restore", "--into", str(directory / "restored")), settings)
    sync_disks()
    theirs = _timed(["cp", "-r", str(directory / "restored"), str(directory / "copied")], {}) + _synced()
    size = _size(directory / "restored")
    table = Table(title="A home restored", columns=("", "svc restore", "cp -r", "svc x cp"))
    table.add("seconds", f"{ours:.1f}", f"{theirs:.1f}", ratio(ours, theirs))
    table.add("MB/s", count(size / ours / 1e6), count(size / theirs / 1e6), "")
    table.notes.append(f"{size / 1e6:,.0f} MB; svc: each blob over HTTP, hashed, synced, and all of it checked again")
    return table


def _exported(directory: Path, home: Path) -> Table:
    settings, out = _settings(home), directory / "all.tar"
    sync_disks()
    export = _timed(_svc("export", str(out)), settings)
    size = out.stat().st_size
    sync_disks()
    tar = _timed(["tar", "cf", str(directory / "plain.tar"), "-C", str(home / "blobs"), "."], {}) + _synced()
    sync_disks()
    into = _timed(_svc("import", str(out)), _settings(directory / "new"))
    (directory / "plain").mkdir()
    sync_disks()
    untar = _timed(["tar", "xf", str(directory / "plain.tar"), "-C", str(directory / "plain")], {}) + _synced()
    table = Table(title="Everything out, and in again", columns=("MB/s", "svc", "tar", "svc x tar"))
    for name, ours, theirs in (("export", export, tar), ("import", into, untar)):
        table.add(name, count(size / ours / 1e6), count(size / theirs / 1e6), ratio(theirs, ours))
    table.notes.append(f"{size / 1e6:,.0f} MB of files; svc reads and hashes each twice, and syncs each by itself")
    return table


@contextmanager
def _replica(folder: Path) -> Iterator[str]:
    port = free_port()
    command = _svc("replica", "serve", "--dir", str(folder), "--port", str(port), "--token", TOKEN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: listens(port), what="the replica to listen", deadline_s=START_S)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _settings(home: Path) -> dict[str, str]:
    return {"SVC_HOME": str(home), "SVC_MASTER_KEY_FILE": f"{home}.key"}


def _svc(*words: str) -> list[str]:
    return [sys.executable, "-m", "svc", *words]


def _timed(command: Sequence[str], settings: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env={**os.environ, **settings}, check=True, capture_output=True)
    return time.perf_counter() - began


def _synced() -> float:
    began = time.perf_counter()
    os.sync()
    return time.perf_counter() - began


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
