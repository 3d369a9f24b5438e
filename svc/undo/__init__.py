"""Undo: a person's newest steps, each with the data that is needed to take it back.

Owns the table ``undo_steps``. A feature records a step in the transaction that does it (:func:`record`), and adds a
:class:`svc.reversal.Reversal` to its rows that takes steps of that kind back. The log is short, so that a person still
remembers the offered steps. Taking back is not recorded itself: each undo goes one step further back.
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
