"""kill -9 in the middle of an upload, on either side: the whole program against the whole server."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import pytest

from tests.sizes import HANGS_S
from tests.support.process import ROOT, ServiceProcess, free_port, until

pytestmark = pytest.mark.journey

TOKEN: Final = "a-token-of-some-length"
SIZE: Final = 24 * 1024 * 1024


def place(root: Path, port: int) -> subprocess.Popen[bytes]:
    """Our server for blobs, once it listens."""
    words = ["-m", "svc", "replica", "serve", "--dir", str(root), "--port", str(port), "--token", TOKEN]
    process = subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert b"Keeping blobs" in process.stdout.readline()
    return process


def until_some_has_come(root: Path) -> None:
    """Or all of it: a fast disk may leave no middle to see."""
    blobs = len(list(root.glob("??/??/*")))
    until(
        lambda: _is_coming(root) or len(list(root.glob("??/??/*"))) > blobs,
        what="some of the content to come",
        deadline_s=HANGS_S,
    )


def _is_coming(root: Path) -> bool:
    with suppress(FileNotFoundError):
        return any(one.stat().st_size for one in (root / ".incoming").iterdir())
    return False


def upload(service: ServiceProcess, content: bytes) -> str:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=HANGS_S)
    try:
        connection.request("POST", "/files", content, {"x-svc-filename": "large.bin"})
        answer = connection.getresponse()
        assert answer.status == 201
        sha256: str = json.loads(answer.read())["sha256"]
        return sha256
    finally:
        connection.close()


def test_what_was_being_uploaded_gets_there_whoever_was_killed(tmp_path: Path) -> None:
    root, port = tmp_path / "there", free_port()
    there = place(root, port)
    settings = {"SVC_BLOB_REPLICA_URL": f"http://127.0.0.1:{port}", "SVC_BLOB_REPLICA_TOKEN": TOKEN}
    try:
        with ServiceProcess(tmp_path) as service:
            service.start(PROVIDERS="fake", **settings)
            contents = [os.urandom(SIZE) for _ in range(2)]
            upload(service, contents[0])
            until_some_has_come(root)
            service.kill()
            service.start(PROVIDERS="fake", **settings)
            upload(service, contents[1])
            until_some_has_come(root)
            there.send_signal(signal.SIGKILL)
            there.wait(HANGS_S)
            there = place(root, port)
            names = [hashlib.sha256(content).hexdigest() for content in contents]
            paths = [root / name[:2] / name[2:4] / name for name in names]
            until(lambda: all(path.exists() for path in paths), what="every blob to be there", deadline_s=HANGS_S)
            assert [path.read_bytes() for path in paths] == contents
            assert service.stop() == 0
    finally:
        there.kill()
        there.wait(HANGS_S)
        if there.stdout is not None:
            there.stdout.close()
    assert not any((root / ".incoming").iterdir())
