"""Listens for committed edits, and wakes the follower at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from svc.gitops import export_rows
from svc.gitops.model import GITOPS
from svc.nursery import Wake
from svc.pages import PAGES_TOPIC
from svc.store import Overflowed, Store

MAX_ROWS_BEHIND: Final = 1_000
MAX_BYTES_BEHIND: Final = 1024 * 1024


async def hear_of_edits(store: Store, wake: Wake) -> None:
    while True:
        with (
            store.outbox.subscribe(limit=MAX_ROWS_BEHIND, limit_bytes=MAX_BYTES_BEHIND) as subscription,
            suppress(Overflowed),
        ):
            while True:
                rows = await subscription.receive()
                about_pages = any(row.topic == PAGES_TOPIC and row.device_id != GITOPS.device_id for row in rows)
                if about_pages and await store.read(export_rows.something_waits):
                    wake.call()
        wake.call()  # an edit may be among the missed events
