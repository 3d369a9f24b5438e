"""The rows that preferences contribute."""

from __future__ import annotations

from svc.feature import Feature
from svc.preferences.actions import TOPIC, hand_over
from svc.preferences.migrations import MIGRATIONS
from svc.preferences.procedures import PROCEDURES

FEATURE = Feature(
    name="preferences",
    summary="How a person wants the app to be, in every browser of theirs.",
    migrations=MIGRATIONS,
    tables=("preferences",),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    claim=hand_over,
)
