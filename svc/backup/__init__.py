"""Backup: the database is archived all the time, so that a lost disk loses a minute at most.

Owns the archiver (litestream, as a child), recovery points, restoring and the drill. What it knows lies in a ledger
beside the database (:class:`svc.store.Ledger`), which is archived as the database is; it has no table.
"""

from svc.backup.feature import FEATURE

__all__ = ["FEATURE"]
