"""``svc doctor`` where no service runs: each fault is staged on a home that was well, and named with what to do."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from svc import __version__
from tests.health.homes import HomeCopy, live
from tests.support.process import ServiceProcess

_PAGE: Final = 4_096


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("lived-in")
    live(directory)
    return directory


@pytest.fixture
def home_copy(
    lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> HomeCopy:
    return HomeCopy.copied(lived_in, tmp_path / "copy", monkeypatch=monkeypatch, capsys=capsys)


def test_a_home_that_is_well_has_nothing_to_complain_of(home_copy: HomeCopy) -> None:
    rows = home_copy.examined()
    assert home_copy.exit_code == 0
    assert {row["state"] for row in rows} <= {"ok", "skipped"}
    assert {"keys", "database", "integrity", "content", "ports", "clock"} <= {
        row["name"] for row in rows if row["state"] == "ok"
    }


def test_a_home_that_was_never_used_is_no_fault(home_copy: HomeCopy) -> None:
    home_copy.settings["SVC_HOME"] = str(home_copy.directory / "new")
    assert {row["state"] for row in home_copy.examined()} <= {"ok", "skipped"}
    assert not (home_copy.directory / "new").exists()


def test_a_home_that_only_commands_have_opened_yet_is_no_fault(home_copy: HomeCopy) -> None:
    """As after `svc invite --admin`, before the first start; or before the first start of a newer version."""
    sql("delete from consumers")(home_copy)
    assert {row["state"] for row in home_copy.examined()} <= {"ok", "skipped"}


def test_it_changes_nothing(home_copy: HomeCopy) -> None:
    def content() -> dict[Path, tuple[int, bytes]]:
        files = [path for path in home_copy.directory.rglob("*") if path.is_file()]
        kept = [path for path in files if not path.name.endswith(("-shm", "-wal"))]
        return {path: (path.stat().st_mode, path.read_bytes()) for path in kept}

    before = content()
    home_copy.examined()
    assert content() == before


@dataclass(frozen=True, kw_only=True)
class Fault:
    """``cause`` and ``remedy``: words that the finding must hold. ``{home}`` is the home."""

    arrange: Callable[[HomeCopy], object]
    check: str
    cause: str
    remedy: str
    state: str = "failed"


def set_to(**settings: str) -> Callable[[HomeCopy], None]:
    def arrange(home_copy: HomeCopy) -> None:
        home_copy.settings |= {name: value.replace("{home}", str(home_copy.home)) for name, value in settings.items()}

    return arrange


def mode(name: str, bits: int) -> Callable[[HomeCopy], None]:
    return lambda home_copy: (home_copy.home / name).chmod(bits)


def sql(statement: str) -> Callable[[HomeCopy], None]:
    def arrange(home_copy: HomeCopy) -> None:
        with closing(sqlite3.connect(home_copy.database)) as connection:
            connection.execute(statement)
            connection.commit()

    return arrange


def torn_page(home_copy: HomeCopy) -> None:
    """One that holds rows: without those of the schema nothing could be opened."""
    with closing(sqlite3.connect(home_copy.database)) as connection:
        ((number,),) = connection.execute("select rootpage from sqlite_schema where name = 'outbox'").fetchall()
    whole = home_copy.database.read_bytes()
    home_copy.database.write_bytes(whole[: (number - 1) * _PAGE] + b"\xff" * _PAGE + whole[number * _PAGE :])


def wrong_key(home_copy: HomeCopy) -> None:
    home_copy.key.write_text("ab" * 32 + "\n")


def damaged_blob(home_copy: HomeCopy) -> None:
    path = home_copy.blobs[0]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def disk_with(**status: int) -> Callable[[HomeCopy], None]:
    """The file system says so."""
    said = {"f_blocks": 1_000_000, "f_bavail": 1_000_000, "f_frsize": 4_096, "f_files": 1_000, "f_favail": 900}

    def arrange(home_copy: HomeCopy) -> None:
        home_copy.monkeypatch.setattr("os.statvfs", lambda path: SimpleNamespace(**{**said, **status}))

    return arrange


def from_tomorrow(home_copy: HomeCopy) -> None:
    tomorrow = os.stat(home_copy.database).st_mtime + 3 * 86_400
    os.utime(home_copy.database, (tomorrow, tomorrow))


def program(name: str, says: str | None) -> Callable[[HomeCopy], None]:
    """The only programs there are: one of that name that says this, or, with ``None``, not even that one."""

    def arrange(home_copy: HomeCopy) -> None:
        directory = home_copy.directory / "bin"
        directory.mkdir()
        if says is not None:
            (directory / name).write_text(f"#!/bin/sh\necho '{says}'\n")
            (directory / name).chmod(0o755)
        home_copy.settings["PATH"] = str(directory)

    return arrange


FAULTS: Final = {
    "the home is a file": Fault(
        arrange=set_to(SVC_HOME="{home}/home-id"),
        check="home",
        cause="home-id is not a directory",
        remedy="set SVC_HOME to another",
    ),
    "the home can be read by others": Fault(
        arrange=mode("", 0o755),
        check="home",
        cause="{home} can be read or written by other users",
        remedy="chmod 700 {home}",
    ),
    "the database can be read by others": Fault(
        arrange=mode("db/svc.sqlite3", 0o644),
        check="home",
        cause="svc.sqlite3 can be read or written by other users",
        remedy="chmod 600",
    ),
    "the master key is missing": Fault(
        arrange=lambda home_copy: home_copy.key.unlink(),
        check="keys",
        cause="is missing, and this home has secrets under it",
        remedy="Put it back there",
    ),
    "the master key can be read by others": Fault(
        arrange=lambda home_copy: home_copy.key.chmod(0o644),
        check="keys",
        cause="can be read by others",
        remedy="chmod 600",
    ),
    "the master key is another home's": Fault(
        arrange=wrong_key,
        check="keys",
        cause="not the one of this home: it opens none of its 1 secrets (idp.oauth)",
        remedy="Put back the key that this home was made with",
    ),
    "the master key is damaged": Fault(
        arrange=lambda home_copy: home_copy.key.write_text("half a key"),
        check="keys",
        cause="is damaged",
        remedy="Restore it",
    ),
    "the keyring has no backend": Fault(
        arrange=set_to(SVC_MASTER_KEY_STORE="keyring"),
        check="keys",
        cause="The system's keyring can't be read",
        remedy="nlock",
    ),
    "the database is no database": Fault(
        arrange=lambda home_copy: home_copy.database.write_bytes(b"this is no database" * 999),
        check="database",
        cause="svc.sqlite3 is damaged: file is not a database",
        remedy="put the newest good backup in its place",
    ),
    "a page of the database is torn": Fault(
        arrange=torn_page,
        check="integrity",
        cause="svc.sqlite3 is damaged",
        remedy="put the newest good backup in its place",
    ),
    "the database is missing": Fault(
        arrange=lambda home_copy: home_copy.database.unlink(),
        check="database",
        cause="The database of this home is missing",
        remedy="Put the newest good backup in its place",
    ),
    "the database is of an older version": Fault(
        arrange=sql("delete from _sqlite_migrations where id = (select max(id) from _sqlite_migrations)"),
        check="migrations",
        cause="last used by an older version",
        remedy="svc serve",
        state="warning",
    ),
    "the database is of a newer version": Fault(
        arrange=sql("insert into _sqlite_migrations (migration_set, name, applied_at) values ('mail', 'm999_x', 'x')"),
        check="database",
        cause="written by a newer version of this program",
        remedy="Start that version, or a newer one",
    ),
    "the disk is full": Fault(
        arrange=disk_with(f_bavail=100),
        check="disk",
        cause="The disk is full: 0 MiB are free",
        remedy="on the disk that holds {home}",
    ),
    "the disk is nearly full": Fault(
        arrange=disk_with(f_bavail=50_000),
        check="disk",
        cause="nearly full: 195 MiB are free",
        remedy="Delete or move",
        state="warning",
    ),
    "the file system has no inode left": Fault(
        arrange=disk_with(f_favail=0), check="disk", cause="no inode left", remedy="Delete or move"
    ),
    "the clock is days behind": Fault(
        arrange=from_tomorrow,
        check="clock",
        cause="svc.sqlite3 was changed 3 days after",
        remedy="timedatectl set-ntp true",
    ),
    "a blob is missing": Fault(
        arrange=lambda home_copy: home_copy.blobs[0].unlink(),
        check="content",
        cause="1 missing (",
        remedy="svc fsck --deep",
    ),
    "a blob is damaged": Fault(arrange=damaged_blob, check="content", cause="1 damaged (", remedy="svc fsck --deep"),
    "a blob is known to be damaged": Fault(
        arrange=sql(
            "insert into blob_damage (sha256, harm, state, reason, attempts, found_at, next_at, changed_at) "
            "values ('ab', 'missing', 'lost', 'gone', 3, 1, 1, 1)"
        ),
        check="blobs",
        cause="1 damaged, 1 of them can't be mended",
        remedy="svc fsck --deep",
        state="warning",
    ),
    "a consumer fails": Fault(
        arrange=sql(
            "update consumers set seq = 0, failures = 3, problem = 'ValueError: stuck' where name like 'mail%'"
        ),
        check="consumers",
        cause="ValueError: stuck",
        remedy="tried again by itself",
        state="warning",
    ),
    "Node.js is missing": Fault(
        arrange=program("node", None),
        check="node",
        cause="Node.js is not installed",
        remedy="Install Node.js 20.0 or newer",
        state="warning",
    ),
    "Node.js is old": Fault(
        arrange=program("node", "v12.22.9"),
        check="node",
        cause="Node.js 12.22, older than 20.0",
        remedy="Install Node.js 20.0 or newer",
        state="warning",
    ),
    "Git is missing": Fault(
        arrange=program("git", None),
        check="git",
        cause="Git is not installed: pages can't be kept in a repository",
        remedy="Install Git 2.31 or newer",
        state="warning",
    ),
    "Git is old": Fault(
        arrange=program("git", "git version 2.20.1"),
        check="git",
        cause="Git 2.20, older than 2.31",
        remedy="Install Git 2.31 or newer",
        state="warning",
    ),
    "a variable is misspelt": Fault(
        arrange=set_to(SVC_PROT="4999"),
        check="settings",
        cause="SVC_PROT is not a setting of this version",
        remedy="Did you mean SVC_PORT?",
        state="warning",
    ),
    "a setting is wrong": Fault(
        arrange=set_to(SVC_DRAIN_SECONDS="soon"),
        check="settings",
        cause="SVC_DRAIN_SECONDS: 'soon' is not a whole number",
        remedy="give one",
    ),
    "two settings do not go together": Fault(
        arrange=set_to(SVC_HOST="0.0.0.0"),
        check="settings",
        cause="SVC_HOST: '0.0.0.0' would open the service to every network",
        remedy="name one address",
    ),
    "the address is no address of this machine": Fault(
        arrange=set_to(SVC_HOST="192.0.2.77"),
        check="ports",
        cause="can't listen on 192.0.2.77",
        remedy="Set another address",
    ),
    "a stranger could claim the instance": Fault(
        arrange=set_to(SVC_HOST="192.0.2.77"),
        check="claim",
        cause="unclaimed, and others can reach 192.0.2.77",
        remedy="Set SVC_CLAIM_TOKEN",
    ),
    "the name of the provider is unknown": Fault(
        arrange=set_to(PROVIDERS="", SVC_IDP_ISSUER="https://no-such-provider.invalid"),
        check="provider",
        cause="can't be reached: GET https://no-such-provider.invalid: its name can't be resolved",
        remedy="Check that SVC_IDP_ISSUER is right, and that this machine can resolve names (DNS)",
    ),
    "nobody listens where the provider should be": Fault(
        arrange=set_to(PROVIDERS="", SVC_IDP_ISSUER="http://127.0.0.1:1"),
        check="provider",
        cause="can't be reached: GET http://127.0.0.1:1: it refuses connections",
        remedy="that somebody listens there, and that no firewall stands between",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_what_to_do(home_copy: HomeCopy, fault: Fault) -> None:
    fault.arrange(home_copy)
    assert_told(home_copy, fault)


def assert_told(home_copy: HomeCopy, fault: Fault) -> None:
    rows = home_copy.examined()
    found = [row for row in rows if (row["name"], row["state"]) == (fault.check, fault.state)]
    cause, remedy = (words.replace("{home}", str(home_copy.home)) for words in (fault.cause, fault.remedy))
    assert [row for row in found if cause in row["detail"] and remedy in row["remedy"]], rows
    assert home_copy.exit_code == (1 if any(row["state"] == "failed" for row in rows) else 0)
    assert "canary" not in str(rows)


# What others hold


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["SVC_PORT", "SVC_INTERNAL_PORT"])
def test_a_port_that_another_program_has(home_copy: HomeCopy, port: int, name: str) -> None:
    cause = f"{name}: port {port} is in use by another program"
    fault = Fault(
        arrange=set_to(**{name: str(port)}), check="ports", cause=cause, remedy="Stop it, or set another port"
    )
    fault.arrange(home_copy)
    assert_told(home_copy, fault)


def test_a_port_that_another_instance_has(home_copy: HomeCopy, tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "other") as other:
        other.directory.mkdir()
        other.start(PROVIDERS="fake")
        (internal,) = [line["port"] for line in other.events("internal.listening")]
        home_copy.settings |= {"SVC_PORT": str(other.port), "SVC_INTERNAL_PORT": str(internal)}
        told = [row for row in home_copy.examined() if row["name"] == "ports"]
    assert [row["state"] for row in told] == ["failed", "failed"]
    assert f"SVC_PORT: another svc (version {__version__}) listens on port {other.port}" in told[0]["detail"]
    assert told[0]["remedy"] == "Stop it, or set SVC_PORT to another port"
    assert f"another svc, with its internal port, listens on port {internal}" in told[1]["detail"]


def test_a_lock_that_a_dead_process_left_is_no_fault(home_copy: HomeCopy) -> None:
    (home_copy.home / "lock").write_text("99999999\n")
    (found,) = [row for row in home_copy.examined() if row["name"] == "service"]
    assert (found["state"], home_copy.exit_code) == ("ok", 0)
    assert "names process 99999999, which has ended: nothing to do" in found["detail"]


def test_a_process_that_holds_the_home_and_does_not_answer(home_copy: HomeCopy) -> None:
    with (home_copy.home / "lock").open("r+") as lock:
        lock.write("4711\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        fault = Fault(
            arrange=set_to(),
            check="service",
            cause="Process 4711 holds the home, and could not be asked",
            remedy="Look into its log, or stop it (kill 4711)",
        )
        assert_told(home_copy, fault)


def test_the_table_for_people_has_what_needs_them_last(home_copy: HomeCopy) -> None:
    home_copy.key.chmod(0o644)
    home_copy.settings["SVC_PROT"] = "1"
    lines = home_copy.said().splitlines()
    assert re.fullmatch(r"1 failed, 1 warning, \d+ ok, \d+ skipped\. No service was asked\.", lines[-1])
    assert lines[-3].strip() == f"-> Run: chmod 600 {home_copy.key}"
    assert lines[-4].split()[:2] == ["failed", "keys"]
    states = [line.split()[0] for line in lines[:-2] if not line.startswith(" ")]
    assert states == sorted(states, key=["skipped", "ok", "warning", "failed"].index)
