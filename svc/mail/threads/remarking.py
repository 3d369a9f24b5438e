"""Updates the *To me* mark of stored mail when an account's own addresses change, and removes those addresses from the
owner's correspondents.

New mail is marked by the addresses at its arrival. A job finds the accounts whose addresses have changed since, and
checks their mail in batches, one transaction each. The position is stored in that transaction, so after a crash the job
continues there; if the addresses change meanwhile, it starts again. Owns ``mail_marked_addresses``.
"""

from __future__ import annotations

from typing import Final, cast

import msgspec

from svc import people
from svc.clock import Millis
from svc.job import Job
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DEVICE_ID, Account, MessageHeaders
from svc.mail.threads import thread_rows
from svc.principal import system
from svc.store import ReadTx, Tx, json_array
from svc.workspace import Workspace

AT_ONCE: Final = 500
"""Messages per transaction."""
STEPS_A_RUN: Final = 20
_LOOP: Final = system("mail-own-addresses")


def due(tx: ReadTx) -> Account | None:
    """The first account whose mail is not marked by its current addresses."""
    rows = tx.all("select account_id, addresses from mail_marked_addresses")
    marked = {str(account_id): str(addresses) for account_id, addresses in rows}
    found = account_queries.accounts(tx, _LOOP)
    return next((one for one in found if marked.get(one.id) != _written(one)), None)


def mark_some(tx: Tx) -> None:
    """One batch, for the first account that needs it."""
    account = due(tx)
    if account is None:
        return
    wanted = _written(account)
    row = tx.one("select goal, after from mail_marked_addresses where account_id = :id", id=account.id)
    is_new = row is None and not account.aliases  # all of its mail was marked when it arrived
    after = str(row[1]) if row is not None and row[0] == wanted else ""
    last = None if is_new else _mark(tx, account, after=after)
    if last is None:
        _store(tx, account, addresses=wanted, goal=wanted, after="")
        people.let_go(tx, owner_id=account.owner_id, addresses=own_addresses.sendable(account))
    else:
        _store(tx, account, addresses="", goal=wanted, after=last)


def _written(account: Account) -> str:
    return json_array(sorted(own_addresses.sendable(account)))


def _mark(tx: Tx, account: Account, *, after: str) -> str | None:
    """Mark the next batch after ``after``. Returns its last message id, or ``None`` if there are no more messages."""
    rows = tx.all(
        """
        select id, thread_id, headers, to_me from mail_messages
        where account_id = :account_id and id > :after order by id limit :limit
        """,
        account_id=account.id,
        after=after,
        limit=AT_ONCE,
    )
    own = own_addresses.of_account(account)
    changed: dict[str, None] = {}
    for message_id, thread_id, encoded, before in rows:
        headers = msgspec.json.decode(cast(str, encoded), type=MessageHeaders)
        to_me = own_addresses.names_one((*headers.to, *headers.cc), own)
        if to_me != bool(before):
            tx.run("update mail_messages set to_me = :to_me where id = :id", to_me=int(to_me), id=message_id)
            changed[str(thread_id)] = None
    thread_rows.refresh_threads(tx, account, changed, device_id=DEVICE_ID)
    return str(rows[-1][0]) if rows else None


def _store(tx: Tx, account: Account, *, addresses: str, goal: str, after: str) -> None:
    tx.run(
        """
        insert into mail_marked_addresses (account_id, addresses, goal, after)
        values (:account_id, :addresses, :goal, :after)
        on conflict do update set addresses = :addresses, goal = :goal, after = :after
        """,
        account_id=account.id,
        addresses=addresses,
        goal=goal,
        after=after,
    )


async def _run(workspace: Workspace) -> Millis | None:
    for _ in range(STEPS_A_RUN):
        if await workspace.store.read_small(due) is None:
            return None
        await workspace.store.write(mark_some)
    return workspace.clock.now()


JOB: Final = Job(name="mail-own-addresses", summary="Marks older mail by an account’s own addresses.", run=_run)
