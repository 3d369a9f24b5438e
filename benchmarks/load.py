"""Load on a server: ``wrk`` where it is installed, else a small generator of our own, always as another process.

``python -m benchmarks.load PORT PATH SECONDS COOKIE`` is that generator; it prints answers a second.
"""

from __future__ import annotations

import re
import selectors
import shutil
import socket
import subprocess
import sys
import time
from typing import Final

from benchmarks.processes import REPOSITORY

CONNECTIONS: Final = 32
READ_BYTES: Final = 64 * 1024

BROWSER_FIELDS: Final = (
    (
        "User-Agent",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    ),
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Accept-Language", "en-GB,en;q=0.9"),
    ("Referer", "http://127.0.0.1/p/mail"),
    ("Sec-CH-UA", '"Chromium";v="142", "Not_A Brand";v="99"'),
    ("Sec-CH-UA-Mobile", "?0"),
    ("Sec-CH-UA-Platform", '"Linux"'),
    ("Sec-Fetch-Dest", "empty"),
    ("Sec-Fetch-Mode", "cors"),
    ("Sec-Fetch-Site", "same-origin"),
)

_WRK_RATE: Final = re.compile(r"Requests/sec:\s+([\d.]+)")
_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)


def generator() -> str:
    """Which one is used here."""
    return "wrk" if shutil.which("wrk") else "own generator (wrk is not installed)"


def answers_a_second(port: int, path: str, *, seconds: float, cookie: str) -> float:
    """Requests on 32 keep-alive connections with this cookie, each sent when the answer before it has come."""
    if shutil.which("wrk") is None:
        words = [sys.executable, "-m", "benchmarks.load", str(port), path, str(seconds), cookie]
        done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        return float(done.stdout)
    fields = [word for name, value in _fields(cookie) for word in ("-H", f"{name}: {value}")]
    words = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{max(1, round(seconds))}s",
        *fields,
        f"http://127.0.0.1:{port}{path}",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    rate = _WRK_RATE.search(done.stdout)
    if rate is None or "Non-2xx" in done.stdout:
        raise RuntimeError(f"the server did not answer every request well:\n{done.stdout}{done.stderr}")
    return float(rate[1])


def _fields(cookie: str) -> tuple[tuple[str, str], ...]:
    return (*BROWSER_FIELDS, ("Cookie", cookie))


def _generate(port: int, path: str, seconds: float, cookie: str) -> float:
    """Answers must be whole in their order and of one length a server: enough for what is measured here."""
    fields = [f"{name}: {value}" for name, value in _fields(cookie)]
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *fields]
    request = "\r\n".join([*lines, "", ""]).encode()
    answered = 0
    with selectors.DefaultSelector() as selector:
        for _ in range(CONNECTIONS):
            connection = socket.create_connection(("127.0.0.1", port))
            selector.register(connection, selectors.EVENT_READ, bytearray())
            connection.sendall(request)
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            for key, _ in selector.select(timeout=1.0):
                connection = key.fileobj  # type: ignore[assignment]
                received = connection.recv(READ_BYTES)
                if not received:
                    raise RuntimeError("the server closed a connection")
                key.data.extend(received)
                if _is_whole(key.data):
                    key.data.clear()
                    answered += 1
                    connection.sendall(request)
        elapsed = time.perf_counter() - began
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
    return answered / elapsed


def _is_whole(answer: bytearray) -> bool:
    head, mark, body = answer.partition(b"\r\n\r\n")
    if not mark:
        return False
    status = bytes(head[:13]).split()[1]
    length = _LENGTH.search(head)
    if status != b"200" or length is None:
        raise RuntimeError(f"the server answered {status!r}")
    return len(body) >= int(length[1])


if __name__ == "__main__":
    print(_generate(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4]))
