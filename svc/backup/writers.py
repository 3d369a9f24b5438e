"""Decides which copy of a home may write to its archive.

Theory. A restored home continues in the archive of the lost one. If that one comes back, both would write to one place,
each from its own database, and a restore would give the older state, a mixture of both, or nothing. So each copy of a
home has an id, the writer, in the ledger that is archived beside the database. A restored home knows the writers before
it, and takes the archive over: it writes an id of its own. A copy that finds a writer there that it does not know
archives nothing more, and says so. Two homes of which one is a plain copy of the other's files have one id. So the
starts of a copy are counted there, too, and a home that finds a later start than its own is not the only one.

A home may also go to another place, and come back. The archiver goes on from what it keeps beside the database, by its
number: in an empty place it would wait for files that are pruned here, and in an archive with other numbers it would
mix two states. So where the place does not continue what was sent last, that is removed, and a whole copy is sent.
But if the disk of the place is not mounted, its empty mount point is on another disk, which a copy could fill.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from svc.backup.catalogue import HOME, WRITER, Catalogue, Writer
from svc.backup.litestream import (
    SNAPSHOT_LEVEL,
    ArchiveFault,
    ArchiverSilent,
    Litestream,
    kept_beside,
    says_nothing_is_there,
)
from svc.backup.target import Place, is_on_a_disk_of_its_own
from svc.clock import Millis
from svc.nursery import ThreadPool
from svc.store import Ledger


class AnotherWriter(ArchiveFault):
    """The archive belongs to another home, or another copy of this one continues it."""


class DamagedLedger(ArchiveFault):
    """The place answers, but its ledger can't be read."""


async def look_and_take_over(
    tool: Litestream, config: Path, catalogue: Catalogue, *, home: str, now: Millis, threads: ThreadPool
) -> bool:
    """Make this copy of the home the writer, unless another home, or another copy of this one, writes there: then
    raise. Also if that can't be known because the ledger there is damaged. The place to which it wrote last is looked
    at later if it does not answer now: by the next start, or by the archive check. Returns whether it answered."""
    place = tool.target.place
    is_known = await threads.run(partial(catalogue.wrote_to, place, home=home))
    try:
        theirs = await archived_ledger(tool, config, threads)
        await threads.run(partial(refuse_another, catalogue, theirs, home=home, place=place))
        has_database = await tool.has_database(config)
    except (AnotherWriter, DamagedLedger):
        raise
    except ArchiveFault:
        if not is_known:
            raise
        await threads.run(partial(take_over, catalogue, {}, home=home, place=place))
        return False
    is_its_own = await threads.run(partial(is_on_a_disk_of_its_own, place, tool.database))
    if is_known and not theirs and not is_its_own and await threads.run(catalogue.was_on_its_own_disk):
        raise ArchiveFault(
            f"{place} has no archive any more, and its disk is not mounted: mount it, or name another folder"
        )
    fits = await threads.run(partial(catalogue.has_line_of, theirs)) if theirs else is_known
    goes_on = has_database and fits
    if not goes_on or not theirs:
        await threads.run(partial(_forget_kept, tool.ledger))
    if not goes_on:  # if this is cut off, the next start does it again, because the ledger is written last
        await threads.run(partial(_forget_kept, tool.database))
        await threads.run(partial(catalogue.change_line, theirs if has_database else {}, now=now))
    await threads.run(partial(take_over, catalogue, theirs, home=home, place=place))
    await threads.run(partial(catalogue.note_disk, is_its_own=is_its_own))
    return True


def _forget_kept(database: Path) -> None:
    """Have the archiver send a whole copy of that database. Blocks."""
    folder = kept_beside(database)
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise ArchiveFault(f"{folder} can't be removed: {error.strerror}") from error


async def archived_ledger(tool: Litestream, config: Path, threads: ThreadPool) -> dict[str, bytes]:
    """The content of the ledger in the archive; empty where there is no archive yet. Raises :class:`DamagedLedger`, or
    another :class:`ArchiveFault` where the place is away, or too slow."""
    with tempfile.TemporaryDirectory(prefix="svc-") as scratch:
        copy = Path(scratch) / "ledger.sqlite3"
        try:
            await tool.restore(config, "ledger", into=copy)
        except ArchiverSilent:
            raise
        except ArchiveFault as fault:
            if says_nothing_is_there(str(fault)):
                return {}
            await tool.listed(config, "ledger", level=SNAPSHOT_LEVEL)  # fails, too, where the place is away
            raise DamagedLedger(
                f"the ledger at {tool.target.place} can't be read ({fault}), so it is not known whether another copy "
                "of this home archives there, too; name another folder for this one"
            ) from fault
        return await threads.run(partial(Ledger(copy).under, ""))


def refuse_another(catalogue: Catalogue, theirs: Mapping[str, bytes], *, home: str, place: Place) -> None:
    """Raise :class:`AnotherWriter` unless this copy of the home may write there. ``theirs``: the archived ledger.
    Blocks."""
    other = theirs.get(HOME, b"").decode()
    if other and other != home:
        raise AnotherWriter(f"the archive at {place} is that of another home; name another folder")
    writer = None if (data := theirs.get(WRITER)) is None else Writer.read(data)
    if writer is None or catalogue.home() != home or catalogue.knows(writer):
        return
    ours = catalogue.writer()
    if ours is not None and writer.copy == ours.copy:
        raise AnotherWriter(
            f"another copy of this home archives to {place}: its files were copied, or this is an earlier state of "
            "them; stop one of the two, or name another folder for this one"
        )
    raise AnotherWriter(
        f"another copy of this home archives to {place}, which was restored from it; stop one of the two, or name "
        "another folder for this one"
    )


def take_over(catalogue: Catalogue, theirs: Mapping[str, bytes], *, home: str, place: Place) -> None:
    """Make this copy of the home the writer. An own archive from before a restore without a ledger is continued.
    Raises :class:`AnotherWriter`. Blocks."""
    refuse_another(catalogue, theirs, home=home, place=place)
    if catalogue.home() != home:
        catalogue.begin(home, theirs)
    catalogue.begin_writing(place)
