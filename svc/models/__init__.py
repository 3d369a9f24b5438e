"""Language models as the trusted plane sees them: which model is asked, what it costs, and where a ceiling ends it.

Owns ``model_calls``, ``model_ceilings`` and ``model_run_ceilings``. Each call that costs money is reserved before it is
sent, at the most that it may cost. It is settled with what the vendor counted. A call that would pass a ceiling is
never sent. The broker applies this to every run (:mod:`svc.broker.llm`). The worker plane asks the models
(:mod:`svc.worker.models`): a feature gives its workflow the model's name (:meth:`Models.name`) and grants it
``capability_of`` that name.
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
