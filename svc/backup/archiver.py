"""Runs the archiver: starts the child process, watches it, and ends it so that it can continue where it was.

Theory of the log. Only one program may fold SQLite's log into the database (a checkpoint); else the archiver finds a
gap and sends everything again. While the archiver runs, it does that. If it has not run for long and the log has grown,
the store does it again. When the service ends, the store is closed without folding the log in; the log stays, and the
next start continues to read it.

The same child sends a whole copy (a base backup) beside new changes, so a slow line does not delay those. But it can't
fold the log in before the copy is sent, so that is bounded: a copy that takes too long, or during which too much is
written, is given up and reported as too slow.

Bounds: unsent changes are in a folder beside the database. When it reaches :data:`UNSENT_MAX_BYTES` plus the size of
the database, the archiver is stopped and that folder emptied; the next start sends a whole copy instead.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backoff import Backoff
from svc.backup.archive import Archive
from svc.backup.control import Control, Position, socket_folder, unsent
from svc.backup.litestream import (
    SLOWEST_BYTES_A_S,
    SYNC_S,
    ArchiveFault,
    Litestream,
    LogMisread,
    complaint,
    found_program,
    kept_beside,
    refuse_old,
    told_of_copy,
)
from svc.backup.moments import Moment, Moments
from svc.backup.settings import BIN
from svc.backup.target import Part, is_on_the_same_disk
from svc.backup.writers import look_and_take_over
from svc.clock import Millis
from svc.config import Config
from svc.nursery import Child, ThreadPool, leash, open_task_group, process_group
from svc.protocol.egress import Egress
from svc.store import CannotOpen, Home, write_durably

LOOK_S: Final = 5.0
LATE_S: Final = 60.0
"""This much may be lost. Beyond it, admins are told."""
HEALTHY_AFTER_S: Final = 300.0
START_S: Final = 30.0
ORPHAN_S: Final = 20.0
SILENT_S: Final = 120.0
"""An archiver that does not answer for this long is restarted."""
LAST_SYNC_S: Final = 5.0
LEDGER_SENT_S: Final = 30.0
DRAIN_S: Final = 20.0
LOG_MAX_BYTES: Final = 256 * 1024 * 1024
"""The log while the archiver does not fold it in; while a base backup is sent, the size of the database is added.
Beyond: the archiver is ended, and the service folds it in."""
COPY_MAX_S: Final = 20 * 3_600.0
"""The longest time of one base backup; for a small database it is 15 minutes, plus a minute for each MiB. Beyond: it is
given up, the line is said to be too slow, and the next night tries again."""
COPY_S: Final = 900.0
"""The time of a base backup, to which a part for the size of the database is added."""
SENDING_S: Final = 300.0
"""The time in which nothing that waits for the archive arrives; a part for its size is added, and each time it doubles.
Beyond: the archiver is ended, and another one sends all of it again."""
SENDING_DOUBLES: Final = 6
TOLD_S: Final = 0.5
UNSENT_MAX_BYTES: Final = 1024 * 1024 * 1024
"""Changes that wait for an unreachable archive; the size of the database is added. Beyond: they are dropped, and a
whole copy is sent when it is back."""
_SAID_BYTES: Final = 16 * 1024


class ArchiverEnded(ArchiveFault):
    """The archiver ended by itself, or had to be ended."""


class CopyTooSlow(ArchiveFault):
    """The copy is too slow: an early retry is useless."""


@dataclass(kw_only=True)
class _Copy:
    """A requested whole copy. ``told``: its result, empty if it succeeded."""

    after: Millis
    told: str | None = None
    is_too_slow: bool = False


@dataclass(kw_only=True)
class Archiver:
    """The subsystem. ``control`` is set while the child runs."""

    archive: Archive
    home: Home
    config: Config
    threads: ThreadPool
    rng: random.Random
    unsent_max_bytes: int = UNSENT_MAX_BYTES
    look_s: float = LOOK_S
    sync_s: int = SYNC_S
    silent_s: float = SILENT_S
    late_s: float = LATE_S
    copy_max_s: float = COPY_MAX_S
    _heard: float = 0.0
    _progress: float = 0.0
    """When this child began, or when something that it sent last reached the target, by Trio's clock."""
    _given_up: int = 0
    """How many children in a row were ended because nothing that they sent arrived in time."""
    _sent: int = 0
    """The newest commit that the target is known to have, also from an earlier child."""
    _sends: bool = False
    """A part of what waits has arrived from this child, but not all."""
    control: Control | None = None
    _said: bytearray = field(default_factory=bytearray)
    _dropping: bool = False
    _held: trio.Lock = field(default_factory=trio.Lock)
    _copy: _Copy | None = None
    _moments: Moments = field(default_factory=Moments)
    _copy_told: str | None = None
    """What this child reported about a whole copy, also about the first one, which it sends without a request."""
    _process: trio.Process | None = None
    has_looked: bool = False
    """The last look found that nobody else writes to the target. Until then, the check looks every minute."""
    _ending: bool = False
    """The child is ended on purpose, and a new one must follow."""
    _answers: trio.Event = field(default_factory=trio.Event)
    """Set once the new one answers."""

    async def run(self, child: Child) -> None:
        """Run the archiver. Its errors end here: the service also works without an archive."""
        child.started()
        child.work.start_soon(self._keep, child)
        await trio.sleep_forever()

    async def _keep(self, child: Child) -> None:
        pauses = Backoff(rng=self.rng)
        while not child.draining:
            began = trio.current_time()
            try:
                tool = await self._tool()
                socket = (await self.threads.run(socket_folder, self.home)) / "archive.sock"
                await self._end_orphan(socket)
                await self._take_over(tool)
                if await self._live(child, tool, socket):
                    continue
            except (ArchiveFault, CannotOpen) as fault:
                await self._fails(fault)
            if trio.current_time() - began > HEALTHY_AFTER_S:
                pauses.reset()
            with trio.move_on_after(pauses.next_s()):
                await child.wait_draining()

    async def whole_copy(self, *, after: Millis | None) -> None:
        """Have a whole copy sent, and wait for it; changes are sent meanwhile. ``after``: the time of the newest copy;
        ``None``: there is none, and the archiver sends the first one without a request. Raises :class:`ArchiveFault`.
        """
        copy = self._copy = _Copy(after=after or 0)
        try:
            if after is not None or self._copy_told:
                await self.renew()
            else:
                copy.told = self._copy_told
            limit_s = await self._copy_limit_s()
            with trio.move_on_after(limit_s):
                while copy.told is None:  # noqa: ASYNC110  several children may come and go until then
                    await trio.sleep(TOLD_S)
        finally:
            self._copy = None
        if copy.told is None:
            await self.renew()
            raise CopyTooSlow(
                f"it was not sent within {told_s(limit_s)}: the line to {self.archive.target.place} is too slow for it"
            )
        if copy.told:
            raise CopyTooSlow(copy.told) if copy.is_too_slow else ArchiveFault(copy.told)

    async def _copy_limit_s(self) -> float:
        """A target that takes a few bytes a second must not keep a small copy, and the log, for a day."""
        size = await self.threads.run(_size_of, self.home.database)
        return min(self.copy_max_s, COPY_S + size / SLOWEST_BYTES_A_S)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Litestream]:
        """Make the archiver release the database within this context. Raises :class:`ArchiveFault`.

        Afterwards a new one is started: an old one that only continues still believes that the target is where it left
        it, may look for files that no longer exist here, and then never sends anything again.
        """
        async with self._held:
            control, tool = self.control, self.archive.tool
            if control is None or tool is None:
                raise ArchiveFault("the archiver does not run")
            try:
                await control.hold()
                yield tool
            finally:
                await self.renew()

    async def renew(self) -> None:
        """End the child; a new one starts soon, or its problem is reported."""
        process = self._process
        if process is None:
            return
        self._ending, self._answers = True, trio.Event()
        process.terminate()
        with trio.move_on_after(START_S) as ending:
            await self._answers.wait()
        if ending.cancelled_caught:
            process.kill()

    async def position(self, *, wait_s: float | None = None) -> Position:
        """The archiver's position, after it has read all commits. Raises :class:`ArchiveFault`."""
        if self.control is None:
            raise ArchiveFault("the archiver does not run")
        if self._held.locked():
            raise ArchiveFault("a base backup is being made")
        return await self.control.sync(wait_s=wait_s)

    async def send_ledger(self) -> None:
        """Have the ledger sent now: to a bucket it is sent only every ten seconds. A failure is ignored here: a reader
        of the archive will see it."""
        if self.control is None:
            return
        control = self.control.of(self.archive.catalogue.ledger.path)
        with trio.move_on_after(LEDGER_SENT_S), suppress(ArchiveFault):
            while True:
                position = await control.sync(wait_s=LEDGER_SENT_S)
                if position.replicated_txid >= position.txid:
                    return
                await trio.sleep(TOLD_S)

    def written_config(
        self, tool: Litestream, *, socket: Path | None = None, parts: tuple[Part, ...] = ("db", "ledger")
    ) -> Path:
        """Write its configuration to a file in ``run/``; blocks."""
        folder = self.home.path / "run"
        folder.mkdir(mode=0o700, exist_ok=True)
        name = "archive" if socket is not None else "archive-once" if len(parts) == 1 else "archive-look"
        path = folder / f"{name}.json"
        copy_after = None if socket is None or self._copy is None else self._copy.after
        write_durably(path, tool.config(socket=socket, parts=parts, copy_after=copy_after))
        return path

    async def _tool(self) -> Litestream:
        environ = self.config.environ
        program = found_program(self.config[BIN], environ)
        self.archive.version = await refuse_old(program, environ)
        target, database = self.archive.target, self.home.database
        self.archive.is_on_the_same_disk = await self.threads.run(is_on_the_same_disk, target.place, database)
        return Litestream(
            program=program,
            target=target,
            database=database,
            ledger=self.archive.catalogue.ledger.path,
            environ=environ,
            sync_s=self.sync_s,
        )

    async def _take_over(self, tool: Litestream) -> None:
        """Make this copy of the home the writer of the target, unless nobody wrote there since the last look."""
        if self.has_looked:
            return
        config = await self.threads.run(partial(self.written_config, tool, parts=("db", "ledger")))
        now, home = self.archive.clock.now(), self.home
        self.has_looked = await look_and_take_over(
            replace(tool, patience_s=START_S),
            config,
            self.archive.catalogue,
            home=home.id,
            now=now,
            threads=self.threads,
        )

    async def give_way(self) -> None:
        """End the archiver: another copy of the home writes to the target, or may do so. A new one looks first."""
        self.has_looked = False
        await self.renew()

    async def _live(self, child: Child, tool: Litestream, socket: Path) -> bool:
        """Run one child to its end. Returns whether a new one must follow at once."""
        config = await self.threads.run(partial(self.written_config, tool, socket=socket))
        self._said.clear()
        self._copy_told = None
        self.archive.tool = tool
        self.archive.begins()
        try:
            async with (
                Egress(socket_path=str(socket)) as egress,
                process_group(
                    tool.replicating(config),
                    environ=tool.environment(),
                    directory=self.home.path / "run",
                    stdin=subprocess.DEVNULL,
                ) as process,
                leash(process),
            ):
                child.log.info("backup.archiver_started", pid=process.pid, version=self.archive.version)
                control = Control(egress=egress, path=str(self.home.database))
                self._process = process
                async with open_task_group() as nursery:
                    nursery.start_soon(self._listen, process.stdout)
                    nursery.start_soon(self._listen, process.stderr)
                    nursery.start_soon(self._watch, control)
                    nursery.start_soon(self._end_on_drain, child, process)
                    status = await process.wait()
                    nursery.cancel_scope.cancel()
            if self._ending:
                return not child.draining
            if not child.draining:
                why = complaint(bytes(self._said))
                raise ArchiverEnded(f"the archiver ended with status {status}{f': {why}' if why else ''}")
            return False
        except OSError as error:
            raise ArchiverEnded(f"the archiver can't be started: {error.strerror}") from error
        finally:
            await self._ended()

    async def _ended(self) -> None:
        """Reset the state after the child's end, and delete unsent changes if it was ended for that."""
        self.control, self._process, self.archive.runs, self._ending = None, None, False, False
        self._progress, self._sends, self._moments = trio.current_time(), False, Moments()
        if self._dropping:
            await self.threads.run(partial(shutil.rmtree, kept_beside(self.home.database), ignore_errors=True))
            self._dropping = False

    async def _end_orphan(self, socket: Path) -> None:
        """End an archiver that outlived a killed service: it still answers at our socket, and two must not archive."""
        async with Egress(socket_path=str(socket)) as egress:
            control = Control(egress=egress, path=str(self.home.database))
            with trio.move_on_after(ORPHAN_S):
                while (pid := await control.pid()) is not None:
                    self.archive.log.warning("backup.orphan_ended", pid=pid)
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGTERM)
                    await trio.sleep(0.2)
                await self.threads.run(partial(socket.unlink, missing_ok=True))
                return
        raise ArchiveFault("an archiver of an earlier start does not end; end it, or start the machine again")

    async def _listen(self, stream: trio.abc.ReceiveStream | None) -> None:
        assert stream is not None
        begun = b""
        async for piece in stream:
            self._said += piece
            del self._said[:-_SAID_BYTES]
            *lines, begun = (begun + piece).split(b"\n")
            begun = begun[:_SAID_BYTES]
            for line in lines:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        told = told_of_copy(line, self.home.database)
        if told is None or self._ending:
            return
        self._copy_told = told
        if self._copy is not None:
            self._copy.told = told

    async def _watch(self, control: Control) -> None:
        """Wait for its first answer, then check its progress regularly."""
        with trio.move_on_after(START_S):
            while self.control is None:
                try:
                    await control.sync()
                    self.control = control
                except LogMisread:
                    raise
                except ArchiveFault:
                    await trio.sleep(0.2)
        if self.control is None:
            raise ArchiverEnded(f"the archiver does not answer: {self.archive.target.place} is away, or too slow")
        self.archive.runs, self._heard, self._progress = True, trio.current_time(), trio.current_time()
        self._answers.set()
        await self.archive.store.leave_checkpoints(to_another=True)
        self.archive.changed.call()
        while True:
            await self._look(control)
            await trio.sleep(self.look_s)

    async def _look(self, control: Control) -> None:
        archive = self.archive
        if self._held.locked():
            return
        at, since = archive.clock.now(), trio.current_time()
        try:
            position, ledger = await control.sync(), await control.of(archive.catalogue.ledger.path).sync()
        except LogMisread:
            raise
        except ArchiveFault as fault:
            if not self._held.locked():
                await self._silent(fault)
            return
        self._heard = trio.current_time()
        # Of the ledger, too: the master key for the recovery code is there.
        now = Moment(at=at, since=since, read=(position.txid, ledger.txid))
        reached = self._moments.reached(now, sent=(position.replicated_txid, ledger.replicated_txid))
        if reached is not None:
            archive.synced(reached)
        arrived = self._sent_more(position) or reached is not None
        self._sends = reached is not now and (self._sends or arrived)
        archive.unsent_bytes = await self.threads.run(unsent, self.home.database, position)
        # The whole copy that it begins with may be unsent, too.
        if archive.unsent_bytes > self.unsent_max_bytes + await self.threads.run(_size_of, self.home.database):
            self._dropping = True
            raise ArchiverEnded(f"{archive.target.place} is away for too long; what waited for it was dropped")
        await self._bound_log()
        self._bound_sending(arrived=arrived)
        if archive.still_s() > self.late_s:
            why = complaint(bytes(self._said))
            what = "only a part of what waits" if self._sends else "nothing"
            await archive.note("archiver", f"{what} reaches {archive.target.place}{f': {why}' if why else ''}")
        elif reached is not None:
            await archive.note("archiver", None)

    def _sent_more(self, position: Position) -> bool:
        """Whether the target has other commits than before. A child says 0 until it has asked the target, and after
        an error; what it says then is often known from before."""
        if position.replicated_txid in (0, self._sent):
            return False
        self._sent = position.replicated_txid
        return True

    def _bound_sending(self, *, arrived: bool) -> None:
        """End a child of which nothing arrives: one exchange may go on for ever, a byte at a time. What is unsent stays
        here, and the next child sends it. ``arrived``: all of it, or a part: a slow line may take hours for all."""
        now = trio.current_time()
        if arrived:
            self._progress, self._given_up = now, 0
        longest_s = (SENDING_S + self.archive.unsent_bytes / SLOWEST_BYTES_A_S) * 2**self._given_up
        if now - self._progress > longest_s:
            self._given_up = min(self._given_up + 1, SENDING_DOUBLES)
            raise ArchiverEnded(
                f"nothing reached {self.archive.target.place} within {told_s(longest_s)}: it is too slow, or hangs; "
                "what waits is kept here and sent again"
            )

    async def _bound_log(self) -> None:
        """End a copy during which the log grows too large: it can't be folded in meanwhile."""
        copy = self._copy
        if copy is None or copy.told is not None:
            return
        log_bytes = await self.threads.run(_size_of, Path(f"{self.home.database}-wal"))
        if log_bytes > LOG_MAX_BYTES + await self.threads.run(_size_of, self.home.database):
            self._copy, copy.is_too_slow = None, True
            copy.told = "more was written while it was sent than may wait: the line is too slow for it"
            raise ArchiverEnded(copy.told)

    async def _silent(self, fault: ArchiveFault) -> None:
        """Handle an archiver that does not answer. It may hang on an unreachable target and does not fold the log in,
        so this is bounded."""
        await self.archive.note("archiver", f"nothing reaches {self.archive.target.place}: {fault}")
        log_bytes = await self.threads.run(_size_of, Path(f"{self.home.database}-wal"))
        if trio.current_time() - self._heard > self.silent_s or log_bytes > LOG_MAX_BYTES:
            raise ArchiverEnded(f"{self.archive.target.place} is away, and the archiver does not answer")

    async def _fails(self, fault: Exception) -> None:
        """Note that it does not run. If the log has grown too large, the store folds it in."""
        self.archive.runs = False
        await self.archive.note("archiver", str(fault))
        if isinstance(fault, LogMisread):  # another child would begin at the same place
            await self.archive.store.fold_log()
        elif await self.threads.run(_size_of, Path(f"{self.home.database}-wal")) > LOG_MAX_BYTES:
            await self.archive.store.leave_checkpoints(to_another=False)

    async def _end_on_drain(self, child: Child, process: trio.Process) -> None:
        """On shutdown: send all commits, if the target takes them now; then end the child."""
        await child.wait_draining()
        self.archive.store.keeps_log = True
        if self.control is not None:
            try:
                position = await self.control.sync(wait_s=LAST_SYNC_S)
                child.log.info("backup.archiver_ends", position=position.txid, sent=position.replicated_txid)
            except ArchiveFault as fault:
                child.log.warning("backup.last_sync_failed", problem=str(fault))
        process.terminate()


def told_s(seconds: float) -> str:
    """A long time in words."""
    return f"{seconds / 3_600:.0f} hours" if seconds >= 2 * 3_600 else f"{seconds / 60:.0f} minutes"


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
