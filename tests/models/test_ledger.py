"""Ceilings at their limits: exactly reached, over midnight, raised meanwhile, and with an answer without a count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from svc.clock import DAY_MS, VirtualClock
from svc.errors import Forbidden
from svc.models import ledger
from svc.models.ledger import Ceilings, Reserved, Spent
from svc.models.prices import FREE, Price
from svc.store import Tx
from tests.support.service import Service

ONE: Final = Price(1.0, 1.0)


async def reserved(service: Service, run_id: str = "run_1", *, tokens: int = 100, price: Price = ONE) -> Reserved:
    def reserve(tx: Tx) -> Reserved:
        return ledger.reserve(
            tx, run_id, user_id=None, model="m", price=price, input_tokens=tokens - 10, output_tokens=10
        )

    return await service.workspace.store.write(reserve)


async def write(service: Service, work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return await service.workspace.store.write(lambda tx: work(tx, *given, **named))


async def spent(service: Service) -> Spent:
    return await service.workspace.store.read(lambda tx: ledger.spent(tx, since=0))


@pytest.mark.parametrize(
    ("most", "price", "why"),
    [
        (Ceilings(day_micros=200), ONE, r"Models may cost \$0.0002 a day"),
        (Ceilings(run_micros=200), ONE, r"A run may cost \$0.0002"),
        (Ceilings(day_tokens=200), FREE, "200 tokens a day"),
    ],
)
async def test_a_ceiling_may_be_reached_exactly_and_not_passed_by_one(
    service: Service, most: Ceilings, price: Price, why: str
) -> None:
    await write(service, ledger.set_ceilings, most)
    first = await reserved(service, price=price)
    await reserved(service, price=price)
    with pytest.raises(Forbidden, match=why):
        await reserved(service, tokens=11, price=price)
    await write(service, ledger.settle, first, input_tokens=90, output_tokens=9)
    with pytest.raises(Forbidden, match=why):
        await reserved(service, tokens=11, price=price)
    await write(service, ledger.release, first)  # it is settled: what was counted stays
    await write(service, ledger.settle, first, input_tokens=0, output_tokens=0)
    assert (await spent(service)).output_tokens == 19
    await write(service, ledger.set_ceilings, Ceilings())
    await reserved(service, tokens=11, price=price)


async def test_a_day_ends_at_midnight_utc_for_what_is_counted_later_too(service: Service, wall: VirtualClock) -> None:
    await write(service, ledger.set_ceilings, Ceilings(day_micros=150))
    wall.offset_ms += DAY_MS - wall.now() % DAY_MS - 1_000
    late = await reserved(service)
    with pytest.raises(Forbidden, match="a new day begins at midnight UTC"):
        await reserved(service, "run_2")
    wall.offset_ms += 1_000
    await reserved(service, "run_2")
    await write(service, ledger.settle, late, input_tokens=80, output_tokens=None)
    with pytest.raises(Forbidden):
        await reserved(service, "run_3")
    assert (await spent(service)).micros == 190, "an answer that does not say what it made keeps what was reserved"


async def test_a_runs_own_ceiling_is_told_with_what_it_has_cost_and_the_lower_one_holds(service: Service) -> None:
    run_id = (await service.mutate("agents.run", prompt="Do it."))["runId"]
    await write(service, ledger.cap_run, run_id, 150)
    await reserved(service, run_id)
    with pytest.raises(Forbidden, match=r"may cost \$0.0001.* next call of the model could cost up to") as refused:
        await reserved(service, run_id)
    assert refused.value.data == {"reason": ledger.OVER_OWN}
    await write(service, ledger.cap_run, run_id, 10_000)
    await write(service, ledger.set_ceilings, Ceilings(run_micros=150))
    with pytest.raises(Forbidden, match="An admin may raise it") as refused:
        await reserved(service, run_id)
    assert refused.value.data == {"reason": ledger.OVER}
