"""What speaks like the storage of two clouds, for tests: Azurite, which checks signatures, and an emulator of Google's.

with azurite(directory) as there:
    there.url, there.account, there.key        # make a container with there.make("box")
with google_storage() as url:                  # with one bucket, BUCKET
    …
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from tests.peers.buckets import listens
from tests.peers.cache import peers_dir
from tests.support.process import free_port, until

START_DEADLINE_S: Final = 60.0
BUCKET: Final = "bucket"


def azurite_path() -> Path:
    return peers_dir() / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"


def google_storage_path() -> Path:
    return peers_dir() / "google-storage" / "bin" / "gcp-storage-emulator"


@dataclass(frozen=True, kw_only=True)
class Azurite:
    """The account and the key are its own, which everybody knows."""

    port: int
    account: str = "devstoreaccount1"
    key: str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.account}"

    def make(self, container: str) -> None:
        at = datetime.now(tz=UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        path, version = f"/{self.account}/{container}", "2023-11-03"
        signed = f"PUT{chr(10) * 12}x-ms-date:{at}\nx-ms-version:{version}\n/{self.account}{path}\nrestype:container"
        digest = hmac.new(base64.b64decode(self.key), signed.encode(), hashlib.sha256).digest()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=START_DEADLINE_S)
        headers = {
            "x-ms-date": at,
            "x-ms-version": version,
            "content-length": "0",
            "authorization": f"SharedKey {self.account}:{base64.b64encode(digest).decode()}",
        }
        connection.request("PUT", f"{path}?restype=container", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        connection.close()


@contextmanager
def azurite(directory: Path) -> Iterator[Azurite]:
    """Wants ``needs(AZURITE)``."""
    there, node = Azurite(port=free_port()), shutil.which("node")
    assert node is not None
    words = ("--blobHost", "127.0.0.1", "--blobPort", str(there.port), "--location", str(directory))
    with _running([node, str(azurite_path()), *words, "--skipApiVersionCheck", "--silent"], there.port):
        yield there


@contextmanager
def google_storage() -> Iterator[str]:
    """Its URL; it forgets all. Wants ``needs(GOOGLE_STORAGE)``."""
    port = free_port()
    words = ("start", "--host", "127.0.0.1", "--port", str(port), "--default-bucket", BUCKET, "--in-memory", "--quiet")
    with _running([str(google_storage_path()), *words], port):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: listens(port), what=f"{command[0]} to listen", deadline_s=START_DEADLINE_S)
            yield
        finally:
            process.kill()
            process.wait()
