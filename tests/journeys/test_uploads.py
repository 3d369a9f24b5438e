"""Uploads to a service that is killed: what was answered is there, what was not leaves nothing."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import HTTP_DEADLINE_S, ServiceProcess, until

pytestmark = pytest.mark.journey

SIZE = 1_000_000


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        yield process


def test_an_upload_that_a_kill_cuts_leaves_nothing_and_one_that_was_answered_is_whole(service: ServiceProcess) -> None:
    service.start(PROVIDERS="fake")
    content = os.urandom(SIZE)
    record = service.request("POST", "/files", content).json()
    incoming = service.home / "blobs" / ".incoming"
    half = socket.create_connection(("127.0.0.1", service.port), timeout=HTTP_DEADLINE_S)
    half.sendall(f"POST /files HTTP/1.1\r\nhost: 127.0.0.1:{service.port}\r\ncontent-length: {SIZE}\r\n\r\n".encode())
    half.sendall(os.urandom(SIZE - 1))
    until(lambda: any(incoming.iterdir()), what="the upload's first bytes", deadline_s=HTTP_DEADLINE_S)
    service.kill()
    half.close()
    assert any(incoming.iterdir())

    service.start(PROVIDERS="fake")
    assert list(incoming.iterdir()) == []
    assert service.rows("select id, sha256 from files") == [(record["id"], hashlib.sha256(content).hexdigest())]
    assert service.request("GET", f"/files/{record['id']}/content").body == content
    assert service.command("fsck").stdout == "ok\n"
