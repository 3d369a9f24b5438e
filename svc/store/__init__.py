"""What the service keeps: one SQLite database, content-addressed blobs, encrypted secrets, and the home they lie in.

This face is all that others import. The central rule: an action is a plain function over a :class:`Tx`, called as
``await store.write(action, …)``; a query is one over a :class:`ReadTx`, called as ``await store.read(query, …)``.
"""

from svc.store.blobs import BlobCorrupt, BlobMissing, BlobRef, Blobs
from svc.store.faults import (
    CannotOpen,
    CorruptDatabase,
    HomeBusy,
    HomeNotWritable,
    KeyRefused,
    NewerDatabase,
    StoreBroken,
    disk_faults,
)
from svc.store.fsck import Invariant, run_fsck
from svc.store.gate import Runs
from svc.store.home import Home, write_durably
from svc.store.keyring import Keyring, master_key_path, open_keyring
from svc.store.migrate import fresh_schema, schema_sql
from svc.store.outbox import (
    EVERYONE,
    PRUNE_ROWS,
    Outbox,
    OutboxRow,
    Overflowed,
    Subscription,
    newest,
    oldest_kept,
    prune,
    rows_after,
)
from svc.store.secrets import Secrets, SecretUnreadable, has_secrets
from svc.store.store import Store
from svc.store.transaction import ReadTx, Row, Tx, Value

__all__ = [
    "EVERYONE",
    "PRUNE_ROWS",
    "BlobCorrupt",
    "BlobMissing",
    "BlobRef",
    "Blobs",
    "CannotOpen",
    "CorruptDatabase",
    "Home",
    "HomeBusy",
    "HomeNotWritable",
    "Invariant",
    "KeyRefused",
    "Keyring",
    "NewerDatabase",
    "Outbox",
    "OutboxRow",
    "Overflowed",
    "ReadTx",
    "Row",
    "Runs",
    "SecretUnreadable",
    "Secrets",
    "Store",
    "StoreBroken",
    "Subscription",
    "Tx",
    "Value",
    "disk_faults",
    "fresh_schema",
    "has_secrets",
    "master_key_path",
    "newest",
    "oldest_kept",
    "open_keyring",
    "prune",
    "rows_after",
    "run_fsck",
    "schema_sql",
    "write_durably",
]
