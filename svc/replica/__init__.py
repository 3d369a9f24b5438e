"""The blob replica: every blob that a row names is also at another place (``SVC_BLOB_REPLICA_URL``), by plain HTTP.

Owns the tables ``replica_*``. Triggers queue a blob in the very commit that names it; the loop of this feature uploads
it and notes that it is there. A nightly sweep compares the queue with all references, so that nothing depends on a
trigger alone. What nothing names gets a tombstone, and goes seven days later, unless it is named again or a recovery
point that is kept may name it (:func:`keep_since`). ``serving.py`` is the other end: a small server for such a place.
"""

from svc.replica.feature import FEATURE
from svc.replica.rows import ReplicaStatus, is_complete, keep_since, pending, status
from svc.replica.settings import REPLICA_TOKEN, REPLICA_URL
from svc.replica.target import Target, TargetFault, target_of
from svc.replica.tasks import Replicator

__all__ = [
    "FEATURE",
    "REPLICA_TOKEN",
    "REPLICA_URL",
    "ReplicaStatus",
    "Replicator",
    "Target",
    "TargetFault",
    "is_complete",
    "keep_since",
    "pending",
    "status",
    "target_of",
]
