"""Writes the rows of imports: begin, update with each batch, end. Each function is a transaction, or a part of one."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.files import File, readable_file
from svc.files import delete as delete_file
from svc.ids import derived_id, new_id
from svc.mail.accounts import actions as account_actions
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.mail.porting import queries
from svc.mail.porting.model import REASONS_KEPT, ImportRow, ImportState, Taken, Tally
from svc.mail.porting.storing import store
from svc.mail.providers.kinds import KEPT_HERE
from svc.mail.sync.steps import IngestStep
from svc.principal import Principal, system
from svc.runs import begin, end_timers, progress
from svc.store import Tx, json_array
from svc.worker.mail_import import IMPORT

MAX_NAME_CHARS = 100
MAX_OF_A_NAME = 1_000


def create_local(tx: Tx, principal: Principal, *, name: str) -> str:
    """The caller's account of that name for imports, created if it does not exist. Returns its id."""
    address = " ".join(name.split())
    if not address or len(address) > MAX_NAME_CHARS or not address.isprintable():
        raise Invalid(f"An account needs a name, of at most {MAX_NAME_CHARS} characters.")
    if "@" in address:
        raise Invalid("This looks like a mail address, which may be connected one day. Choose a plain name.")
    for number in range(1, MAX_OF_A_NAME):
        wanted = address if number == 1 else f"{address} ({number})"
        known = account_queries.account_by_address(tx, wanted)
        if known is None or (known.owner_id == principal.user_id and not known.erasing):
            return account_actions.connect(tx, principal, address=wanted, provider=KEPT_HERE)
    raise Conflict("There are too many accounts of this name.")


def import_target(tx: Tx, principal: Principal, *, account_id: str) -> Account:
    """The account, if the caller may import into it. Raises :class:`NotFound`, :class:`Forbidden` or
    :class:`Conflict`."""
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    if account.owner_id != principal.user_id and not principal.sees_everything:
        raise Forbidden("Only its owner imports mail into an account.")
    demand_kept_here(account)
    return account


def demand_kept_here(account: Account) -> None:
    if account.provider != KEPT_HERE:
        raise Conflict(
            f"{account.address} shows what its provider has, so mail can’t be imported into it. Import into an account "
            "that is kept on this server alone: mail of both stands together in the inbox."
        )
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is disconnected. Choose another name.")


def begin_import(tx: Tx, principal: Principal, *, file_id: str, account_id: str, remove_file: bool) -> str:
    """Queue the import of an upload, as a run. Returns the run's id."""
    account = import_target(tx, principal, account_id=account_id)
    file = _upload(tx, principal, file_id)
    import_id = new_id("imp")
    run_id = begin(tx, principal.user_id, IMPORT, {"import": import_id}, title=f"Import {file.name}")
    tx.run(
        """
        insert into mail_imports (
            id, account_id, run_id, user_id, file_id, sha256, name, remove_file, state, created_at
        ) values (:id, :account_id, :run_id, :user_id, :file_id, :sha256, :name, :remove_file, 'working', :now)
        """,
        id=import_id,
        account_id=account.id,
        run_id=run_id,
        user_id=principal.user_id,
        file_id=file.id,
        sha256=file.sha256,
        name=file.name,
        remove_file=int(remove_file),
        now=tx.now,
    )
    return run_id


def store_batch(
    tx: Tx,
    row: ImportRow,
    *,
    taken: Sequence[Taken],
    tally: Tally,
    seen: int,
    percent: int,
    steps: Sequence[IngestStep],
) -> bool:
    """Store the mails of a batch and the import's progress in one transaction. Returns ``False`` if the import is not
    wanted any more."""
    now = queries.import_of(tx, row.id)
    if now is None or now.state != "working" or not queries.is_wanted(tx, now):
        return False
    tally.add(store(tx, account_id=row.account_id, taken=taken, steps=steps))
    tx.run(
        """
        update mail_imports set position = position + :seen, percent = :percent, added = added + :added,
            known = known + :known, skipped = skipped + :skipped, reasons = :reasons
        where id = :id
        """,
        id=row.id,
        seen=seen,
        percent=percent,
        added=tally.added,
        known=tally.known,
        skipped=tally.skipped,
        reasons=json_array((*now.reasons, *tally.reasons)[:REASONS_KEPT]),
    )
    progress(tx, row.run_id, done=percent, total=100)
    return True


def end(tx: Tx, row: ImportRow, *, state: ImportState, problem: str | None = None) -> None:
    """End the import: it is complete, or can't continue. When it is done, an upload that was made for it is deleted."""
    ended = tx.run(
        """
        update mail_imports set state = :state, problem = :problem, ended_at = :now, percent = iif(:done, 100, percent)
        where id = :id and state = 'working'
        """,
        state=state,
        problem=problem,
        done=int(state == "done"),
        now=tx.now,
        id=row.id,
    )
    if ended:
        end_timers(tx, row.run_id)  # the run hears of it now, so that it can be retried
    if ended and state == "done":
        progress(tx, row.run_id, done=100, total=100)
        if row.remove_file:
            _remove(tx, row)


def give_up(tx: Tx, row: ImportRow) -> None:
    """The import is not wanted any more: its run was cancelled, or its account is gone."""
    stop_unwanted(tx)
    end(tx, row, state="failed", problem="The account that it goes to was disconnected.")


def go_on(tx: Tx, row: ImportRow) -> None:
    """The run was resumed after the import was stopped or failed: continue after the last mail that was stored."""
    tx.run(
        """
        update mail_imports set state = 'working', problem = null, ended_at = null
        where id = :id and state in ('stopped', 'failed')
        """,
        id=row.id,
    )


def stop_unwanted(tx: Tx) -> None:
    """Stop the imports whose run was cancelled, or has failed."""
    tx.run(
        """
        update mail_imports set state = 'stopped', ended_at = :now
        where state = 'working' and not exists (
            select 1 from runs r where r.id = run_id and r.state in ('queued', 'running', 'waiting')
        )
        """,
        now=tx.now,
    )


def claim(tx: Tx, user_id: str) -> None:
    tx.run("update mail_imports set user_id = :user_id where user_id is null", user_id=user_id)


def label_id(account_id: str, name: str) -> str:
    """The id of a user label in an account kept here. It is derived from the name, so creating it twice gives one
    label."""
    return derived_id("lbl", account_id, name)


def _upload(tx: Tx, principal: Principal, file_id: str) -> File:
    file = readable_file(tx, principal, file_id=file_id)
    if file is None:
        raise NotFound("There is no such file.")
    return file


def _remove(tx: Tx, row: ImportRow) -> None:
    try:
        delete_file(tx, system("mail-import"), file_id=row.file_id)
    except (NotFound, Conflict):
        return  # it is deleted already, or is a mail's attachment
