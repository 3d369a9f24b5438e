"""Undo: a person's newest steps, each with what it takes to take it back.

Owns the table ``undo_steps``. A feature records a step in the transaction that does it (:func:`record`) and says how
steps of that kind are taken back by a :class:`svc.reversal.Reversal` among its rows. The log is short, so that what is
offered is what the person still remembers. Taking back is not remembered itself: one goes further back with each.
"""

from svc.undo.actions import TakenBack, forget_concerning, record, take_back
from svc.undo.feature import FEATURE, carry_on, reversals_of
from svc.undo.queries import KEEP_MS, KEEP_STEPS, undoable

__all__ = [
    "FEATURE",
    "KEEP_MS",
    "KEEP_STEPS",
    "TakenBack",
    "carry_on",
    "forget_concerning",
    "record",
    "reversals_of",
    "take_back",
    "undoable",
]
