"""Backup: the database is archived continuously, so that a lost disk loses a minute at most.

Owns the archiver (litestream, as a child process), recovery points, restoring and the drill. Its data are in a ledger
beside the database (:class:`svc.store.Ledger`), which is archived like the database; it has no table.
"""

from svc.backup.feature import FEATURE

__all__ = ["FEATURE"]
