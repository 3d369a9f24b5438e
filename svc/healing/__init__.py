"""Healing: finds and records lost and damaged blobs, and mends those that a feature can make again with the same bytes.

Owns the loop that mends, the slow check that reads every referenced blob, and the check's position in ``meta``. A
feature that can make a blob again adds its :class:`Mender` when it is built; a blob that no mender can make stays
recorded with the reason.
"""

from svc.healing.feature import FEATURE
from svc.healing.model import Later, Lost, Mended, Mender, Outcome
from svc.healing.tasks import Healer

__all__ = ["FEATURE", "Healer", "Later", "Lost", "Mended", "Mender", "Outcome"]
