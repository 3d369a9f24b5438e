"""A server that speaks S3, for tests: rclone on a folder, which checks signatures.

with buckets(directory) as there:
    there.port, there.key_id, there.secret     # and one bucket, there.bucket
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.peers.cache import peers_dir
from tests.support.process import free_port, until

START_DEADLINE_S: Final = 60.0


def rclone_path() -> Path | None:
    program = peers_dir() / "rclone" / "bin" / "rclone"
    return program if program.is_file() else None


@dataclass(frozen=True, kw_only=True)
class Buckets:
    port: int
    key_id: str = "the-id-of-a-key"
    secret: str = "the-secret-of-that-key"
    bucket: str = "bucket"


@contextmanager
def buckets(directory: Path) -> Iterator[Buckets]:
    """Wants ``needs(S3)``."""
    program = rclone_path()
    assert program is not None, "run .ci/peers first"
    there = Buckets(port=free_port())
    (directory / there.bucket).mkdir(parents=True)
    command = [str(program), "serve", "s3", "--addr", f"127.0.0.1:{there.port}"]
    command += ["--auth-key", f"{there.key_id},{there.secret}", str(directory)]
    with subprocess.Popen(
        command, env={"HOME": str(directory.parent)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(lambda: listens(there.port), what="rclone to listen", deadline_s=START_DEADLINE_S)
            yield there
        finally:
            process.kill()
            process.wait()


def listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=START_DEADLINE_S):
            return True
    except OSError:
        return False
