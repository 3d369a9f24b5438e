"""The database: one writer, many readers, and the promise that what was acknowledged is durable.

Owns the connections, the queue of writes and the writer loop. Actions and queries are plain functions over a
transaction. They run in worker threads, one at a time on the writer and in parallel snapshots on the readers; small
reads run on the event loop (``loop_reader.py``). A caller is woken only after the commit of its change, and only then
are its outbox rows published. Once the disk has failed nothing is acknowledged any more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

import trio
from sqlite_utils.migrations import Migrations

from svc.clock import MINUTE_MS, Clock, Millis
from svc.errors import Unavailable
from svc.store.batch import Batch, Job
from svc.store.connections import CHECKPOINT_PAGES, close_writer, explained, open_reader, open_writer
from svc.store.faults import CannotOpen, StoreBroken, fault_of
from svc.store.loop_reader import LoopReader, TooLong
from svc.store.migrate import migrate, refuse_unmigrated
from svc.store.migrations import STORE_MIGRATIONS
from svc.store.outbox import Outbox, newest
from svc.store.statistics import analyse
from svc.store.threads import RunsInThreads
from svc.store.transaction import ReadTx, Tx

P = ParamSpec("P")
T = TypeVar("T")
N = TypeVar("N")

READERS: Final = 4  # connections, and so reads at the same time
MAX_QUEUED_WRITES: Final = 1_000  # a caller beyond it waits before it may queue
MAX_BATCH: Final = 64  # actions that share one commit
FULL_FOR_MS: Final = 2 * MINUTE_MS  # after a commit that found no room; writers retry within that time


class Store:
    """The open database of one home."""

    def __init__(self, path: Path, writer: sqlite3.Connection | None, *, clock: Clock, threads: RunsInThreads) -> None:
        self.path = path
        self._writer = writer
        self._clock = clock
        self._threads = threads
        self._idle_readers: list[sqlite3.Connection] = []
        self._loop_reader = LoopReader()
        self._opening = trio.Lock()
        self._reader_slots = trio.Semaphore(READERS)
        self._jobs_in, self._jobs_out = trio.open_memory_channel[Job[object]](MAX_QUEUED_WRITES)
        self._writer_started = False
        self._committing = trio.Lock()
        self.keeps_log = False
        """The log is kept on close: an archiver continues to read it from its position."""
        self._broken: StoreBroken | None = None
        self._full_at: Millis | None = None
        self._analysed_at: int | None = None
        self.outbox = Outbox(head=self._query(newest, 0))
        self.recorded = trio.Event()
        """Set when the next event is committed; a new one then takes its place."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        threads: RunsInThreads,
        migrations: Sequence[Migrations] = (),
        read_only: bool = False,
    ) -> Store:
        """Open and migrate the database at ``path``; blocks.

        ``migrations`` are the features' sets, in order; the store's own goes first. ``read_only`` is for commands
        beside a running service: it neither creates nor migrates. Raises :class:`CannotOpen` and its subclasses.
        """
        sets = (STORE_MIGRATIONS, *migrations)
        connection = open_reader(path) if read_only else open_writer(path)
        try:
            if not read_only:
                migrate(connection, sets)
                return cls(path, connection, clock=clock, threads=threads)
            refuse_unmigrated(connection, sets)
            connection.close()
            return cls(path, None, clock=clock, threads=threads)
        except sqlite3.DatabaseError as error:
            connection.close()
            if fault_of(error) is None:
                raise  # an error in a migration itself
            raise explained(error, path) from error
        except BaseException:
            connection.close()
            raise

    async def write(self, action: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``action`` in a transaction and return its value once that is durable.

        An exception of the action undoes its changes and is raised here. If the caller is cancelled while its action is
        queued, the action does not run; once it has left the queue it is committed all the same. ``tx.now`` is the time
        of this call. Raises :class:`Refusal` ``insufficient_storage`` on a full disk, :class:`StoreBroken` on a failing
        one.
        """
        job = Job(lambda tx: action(tx, *args, **kwargs), now=self._clock.now())
        self._refuse_broken()
        try:
            await self._jobs_in.send(cast("Job[object]", job))
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            self._refuse_broken()
            raise Unavailable("The service is stopping.") from None
        try:
            await job.done.wait()
        except trio.Cancelled:
            job.abandoned = True
            raise
        return job.result()

    async def read(self, query: Callable[Concatenate[ReadTx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``query`` on a snapshot of what is committed. It sees every write that was acknowledged before."""
        now = self._clock.now()
        async with self._reader_slots:
            return await self._threads.run(lambda: self._query(lambda tx: query(tx, *args, **kwargs), now))

    async def at_one_moment(self, note: Callable[[], Awaitable[N]], query: Callable[[ReadTx], T]) -> tuple[N, T]:
        """The result of ``note`` while nothing is committed, and of ``query`` on exactly that state.

        Writes wait as long as ``note`` takes, so it must be quick; the query runs when they continue.
        """
        now = self._clock.now()
        async with self._reader_slots:
            idle = self._idle_readers
            async with self._committing:
                reader = await self._threads.run(self._snapshot, idle)
                try:
                    noted = await note()
                except BaseException:
                    reader.close()
                    raise
            return noted, await self._threads.run(lambda: self._ask(reader, query, now, idle))

    async def analyse(self) -> bool:
        """Give the query planner new statistics (``statistics.py``), unless nothing was written since the last ones.
        Returns whether it did.

        It reads a sample, so it takes milliseconds. A connection reads statistics when it is opened, so the readers
        are opened again; a query that runs meanwhile is not disturbed.
        """
        changes = await self.write(analyse, self._analysed_at)
        if changes is None:
            return False
        self._analysed_at = changes
        idle, self._idle_readers = self._idle_readers, []
        self._loop_reader.close()
        _close_all(idle)
        return True

    async def leave_checkpoints(self, to_another: bool) -> None:
        """Set whether another program folds the log into the database from now on. Two must not do it at a time."""
        pages = 0 if to_another else CHECKPOINT_PAGES
        async with self._committing:
            if self._writer is not None:
                await self._threads.run(self._writer.execute, f"pragma wal_autocheckpoint = {pages}")

    async def fold_log(self) -> None:
        """Fold the log into the database now, as far as no reader still needs it. No other program may do it now."""
        async with self._committing:
            if self._writer is not None:
                await self._threads.run(self._writer.execute, "pragma wal_checkpoint(passive)")

    @property
    def queued_writes(self) -> int:
        """Actions that wait for the writer, at most :data:`MAX_QUEUED_WRITES`."""
        return self._jobs_in.statistics().current_buffer_used

    async def read_small(self, query: Callable[Concatenate[ReadTx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """:meth:`read` of a few rows by key or along an index: on the event loop, which saves the hop to a thread.

        A query that turns out to be large runs again in a thread, so ``query`` may be called twice.
        """
        await self._open_loop_reader()
        try:
            return self._loop_reader.query(lambda tx: query(tx, *args, **kwargs), self._clock.now())
        except TooLong:
            return await self.read(query, *args, **kwargs)

    async def read_kept(self, key: Hashable, query: Callable[[ReadTx], T]) -> T:
        """:meth:`read_small` for queries that are repeated often: the result is kept until anything is committed.

        ``key`` identifies the query and all its arguments. The query may not use the time, and no caller may change the
        result.
        """
        await self._open_loop_reader()
        try:
            return self._loop_reader.query_kept(query, key)
        except TooLong:
            return await self.read(query)

    async def _open_loop_reader(self) -> None:
        """Nothing waits between its end and the query: it might be closed meanwhile."""
        await trio.lowlevel.checkpoint()
        if self._loop_reader.is_open:
            return
        async with self._opening:
            if not self._loop_reader.is_open:
                await self._threads.run(self._loop_reader.open, self.path)

    def write_now(self, action: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """:meth:`write` for boot and commands: blocks, and works only before the writer runs."""
        if self._writer is None or self._writer_started:
            raise RuntimeError("write_now is for an open database whose writer has not been started")
        self._refuse_broken()
        job = Job(lambda tx: action(tx, *args, **kwargs), now=self._clock.now())
        batch = Batch([cast("Job[object]", job)])
        batch.commit(self._writer)
        self._settle(batch)
        return job.result()

    def read_now(self, query: Callable[Concatenate[ReadTx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """:meth:`read` for boot and commands: blocks."""
        return self._query(lambda tx: query(tx, *args, **kwargs), self._clock.now())

    async def run_writer(self, *, started: Callable[[], None]) -> None:
        """Commit queued actions until cancelled. Raises :class:`StoreBroken` when the disk fails: the process ends."""
        if self._writer is None or self._writer_started:
            raise RuntimeError("the writer runs once, on a database open for writing")
        self._writer_started = True
        started()
        try:
            while True:
                batch = Batch(await self._waiting_jobs())
                try:
                    self._refuse_broken()
                    async with self._committing:
                        await self._threads.run(batch.commit, self._writer)
                finally:
                    self._settle(batch)
                self._refuse_broken()
        finally:
            self._refuse_waiting()

    def fail(self, error: StoreBroken) -> None:
        """Stop acknowledging for good: called when the disk fails under the database or the blobs."""
        self._broken = self._broken or error
        self._jobs_in.close()

    @property
    def full(self) -> bool:
        """Whether a commit found the disk full lately. Small ones may succeed in between."""
        return self._full_at is not None and 0 <= self._clock.now() - self._full_at < FULL_FOR_MS

    @property
    def broken(self) -> bool:
        return self._broken is not None

    async def close(self) -> None:
        """Fold the log into the database and close. Called after the writer has ended."""
        await self._threads.run(self.close_now)

    def close_now(self) -> None:
        # SQLite folds the log in when the last connection closes, unless that one is read-only.
        last: sqlite3.Connection | None = None
        with suppress(CannotOpen):  # then the archiver starts again: nothing is lost
            last = open_reader(self.path) if self.keeps_log and self._writer is not None else None
        self._loop_reader.close()
        _close_all(self._idle_readers)
        if self._writer is not None:
            close_writer(self._writer, keeps_log=self.keeps_log)
            self._writer = None
        if last is not None:
            last.close()

    async def _waiting_jobs(self) -> list[Job[object]]:
        """All queued jobs, up to a batch; waits for the first. Empty once the queue is closed."""
        taken: list[Job[object]] = []
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            taken.append(await self._jobs_out.receive())
            while len(taken) < MAX_BATCH:
                taken.append(self._jobs_out.receive_nowait())
        return [job for job in taken if not job.abandoned]

    def _settle(self, batch: Batch) -> None:
        if batch.fault == "broken":
            self.fail(StoreBroken(f"the database failed: {batch.cause}"))
        if batch.fault == "full":
            self._full_at = self._clock.now()
        self.outbox.publish(batch.emitted)
        if batch.recorded:
            recorded, self.recorded = self.recorded, trio.Event()
            recorded.set()
        batch.settle(self._refusal)

    def _refuse_waiting(self) -> None:
        """Refuse all queued jobs: the writer has ended, so no caller may wait for it."""
        self._jobs_in.close()
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                self._jobs_out.receive_nowait().fail(self._refusal())
        self._jobs_out.close()

    def _refusal(self) -> Exception:
        return Unavailable("The service is stopping.") if self._broken is None else StoreBroken(str(self._broken))

    def _refuse_broken(self) -> None:
        if self._broken is not None:
            raise StoreBroken(str(self._broken))

    def _query(self, query: Callable[[ReadTx], T], now: Millis) -> T:
        """In a thread: run one read transaction, on a connection that no other caller uses."""
        idle = self._idle_readers
        reader = _taken(idle) or open_reader(self.path)
        try:
            reader.execute("begin")
        except BaseException:
            reader.close()
            raise
        return self._ask(reader, query, now, idle)

    def _snapshot(self, idle: list[sqlite3.Connection]) -> sqlite3.Connection:
        """In a thread: a connection in a transaction that sees what is committed now."""
        reader = _taken(idle) or open_reader(self.path)
        try:
            reader.execute("begin")
            reader.execute("select count(*) from sqlite_schema").fetchone()  # the snapshot is taken by the first read
        except BaseException:
            reader.close()
            raise
        return reader

    def _ask(
        self, reader: sqlite3.Connection, query: Callable[[ReadTx], T], now: Millis, idle: list[sqlite3.Connection]
    ) -> T:
        """In a thread: the rest of a read transaction that has begun. ``idle``: the readers when it began."""
        tx = ReadTx(reader, now=now)
        try:
            result = query(tx)
            tx.close()
            reader.execute("rollback")
        except BaseException:
            reader.close()  # its state is unknown
            raise
        if idle is self._idle_readers:
            idle.append(reader)
        else:
            reader.close()  # it has read only the old statistics of the tables
        return result


def _taken(idle: list[sqlite3.Connection]) -> sqlite3.Connection | None:
    """Take one of the idle connections, if there is one. Several threads take from the same list."""
    with suppress(IndexError):
        return idle.pop()
    return None


def _close_all(idle: list[sqlite3.Connection]) -> None:
    while reader := _taken(idle):
        reader.close()
