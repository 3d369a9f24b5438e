"""The whole program as a process, for journeys: started, asked over HTTP, looked into, stopped or killed.

    with ServiceProcess(tmp_path) as service:
        service.start(PROVIDERS="fake")
        assert service.query("health.ping")["ok"]
        service.kill()                       # kill -9: nothing of it is told
        service.start(PROVIDERS="fake")      # the same home, the same port

Everything blocks and is bounded in time. A process that dies early fails the test with its log.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from tests.sizes import FRONT, HANGS_S
from tests.support.warm import Program, Warm

READY_DEADLINE_S: Final = HANGS_S
STOP_DEADLINE_S: Final = HANGS_S
HTTP_DEADLINE_S: Final = HANGS_S
LOOK_AGAIN_S: Final = 0.02
ROOT: Final = Path(__file__).parent.parent.parent


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def json(self) -> Any:
        return json.loads(self.body)


class RpcError(AssertionError):
    """A procedure answered with an error; ``code`` is tRPC's."""

    def __init__(self, procedure: str, error: Any) -> None:
        super().__init__(f"{procedure}: {error}")
        self.code: str = error["data"]["code"]


@dataclass(kw_only=False)
class ServiceProcess:
    """One home and one port, and at most one process that serves them."""

    directory: Path
    port: int = 0
    """0: one that nobody else is given while this object lives."""
    program: Sequence[str] = ("-m", "svc", "serve", f"--front={FRONT}")
    root: Path = ROOT
    trusted: ssl.SSLContext | None = None
    """With it the service is asked by HTTPS, under the name `localhost`."""
    warm: bool = True
    """Whether it is started from a Python that has loaded the service already: see ``warm.py``."""
    _process: subprocess.Popen[bytes] | Program | None = None

    def __post_init__(self) -> None:
        if not self.port:
            place = kept_port()
            weakref.finalize(self, place.close)
            self.port = int(place.getsockname()[1])

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def log_path(self) -> Path:
        return self.directory / "service.log"

    @property
    def base(self) -> str:
        return f"https://localhost:{self.port}" if self.trusted else f"http://127.0.0.1:{self.port}"

    def die_at(self, step: int, *, of: str) -> Path:
        """From the next start on, the process kills itself at that step of the tasks of this name: see ``dying.py``.

        The file that tells it so: without it the process lives.
        """
        order = self.directory / "order"
        order.write_text(str(step))
        self.program = ("-m", "tests.journeys.dying", str(order), of)
        return order

    def hurry(self) -> None:
        """From the next start on, pauses that are there for people are short ones: see ``dying.py``."""
        self.die_at(0, of="nobody").unlink()

    @property
    def pid(self) -> int:
        assert self._process is not None, "the service does not run"
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self.kill()

    # Life and death

    def start(self, **settings: str) -> None:
        """Start it with these settings and no other; returns once ``/readyz`` says 200."""
        self.spawn(**settings)
        until(
            self.is_ready, what="/readyz to say 200", deadline_s=READY_DEADLINE_S, meanwhile=self._alive, tell=self.log
        )

    def spawn(self, **settings: str) -> None:
        """Start it, and don't wait for anything. The log of all runs is one file."""
        assert self._process is None, "it runs already"
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "IDP_"))}
        environ.pop("PROVIDERS", None)
        environ |= {
            "SVC_HOME": str(self.home),
            "SVC_PORT": str(self.port),
            "SVC_INTERNAL_PORT": "0",
            "SVC_LOG": "json",
            "XDG_CONFIG_HOME": str(self.directory / "config"),  # where the master key lies
            "PYTHONPATH": str(ROOT),  # for ``program``, where ``root`` is a copy of the package alone
            **settings,
        }
        if self.warm:
            self._process = Warm.of(self.root).start(
                self.program, cwd=self.root, environ=environ, stdout=None, stderr=self.log_path
            )
            return
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self.program], cwd=self.root, env=environ, stdin=subprocess.DEVNULL, stderr=log
            )

    def kill(self) -> None:
        """``kill -9``."""
        self._end(signal.SIGKILL)

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Let it drain; its exit code."""
        return self._end(by)

    def send(self, by: signal.Signals) -> None:
        """Send it a signal, and don't wait for what comes of it."""
        assert self._process is not None, "the service does not run"
        self._process.send_signal(by)

    def wait(self) -> int:
        """Its exit code, when it ends by itself."""
        assert self._process is not None, "the service does not run"
        try:
            return self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError(f"waited {STOP_DEADLINE_S:g} s for the process to end:\n{self.log()}") from None
        finally:
            self._process.wait()
            self._process = None

    def is_dead(self) -> bool:
        """Whether it has ended by itself; :meth:`wait` tells how."""
        assert self._process is not None, "the service does not run"
        return self._process.poll() is not None

    def is_ready(self) -> bool:
        try:
            return self.request("GET", "/readyz").status == 200
        except (OSError, HTTPException):
            return False

    # What it says

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own; a redirect is returned, not followed."""
        connection = self._connection()
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            fields = [(name.lower(), value) for name, value in response.getheaders()]
            return Reply(status=response.status, headers=fields, body=response.read())
        finally:
            connection.close()

    def _connection(self) -> HTTPConnection:
        if self.trusted is None:
            return HTTPConnection("127.0.0.1", self.port, timeout=HTTP_DEADLINE_S)
        return HTTPSConnection("localhost", self.port, timeout=HTTP_DEADLINE_S, context=self.trusted)

    def query(self, procedure: str, **wanted: object) -> Any:
        return _result(procedure, self.request("GET", f"/trpc/{procedure}?input={quote(json.dumps(wanted))}"))

    def mutate(self, procedure: str, **wanted: object) -> Any:
        headers = {"content-type": "application/json"}
        return _result(procedure, self.request("POST", f"/trpc/{procedure}", json.dumps(wanted).encode(), headers))

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def events(self, event: str) -> list[dict[str, Any]]:
        """The log's entries of that name, oldest first."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == event]

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """What its database holds now, read beside it."""
        with self.reading() as database:
            return database.execute(sql, parameters).fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Its database, read beside it. One connection for many statements: each new one reads the whole schema."""
        connection = sqlite3.connect(f"file:{self.home}/db/svc.sqlite3?mode=ro", uri=True)
        try:
            yield connection
        finally:
            connection.close()

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run another ``svc`` command on the same home, such as ``fsck``."""
        environ = os.environ | {"SVC_HOME": str(self.home), "XDG_CONFIG_HOME": str(self.directory / "config")}
        return run_svc(*arguments, environ=environ, root=self.root, warm=self.warm)

    def _end(self, by: signal.Signals) -> int:
        self.send(by)
        return self.wait()

    def _alive(self) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            code, self._process = self._process.returncode, None
            raise AssertionError(f"the service ended with {code}:\n{self.log()}")


