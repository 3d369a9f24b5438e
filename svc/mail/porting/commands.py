"""``svc mail import`` and ``svc mail export``: they run without a server and use the same reader, parser and store."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, get_args

import trio

from svc.command import OK, Argument, Command, Invocation, OpenedHome, WrongUsage, counted
from svc.errors import NotFound, Refusal
from svc.log import Log
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.mail.porting import actions
from svc.mail.porting.exporting import Export, count, maildir_name
from svc.mail.porting.model import Taken, Tally
from svc.mail.porting.sources import Format, Source, SourceFault, open_file, open_source
from svc.mail.porting.storing import store as store_batch
from svc.mail.porting.taking import Batch, LocalPreparer, Reader, Taker, take_all
from svc.mail.porting.wire import ExportFormat
from svc.mail.providers.seam import ProviderLabel
from svc.mail.sync import label_catalog
from svc.mail.sync.steps import IngestStep
from svc.mail.threads import queries as thread_queries
from svc.nursery import ProcessPool, ThreadPool, open_task_group
from svc.principal import Principal, system
from svc.settings import LOG
from svc.store import ReadTx, Store, Tx

FAILED: Final = 1
DEFAULT_NAME: Final = "Imported"
TOLD_EVERY: Final = 1_000
"""Number of mails between two progress messages."""
THREADS: Final = 4
PROCESSES: Final = 1


def commands(steps: Sequence[IngestStep]) -> tuple[Command, ...]:
    """The commands. ``steps``: the steps of the ingest transaction."""
    return (
        Command(
            name="mail import",
            summary="import an mbox, a Takeout archive, a Maildir or a mail (.eml); what is here already stays as it "
            "is (the server must be stopped)",
            run=partial(_import, steps=steps),
            arguments=(
                Argument(name="source", metavar="FILE", help="a file, a folder, or - for standard input"),
                Argument(name="--account", metavar="ADDRESS", help="import into this account, as `svc mail` shows it"),
                Argument(
                    name="--local",
                    metavar="NAME",
                    help=f"import into the account of this name that is kept here alone, made where it is missing "
                    f"(default: {DEFAULT_NAME})",
                ),
                Argument(name="--format", choices=get_args(Format), default="auto", help="what the source is"),
            ),
        ),
        Command(
            name="mail export",
            summary="write the mail of an account, or of all of them, as mbox or Maildir, with its labels and flags",
            run=_export,
            arguments=(
                Argument(
                    name="out", metavar="OUT", help="the mbox file, or the folder of the Maildir; - prints an mbox"
                ),
                Argument(name="--account", metavar="ADDRESS", help="export this account alone"),
                Argument(name="--format", choices=get_args(ExportFormat), default="mbox", help="default: mbox"),
            ),
        ),
    )


# Import


def _import(call: Invocation, *, steps: Sequence[IngestStep]) -> int:
    if call.given["account"] and call.given["local"]:
        raise WrongUsage("Say --account or --local, not both.")
    tally = Tally()
    try:
        # The source first: for a path that was mistyped, no home and no account is made.
        with (
            _source(call.given["source"], call.given["format"]) as source,
            call.home(may_create=True) as opened,
        ):
            account = opened.store.write_now(_target, address=call.given["account"], name=call.given["local"])
            trio.run(partial(_take, call, opened, account, source, tally, steps))
    except SourceFault as fault:
        _say(_counted(tally))
        print(fault, file=sys.stderr)
        return FAILED
    _say(_counted(tally))
    for reason in tally.reasons:
        print(f"passed over: {reason}", file=sys.stderr)
    return OK


@contextmanager
def _source(given: str, format: Format) -> Iterator[Source]:
    """Opens standard input (``-``), or the file or folder at a path."""
    if given == "-":
        yield open_file(sys.stdin.buffer, name="-", format=format)
        return
    with open_source(Path(given), format=format) as source:
        yield source


def _target(tx: Tx, *, address: str | None, name: str | None) -> Account:
    """The account to import into. One that the command line creates belongs to the first admin."""
    if address is not None:
        account = account_queries.account_by_address(tx, address)
        if account is None:
            raise NotFound(f"There is no account {address}.")
        actions.demand_kept_here(account)
        return account
    owner = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    principal = Principal(user_id=owner, device_id=system("import").device_id, is_admin=True, via="session")
    account_id = actions.create_local(tx, principal, name=name or DEFAULT_NAME)
    found = account_queries.account(tx, account_id)
    assert found is not None, "it was just made"
    return found


@dataclass(frozen=True, kw_only=True)
class _OfflineDestination:
    """The command line's access to an account. It writes directly, because nothing else has the home open."""

    account_id: str
    store: Store

    async def known(self, provider_message_ids: Sequence[str]) -> Set[str]:
        return await self.store.read(
            thread_queries.known_ids, account_id=self.account_id, provider_message_ids=provider_message_ids
        )

    async def label_id(self, name: str) -> str:
        return await self.store.write(_label_id, account_id=self.account_id, name=name)


def _label_id(tx: Tx, *, account_id: str, name: str) -> str:
    """The id of the account's label of that name, without regard to case; created if there is none."""
    for label in thread_queries.labels(tx, account_id).values():
        if not label.system and label.name.casefold() == name.casefold():
            return label.id
    made = ProviderLabel(id=actions.label_id(account_id, name), name=name, system=False)
    label_catalog.store_label(tx, account_id=account_id, label=made)
    return made.id


