"""moto, for tests: AWS KMS on loopback, which checks encryption contexts and keys, and no signatures.

with kms() as service:
    service.url, service.create_key()
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.peers.cache import peers_dir
from tests.support.process import free_port, until

START_DEADLINE_S: Final = 60.0


def moto_path() -> Path | None:
    program = peers_dir() / "moto" / "bin" / "moto_server"
    return program if program.is_file() else None


@dataclass(frozen=True, kw_only=True)
class Kms:
    url: str

    def create_key(self) -> str:
        """The ARN of a new symmetric key."""
        arn: str = self.call("CreateKey", {})["KeyMetadata"]["Arn"]
        return arn

    def call(self, operation: str, asked: dict[str, Any]) -> Any:
        """Anything else of it, as an administrator."""
        headers = {
            "content-type": "application/x-amz-json-1.1",
            "x-amz-target": f"TrentService.{operation}",
            "authorization": "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/kms/aws4_request, "
            "SignedHeaders=host, Signature=0",
        }
        with urlopen(Request(self.url, json.dumps(asked).encode(), headers), timeout=START_DEADLINE_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None


@contextmanager
def kms() -> Iterator[Kms]:
    """A fresh one, with no key. Wants ``needs(KMS)``."""
    program = moto_path()
    assert program is not None, "run .ci/peers first"
    port = free_port()
    command = [str(program), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            service = Kms(url=f"http://127.0.0.1:{port}/")
            until(lambda: _answers(service), what="moto to answer", deadline_s=START_DEADLINE_S)
            yield service
        finally:
            process.kill()
            process.wait()


def _answers(service: Kms) -> bool:
    try:
        service.call("ListKeys", {})
    except (URLError, OSError):
        return False
    return True