def run_svc(
    *arguments: str, environ: Mapping[str, str], root: Path = ROOT, warm: bool = True, program: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run one ``svc`` command to its end, in this environment and no other. ``program``: a module, with its own words,
    in place of it."""
    if not warm:
        return subprocess.run(
            [sys.executable, "-m", "svc", *arguments],
            cwd=root,
            env=environ,
            capture_output=True,
            text=True,
            timeout=STOP_DEADLINE_S,
            check=False,
        )
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        command = ["-m", *(program or ("svc", *arguments))]
        running = Warm.of(root).start(command, cwd=root, environ=environ, stdout=out, stderr=err)
        try:
            code = running.wait(STOP_DEADLINE_S)
        finally:
            running.kill()
            running.wait()
        return subprocess.CompletedProcess(command, code, out.read_text(), err.read_text())


def until(
    holds: Callable[[], bool],
    *,
    what: str,
    deadline_s: float,
    meanwhile: Callable[[], None] = lambda: None,
    tell: Callable[[], str] = str,
) -> None:
    """Wait until ``holds``: for what another process does there is nothing to wait on but its effects.

    ``what`` says what is waited for, in the words of "waited for …".
    """
    give_up = time.monotonic() + deadline_s
    while not holds():
        meanwhile()
        assert time.monotonic() < give_up, f"waited {deadline_s:g} s for {what}:\n{tell()}"
        time.sleep(LOOK_AGAIN_S)


def kept_port() -> socket.socket:
    """A free port, and not given to anybody else until this is closed. A program may listen there all the same, where
    it sets ``SO_REUSEADDR``: what is bound and does not listen is not in its way."""
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    place.bind(("127.0.0.1", 0))
    return place


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _result(procedure: str, reply: Reply) -> Any:
    answer = reply.json()
    if "error" in answer:
        raise RpcError(procedure, answer["error"])
    return answer["result"].get("data")
