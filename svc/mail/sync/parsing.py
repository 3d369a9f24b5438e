"""Raw messages parsed: a few here in a thread, many in a worker process, large and dangerous ones there by themselves.

Theory: parsing holds the interpreter's lock, so a mailbox that is parsed in a thread of the service takes its time from
all that the service does beside it. A worker process takes none, but it costs a moment to start and some memory while
it lives; so it is asked once it stands ready (:meth:`Parser.warm_up`), and ends by itself when nobody has asked for a
while. One message that breaks a worker takes its neighbours with it: then each is parsed alone.
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
"""A larger message is parsed in a worker process by itself, which can be killed."""

PARSED_TOGETHER: Final = 25
"""Small messages that are parsed in one hop to a thread. So many and more go to a worker, where one is ready."""

SENT_TOGETHER: Final = 50
"""Small messages that a worker gets at once: others wait for it no longer than for a large one."""

PARSE_DEADLINE_S: Final = 20.0

Outcome = Read | Exception


@dataclass(kw_only=True)
class Parser:
    """``with_readable``: whether somebody will want what a person reads in them."""

    threads: ThreadPool
    processes: ProcessPool
    log: Log
    with_readable: bool
    _worker: Literal["none", "starting", "ready"] = field(default="none", init=False)

    async def warm_up(self) -> None:
        """Many messages are about to come: start a worker for them, where there is a second processor for it."""
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
        """In their order."""
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
            # The raw bytes are kept whole; only their head is shown.
            self.log.warning("mail.parse_gave_up", size=len(raw), reason=str(fault))
            return Read(await self.threads.run(parse_head_only, raw), "" if self.with_readable else None)
        except Exception as error:  # an edge: one stranger's mail must never stop the account
            return error


def _parse_some(raws: Sequence[bytes], with_readable: bool) -> list[Outcome]:
    """In a thread."""
    found: list[Outcome] = []
    for raw in raws:
        try:
            found.append(read(raw, with_readable=with_readable))
        except Exception as error:  # an edge: one stranger's mail must never stop its neighbours
            found.append(error)
    return found
