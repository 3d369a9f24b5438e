"""Parses raw messages: a few in a thread, many in a worker process, large and dangerous ones each alone in a worker.

Theory: parsing holds the interpreter's lock (GIL), so a mailbox that is parsed in a thread slows down the rest of the
service. A worker process does not, but it takes a moment to start, and needs memory while it lives. So it is used only
once it is ready (:meth:`Parser.warm_up`), and it ends by itself when it is idle for a while. A message that crashes a
worker stops the others of its batch, too; then each one is parsed alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from svc.formats.mime import parse_head_only
from svc.formats.mime.many import Read, read, read_each, read_one, unpacked
from svc.log import Log
from svc.nursery import ProcessPool, ThreadPool, WorkerCrashed, WorkerTimeout

THREAD_MAX_BYTES: Final = 256 * 1024
"""A larger message is parsed alone in a worker process, which can be killed."""

PARSED_TOGETHER: Final = 25
"""The most small messages that are parsed in one call to a thread. If there are this many or more, a ready worker
process parses them."""

SENT_TOGETHER: Final = 50
"""The most small messages that a worker gets at once, so that other work waits no longer than for a large message."""

PARSE_DEADLINE_S: Final = 20.0

Outcome = Read | Exception


@dataclass(kw_only=True)
class Parser:
    """``with_readable``: whether the readable text of the messages is needed, too."""

    threads: ThreadPool
    processes: ProcessPool
    log: Log
    with_readable: bool
    _worker: Literal["none", "starting", "ready"] = field(default="none", init=False)

    async def warm_up(self) -> None:
        """Starts a worker before many messages come, if the machine has a second processor for it."""
        if self._worker != "none" or (os.cpu_count() or 1) < 2:
            return
        self._worker = "starting"
        try:
            await self.processes.run(read_each, b"", (), False, deadline_s=PARSE_DEADLINE_S)
            self._worker = "ready"
        except (WorkerTimeout, WorkerCrashed) as fault:
            self.log.info("mail.no_parser", reason=str(fault))
        finally:
            if self._worker == "starting":
                self._worker = "none"

    async def parse_all(self, raws: Sequence[bytes]) -> list[Outcome]:
        """One outcome for each message, in the same order."""
        found: dict[int, Outcome] = {}
        small = [at for at, raw in enumerate(raws) if len(raw) <= THREAD_MAX_BYTES]
        if self._worker == "ready" and len(small) >= PARSED_TOGETHER:
            for start in range(0, len(small), SENT_TOGETHER):
                some = small[start : start + SENT_TOGETHER]
                found |= zip(some, await self._parse_there([raws[at] for at in some]), strict=True)
        else:
            for start in range(0, len(small), PARSED_TOGETHER):
                some = small[start : start + PARSED_TOGETHER]
                found |= zip(some, await self._parse_here([raws[at] for at in some]), strict=True)
        for at, raw in enumerate(raws):
            if at not in found:
                found[at] = await self._parse_alone(raw)
        return [found[at] for at in range(len(raws))]

    async def _parse_here(self, raws: Sequence[bytes]) -> list[Outcome]:
        return await self.threads.run(_parse_some, raws, self.with_readable)

    async def _parse_there(self, raws: Sequence[bytes]) -> list[Outcome]:
        sizes = tuple(map(len, raws))
        try:
            packed = await self.processes.run(
                read_each, b"".join(raws), sizes, self.with_readable, deadline_s=PARSE_DEADLINE_S
            )
        except (WorkerTimeout, WorkerCrashed) as fault:
            self.log.info("mail.parse_apart", messages=len(raws), reason=str(fault))
            return [await self._parse_alone(raw) for raw in raws]
        found: list[Outcome] = []
        for raw, data in zip(raws, packed, strict=True):
            found += await self._parse_here([raw]) if data is None else [unpacked(data)]
        return found

    async def _parse_alone(self, raw: bytes) -> Outcome:
        try:
            return await self.processes.run(read_one, raw, self.with_readable, deadline_s=PARSE_DEADLINE_S)
        except (WorkerTimeout, WorkerCrashed) as fault:
            # The raw bytes are stored whole; only the header is parsed and shown.
            self.log.warning("mail.parse_gave_up", size=len(raw), reason=str(fault))
            return Read(await self.threads.run(parse_head_only, raw), "" if self.with_readable else None)
        except Exception as error:  # a boundary: one mail from outside must never stop the account
            return error


def _parse_some(raws: Sequence[bytes], with_readable: bool) -> list[Outcome]:
    """Runs in a thread."""
    found: list[Outcome] = []
    for raw in raws:
        try:
            found.append(read(raw, with_readable=with_readable))
        except Exception as error:  # a boundary: one mail from outside must never stop the others
            found.append(error)
    return found
