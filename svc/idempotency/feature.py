"""The row of idempotency: its table, and who gets the keys when the instance is claimed."""

from __future__ import annotations

from svc.feature import Feature
from svc.idempotency.keys import hand_over
from svc.idempotency.migrations import MIGRATIONS

FEATURE = Feature(
    name="idempotency",
    summary="What a client asks for by a key of its own is done at most once.",
    migrations=MIGRATIONS,
    tables=("idempotency_keys",),
    claim=hand_over,
)
