"""Programs under measurement: started on a free port, found when they serve, ended by their own handle."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
START_TIMEOUT_S: Final = 60.0
END_TIMEOUT_S: Final = 20.0
POLL_S: Final = 0.002
INTERNAL_TOKEN: Final = "t" * 43


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running program. ``ready_s``: from exec to the first 200."""

    process: subprocess.Popen[bytes]
    port: int
    ready_s: float


@contextmanager
def svc_serve(
    home: Path,
    *,
    role: str = "all",
    program: Sequence[str] = (sys.executable, "-m", "svc"),
    settings: Mapping[str, str] = MappingProxyType({}),
    root: Path = REPOSITORY,
) -> Iterator[Server]:
    """The real ``svc serve`` with the fake providers, if ``settings`` do not say otherwise, ready. ``root``: where the
    package lies."""
    log = home.with_name(home.name + ".log")
    began = time.perf_counter()
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*program, "serve", f"--role={role}"],
            cwd=root,
            env={**environment(home), **settings},
            stderr=sink,
        )
    with _ended(process):
        port = _port_in_log(log, process, "worker.listening" if role == "worker" else "http.listening")
        _wait_ready(port, "/readyz", {"authorization": f"Bearer {INTERNAL_TOKEN}"} if role == "worker" else {})
        yield Server(process=process, port=port, ready_s=time.perf_counter() - began)


@contextmanager
def on_inherited_listener(arguments: Sequence[str]) -> Iterator[Server]:
    """``python -m <arguments…>``, with ``FD`` among them replaced by the descriptor of an open listener."""
    began = time.perf_counter()
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as listener:
        descriptor = listener.fileno()
        port = listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", *(str(descriptor) if word == "FD" else word for word in arguments)],
            cwd=REPOSITORY,
            pass_fds=[descriptor],
            stderr=subprocess.DEVNULL,
        )
    with _ended(process):
        _wait_ready(port, "/")
        yield Server(process=process, port=port, ready_s=time.perf_counter() - began)


def environment(home: Path) -> Mapping[str, str]:
    """Only what is needed, so that the caller's own settings do not leak in. The master key stays beside the home."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PROVIDERS": "fake",
        "SVC_HOME": str(home),
        "SVC_PORT": "0",
        "SVC_LOG": "json",
        "SVC_INTERNAL_TOKEN": INTERNAL_TOKEN,
        "SVC_WORKER_URL": ":0",
        "XDG_CONFIG_HOME": str(home.with_name(home.name + "-config")),
    }


def _port_in_log(log: Path, process: subprocess.Popen[bytes], event: str) -> int:
    while process.poll() is None:
        for line in log.read_bytes().splitlines():
            with suppress(ValueError):  # a line half written
                record = json.loads(line)
                if record["event"] == event:
                    return int(record["port"])
        time.sleep(POLL_S)
    raise RuntimeError(f"svc did not come up:\n{log.read_text(errors='replace')}")


def _wait_ready(port: int, path: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    deadline = time.perf_counter() + START_TIMEOUT_S
    while time.perf_counter() < deadline:
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_TIMEOUT_S)
            connection.request("GET", path, headers=dict(headers))
            if connection.getresponse().status == http.client.OK:
                connection.close()
                return
        time.sleep(POLL_S)
    raise RuntimeError(f"nothing serves on port {port}")


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
