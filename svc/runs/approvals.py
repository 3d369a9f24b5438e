"""Approvals: who may decide, that each is decided once, and the effect."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.errors import Conflict, Forbidden, NotFound
from svc.principal import Principal
from svc.runs import queries
from svc.runs.actions import encoded
from svc.runs.digests import digest
from svc.runs.model import ApprovalState, RunError
from svc.runs.moving import encoded_error, note, settle_step, wake
from svc.runs.waits import APPROVALS_TOPIC
from svc.store import ReadTx, Tx
from svc.store.transaction import Row
from svc.workflow import Json

MAX_LISTED: Final = 200
_DECIDES: Final = frozenset({"session", "unclaimed", "off"})


@dataclass(frozen=True, kw_only=True)
class Approval:
    """``input`` is JSON: exactly what the run asked for."""

    id: str
    run_id: str
    key: str
    user_id: str | None
    tool: str
    summary: str
    input: str
    state: ApprovalState
    requested_at: Millis
    expires_at: Millis
    card: str | None = None


_COLUMNS: Final = "id, run_id, key, user_id, tool, summary, input, state, requested_at, expires_at, card"


def open_ones(tx: ReadTx, principal: Principal) -> list[Approval]:
    """The open approvals that the principal can decide, the oldest first."""
    rows = tx.all(
        f"""
        select {_COLUMNS} from approvals
        where state = 'open' and expires_at > :now and (:everything or user_id = :user_id)
        order by requested_at, id limit :limit
        """,
        now=tx.now,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
        limit=MAX_LISTED,
    )
    return [_approval(row) for row in rows]


def decide(tx: Tx, principal: Principal, *, approval_id: str, approve: bool, input: Json) -> None:
    """Decide, once, as the owner in person. ``input`` (if not ``UNSET``) replaces what the run asked for."""
    if not may_decide(principal):
        raise Forbidden("A person decides this: in the app, or with a device that may approve.")
    found = tx.one(f"select {_COLUMNS} from approvals where id = :id", id=approval_id)
    approval = _approval(found) if found else None
    if approval is None or not queries.owns(principal, approval.user_id):
        raise NotFound("There is no such request.")
    if _asked_itself(tx, principal, approval.run_id):
        raise Forbidden("The device that began this run can't approve what it does: decide it elsewhere.")
    if approval.state != "open" or approval.expires_at <= tx.now:
        state = "expired" if approval.state == "open" else approval.state
        raise Conflict(f"This request is {state} already.", data={"state": state})
    decided = approval.input if input is msgspec.UNSET else encoded(input)
    tx.run(
        """
        update approvals set state = :state, decided_at = :now, decided_by = :by, decided_input = :input,
            decided_digest = :digest
        where id = :id
        """,
        state="approved" if approve else "declined",
        now=tx.now,
        by=principal.user_id,
        input=decided if approve else None,
        digest=digest(approval.tool, decided) if approve else None,
        id=approval.id,
    )
    declined = encoded_error(RunError(type="Declined", message="A person has declined it."))
    settle_step(
        tx,
        approval.run_id,
        approval.key,
        output=decided if approve else None,
        error=None if approve else declined,
    )
    tx.emit(topic=APPROVALS_TOPIC, kind="approval.decided", id=approval.id, audience=approval.user_id)
    row = queries.run(tx, approval.run_id)
    assert row is not None, "an approval goes with its run"
    note(tx, row, "run.approved" if approve else "run.declined")
    wake(tx, approval.run_id)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a person was asked in the step ``key``. ``changed``: they changed it; then ``card`` shows the changed call
    once it is made.
    """

    key: str
    changed: bool
    card: str | None


def of_run(tx: ReadTx, run_id: str) -> list[Asked]:
    rows = tx.all(
        "select key, coalesce(decided_input <> input, 0), card from approvals where run_id = :id order by requested_at",
        id=run_id,
    )
    return [Asked(key=str(row[0]), changed=bool(row[1]), card=cast("str | None", row[2])) for row in rows]


def show_changed(tx: Tx, *, run_id: str, key: str, card: Json) -> None:
    """A changed call is made: from now on show the changed call, and not the requested one."""
    tx.run(
        "update approvals set card = :card where run_id = :run_id and key = :key",
        card=encoded(card),
        run_id=run_id,
        key=key,
    )


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What a person approved. ``changed``: it is not what the run asked for. ``card``: the rows that the person saw, as
    JSON.
    """

    input: str
    changed: bool
    card: str | None = None


def decided(tx: ReadTx, *, run_id: str, key: str, tool: str) -> Decided | None:
    """The approval of that step of the run, if there is one: for this tool, and with the digest that was approved."""
    row = tx.one(
        """
        select tool, input, decided_input, decided_digest, card from approvals
        where run_id = :run_id and key = :key and state = 'approved'
        """,
        run_id=run_id,
        key=key,
    )
    if row is None or row[0] != tool or row[2] is None:
        return None
    if row[3] is None or not hmac.compare_digest(cast(bytes, row[3]), digest(tool, cast(str, row[2]))):
        return None
    return Decided(input=cast(str, row[2]), changed=row[1] != row[2], card=cast("str | None", row[4]))


def _asked_itself(tx: ReadTx, principal: Principal, run_id: str) -> bool:
    if principal.via != "device":
        return False
    return bool(tx.value("select device_id from runs where id = :id", id=run_id) == principal.device_id)


def may_decide(principal: Principal) -> bool:
    """A browser session may decide, and so may a device with the capability; a run may not."""
    if principal.via == "device":
        return bool(principal.capabilities.get("approve") or principal.capabilities.get("admin"))
    return principal.via in _DECIDES


def _approval(row: Row) -> Approval:
    return Approval(
        id=cast(str, row[0]),
        run_id=cast(str, row[1]),
        key=cast(str, row[2]),
        user_id=cast("str | None", row[3]),
        tool=cast(str, row[4]),
        summary=cast(str, row[5]),
        input=cast(str, row[6]),
        state=cast(ApprovalState, row[7]),
        requested_at=cast(int, row[8]),
        expires_at=cast(int, row[9]),
        card=cast("str | None", row[10]),
    )
