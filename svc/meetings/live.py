"""Running meetings, and the steps that finish them: the subsystem, and the only module that handles both.

Theory. A meeting has three tasks: its socket's, which appends the received sound to a file; one that syncs the file and
notices the end; and one that has it transcribed. The socket may be lost and come back. When the recording has ended,
its sound becomes a file of the files feature at once, and its page is made when the transcript is complete. The next
boot finishes the meetings of a dead process by the same steps: for each finished step there is a row.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.errors import Conflict, Invalid, NotFound, Refusal, TooLarge, Unavailable
from svc.log import Log
from svc.meetings import actions, queries
from svc.meetings.audio.opus import NotOpus
from svc.meetings.model import (
    FINISH_S,
    MAX_AHEAD_S,
    MAX_AT_ONCE,
    MAX_FRAME_BYTES,
    MAX_MEETING_BYTES,
    MAX_MEETING_S,
    MAX_OF_ONE,
    MAX_SILENT_S,
    RESUME_S,
    SYNC_S,
    AudioFormat,
    Meeting,
)
from svc.meetings.page_text import page_body
from svc.meetings.recognisers.choice import Recognisers
from svc.meetings.spool import FOLDER, Spool, as_file, seconds_in
from svc.meetings.writing_down import Scribe
from svc.nursery import Child, ThreadPool, Wake, open_task_group
from svc.principal import Principal
from svc.protocol import Socket, SocketClosed
from svc.store import Blobs, Store
from svc.workspace import Workspace

TOO_LONG: Final = f"The recording ended here: a meeting has at most {MAX_MEETING_S // 3_600} hours."
NO_ROOM: Final = "The recording ended here: the disk took no more."
NO_SOUND: Final = f"The recording ended after {MAX_SILENT_S / 60:.0f} minutes without any sound."
LINK_LOST: Final = "The recording ended where the link to the recorder was lost."
CUT_OFF: Final = "The service stopped while this was recorded: the recording ends there."
SOUND_LOST: Final = "Its sound is lost: the recording was not on the disk any more."

_MIMES: Final[Mapping[AudioFormat, tuple[str, str]]] = {"pcm16": ("wav", "audio/wav"), "opus": ("ogg", "audio/ogg")}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a meeting. ``None`` where there was no sound, so that nothing was stored."""

    file_id: str | None
    path: str | None


@dataclass(kw_only=True)
class LiveMeeting:
    """A meeting that is being recorded, or whose recording has ended in this process."""

    meeting: Meeting
    spool: Spool
    threads: ThreadPool
    longest_s: float = MAX_MEETING_S
    grown: Wake = field(default_factory=Wake)
    over: trio.Event = field(default_factory=trio.Event)
    """No more sound comes."""
    done: trio.Event = field(default_factory=trio.Event)
    outcome: Outcome | None = None
    problem: str = ""
    """Why the recording ended, if its person did not end it."""
    _client: Socket | None = None
    _began_at: float = field(default_factory=trio.current_time)
    _heard_at: float = field(default_factory=trio.current_time)
    _lost_at: float | None = None
    _told_kept: int = 0

    def attach(self, client: Socket) -> Socket | None:
        """Make ``client`` the recorder. Returns the one that it replaces."""
        before, self._client = self._client, client
        self._lost_at, self._heard_at = None, trio.current_time()
        return before

    def detach(self, client: Socket) -> None:
        if self._client is client:
            self._client, self._lost_at = None, trio.current_time()

    async def take(self, client: Socket, frame: bytes) -> None:
        """Append the next sound. Raises :class:`Refusal`; earlier sound stays."""
        if self._client is not client or self.over.is_set():
            return  # a replaced recorder, or one that does not know of the end yet
        if len(frame) > MAX_FRAME_BYTES:
            raise TooLarge(f"A frame of sound has at most {MAX_FRAME_BYTES} bytes.")
        try:
            await self.threads.run(self.spool.append, frame)
        except NotOpus as error:
            raise Invalid(f"This is no Opus packet: {error}.") from error
        except OSError:
            await self.end(NO_ROOM)
            return
        self._heard_at = trio.current_time()
        self.grown.call()
        extent = self.spool.extent
        if extent.seconds >= self.longest_s or extent.size >= MAX_MEETING_BYTES:
            await self.end(TOO_LONG)
        ahead_s = extent.seconds - (trio.current_time() - self._began_at)
        if ahead_s > MAX_AHEAD_S:
            await trio.sleep(ahead_s - MAX_AHEAD_S)

    async def end(self, problem: str = "") -> None:
        """No more sound comes."""
        if self.over.is_set():
            return
        self.problem = problem
        self.over.set()
        self.grown.call()
        if problem:
            await self.tell({"type": "problem", "message": problem})

    def abandon(self) -> None:
        """End it: no recorder connected."""
        self.over.set()
        self.grown.call()

    async def tell(self, frame: Mapping[str, object]) -> None:
        """Send it to the recorder, if one is connected."""
        client = self._client
        if client is not None:
            try:
                await client.send(encoded(frame))
            except SocketClosed:
                self.detach(client)

    async def keep_safe(self) -> None:
        """Sync the sound regularly until the recording has ended; end it if the recorder or the sound is missing for
        too long."""
        while not self.over.is_set():
            with trio.move_on_after(SYNC_S):
                await self.over.wait()
            received = self.spool.extent.received
            if received != self._told_kept:
                try:
                    await self.threads.run(self.spool.sync)
                except OSError:
                    await self.end(NO_ROOM)
                    return
                self._told_kept = received
                await self.tell({"type": "kept", "received": received})
            now = trio.current_time()
            if self._lost_at is not None and now - self._lost_at >= RESUME_S:
                await self.end(LINK_LOST)
            elif now - self._heard_at >= MAX_SILENT_S:
                await self.end(NO_SOUND)


