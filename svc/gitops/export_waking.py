"""Listens for committed edits, and wakes the follower at once."""

from __future__ import annotations

from typing import NoReturn

from svc.gitops import export_rows
from svc.gitops.model import GITOPS
from svc.nursery import Wake, open_task_group
from svc.pages import PAGES_TOPIC
from svc.store import OutboxRow, Store


async def hear_of_edits(store: Store, wake: Wake) -> NoReturn:
    edited = Wake()
    async with open_task_group() as nursery:
        nursery.start_soon(store.outbox.wake_on, _is_edit, edited.call)
        while True:
            await edited.wait()
            if await store.read(export_rows.something_waits):
                wake.call()


def _is_edit(row: OutboxRow) -> bool:
    return row.topic == PAGES_TOPIC and row.device_id != GITOPS.device_id
