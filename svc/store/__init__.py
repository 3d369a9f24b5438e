"""The storage of the service: one SQLite database, content-addressed blobs, encrypted secrets, and the home directory
of all three.

All other packages import only this module. The central rule: an action is a plain function over a :class:`Tx`, called
as ``await store.write(action, …)``; a query is one over a :class:`ReadTx`, called as ``await store.read(query, …)``.
"""

from svc.store import damage, records
from svc.store.abandoned import forget, forget_abandoned
from svc.store.arrays import json_array, texts_of
from svc.store.blob_files import CHUNK_BYTES, BlobCorrupt, BlobMissing, BlobRef, Harm, Pieces
from svc.store.blobs import ROOM_BYTES, Blobs
from svc.store.consumers import Consumer, Event, Lag, lags
from svc.store.faults import (
    CannotOpen,
    CorruptDatabase,
    HomeBusy,
    HomeNotWritable,
    KeyRefused,
    NewerDatabase,
    OlderDatabase,
    StoreBroken,
    disk_faults,
)
from svc.store.following import Following
from svc.store.fsck import Invariant, missing_triggers, quick_problem, run_fsck
from svc.store.home import INTERNAL_PORT_FILE, INTERNAL_TOKEN_FILE, ROOMS, Home, write_durably
from svc.store.keyring import KeyFile, Keyring, MasterKeySource, master_key_path, open_keyring
from svc.store.ledger import Ledger
from svc.store.migrate import fresh_schema, schema_sql
from svc.store.os_keyring import OsKeyring
from svc.store.outbox import (
    ADMINS,
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
from svc.store.parts import Digest, Part, PartLost
from svc.store.secrets import (
    SecretRow,
    Secrets,
    SecretSource,
    SecretUnreadable,
    forget_secrets,
    has_secret,
    has_secrets,
)
from svc.store.store import MAX_QUEUED_WRITES, Store
from svc.store.tables import TABLES
from svc.store.threads import RunsInThreads
from svc.store.transaction import ReadTx, Row, Tx, Value

__all__ = [
    "ADMINS",
    "CHUNK_BYTES",
    "EVERYONE",
    "INTERNAL_PORT_FILE",
    "INTERNAL_TOKEN_FILE",
    "MAX_QUEUED_WRITES",
    "PRUNE_ROWS",
    "ROOMS",
    "ROOM_BYTES",
    "TABLES",
    "BlobCorrupt",
    "BlobMissing",
    "BlobRef",
    "Blobs",
    "CannotOpen",
    "Consumer",
    "CorruptDatabase",
    "Digest",
    "Event",
    "Following",
    "Harm",
    "Home",
    "HomeBusy",
    "HomeNotWritable",
    "Invariant",
    "KeyFile",
    "KeyRefused",
    "Keyring",
    "Lag",
    "Ledger",
    "MasterKeySource",
    "NewerDatabase",
    "OlderDatabase",
    "OsKeyring",
    "Outbox",
    "OutboxRow",
    "Overflowed",
    "Part",
    "PartLost",
    "Pieces",
    "ReadTx",
    "Row",
    "RunsInThreads",
    "SecretRow",
    "SecretSource",
    "SecretUnreadable",
    "Secrets",
    "Store",
    "StoreBroken",
    "Subscription",
    "Tx",
    "Value",
    "damage",
    "disk_faults",
    "forget",
    "forget_abandoned",
    "forget_secrets",
    "fresh_schema",
    "has_secret",
    "has_secrets",
    "json_array",
    "lags",
    "master_key_path",
    "missing_triggers",
    "newest",
    "oldest_kept",
    "open_keyring",
    "prune",
    "quick_problem",
    "records",
    "rows_after",
    "run_fsck",
    "schema_sql",
    "texts_of",
    "write_durably",
]
