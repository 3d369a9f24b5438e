"""The importer: a subsystem of the running service that carries out the imports that runs have begun, one at a time.

The progress of an import is written in the transaction that stores its mails, so after a crash it continues behind the
last stored mail. A cancelled run is noticed at the next batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from svc.errors import Conflict, Refusal
from svc.mail.porting import actions, queries
from svc.mail.porting.kept import RunningDestination
from svc.mail.porting.model import ImportRow, Taken, Tally
from svc.mail.porting.sources import Source, SourceFault, open_file
from svc.mail.porting.taking import Batch, LocalPreparer, Reader, Taker, take_all
from svc.mail.providers.seam import ProviderFault
from svc.mail.search.tasks import Indexer
from svc.mail.sync.engine import MailEngine
from svc.nursery import Child, Wake, give_back_memory
from svc.runs import Dispatcher
from svc.store import BlobMissing
from svc.workspace import Workspace

LOOK_AGAIN_S: Final = 60.0
"""The importer is woken when an import begins; this interval finds imports whose wake-up was missed."""
NO_ROOM_S: Final = 60.0


@dataclass(kw_only=True)
class Importer:
    workspace: Workspace
    engine: MailEngine
    wake: Wake = field(default_factory=Wake)
    without_room: str | None = None
    """The import that waits until the disk has room."""

    async def run(self, child: Child) -> None:
        child.started()
        store = self.workspace.store
        while True:
            if await store.read_small(queries.is_any_unwanted):
                await store.write(actions.stop_unwanted)
            row = await store.read_small(queries.next_working)
            if row is None or row.id != self.without_room:
                self.without_room = None
            if row is None:
                await self.wake.wait(at_most_s=LOOK_AGAIN_S)
            else:
                await self._work(row)
                self.workspace.service(Dispatcher).wake.call()

    async def _work(self, row: ImportRow) -> None:
        """Continue one import, to its end or until it is not wanted any more."""
        store = self.workspace.store
        try:
            await self._take(row)
        except SourceFault as fault:
            await store.write(actions.end, row, state="failed", problem=str(fault))
        except BlobMissing:
            await store.write(actions.end, row, state="failed", problem="The file is not here any more.")
        except (ProviderFault, Conflict) as fault:
            await store.write(actions.end, row, state="failed", problem=fault.detail)
        except Refusal as refusal:
            if refusal.code != "insufficient_storage":
                raise
            self.workspace.log.warning("mail.import_disk_full", run=row.run_id)
            self.without_room = row.id
            await trio.sleep(NO_ROOM_S)
        except Exception as error:  # an edge: a file from outside must not block the imports after it
            self.workspace.log.error("mail.import_failed", error, run=row.run_id)
            words = "Something went wrong that nobody expected; the server’s log says more."
            await store.write(actions.end, row, state="failed", problem=words)

    async def _take(self, row: ImportRow) -> None:
        workspace = self.workspace
        file = await workspace.blobs.opened(row.sha256)
        try:
            source = await workspace.threads.run(partial(open_file, file, name=row.name))
            reader = Reader(items=source.items, threads=workspace.threads)
            await reader.skip(row.position)
            wanted = await self._take_from(row, source, reader)
        finally:
            file.close()
            await workspace.threads.run(give_back_memory)
        if wanted:
            await workspace.store.write(actions.end, row, state="done")
        else:
            await workspace.store.write(actions.give_up, row)

    async def _take_from(self, row: ImportRow, source: Source, reader: Reader) -> bool:
        """Import from the source. Returns ``False`` if the import is not wanted any more."""
        workspace = self.workspace
        wanted = True

        async def store(batch: Batch, taken: Sequence[Taken], tally: Tally) -> bool:
            nonlocal wanted
            percent = min(99, source.done * 100 // source.total) if source.total else 0
            wanted = await workspace.store.write(
                actions.store_batch,
                row,
                taken=taken,
                tally=tally,
                seen=batch.seen,
                percent=percent,
                steps=self.engine.steps,
            )
            new = [one.incoming for one in taken if one.incoming is not None]
            self.without_room = None
            await workspace.service(Indexer).stored(row.account_id, new if wanted else [])
            return wanted

        taker = Taker(
            preparer=LocalPreparer(
                account_id=row.account_id,
                blobs=workspace.blobs,
                threads=workspace.threads,
                processes=workspace.processes,
                clock=workspace.clock,
                log=workspace.log,
            ),
            destination=RunningDestination(account_id=row.account_id, store=workspace.store, engine=self.engine),
            threads=workspace.threads,
        )
        await take_all(reader, taker, store=store)
        return wanted
