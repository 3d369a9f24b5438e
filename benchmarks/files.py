"""One large file up and down, beside what nobody can save (hashing it, writing it) and beside nginx; memory meanwhile.

nginx neither hashes nor syncs what it takes, so the fair floor of an upload is the plain loop that does both. What
was written and freed just before can cost the next writer time, above all in a virtual machine, which gives free memory
back. So the ways that write take turns in each possible order.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.processes import svc_serve
from benchmarks.report import Table, count, median, paired_ratio
from svc.store.checked import SETTLED_MS

MIB: Final = 1024 * 1024
SIZE: Final = 1024 * MIB
ROUNDS: Final = 6
QUICK_SIZE: Final = 128 * MIB
QUICK_ROUNDS: Final = 2
BLOCK_BYTES: Final = 256 * 1024
SAMPLE_S: Final = 0.02
AT_REST_S: Final = SETTLED_MS / 1_000 + 0.1  # until what was just uploaded counts as a file that nobody touches

SHA256: Final = "limit: sha256 alone"
PLAIN: Final = "limit: sha256, write, fsync, in a loop"
SVC_UP: Final = "svc, POST /files"
SVC_FIRST: Final = "svc, GET /blobs/:sha256, first (hashed on the way)"
SVC_DOWN: Final = "svc, GET /blobs/:sha256, again (sent by the system)"
NGINX_UP: Final = "nginx, PUT (no hash, no fsync)"
NGINX_DOWN: Final = "nginx, GET (sendfile)"

NGINX_CONFIG: Final = """
daemon off; master_process off; pid {root}/nginx.pid; error_log {root}/error.log;
events {{ }}
http {{
    access_log off; sendfile on; client_max_body_size 0;
    client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
    uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
    server {{ listen 127.0.0.1:{port}; root {root}/www; dav_methods PUT; }}
}}
"""


def run(quick: bool) -> Iterable[Table]:
    size, rounds = (QUICK_SIZE, QUICK_ROUNDS) if quick else (SIZE, ROUNDS)
    with TemporaryDirectory() as directory, ExitStack() as stack:
        source = _source(Path(directory) / "source", size)
        settings = {"SVC_UPLOAD_MAX_BYTES": str(size)}
        svc = stack.enter_context(svc_serve(Path(directory) / "home", settings=settings))
        nginx = stack.enter_context(_nginx(Path(directory) / "nginx"))
        sha256 = _sha256(source)
        ways: dict[str, Callable[[], None]] = {
            SHA256: lambda: _only_hash(source),
            PLAIN: lambda: _hash_and_keep(source, Path(directory) / "plain"),
            SVC_UP: lambda: _send(svc.port, "POST", "/files", source),
            SVC_FIRST: lambda: _receive(svc.port, f"/blobs/{sha256}", size),
            SVC_DOWN: lambda: _receive(svc.port, f"/blobs/{sha256}", size),
        }
        if nginx is not None:
            ways[NGINX_UP] = lambda: _send(nginx, "PUT", "/file", source)
            ways[NGINX_DOWN] = lambda: _receive(nginx, "/file", size)
        rates: dict[str, list[float]] = {name: [] for name in ways}
        peaks: dict[str, list[int]] = {SVC_UP: [], SVC_FIRST: [], SVC_DOWN: []}
        at_rest = _resident(svc.process.pid)
        for number in range(rounds):
            for name in _order(number):
                way = ways.get(name)
                if way is None:
                    continue
                if name == SVC_FIRST:
                    time.sleep(AT_REST_S)
                os.sync()  # what another way left to be written is not this one's work
                seconds, peak = _measured(way, svc.process.pid)
                rates[name].append(size / MIB / seconds)
                if name in peaks:
                    peaks[name].append(peak)
    yield _rates(rates, size, rounds)
    yield _memory(peaks, at_rest, size)


def _order(number: int) -> list[str]:
    """The ways of one round. The first download of svc is always before its next."""
    writers = list(permutations((PLAIN, SVC_UP, NGINX_UP)))
    downloads = [NGINX_DOWN, SVC_FIRST, SVC_DOWN] if number % 2 else [SVC_FIRST, SVC_DOWN, NGINX_DOWN]
    return [SHA256, *writers[number % len(writers)], *downloads]


def _rates(rates: dict[str, list[float]], size: int, rounds: int) -> Table:
    table = Table(
        title=f"One file of {size // MIB:,} MiB over loopback",
        columns=("way", "MiB/s", "x sha256 alone", "x plain loop", "svc x this"),
    )
    for name, found in rates.items():
        svc = rates[SVC_DOWN] if name in (SVC_FIRST, SVC_DOWN, NGINX_DOWN) else rates[SVC_UP]
        table.add(
            name,
            count(median(found)),
            paired_ratio(found, rates[SHA256]),
            paired_ratio(found, rates[PLAIN]),
            paired_ratio(svc, found),
        )
    table.notes.append(f"medians of {rounds} interleaved rounds; ratios are taken within each round")
    table.notes.append("the known content is written and synced again: an upload's time does not tell what is there")
    if NGINX_UP not in rates:
        table.notes.append("nginx is not installed")
    return table


def _memory(peaks: dict[str, list[int]], at_rest: int, size: int) -> Table:
    table = Table(
        title="Resident memory of svc meanwhile, MiB", columns=("way", "at rest", "peak", "more", "of the file")
    )
    for name, found in peaks.items():
        more = max(found) - at_rest
        table.add(name, f"{at_rest / MIB:.1f}", f"{max(found) / MIB:.1f}", f"{more / MIB:.1f}", f"{more / size:.2%}")
    return table


# The ways


def _only_hash(source: Path) -> None:
    digest = hashlib.sha256()
    with source.open("rb", buffering=0) as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)


def _hash_and_keep(source: Path, target: Path) -> None:
    digest = hashlib.sha256()
    with source.open("rb", buffering=0) as file, target.open("wb", buffering=0) as kept:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            kept.write(block)
        os.fsync(kept.fileno())


def _send(port: int, method: str, path: str, source: Path) -> None:
    """The kernel copies the file into the socket, so that the client costs next to nothing."""
    with socket.create_connection(("127.0.0.1", port)) as connection, source.open("rb") as file:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        connection.sendall(f"{head}Content-Length: {source.stat().st_size}\r\n\r\n".encode())
        connection.sendfile(file)
        status = connection.makefile("rb").readline().split()[1]
    if status not in (b"201", b"204"):
        raise RuntimeError(f"the upload was answered with {status!r}")


def _receive(port: int, path: str, size: int) -> None:
    buffer = bytearray(BLOCK_BYTES)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    response = connection.getresponse()
    received = 0
    while got := response.readinto(buffer):
        received += got
    connection.close()
    if (response.status, received) != (http.client.OK, size):
        raise RuntimeError(f"the download was answered with {response.status} and {received} bytes")


# The measuring


def _measured(way: Callable[[], None], pid: int) -> tuple[float, int]:
    """Seconds, and the most memory that the process held meanwhile."""
    ended = threading.Event()
    peak = _resident(pid)

    def watch() -> None:
        nonlocal peak
        while not ended.wait(SAMPLE_S):
            peak = max(peak, _resident(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    try:
        way()
        return time.perf_counter() - began, peak
    finally:
        ended.set()
        watcher.join()


def _resident(pid: int) -> int:
    """Bytes; 0 where the system does not tell (only Linux does)."""
    statm = Path(f"/proc/{pid}/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def _source(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(os.urandom(MIB))
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _nginx(root: Path) -> Iterator[int | None]:
    """The port of an nginx of our own; ``None`` where it is not installed."""
    program = shutil.which("nginx")
    if program is None:
        yield None
        return
    (root / "www").mkdir(parents=True)
    root.parent.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    (root / "nginx.conf").write_text(NGINX_CONFIG.format(root=root, port=port))
    process = subprocess.Popen([program, "-c", str(root / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(SAMPLE_S)
        yield port if process.poll() is None else None
    finally:
        process.terminate()
        process.wait()
