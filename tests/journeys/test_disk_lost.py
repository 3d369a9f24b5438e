"""A machine is lost while mail comes in: home and master key are gone. On another one all is there that was sent away,
with its bytes; and the drill finds what would have stood against that."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import pytest

from tests.sizes import DISKS_LOST, HANGS_S, KILLED_FACTOR
from tests.support.process import ROOT, ServiceProcess, free_port, run_svc, until

pytestmark = [pytest.mark.journey, pytest.mark.share(2)]

MIA: Final = "mia@example.org"
TOKEN: Final = "a-token-for-the-replica-of-this-test-alone"
BEFORE: Final = 4
AFTER: Final = 6


class Machine:
    """What outlives the service: its archive and its replica."""

    def __init__(self, directory: Path) -> None:
        self.archive, self.blobs = directory / "archive", directory / "replica"
        self.port = free_port()

    @contextmanager
    def serving(self) -> Iterator[None]:
        command = ["replica", "serve", "--dir", str(self.blobs), "--port", str(self.port), "--token", TOKEN]
        server = subprocess.Popen([sys.executable, "-m", "svc", *command], cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(HANGS_S)

    @property
    def settings(self) -> dict[str, str]:
        return {
            "PROVIDERS": "fake",
            "ARCHIVE_FILE_PREFIX": str(self.archive),
            "SVC_BLOB_REPLICA_URL": f"http://127.0.0.1:{self.port}",
            "SVC_BLOB_REPLICA_TOKEN": TOKEN,
        }


def svc(
    machine: Machine, service: ServiceProcess, *arguments: str, program: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """A command on a machine that has nothing of the lost one but the paper with the code."""
    environ = {
        **os.environ,
        **machine.settings,
        "SVC_HOME": str(service.home),
        "XDG_CONFIG_HOME": str(service.directory / "config"),
    }
    return run_svc(*arguments, environ=environ, program=program)


def receive(service: ServiceProcess, subject: str) -> None:
    """Returns once the mail is acknowledged."""
    mail = {"address": MIA, "from": "ada@example.net", "subject": subject, "text": subject * 9}
    service.mutate("fake.mail.inject", **mail)
    service.mutate("fake.mail.syncNow", address=MIA)


def is_away(service: ServiceProcess, since: str) -> bool:
    """All that was there at ``since`` is in the archive and at the replica."""
    status = service.query("backup.status")
    assert status["archiving"]["enabled"]
    return (status["archiving"]["lastAt"] or "") > since and status["replica"]["pending"] == 0


def all_blobs_are_away(service: ServiceProcess) -> None:
    """Then a base backup makes a recovery point with all of them at once, and not the next minute."""
    until(
        lambda: service.query("backup.status")["replica"]["pending"] == 0,
        what="the replica to have all",
        deadline_s=HANGS_S,
        tell=service.log,
    )


def now(service: ServiceProcess) -> str:
    told: str = service.query("health.ping")["time"]
    return told


def kept(home: Path) -> dict[str, bytes]:
    """By subject, the mail as it came, compared with its name."""
    connection = sqlite3.connect(f"file:{home}/db/svc.sqlite3?mode=ro", uri=True)
    try:
        rows = connection.execute("select subject, raw_sha256 from mail_messages").fetchall()
    finally:
        connection.close()
    found = {}
    for subject, name in rows:
        data = (home / "blobs" / name[:2] / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == name
        found[subject] = data
    return found


def test_what_was_acknowledged_and_sent_away_is_there_on_another_machine(tmp_path: Path, chance: random.Random) -> None:
    machine = Machine(tmp_path)
    with machine.serving(), ServiceProcess(tmp_path / "service") as service:
        service.directory.mkdir()
        for turn in range(DISKS_LOST):
            service.start(**machine.settings)
            for count in range(BEFORE):
                receive(service, f"kept {turn}.{count}")
            safe = kept(service.home)
            assert f"kept {turn}.{BEFORE - 1}" in safe
            code = svc(machine, service, "secrets", "recovery-code").stdout.strip()
            made = now(service)
            until(
                lambda since=made: is_away(service, since),  # type: ignore[misc]
                what="what came, and the code's copy, to be elsewhere",
                deadline_s=HANGS_S,
                tell=service.log,
            )
            for count in range(chance.randint(0, AFTER)):
                receive(service, f"perhaps {turn}.{count}")
            service.kill()
            provider = (service.home / "spool" / "fake.jsonl").read_bytes()  # the mailbox itself is elsewhere
            for lost in (service.home, service.directory / "config"):
                shutil.rmtree(lost)

            restored = svc(machine, service, "restore", "--into", str(service.home), "--recovery-code", code)
            assert restored.returncode == 0, restored.stderr
            assert restored.stdout.startswith("Done:")
            there = kept(service.home)
            assert safe.keys() <= there.keys()
            assert all(there[subject] == data for subject, data in safe.items())
            (service.home / "spool" / "fake.jsonl").write_bytes(provider)
        assert svc(machine, service, "fsck", "--deep").stdout == "ok\n"


def test_the_drill_finds_what_stands_against_a_restore(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with machine.serving(), ServiceProcess(tmp_path / "service") as service:
        service.directory.mkdir()
        settings = {**machine.settings, "LLM_A_API_KEY": "a-key-that-is-kept"}
        service.start(**settings)
        for count in range(BEFORE):
            receive(service, f"there {count}")
        half = machine.archive / "db" / "ltx" / "9" / "0000000000000001-0000000000000001.ltx.tmp"
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(b"of a copy that was cut off")
        all_blobs_are_away(service)
        service.mutate("backup.now")
        assert not half.exists()
        until(
            lambda: any(one["blobs"] >= 2 * BEFORE for one in service.query("backup.status")["recoveryPoints"]),
            what="a recovery point",
            deadline_s=HANGS_S,
            tell=service.log,
        )
        assert drill(service)["problem"] is None
        blobs = blobs_of(machine)  # of the moment that is tried; those that come from now on may be of a later one
        killed_while_a_base_backup_is_made(service, settings)
        assert drill(service)["problem"] is None
        for name, corrupt in injected(machine, blobs):
            undo = corrupt()
            found = drill(service)
            assert not found["ok"], name
            assert found["problem"], name
            checks = {one["name"]: one["state"] for one in service.mutate("health.check")["checks"]}
            assert checks["archive"] == "warning"
            assert service.request("GET", "/readyz").status == 200
            undo()
        assert drill(service)["problem"] is None
        told = svc(machine, service, "backup", "verify")
        assert (told.returncode, "0 faults" in told.stdout) == (0, True), told

        (newest, *_) = service.query("backup.status")["recoveryPoints"]
        receive(service, "later than that")
        there = kept(service.home)
        assert "later than that" in there
        assert service.stop() == 0
        elsewhere = ServiceProcess(tmp_path / "elsewhere")  # without the master key, and without the code
        restored = svc(machine, elsewhere, "restore", "--at", newest["at"], "--into", str(elsewhere.home))
        assert restored.returncode == 0, restored.stderr
        assert "Passwords and tokens were removed (1)" in restored.stderr
        had_back = kept(elsewhere.home)
        assert {f"there {count}" for count in range(BEFORE)} <= had_back.keys()  # and what came before that moment
        assert "later than that" not in had_back
        assert had_back == {subject: there[subject] for subject in had_back}
        assert elsewhere.rows("select count(*) from secrets") == [(0,)]
        again = svc(machine, elsewhere, "restore", "--into", str(elsewhere.home))
        assert (again.returncode, "is not empty" in again.stderr) == (1, True)
        what_is_killed_is_not_taken_for_whole(machine, tmp_path, elsewhere)


def killed_while_a_base_backup_is_made(service: ServiceProcess, settings: dict[str, str]) -> None:
    """The whole service, with its archiver. What is begun is begun anew, and nothing is told that is not there."""
    receive(service, "while it is made")
    before = service.query("backup.status")["baseBackups"]

    def ask() -> None:
        with suppress(OSError, HTTPException):  # it is cut off
            service.mutate("backup.now")

    def is_begun() -> bool:
        status = service.query("backup.status")
        return status["baseBegunAt"] is not None or status["baseBackups"] != before

    asking = threading.Thread(target=ask)
    asking.start()
    until(is_begun, what="a base backup", deadline_s=HANGS_S, tell=service.log)
    service.kill()
    asking.join()
    service.start(**settings)
    status = service.query("backup.status")
    assert (status["baseBegunAt"], status["baseBackups"][-len(before) :]) == (None, before)
    receive(service, "after it")
    until(lambda: service.query("backup.status")["archiving"]["lastAt"] is not None, what="it runs", deadline_s=HANGS_S)
    made = service.mutate("backup.now")
    assert service.query("backup.status")["baseBackups"][0] == made


def what_is_killed_is_not_taken_for_whole(machine: Machine, directory: Path, service: ServiceProcess) -> None:
    """A restore, an export and an import are killed, early and late; the same command again brings it to an end."""
    there = kept(service.home)
    again = directory / "again"

    def nothing_is_there() -> None:
        assert not again.exists()
        assert not (directory / "all.tar").exists()

    dies_and_is_given_again(machine, service, "restore", "--into", str(again), dead=nothing_is_there)
    assert there.keys() <= kept(again).keys()
    shutil.rmtree(again)
    dies_and_is_given_again(machine, service, "export", str(directory / "all.tar"), dead=nothing_is_there)
    assert [one.name for one in directory.iterdir() if "restoring" in one.name or ".part" in one.name] == []
    taken = ServiceProcess(directory / "taken")
    taken.directory.mkdir()
    dies_and_is_given_again(machine, taken, "import", str(directory / "all.tar"))
    assert sorted(kept(taken.home)) == sorted(there)
    assert svc(machine, taken, "fsck", "--deep").stdout == "ok\n"


def dies_and_is_given_again(
    machine: Machine, service: ServiceProcess, *words: str, dead: Callable[[], None] = lambda: None
) -> None:
    step, order, died = 2.0, service.directory / "order", 0
    while True:
        order.write_text(str(round(step)))
        program = ("tests.journeys.dying", str(order), "svc.", *words)
        done = svc(machine, service, *words, program=program)
        if done.returncode != -signal.SIGKILL:
            break
        died += 1
        dead()
        step *= KILLED_FACTOR
    assert (done.returncode, died > 0) == (0, True), done.stderr


def drill(service: ServiceProcess) -> Any:
    return service.mutate("backup.drill")


Corrupt = Callable[[], Callable[[], None]]


def blobs_of(machine: Machine) -> list[Path]:
    return sorted(path for path in machine.blobs.rglob("*") if path.is_file() and len(path.name) == 64)


def injected(machine: Machine, blobs: Sequence[Path]) -> Iterator[tuple[str, Corrupt]]:
    """Ten ways in which what lies elsewhere is not what it should be; each can be taken back."""
    first, last, middle = blobs[0], blobs[-1], blobs[len(blobs) // 2]
    levels = machine.archive / "db" / "ltx"
    for title, blob in (("the first", first), ("the last", last)):
        yield f"{title} blob is missing", lambda blob=blob: changed(blob, None)  # type: ignore[misc]
    yield "a blob is empty", lambda: changed(middle, b"")
    yield "a blob is cut", lambda: changed(middle, middle.read_bytes()[:-1])
    yield (
        "a blob has another byte",
        lambda: changed(middle, bytes([middle.read_bytes()[0] ^ 1]) + middle.read_bytes()[1:]),
    )
    yield "a blob has more", lambda: changed(middle, middle.read_bytes() + b"\n")
    yield "all of the database is gone", lambda: moved(machine.archive / "db")
    yield "what is known of the archive is gone", lambda: moved(machine.archive / "ledger")
    yield "every file of the database is cut", lambda: all_changed(levels, lambda data: data[: len(data) // 2])
    yield "every file of the database has other bytes", lambda: all_changed(levels, flipped)


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0x5A for byte in data[middle : middle + 8]) + data[middle + 8 :]


def changed(path: Path, data: bytes | None) -> Callable[[], None]:
    before = path.read_bytes()
    path.unlink()
    if data is not None:
        path.write_bytes(data)

    def undo() -> None:
        path.unlink(missing_ok=True)
        path.write_bytes(before)

    return undo


def moved(path: Path) -> Callable[[], None]:
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)

    def undo() -> None:
        for late in [one for one in path.rglob("*") if one.is_file()]:  # the archiver went on meanwhile
            late.replace(aside / late.relative_to(path))
        shutil.rmtree(path, ignore_errors=True)
        aside.rename(path)

    return undo


def all_changed(folder: Path, change: Callable[[bytes], bytes]) -> Callable[[], None]:
    undos = [changed(path, change(path.read_bytes())) for path in sorted(folder.rglob("*.ltx"))]

    def undo() -> None:
        for one in undos:
            one()

    return undo
