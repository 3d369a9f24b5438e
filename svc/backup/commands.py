"""The ``svc`` subcommands for backups: make one now, list them, verify them; and restore, which needs no home."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.backup.beyond import beyond_of
from svc.backup.catalogue import Base, BaseState, Catalogue
from svc.backup.litestream import (
    SNAPSHOT_LEVEL,
    ArchiveFault,
    Litestream,
    as_sentence,
    found_program,
    in_our_words,
    refuse_old,
)
from svc.backup.points import fingerprint
from svc.backup.procedures import NOW_PATH, moment_of
from svc.backup.restoring import Restored, RestoreFault, Restoring, Wanted
from svc.backup.settings import BIN, target_of
from svc.backup.target import Place, any_place
from svc.backup.verifying import fault_of
from svc.backup.wire import BaseOut
from svc.backup.writers import archived_ledger, refuse_another
from svc.clock import Millis, rfc3339
from svc.command import JSON, OK, Argument, Command, Invocation, counted
from svc.config import BadValue
from svc.errors import Refusal
from svc.nursery import ThreadPool
from svc.protocol.egress import Egress, EgressFault
from svc.settings import HOME, INTERNAL_PORT, INTERNAL_TOKEN
from svc.store import INTERNAL_PORT_FILE, INTERNAL_TOKEN_FILE, Home, Ledger, write_durably

EXIT_FAILURE: Final = 1
THREADS: Final = 16
BASE_S: Final = 6 * 3_600.0
MAX_ANSWER_BYTES: Final = 64 * 1024


def backup(call: Invocation) -> int:
    """Back up now: through the service that holds the home, or in this process."""
    if Home.busy(call.config[HOME]) is not None:
        return _run(_asked, call)
    with call.home() as opened:  # before the event loop: opening runs one of its own
        return _run(partial(_base, home=opened.home), call)


def _say(made: BaseOut) -> int:
    print(f"A base backup of {counted(made.bytes, 'byte')} is in the archive, made at {made.at}")
    return OK


async def _asked(call: Invocation) -> int:
    config = call.config
    told = Home.told(config[HOME], INTERNAL_PORT_FILE) or ""
    port = int(told) if told.isdigit() else config[INTERNAL_PORT]
    token = config[INTERNAL_TOKEN] or Home.told(config[HOME], INTERNAL_TOKEN_FILE) or "none"
    async with Egress() as egress:
        try:
            answer = await egress.request(
                "POST",
                f"http://127.0.0.1:{port}{NOW_PATH}",
                headers={"authorization": f"Bearer {token}"},
                body=b"",
                deadline_s=BASE_S,
                limit_bytes=MAX_ANSWER_BYTES,
            )
        except EgressFault as fault:
            raise ArchiveFault(f"the service that holds the home could not be asked ({fault.detail})") from fault
    if answer.status != 200:
        try:
            detail = msgspec.json.decode(answer.body).get("detail", "")
        except (msgspec.DecodeError, AttributeError):
            detail = ""
        raise ArchiveFault(str(detail).rstrip(".") or f"the service refused (status {answer.status})")
    return _say(msgspec.json.decode(answer.body, type=BaseOut))


async def _base(call: Invocation, *, home: Home) -> int:
    async with _tool(call, place=None, home=home.path) as (tool, config):
        catalogue = Catalogue(Ledger(Home.ledger_of(home.path)))
        look = config.with_name("look.json")
        write_durably(look, tool.config())
        theirs = await archived_ledger(tool, look, ThreadPool(limit=1, name="backup"))
        refuse_another(catalogue, theirs, home=home.id, place=tool.target.place)
        if catalogue.home() != home.id or not catalogue.has_line_of(theirs):
            raise ArchiveFault(f"this home has not been archived to {tool.target.place} yet; start `svc serve` once")
        began = call.clock.now()
        await tool.base_backup(config)
        held = await tool.listed(config, "db", level=SNAPSHOT_LEVEL)
        bases = tuple(Base(id=one.max_txid, at=one.at, bytes=one.size) for one in held)
        catalogue.note(BaseState(at=began, held=bases))
        newest = bases[-1]
        return _say(BaseOut(id=newest.id, at=rfc3339(newest.at), bytes=newest.bytes))


def list_backups(call: Invocation) -> int:
    return _run(_list, call)


async def _list(call: Invocation) -> int:
    async with _catalogue(call) as (catalogue, tool, config):
        held = await tool.listed(config, "db", level=SNAPSHOT_LEVEL)
        rows = [
            {"kind": "base backup", "id": one.max_txid, "at": rfc3339(one.at), "what": f"{one.size} bytes"}
            for one in held
        ]
        rows += [
            {
                "kind": "recovery point",
                "id": one.id,
                "at": one.when,
                "what": f"{one.blobs.count} blobs, {one.blobs.bytes} bytes",
            }
            for one in reversed(catalogue.points())
        ]
    call.print_rows(rows, columns=("kind", "id", "at", "what"))
    return OK


def verify(call: Invocation) -> int:
    return _run(_verify, call)


async def _verify(call: Invocation) -> int:
    async with _catalogue(call) as (catalogue, tool, config):
        points = catalogue.points()
        faults = [fault for one in points if (fault := fault_of(catalogue, one)) is not None]
        held = {one.max_txid for one in await tool.listed(config, "db", level=0)}
        faults += [
            f"the archive has nothing at the position of the recovery point {one.id}"
            for one in points
            if one.database.position not in held
        ]
        keys = sorted(fingerprint(public) for public in catalogue.keys().values())
    expected = call.given["fingerprint"]
    if expected is not None and [expected] != [key for key in keys if key == expected]:
        faults.append(f"no point is signed by the key {expected}; the archive has {', '.join(keys) or 'no key'}")
    for fault in faults:
        print(fault)
    found = f"{counted(len(points), 'recovery point')}, {counted(len(faults), 'fault')}"
    print(f"{found}; signed by {', '.join(keys) or 'nobody yet'}")
    return EXIT_FAILURE if faults else OK


def restore(call: Invocation) -> int:
    into, code = Path(call.given["into"]).absolute(), _code(call.given["recovery_code"])
    return _run(partial(_restore, into=into, code=code), call)


async def _restore(call: Invocation, *, into: Path, code: str | None) -> int:
    async with _tool(call, place=call.given["from"], home=None) as (tool, _), Egress() as egress:
        done = await Restoring(
            tool=tool,
            beyond=beyond_of(call.config, egress),
            config=call.config,
            clock=call.clock,
            threads=ThreadPool(limit=THREADS, name="restore"),
            invariants=call.invariants,
            migrations=call.migrations,
            environ=call.config.environ,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        ).restore(
            Wanted(
                into=into,
                at=call.given["at"],
                code=code,
                without_blobs=call.given["without_blobs"],
            )
        )
    _tell(done)
    return OK


def _tell(done: Restored) -> None:
    for note in done.notes:
        print(note, file=sys.stderr)
    moment = "the newest state there is" if done.at is None else rfc3339(done.at)
    print(f"Done: {done.into} is the home as of {moment}, with {counted(done.blobs, 'blob')}, all checked.")


def _code(given: str | None) -> str | None:
    """The code; ``-`` reads it from standard input, so that no process list shows it."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        print("Recovery code: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


