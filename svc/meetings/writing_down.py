"""Has a meeting transcribed: a recogniser reads its sound while it is recorded, and as long after as it needs.

Theory. The recogniser reads the file that the recording is appended to. Each final result becomes a line just before
the client gets it. So the end of the last line is the position of the transcript, and the recogniser continues there
after its own fault, after a crash, and after the end of the recording.
"""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backoff import Retries
from svc.log import Log
from svc.meetings import actions, queries
from svc.meetings.model import MAX_LINE_CHARS, MAX_LINES, AudioFormat, Line, Meeting
from svc.meetings.page_text import clock_time
from svc.meetings.recognisers.choice import Recognisers
from svc.meetings.recognisers.seam import Heard, RecogniserFault
from svc.meetings.spool import SpoolReader
from svc.nursery import ThreadPool, Wake
from svc.store import Store

TRIES_AT_THE_END: Final = 4
"""Tries of a recogniser that fails after the recording has ended. Beyond: the page says from which time on text is
missing."""

NOBODY: Final = "Nobody wrote this meeting down: no speech to text is chosen."
_NO_TEXT: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_RETRIES: Final = Retries(first_s=1.0, cap_s=30.0)

TellClient = Callable[[Mapping[str, object]], Awaitable[None]]


class _Full(Exception):
    """The transcript is full."""


@dataclass(kw_only=True)
class GrowingSound:
    """The sound of a recording from a position on, while it grows and until it has ended."""

    format: AudioFormat
    rate: int
    reader: SpoolReader
    grown: Wake
    over: trio.Event
    threads: ThreadPool

    async def next(self) -> Sequence[bytes] | None:
        while True:
            is_over = self.over.is_set()  # read the flag first: then all sound up to the end is read
            pieces = await self.threads.run(self.reader.read)
            if pieces:
                return pieces
            if is_over:
                return None
            await self.grown.wait()


@dataclass(kw_only=True)
class Scribe:
    """``path`` is the recording, ``over`` is set when it has ended, ``grown`` is called when it has grown."""

    store: Store
    threads: ThreadPool
    rng: random.Random
    log: Log
    recognisers: Recognisers
    meeting: Meeting
    path: Path
    grown: Wake
    over: trio.Event
    tell_client: TellClient

    async def write_down(self) -> str:
        """Transcribe the meeting. Returns what is missing, in a sentence; empty if nothing is."""
        failures, before_ms = 0, -1
        while True:
            until_ms = await self.store.read(queries.written_until_ms, self.meeting.id)
            failures = 0 if until_ms != before_ms else failures
            before_ms = until_ms
            try:
                return await self._listen(until_ms)
            except _Full:
                return (
                    f"What was said after {await self._time()} is not written down: it is more than {MAX_LINES} lines."
                )
            except RecogniserFault as fault:
                failures += 1
                title = await self._title()
                if fault.lasting or (self.over.is_set() and failures >= TRIES_AT_THE_END):
                    problem = f"What was said after {await self._time()} is not written down. {title} {fault.detail}."
                    await self.tell_client({"type": "problem", "message": problem})
                    return problem
                self.log.warning("meetings.recogniser_failed", meeting=self.meeting.id, detail=fault.detail)
                trouble = f"{title} {fault.detail}. It is tried again."
                await self.tell_client({"type": "problem", "message": trouble, "passing": True})
            with trio.move_on_after(_RETRIES.pause_s(failures, self.rng)):
                await self.over.wait()  # then retry after one more pause, a few last times
                await trio.sleep(_RETRIES.pause_s(failures, self.rng))

    async def missing(self) -> str:
        """The sentence for a transcript that had no time for the rest."""
        return f"What was said after {await self._time()} is not written down: it took too long."

    async def _listen(self, until_ms: int) -> str:
        listener = await self.recognisers.chosen()
        if listener is None:
            return NOBODY
        reader = await self.threads.run(partial(SpoolReader, self.path, self.meeting, from_s=until_ms / 1_000))
        try:
            sound = GrowingSound(
                format=self.meeting.format,
                rate=self.meeting.rate,
                reader=reader,
                grown=self.grown,
                over=self.over,
                threads=self.threads,
            )
            await listener.listen(sound, partial(self._heard, reader.start_s))
        except (RecogniserFault, _Full):
            raise
        except Exception as error:  # an edge: an error in a recogniser must not end the recording
            self.log.error("meetings.recogniser_broke", error, meeting=self.meeting.id)
            raise RecogniserFault("broke off", lasting=True) from error
        finally:
            reader.close()
        return ""

    async def _heard(self, offset_s: float, heard: Heard) -> None:
        text = _NO_TEXT.sub("", " ".join(heard.text.split()))[:MAX_LINE_CHARS]
        if not text:
            return
        if not heard.final:
            await self.tell_client({"type": "partial", "text": text})
            return
        start, end = max(offset_s + heard.start, 0.0), offset_s + max(heard.start, heard.end)
        line = Line(start_ms=round(start * 1_000), end_ms=round(end * 1_000), text=text, speaker=heard.speaker)
        if not await self.store.write(actions.add_line, self.meeting.id, line):
            raise _Full
        speaker = {} if heard.speaker is None else {"speaker": heard.speaker}
        frame = {"type": "final", "text": text, "start": line.start_ms / 1_000, "end": line.end_ms / 1_000, **speaker}
        await self.tell_client(frame)

    async def _time(self) -> str:
        return clock_time(await self.store.read(queries.written_until_ms, self.meeting.id))

    async def _title(self) -> str:
        with suppress(RecogniserFault):
            return await self.recognisers.title() or "Speech to text"
        return "Speech to text"
