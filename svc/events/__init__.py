"""Events: the durable record of what happened (``mail-received``, …), written in the transaction that made it happen.

The table is the store's; this feature is its face: ``events.recent``.
"""

from svc.events.feature import FEATURE

__all__ = ["FEATURE"]