class Meetings:
    """The meetings of this process. A service of the workspace, and a subsystem."""

    def __init__(self, workspace: Workspace, recognisers: Recognisers, *, longest_s: float = MAX_MEETING_S) -> None:
        """``longest_s``: the longest recording, in seconds; tests use less."""
        self.longest_s = longest_s
        self.recognisers = recognisers
        self._store: Store = workspace.store
        self._blobs: Blobs = workspace.blobs
        self._threads = workspace.threads
        self._rng: random.Random = workspace.rng
        self._log: Log = workspace.log
        self._folder = workspace.home.spool / FOLDER
        self._live: dict[str, LiveMeeting] = {}
        self._tasks: trio.Nursery | None = None
        self._beginning = trio.Lock()

    async def run(self, child: Child) -> None:
        """Finish the meetings that an earlier process left, and run those that begin from now on."""
        self._live.clear()
        left = await self._store.read(queries.unfinished)
        await self._threads.run(self._remove_leftovers, {meeting.id for meeting in left})
        try:
            async with open_task_group() as self._tasks:
                for meeting in left:
                    self._tasks.start_soon(self._recover, meeting)
                child.started()
                await trio.sleep_forever()
        finally:
            self._tasks = None

    async def begin(self, principal: Principal, *, title: str, format: AudioFormat, rate: int) -> LiveMeeting:
        """Begin a meeting of the caller's. Raises :class:`Refusal` where there is no room for one more."""
        async with self._beginning:
            if self._tasks is None or self._recorded() >= MAX_AT_ONCE:
                raise Unavailable("No further meeting can be recorded now. Try again in a while.")
            if self._recorded(principal) >= MAX_OF_ONE:
                raise Conflict(f"You record {MAX_OF_ONE} meetings already. End one of them first.")
            if await self._blobs.is_full():
                raise _no_room()
            meeting = await self._store.write(
                actions.begin, owner_id=principal.user_id, title=title, format=format, rate=rate
            )
            try:
                spool = await self._threads.run(Spool, self._path(meeting), meeting)
            except OSError as error:
                await self._store.write(actions.discard, meeting)
                raise _no_room() from error
            live = LiveMeeting(meeting=meeting, spool=spool, threads=self._threads, longest_s=self.longest_s)
            self._live[meeting.id] = live
            self._tasks.start_soon(self._keep, live)
            return live

    def resumed(self, principal: Principal, meeting_id: str) -> LiveMeeting:
        """A meeting of the caller's that is still being recorded. Raises :class:`NotFound`."""
        live = self._live.get(meeting_id)
        if live is None or live.over.is_set() or live.meeting.owner_id != principal.user_id:
            raise NotFound("This meeting is over. Go on with a new one.")
        return live

    def _recorded(self, principal: Principal | None = None) -> int:
        return sum(
            not live.over.is_set() and (principal is None or live.meeting.owner_id == principal.user_id)
            for live in self._live.values()
        )

    async def _keep(self, live: LiveMeeting) -> None:
        """Run one meeting, from its first sound to its page."""
        try:
            await self._complete(live.meeting, live)
        except Exception as error:  # an edge: an error of one meeting must not end the others
            self._log.error("meetings.failed", error, meeting=live.meeting.id)
        finally:
            self._live.pop(live.meeting.id, None)
            live.spool.close()
            live.done.set()

    async def _recover(self, meeting: Meeting) -> None:
        """Finish a meeting that the last process left unfinished."""
        try:
            await self._complete(meeting, None)
        except Exception as error:  # as above: the others must still be finished
            self._log.error("meetings.failed", error, meeting=meeting.id)

    async def _complete(self, meeting: Meeting, live: LiveMeeting | None) -> None:
        """Do all remaining steps of a meeting. Without ``live`` its recording has ended."""
        over, grown = (live.over, live.grown) if live else (trio.Event(), Wake())
        if live is None:
            over.set()
        scribe = Scribe(
            store=self._store,
            threads=self._threads,
            rng=self._rng,
            log=self._log,
            recognisers=self.recognisers,
            meeting=meeting,
            path=self._path(meeting),
            grown=grown,
            over=over,
            tell_client=live.tell if live else _tell_nobody,
        )
        missing = ""
        async with open_task_group() as nursery:
            nursery.start_soon(self._record, meeting, live)
            missing = await self._written_down(scribe)
        found = await self._store.read(queries.meeting, meeting.id)
        if found is None:
            return
        cut_off = CUT_OFF if meeting.state == "recording" else ""
        outcome = await self._finish(found, missing=missing, ended=live.problem if live else cut_off)
        if live is not None:
            live.outcome = outcome

    async def _written_down(self, scribe: Scribe) -> str:
        """Have the meeting transcribed; returns a sentence about the missing part. The limit is ``FINISH_S`` after the
        end of the recording."""
        with trio.CancelScope() as scope:
            async with open_task_group() as nursery:

                async def limit() -> None:
                    await scribe.over.wait()
                    scope.deadline = trio.current_time() + FINISH_S

                nursery.start_soon(limit)
                missing = await self._heard(scribe)
                nursery.cancel_scope.cancel()
                return missing
        return await scribe.missing()

    async def _heard(self, scribe: Scribe) -> str:
        try:
            return await scribe.write_down()
        except FileNotFoundError:
            return ""  # reported as lost sound

    async def _record(self, meeting: Meeting, live: LiveMeeting | None) -> None:
        """Wait until the recording has ended, then make its sound a file."""
        path = self._path(meeting)
        if live is not None:
            await live.keep_safe()
            live.spool.close()
        try:
            seconds = await self._threads.run(seconds_in, path, meeting)
            ended_at = await self._threads.run(lambda: round(os.stat(path).st_mtime * 1_000))
        except FileNotFoundError:
            return
        await self._store.write(actions.end_recording, meeting, sound_ms=round(seconds * 1_000), ended_at=ended_at)
        if seconds > 0 and meeting.file_id is None:
            await self._keep_sound(meeting, path)

    async def _keep_sound(self, meeting: Meeting, path: Path) -> None:
        ending, mime = _MIMES[meeting.format]
        pieces = as_file(path, meeting, serial=secrets.randbits(32))
        blob = await self._blobs.put_stream(_streamed(pieces, self._threads), limit=4 * MAX_MEETING_BYTES)
        current = await self._store.read(queries.meeting, meeting.id) or meeting
        name = f"{current.title[:200]}.{ending}"
        await self._store.write(actions.keep_sound, current, blob=blob, name=name, mime=mime)

    async def _finish(self, meeting: Meeting, *, missing: str, ended: str) -> Outcome:
        """Make the page, or discard a meeting without sound and text; then delete the spool file."""
        lines = await self._store.read(queries.lines_of, meeting.id)
        path = None
        if meeting.file_id is None and not lines and meeting.sound_ms == 0 and self._path(meeting).exists():
            await self._store.write(actions.discard, meeting)
        else:
            problems = [ended, missing, *([SOUND_LOST] if meeting.file_id is None else [])]
            problem = " ".join(one for one in problems if one)
            body = page_body(meeting, lines, problem=problem)
            path = await self._store.write(actions.finish, meeting, body=body, problem=problem)
        await self._threads.run(partial(self._path(meeting).unlink, missing_ok=True))
        return Outcome(file_id=meeting.file_id, path=path)

    def _path(self, meeting: Meeting) -> Path:
        return self._folder / meeting.id

    def _remove_leftovers(self, known: set[str]) -> None:
        """Remove recordings of meetings that are done or were discarded; blocks."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in known and path.is_file():
                    path.unlink()


def encoded(frame: Mapping[str, object]) -> str:
    return msgspec.json.encode(frame).decode()


async def _tell_nobody(frame: Mapping[str, object]) -> None:
    return


async def _streamed(pieces: Iterator[bytes], threads: ThreadPool) -> AsyncIterator[bytes]:
    """Read a blocking iterator in threads, piece by piece."""
    while piece := await threads.run(partial(_next, pieces)):
        yield piece


def _next(pieces: Iterator[bytes]) -> bytes:
    """The next piece that is not empty: for most packets the Ogg writer returns nothing."""
    return next((piece for piece in pieces if piece), b"")


def _no_room() -> Refusal:
    return Refusal("The disk has no room for a recording.", code="insufficient_storage")
