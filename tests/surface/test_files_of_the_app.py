"""The app's files are compressed in a thread, once: a large one takes a tenth of a second, in which nobody would be
served."""

from __future__ import annotations

import gzip
from threading import get_ident

import pytest

from tests.support.service import Service, app_tree


@pytest.fixture(autouse=True)
def _nothing_was_asked_for_yet() -> None:
    app_tree.cache_clear()


async def test_a_file_is_compressed_in_a_thread_when_it_is_first_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    squeeze = gzip.compress

    def compress(data: bytes, *, mtime: float) -> bytes:
        threads.append(get_ident())
        return squeeze(data, mtime=mtime)

    monkeypatch.setattr("svc.protocol.static.gzip.compress", compress)
    for _ in range(2):
        reply = await service.get("/static/app.js", accept_encoding="gzip")
        assert reply.status == 200
    assert len(threads) == 1
    assert threads[0] != get_ident()
