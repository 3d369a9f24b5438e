"""The names of the store's own tables. Features read them, and write them only through the store."""

from __future__ import annotations

from typing import Final

TABLES: Final = ("outbox", "events", "secrets", "meta", "blob_damage", "consumers", "consumer_failures")
