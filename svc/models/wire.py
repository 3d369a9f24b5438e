"""The wire types of models. Money is in dollars."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.models.ledger import MICROS, Ceilings, Spent
from svc.protocol import Wire

MAX_DOLLARS = 100_000.0
MAX_TOKENS = 10_000_000_000
Dollars = Annotated[float, msgspec.Meta(ge=0, le=MAX_DOLLARS)]


class SpentOut(Wire, frozen=True):
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float


class CeilingsOut(Wire, frozen=True):
    """``day_*``: for all users together in a UTC day. ``run_usd``: for one run."""

    day_usd: Dollars
    run_usd: Dollars
    day_tokens: Annotated[int, msgspec.Meta(ge=0, le=MAX_TOKENS)]

    def ceilings(self) -> Ceilings:
        return Ceilings(
            day_micros=round(self.day_usd * MICROS), run_micros=round(self.run_usd * MICROS), day_tokens=self.day_tokens
        )


class PriceOut(Wire, frozen=True):
    """Dollars per million tokens."""

    input: float
    output: float


class RunInput(Wire, frozen=True):
    run_id: str


class RunCostOut(Wire, frozen=True):
    """``ceiling_usd``: what the run may cost in all."""

    spent: SpentOut
    ceiling_usd: float


class UsageOut(Wire, frozen=True):
    """``problem``: why no model can be asked; empty where one can. ``everybody``: only for admins."""

    model: str
    vendor: str
    problem: str
    price: PriceOut
    ceilings: CeilingsOut
    today: SpentOut
    month: SpentOut
    everybody: SpentOut | None


def spent_out(spent: Spent) -> SpentOut:
    return SpentOut(
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        usd=spent.micros / MICROS,
    )


def ceilings_out(found: Ceilings) -> CeilingsOut:
    return CeilingsOut(
        day_usd=found.day_micros / MICROS, run_usd=found.run_micros / MICROS, day_tokens=found.day_tokens
    )
