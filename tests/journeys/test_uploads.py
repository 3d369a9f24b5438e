"""Uploads to a service that is killed: what was answered is there, what was not leaves nothing."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.files.receiving import CHECKPOINT_BYTES
from svc.store import CHUNK_BYTES
from tests.peers.cache import peers_dir
from tests.peers.needs import NODE, TUS_CLIENT, needs
from tests.support.process import HTTP_DEADLINE_S, ServiceProcess, until

pytestmark = pytest.mark.journey

SIZE = 2 * CHUNK_BYTES
TUS = {"tus-resumable": "1.0.0"}
CLIENT = Path(__file__).parents[1] / "peers" / "tus_client.mjs"


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


def test_a_resumable_upload_goes_on_after_a_kill_from_what_was_durable(service: ServiceProcess) -> None:
    """In the middle of one long request: from its last checkpoint."""
    service.start(PROVIDERS="fake")
    content = os.urandom(CHECKPOINT_BYTES + 3 * SIZE)
    begun = service.request("POST", "/files/tus", headers={**TUS, "upload-length": str(len(content))})
    address = begun.header("location") or ""
    part = service.home / "blobs" / ".parts" / address.rpartition("/")[2]
    lines = [
        f"PATCH {address} HTTP/1.1",
        f"host: 127.0.0.1:{service.port}",
        "tus-resumable: 1.0.0",
        "content-type: application/offset+octet-stream",
        "upload-offset: 0",
        f"content-length: {len(content)}",
        "",
        "",
    ]
    half = socket.create_connection(("127.0.0.1", service.port), timeout=HTTP_DEADLINE_S)
    half.sendall("\r\n".join(lines).encode() + content[: CHECKPOINT_BYTES + 2 * SIZE])
    until(
        lambda: part.exists() and part.stat().st_size > CHECKPOINT_BYTES + 2 * CHUNK_BYTES,
        what="a piece beyond the checkpoint, which is noted before it is written",
        deadline_s=HTTP_DEADLINE_S,
    )
    service.kill()
    half.close()

    service.start(PROVIDERS="fake")
    offset = int(service.request("HEAD", address, headers=TUS).header("upload-offset") or "-1")
    assert CHECKPOINT_BYTES <= offset < CHECKPOINT_BYTES + 2 * CHUNK_BYTES
    fields = {**TUS, "content-type": "application/offset+octet-stream", "upload-offset": str(offset)}
    done = service.request("PATCH", address, content[offset:], fields)
    assert done.status == 204
    assert service.request("GET", f"/files/{done.header('x-svc-file-id')}/content").body == content
    assert list(part.parent.iterdir()) == []
    assert service.command("fsck", "--deep").stdout == "ok\n"


@pytest.mark.peer
@needs(NODE, TUS_CLIENT)
def test_the_public_client_goes_on_after_a_kill(service: ServiceProcess, tmp_path: Path) -> None:
    service.start(PROVIDERS="fake")
    content = os.urandom(4 * SIZE + 1)
    (tmp_path / "sent").write_bytes(content)
    command = ["node", str(CLIENT), str(peers_dir()), f"{service.base}/files/tus", str(tmp_path / "sent"), str(SIZE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == f"{SIZE}\n"
        service.kill()
        service.start(PROVIDERS="fake")
        *_, last, ended = client.stdout.read().splitlines()
    done = json.loads(last)
    assert json.loads(ended) == {"fileId": done["fileId"], "terminated": True}
    assert service.request("GET", f"/files/{done['fileId']}/content").body == content
    assert service.rows("select name, mime from files") == [("größe.bin", "application/x-thing")]
    assert service.rows("select count(*) from partial_uploads") == [(0,)]
