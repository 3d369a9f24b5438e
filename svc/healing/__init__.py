"""Healing: lost and damaged blobs are found, recorded, and mended by whoever can make the same bytes again.

Owns the loop that mends, the slow check that reads every referenced blob, and its place in ``meta``. A feature that can
make a blob again adds its :class:`Mender` when it is built; what nobody can mend stays recorded with the reason.
"""

from svc.healing.feature import FEATURE
from svc.healing.model import Later, Lost, Mended, Mender, Outcome
from svc.healing.tasks import Healer

__all__ = ["FEATURE", "Healer", "Later", "Lost", "Mended", "Mender", "Outcome"]
