"""PostgreSQL, for tests: a server of its own on loopback, with TLS, and PgBouncer in transaction mode in front of it.

    with postgres() as server:
        server.url, server.certificate
        server.stop(); server.start()

The role ``escrow`` owns the database ``escrow``; :meth:`Postgres.run` asks as the superuser. As root the server runs as
the user ``postgres``, since it refuses root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.support.process import free_port, until

OWNER: Final = "postgres"
ROLE: Final = "escrow"
PASSWORD: Final = "pw"
START_DEADLINE_S: Final = 60.0
_QUICK: Final = (
    "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=250 "
    "-c ssl=on"
)


def postgres_programs() -> Path | None:
    """The folder of the newest server there is: not in everybody's PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    program = shutil.which("initdb")
    return None if program is None else Path(program).parent


def pgbouncer_path() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass(kw_only=True)
class Postgres:
    directory: Path
    port: int
    programs: Path

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}:{PASSWORD}@127.0.0.1:{self.port}/{ROLE}"

    @property
    def certificate(self) -> Path:
        return self.directory / "data" / "server.crt"

    def start(self) -> None:
        """Returns once it takes connections."""
        options = (
            f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.directory} {_QUICK}"
        )
        self._control("start", "-l", str(self.directory / "log"), "-o", options)

    def stop(self) -> None:
        """Every connection ends at once."""
        self._control("stop", "-m", "fast")

    def run(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """As the superuser; the rows, if any."""
        address = f"postgresql://{OWNER}@127.0.0.1:{self.port}/{ROLE}"
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as connection:
            done = connection.execute(sql.encode(), parameters or None)
            return done.fetchall() if done.description else []

    def _control(self, *arguments: str) -> None:
        _as_owner([str(self.programs / "pg_ctl"), "-D", str(self.directory / "data"), "-w", *arguments], self.directory)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A fresh server. Wants ``needs(POSTGRES)``."""
    programs = postgres_programs()
    assert programs is not None, "run .ci/peers first"
    directory = Path(tempfile.mkdtemp(prefix="svc-postgres-"))
    directory.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(directory, OWNER, OWNER)
    server = Postgres(directory=directory, port=free_port(), programs=programs)
    data = directory / "data"
    try:
        made = ("-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
        _as_owner([str(programs / "initdb"), "-D", str(data), "-U", OWNER, *made], directory)
        _as_owner(_certificate(data), directory)
        server.start()
        try:
            with psycopg.connect(f"postgresql://{OWNER}@127.0.0.1:{server.port}/postgres", autocommit=True) as first:
                first.execute(f"create role {ROLE} login password '{PASSWORD}'".encode())
                first.execute(f"create database {ROLE} owner {ROLE}".encode())
            yield server
        finally:
            server._control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def pgbouncer(server: Postgres, *, connections: int) -> Iterator[str]:
    """The URL of a pooler in transaction mode, with so many connections to the server. Wants ``needs(PGBOUNCER)``."""
    program = pgbouncer_path()
    assert program is not None, "run .ci/peers first"
    directory = server.directory / "pool"
    directory.mkdir()
    port = free_port()
    (directory / "users.txt").write_text(f'"{ROLE}" "{PASSWORD}"\n')
    (directory / "pgbouncer.ini").write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = plain\nauth_file = {directory}/users.txt\n"
        f"pool_mode = transaction\ndefault_pool_size = {connections}\n"
    )
    if os.geteuid() == 0:
        for path in (directory, *directory.iterdir()):
            shutil.chown(path, OWNER, OWNER)
    command = [*_owner(), program, "-q", str(directory / "pgbouncer.ini")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=directory) as process:
        try:
            url = f"postgresql://{ROLE}:{PASSWORD}@127.0.0.1:{port}/{ROLE}"
            until(lambda: _answers(url), what="PgBouncer to answer", deadline_s=START_DEADLINE_S)
            yield url
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(directory)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def _certificate(data: Path) -> list[str]:
    return [
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
        *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        *("-keyout", str(data / "server.key"), "-out", str(data / "server.crt")),
    ]


def _owner() -> list[str]:
    """What a command begins with, where root runs the tests."""
    return ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--init-groups"] if os.geteuid() == 0 else []


def _as_owner(command: Sequence[str], directory: Path) -> None:
    done = subprocess.run(
        [*_owner(), *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=directory, check=False
    )
    assert done.returncode == 0, done.stderr
