"""Language models, as the trusted plane sees them: which one is asked, what it costs, and where it ends.

Owns ``model_calls``, ``model_ceilings`` and ``model_run_ceilings``.
Each call that costs is reserved before it leaves, for all that it may
cost, and settled with what the vendor counted; a call that would pass a ceiling never leaves. The broker keeps to that
for every run (:mod:`svc.broker.llm`). The asking itself is :mod:`svc.worker.models`, in the worker plane: a feature
gives its workflow the model's name (:meth:`Models.name`) and ``capability_of`` it.
"""

from svc.models.feature import FEATURE
from svc.models.ledger import (
    MICROS,
    Reserved,
    cap_run,
    ceilings,
    dollars,
    release,
    reserve,
    run_ceiling,
    settle,
    spent_by_run,
)
from svc.models.prices import Price, price_of
from svc.models.service import Models
from svc.worker.models import capability_of, vendor_of

__all__ = [
    "FEATURE",
    "MICROS",
    "Models",
    "Price",
    "Reserved",
    "cap_run",
    "capability_of",
    "ceilings",
    "dollars",
    "price_of",
    "release",
    "reserve",
    "run_ceiling",
    "settle",
    "spent_by_run",
    "vendor_of",
]
