"""The ledger of model calls: each call that costs is reserved before it is sent, and settled once its cost is known.

Ceilings are enforced here. A call whose cost the vendor never reported (a cut stream, a crash) keeps the reserved cost.
A day is a UTC day. Holds the SQL of ``model_calls`` and ``model_ceilings``; never waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.clock import DAY_MS
from svc.errors import Forbidden
from svc.models.prices import Price
from svc.principal import Principal
from svc.store import ReadTx, Tx

KEEP_MS: Final = 400 * DAY_MS
PRUNE_ROWS: Final = 1_000
MICROS: Final = 1_000_000
"""Parts of one dollar."""
OVER: Final = "over_ceiling"
OVER_OWN: Final = "over_own_ceiling"
"""The run's own ceiling, which the user who began the run may raise."""
_TOMORROW: Final = "; a new day begins at midnight UTC"

DEFAULT_DAY_MICROS: Final = 10 * MICROS
DEFAULT_RUN_MICROS: Final = 2 * MICROS
DEFAULT_DAY_TOKENS: Final = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """The ceilings for all users together in a day, and for one run. ``day_tokens`` also bounds a model that costs
    nothing.
    """

    day_micros: int = DEFAULT_DAY_MICROS
    run_micros: int = DEFAULT_RUN_MICROS
    day_tokens: int = DEFAULT_DAY_TOKENS


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """One call that is reserved and about to be sent."""

    id: int
    price: Price


@dataclass(frozen=True, kw_only=True)
class Spent:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0


def ceilings(tx: ReadTx) -> Ceilings:
    row = tx.one("select day_micros, run_micros, day_tokens from model_ceilings where id = 1")
    return Ceilings() if row is None else Ceilings(day_micros=row[0], run_micros=row[1], day_tokens=row[2])


def set_ceilings(tx: Tx, wanted: Ceilings) -> None:
    tx.run(
        """
        insert into model_ceilings (id, day_micros, run_micros, day_tokens) values (1, :day, :run, :tokens)
        on conflict (id) do update set day_micros = :day, run_micros = :run, day_tokens = :tokens
        """,
        day=wanted.day_micros,
        run=wanted.run_micros,
        tokens=wanted.day_tokens,
    )


def reserve(
    tx: Tx, run_id: str, *, user_id: str | None, model: str, price: Price, input_tokens: int, output_tokens: int
) -> Reserved:
    """Reserve the most that the call may cost. Raises :class:`svc.errors.Forbidden` where that passes a ceiling."""
    micros = price.micros(input_tokens, output_tokens)
    most = ceilings(tx)
    today = spent(tx, since=tx.now - tx.now % DAY_MS)
    if today.micros + micros > most.day_micros and micros:
        raise _over(f"Models may cost {dollars(most.day_micros)} a day, and this call could pass that", _TOMORROW)
    if today.input_tokens + today.output_tokens + input_tokens + output_tokens > most.day_tokens:
        raise _over(
            f"Models may be asked for {most.day_tokens:,} tokens a day, and this call could pass that", _TOMORROW
        )
    own = run_ceiling(tx, run_id)
    spent_so_far = spent_by_run(tx, run_id).micros
    if own is not None and spent_so_far + micros > own and micros:
        raise Forbidden(
            f"This run may cost {dollars(own)} and has cost {dollars(spent_so_far)}; "
            f"the next call of the model could cost up to {dollars(micros)}.",
            data={"reason": OVER_OWN},
        )
    if spent_so_far + micros > most.run_micros and micros:
        raise _over(f"A run may cost {dollars(most.run_micros)}, and this call could pass that")
    call_id = tx.value(
        """
        insert into model_calls (at, run_id, user_id, model, state, input_tokens, output_tokens, micros)
        values (:now, :run_id, :user_id, :model, 'reserved', :input, :output, :micros) returning id
        """,
        now=tx.now,
        run_id=run_id,
        user_id=user_id,
        model=model,
        input=input_tokens,
        output=output_tokens,
        micros=micros,
    )
    return Reserved(id=cast(int, call_id), price=price)


def run_ceiling(tx: ReadTx, run_id: str) -> int | None:
    """The run's own ceiling in micro-dollars; ``None`` where only the ceiling for every run holds."""
    found = tx.value("select micros from model_run_ceilings where run_id = :id", id=run_id)
    return None if found is None else int(found)


def cap_run(tx: Tx, run_id: str, micros: int | None) -> None:
    """The run's own ceiling, where it is lower than the ceiling for every run."""
    if micros is not None:
        tx.run(
            """
            insert into model_run_ceilings (run_id, micros) values (:id, :micros)
            on conflict (run_id) do update set micros = excluded.micros
            """,
            id=run_id,
            micros=micros,
        )


def dollars(micros: int) -> str:
    """The amount as text, with parts of a cent only below a tenth of a dollar."""
    usd = micros / MICROS
    whole = f"{usd:.4f}" if 0 < usd < 0.1 else f"{usd:.2f}"
    return "$" + (whole.removesuffix("00") if len(whole) > len("0.00") else whole)


def _over(why: str, then: str = "") -> Forbidden:
    return Forbidden(f"{why}. An admin may raise it under Settings, Models{then}.", data={"reason": OVER})


def settle(tx: Tx, reserved: Reserved, *, input_tokens: int | None, output_tokens: int | None) -> None:
    """Store the real cost. What the vendor did not report stays as reserved."""
    row = tx.one(
        "select input_tokens, output_tokens from model_calls where id = :id and state = 'reserved'", id=reserved.id
    )
    if row is None:
        return
    went_in = row[0] if input_tokens is None else input_tokens
    came_out = row[1] if output_tokens is None else output_tokens
    tx.run(
        """
        update model_calls set state = :state, input_tokens = :input, output_tokens = :output, micros = :micros
        where id = :id
        """,
        id=reserved.id,
        state="estimated" if None in {input_tokens, output_tokens} else "counted",
        input=went_in,
        output=came_out,
        micros=reserved.price.micros(went_in, came_out),
    )


def release(tx: Tx, reserved: Reserved) -> None:
    """Delete the reservation: the vendor refused the call."""
    tx.run("delete from model_calls where id = :id and state = 'reserved'", id=reserved.id)


def spent(tx: ReadTx, *, since: int, principal: Principal | None = None) -> Spent:
    """What all users have spent, or the runs of one person."""
    own = "" if principal is None or principal.sees_everything else "and user_id is :user_id"
    row = tx.one(
        f"""
        select count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(micros), 0)
        from model_calls where at >= :since {own}
        """,
        since=since,
        **({"user_id": principal.user_id} if own and principal else {}),
    )
    return _spent(row)


def spent_by_run(tx: ReadTx, run_id: str) -> Spent:
    """What the run itself has spent, without its children."""
    row = tx.one(
        """
        select count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(micros), 0)
        from model_calls where run_id = :run_id
        """,
        run_id=run_id,
    )
    return _spent(row)


def prune(tx: Tx) -> int:
    """Delete old calls. Returns how many."""
    return tx.run(
        "delete from model_calls where id in (select id from model_calls where at < :oldest order by at limit :limit)",
        oldest=tx.now - KEEP_MS,
        limit=PRUNE_ROWS,
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the calls made before there was any user to the first admin."""
    tx.run("update model_calls set user_id = :user_id where user_id is null", user_id=user_id)


def _spent(row: object) -> Spent:
    calls, went_in, came_out, micros = cast("tuple[int, int, int, int]", row)
    return Spent(calls=calls, input_tokens=went_in, output_tokens=came_out, micros=micros)
