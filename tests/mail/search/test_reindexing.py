"""Indexing everything again is a run that does not disturb searches."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.search import actions
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service

ENDED = {"done", "failed", "cancelled"}


async def ended(service: Service, run_id: str) -> dict[str, object]:
    with trio.fail_after(3_600):
        while True:
            found: dict[str, object] = await service.query("runs.get", id=run_id)
            if found["state"] in ENDED:
                return found
            await trio.sleep(1)


async def test_all_words_are_taken_anew_batch_by_batch_and_searches_find_meanwhile(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "QUEUED_AT_A_TIME", 2)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await service.synced("One lentils", "Two lentils", "Three lentils", "Four lentils", "Five lentils")
        before = await service.rows("select message_id, id from mail_search order by message_id")
        await service.workspace.store.write(lambda tx: tx.run("update mail_search set version = 0"))
        run_id = (await service.mutate("search.reindex"))["runId"]
        with pytest.raises(RpcError, match="already"):
            await service.mutate("search.reindex")
        assert (await service.query("search.state"))["runId"] == run_id
        found = await service.query("mail.search", query="lentils")
        assert len(found["threads"]) == 5
        run = await ended(service, run_id)
        assert run["output"] == {"messages": 5}
        assert run["progress"] == {"done": 5, "total": 5}
        assert await service.rows("select message_id, id from mail_search order by message_id") == before
        assert await service.rows("select distinct version from mail_search") != [(0,)]
        queued = [step for step in run["steps"] if step["name"] == "queue a batch"]  # type: ignore[attr-defined]
        assert [step["output"]["more"] for step in queued] == [True, True, False]
        state = await service.query("search.state")
        assert state == {"messages": 5, "indexed": 5, "waiting": 0, "runId": None, "progress": None}


async def test_a_re_index_that_is_cancelled_leaves_an_index_that_finds_all(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_INDEX_DEBOUNCE_MS="60000") as service:
        await service.synced("One lentils", "Two lentils", address=MIA)
        await trio.sleep(61)
        run_id = (await service.mutate("search.reindex"))["runId"]
        while not (await service.query("runs.get", id=run_id))["steps"]:  # noqa: ASYNC110  virtual time
            await trio.sleep(0.1)
        await service.mutate("runs.cancel", id=run_id)
        assert (await service.query("search.state"))["runId"] is None
        assert len((await service.query("mail.search", query="lentils"))["threads"]) == 2
        await trio.sleep(61)
        assert (await service.query("search.state"))["waiting"] == 0