async def _take(
    call: Invocation, opened: OpenedHome, account: Account, source: Source, tally: Tally, steps: Sequence[IngestStep]
) -> None:
    async with open_task_group() as nursery:
        nursery.start_soon(lambda: opened.store.run_writer(started=lambda: None))
        await take_into(call, opened, account.id, source, tally, steps=steps)
        nursery.cancel_scope.cancel()


async def take_into(
    call: Invocation,
    opened: OpenedHome,
    account_id: str,
    source: Source,
    tally: Tally,
    *,
    steps: Sequence[IngestStep],
) -> None:
    """Store the mails of the source, and count them. The caller must run the store's writer."""
    threads = ThreadPool(limit=THREADS, name="import")
    told = tally.added + tally.known

    async def store(batch: Batch, taken: Sequence[Taken], more: Tally) -> bool:
        nonlocal told
        tally.add(more)
        tally.add(await opened.store.write(store_batch, account_id=account_id, taken=taken, steps=steps))
        if tally.added + tally.known - told >= TOLD_EVERY:
            told = tally.added + tally.known
            share = f"{source.done * 100 // source.total} %, " if source.total else ""
            _say(f"{share}{_counted(tally)}")
        return True

    async with ProcessPool(limit=PROCESSES, name="strangers") as processes:
        preparer = LocalPreparer(
            account_id=account_id,
            blobs=opened.blobs,
            threads=threads,
            processes=processes,
            clock=call.clock,
            log=_log(call),
            with_readable=False,
        )
        taker = Taker(
            preparer=preparer,
            destination=_OfflineDestination(account_id=account_id, store=opened.store),
            threads=threads,
        )
        await take_all(Reader(items=source.items, threads=threads), taker, store=store)


def _counted(tally: Tally) -> str:
    said = f"{counted(tally.added, 'mail')} imported"
    return (
        f"{said}, {tally.known:,} {'was' if tally.known == 1 else 'were'} here already, {tally.skipped:,} passed over"
    )


# Export


def _export(call: Invocation) -> int:
    out = call.given["out"]
    with call.home(read_only=True) as opened:
        accounts = opened.store.read_now(_to_export, address=call.given["account"])
        total = sum(opened.store.read_now(count, account.id) for account in accounts)
        going = [Export(account_id=one.id, store=opened.store, blobs=opened.blobs, log=_log(call)) for one in accounts]
        write = partial(_write_maildir, Path(out)) if call.given["format"] == "maildir" else partial(_write_mbox, out)
        try:
            trio.run(write, going, total)
        except OSError as error:
            raise Refusal(f"{out} can’t be written: {error.strerror or error}.", code="internal") from error
    lost = sum(one.lost for one in going)
    _say(f"{sum(one.done for one in going):,} mails exported" + (f", {lost:,} are damaged here" if lost else ""))
    return FAILED if lost else OK


def _to_export(tx: ReadTx, *, address: str | None) -> list[Account]:
    if address is None:
        return [one for one in account_queries.accounts(tx, system("export")) if one.messages]
    account = account_queries.account_by_address(tx, address)
    if account is None:
        raise NotFound(f"There is no account {address}.")
    return [account]


async def _write_mbox(out: str, going: Sequence[Export], total: int) -> None:
    """Writes to a temporary file beside ``out`` and then renames it, so that no partial file ever has that name."""
    if out == "-":
        await _entries(sys.stdout.buffer, going, total)
        sys.stdout.buffer.flush()
        return
    async with _whole_file(Path(out)) as file:
        await _entries(file, going, total)


async def _entries(file: BinaryIO, going: Sequence[Export], total: int) -> None:
    for export in going:
        async for piece in export.mbox():
            file.write(piece)
            _tell(going, total)


async def _write_maildir(out: Path, going: Sequence[Export], total: int) -> None:
    """Writes one file per mail, named by its bytes, so that a mail exported before is replaced; its flags may have
    changed."""
    for below in ("tmp", "new", "cur"):
        (out / below).mkdir(mode=0o700, parents=True, exist_ok=True)
    there = {name.partition(":")[0]: name for name in os.listdir(out / "cur")}
    for export in going:
        async for mail, marked in export.mails():
            name = maildir_name(mail)
            if export.account_id and (before := there.get(name.partition(":")[0])) not in {None, name}:
                (out / "cur" / str(before)).unlink(missing_ok=True)
            async with _whole_file(out / "cur" / name, beside=out / "tmp") as file:
                file.write(marked)
            there[name.partition(":")[0]] = name
            _tell(going, total)


@asynccontextmanager
async def _whole_file(path: Path, beside: Path | None = None) -> AsyncIterator[BinaryIO]:
    partial_path = (beside or path.parent) / f"{path.name}.{os.getpid()}.part"
    try:
        with os.fdopen(os.open(partial_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial_path.rename(path)
    finally:
        partial_path.unlink(missing_ok=True)


def _tell(going: Sequence[Export], total: int) -> None:
    done = sum(one.done for one in going)
    if done % TOLD_EVERY == 0:
        _say(f"{done:,} of {total:,} mails")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _log(call: Invocation) -> Log:
    return Log.to_stderr(form=call.config[LOG], clock=call.clock)
