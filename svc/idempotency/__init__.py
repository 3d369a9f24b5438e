"""Idempotency: an action of a client is done at most once, even if the client sends it several times.

Theory. A client that lost the answer, or that was offline when a person acted, can't know whether the action was done.
So it gives the action its own key and repeats it until it gets an answer. The key and the answer are written in the
transaction that acts (:func:`write`): either both are stored or neither is. The same key with another input is refused.
A refusal stores nothing, so the same input may succeed later.

Owns the table ``idempotency_keys``. A feature takes part with an input that is :class:`Repeatable` and one call of
:func:`write` in place of the store's.
"""

from svc.idempotency.feature import FEATURE
from svc.idempotency.keys import KEEP_KEYS, KEEP_MS
from svc.idempotency.writing import Repeatable, write

__all__ = ["FEATURE", "KEEP_KEYS", "KEEP_MS", "Repeatable", "write"]
