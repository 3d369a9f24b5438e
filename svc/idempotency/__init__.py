"""Idempotency: what a client asks for is done at most once, however often and whenever it says so.

Theory. A client that lost the answer, or had no link when a person acted, can't know whether something was done. So it
gives the action a key of its own and says it again until it is answered. The key and the answer are written in the
transaction that acts (:func:`write`): either both are there or neither is. The same key with another input is refused;
a refusal leaves nothing behind, so that the same words may succeed later.

Owns the table ``idempotency_keys``. A feature takes part by an input that is :class:`Repeatable` and one call of
:func:`write` in place of the store's.
"""

from svc.idempotency.feature import FEATURE
from svc.idempotency.keys import KEEP_KEYS, KEEP_MS
from svc.idempotency.writing import Repeatable, write

__all__ = ["FEATURE", "KEEP_KEYS", "KEEP_MS", "Repeatable", "write"]
