"""The blob replica: every blob that a row names is also stored in another place (``SVC_BLOB_REPLICA_URL``), by plain
HTTP.

Owns the tables ``replica_*``. Triggers queue a blob in the same commit that names it; this feature's loop uploads it
and notes that it is stored. A nightly full check compares the queue with all references, so that nothing depends on a
trigger alone. A blob that no row names gets a tombstone and is deleted seven days later, unless it is named again or a
kept recovery point may name it (:func:`keep_since`). ``serving.py`` is the other side: a small server for such a place.
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