@asynccontextmanager
async def _tool(call: Invocation, *, place: Place | None, home: Path | None) -> AsyncIterator[tuple[Litestream, Path]]:
    """The archiver, for one command. Without ``home``: only to read the archive."""
    target = target_of(call.config, place)
    if target is None:
        other = ", or say where it lies (--from)" if home is None else ""
        raise ArchiveFault(f"no archive is configured; set one of the ARCHIVE_*_PREFIX{other}")
    environ = call.config.environ
    program = found_program(call.config[BIN], environ)
    await refuse_old(program, environ)
    with tempfile.TemporaryDirectory(prefix="svc-") as scratch:
        base = Path(scratch) if home is None else home
        tool = Litestream(
            program=program,
            target=target,
            database=Home.database_of(base),
            ledger=Home.ledger_of(base),
            environ=environ,
        )
        config = Path(scratch) / "archive.json"
        write_durably(config, tool.config(parts=("db", "ledger") if home is None else ("db",)))
        yield tool, config


@asynccontextmanager
async def _catalogue(call: Invocation) -> AsyncIterator[tuple[Catalogue, Litestream, Path]]:
    """The catalogue, read from the archive and not from the home."""
    async with _tool(call, place=call.given["from"], home=None) as (tool, config):
        copy = config.with_name("ledger.sqlite3")
        try:
            await tool.restore(config, "ledger", into=copy)
        except ArchiveFault as fault:
            raise in_our_words(fault, tool.target.place) from None
        yield Catalogue(Ledger(copy)), tool, config


def _run(command: Callable[[Invocation], Awaitable[int]], call: Invocation) -> int:
    try:
        return trio.run(partial(command, call))
    except (ArchiveFault, RestoreFault) as fault:
        raise Refusal(as_sentence(fault)) from fault


def _place(text: str) -> Place:
    try:
        return any_place(text)
    except BadValue as error:
        raise ValueError(str(error)) from error


def _at(text: str) -> Millis | None:
    """``None`` for the newest moment."""
    try:
        return None if text == _LATEST else moment_of(text)
    except Refusal as refusal:
        raise ValueError(refusal.detail) from refusal


_LATEST: Final = "latest"
_FROM: Final = Argument(
    name="--from",
    metavar="URL",
    type=_place,
    help="where the archive is, such as s3://bucket/svc or /mnt/disk/svc; without it, the place in the settings",
)

COMMANDS: Final = (
    Command(name="backup", summary="send a whole copy of the database to the archive now", run=backup),
    Command(
        name="backup list",
        summary="list the base backups and recovery points in the archive",
        run=list_backups,
        arguments=(_FROM, JSON),
    ),
    Command(
        name="backup verify",
        summary="check the signature of every recovery point, and that the archive can restore it",
        run=verify,
        arguments=(
            _FROM,
            Argument(
                name="--fingerprint",
                metavar="KEY",
                help="the fingerprint of the key that must have signed the recovery points",
            ),
        ),
    ),
    Command(
        name="restore",
        summary="restore a home as it was at a given time into a new folder, from the archive and the replica",
        run=restore,
        arguments=(
            Argument(
                name="--at",
                metavar="TIME",
                type=_at,
                default=_LATEST,
                help="the time, such as 2026-11-21T08:00:00Z, or latest (the default)",
            ),
            Argument(
                name="--into", metavar="DIR", required=True, help="the new folder; it must be empty or not exist yet"
            ),
            _FROM,
            Argument(
                name="--recovery-code",
                metavar="CODE",
                help="the recovery code, which restores the master key; - reads it from standard input",
            ),
            Argument(
                name="--without-blobs",
                is_flag=True,
                help="restore the database alone, if no replica is configured",
            ),
        ),
    ),
)
