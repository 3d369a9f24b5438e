"""Restoring a real archive, and what can be wrong with it, with the disk, and with the version."""

from __future__ import annotations

import io
import os
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest
import trio
from sqlite_utils.migrations import Migrations

from svc import cli
from svc.app import FEATURES, all_rules, all_settings
from svc.backup.catalogue import Catalogue
from svc.backup.folders import forget_abandoned, scratch_for
from svc.backup.litestream import ArchiveFault, Litestream, found_program, refuse_old
from svc.backup.restoring import RestoreFault, Restoring, Wanted
from svc.backup.settings import target_of
from svc.backup.target import Target, place_of
from svc.clock import WallClock
from svc.config import read_config
from svc.nursery import ThreadPool
from svc.store import Home, Keyring, Ledger, Store
from tests.full_disk import files_end_at
from tests.peers.buckets import buckets
from tests.peers.clouds import BUCKET, azurite, google_storage
from tests.peers.needs import AZURITE, GOOGLE_STORAGE, S3, SSHD, need, needs
from tests.peers.sshd import keygen, sftp
from tests.peers.wire import Wire, wire
from tests.sizes import HANGS_S, SOAK

pytestmark = pytest.mark.wall_clock

HOME: Final = "home_00000000000000000000"
SOON_S: Final = 3.0
"""With a place that does not answer."""
SETS: Final = [feature.migrations for feature in FEATURES if feature.migrations]


@dataclass(frozen=True)
class Archived:
    """A home that was archived by a version with these ``sets``."""

    directory: Path
    threads: ThreadPool
    target: Target | None = None
    """Where it lies, if not in a folder."""

    @property
    def archive(self) -> Path:
        return self.directory / "archive"

    @property
    def into(self) -> Path:
        return self.directory / "restored"

    @property
    def files(self) -> list[Path]:
        return sorted((self.archive / "db").rglob("*.ltx"))

    def restoring(self, sets: Sequence[Migrations] = SETS, *, patience_s: float = HANGS_S) -> Restoring:
        environ = {"PATH": os.environ["PATH"], "SVC_HOME": str(self.directory / "home")}
        return Restoring(
            tool=tool_of(self.directory, self.target, patience_s=patience_s),
            beyond=None,
            config=read_config(all_settings(), environ, rules=all_rules()),
            clock=WallClock(),
            threads=self.threads,
            invariants=[row for feature in FEATURES for row in feature.invariants],
            migrations=sets,
            environ=environ,
        )

    async def fails(
        self, sets: Sequence[Migrations] = SETS, *, patience_s: float = HANGS_S, code: str | None = None
    ) -> str:
        """Why it was not restored. Nothing is left of it."""
        with pytest.raises(RestoreFault) as caught:
            await self.restoring(sets, patience_s=patience_s).restore(Wanted(into=self.into, code=code))
        assert [one.name for one in self.directory.iterdir() if "restor" in one.name] == []
        return str(caught.value)


def tool_of(directory: Path, target: Target | None = None, *, patience_s: float = HANGS_S) -> Litestream:
    environ = {"PATH": os.environ["PATH"]}
    home = directory / "home"
    return Litestream(
        program=found_program(None, environ),
        target=target or Target(place=place_of("file", str(directory / "archive"))),
        patience_s=patience_s,
        database=Home.database_of(home),
        ledger=Home.ledger_of(home),
        environ=environ,
    )


async def archived(
    directory: Path, threads: ThreadPool, *, sets: Sequence[Migrations] = SETS, target: Target | None = None
) -> Archived:
    tool = tool_of(directory, target)
    tool.database.parent.mkdir(parents=True)
    Store.open(tool.database, clock=WallClock(), threads=threads, migrations=sets).close_now()
    Catalogue(Ledger(tool.ledger)).begin(HOME, {})
    config = directory / "once.json"
    config.write_bytes(tool.config())
    await tool.base_backup(config)
    assert await tool.reaches(config, "db") > 0
    return Archived(directory, threads, target)


@pytest.mark.thorough
async def test_an_older_version_s_home_is_brought_to_this_one_and_a_newer_one_s_is_refused(
    tmp_path: Path, threads: ThreadPool
) -> None:
    older = await archived(tmp_path / "older", threads, sets=SETS[:-1])
    done = await older.restoring().restore(Wanted(into=older.into))
    assert done.blobs == 0
    Store.open(Home.database_of(older.into), clock=WallClock(), threads=threads, migrations=SETS, read_only=True)

    newer = await archived(tmp_path / "newer", threads)
    assert "newer version" in await newer.fails(SETS[:-1])


@pytest.mark.thorough
async def test_what_is_not_whole_or_has_no_room_is_told_and_nothing_is_left(
    tmp_path: Path, threads: ThreadPool
) -> None:
    kept = await archived(tmp_path / "one", threads)
    with files_end_at(64 * 1024):
        assert "too large" in await kept.fails()  # as the disk says it that lets nothing grow
    for harm in (flipped, halved, emptied):
        with harmed(kept.files, harm):
            assert await kept.fails()
            assert "no copy of the master key" in await kept.fails(code="A"), (
                "a code is looked at before all is fetched"
            )
    await what_comes_a_byte_at_a_time_is_given_up_by_its_size(kept)
    await a_full_disk_is_told_by_the_folder_that_was_named(kept)
    done = await kept.restoring().restore(Wanted(into=kept.into))
    assert done.position > 0
    nowhere = Archived(tmp_path / "one", threads, Target(place=place_of("file", str(tmp_path / "nowhere"))))
    with pytest.raises(RestoreFault, match="there is no archive at file:///"):
        await nowhere.restoring().restore(Wanted(into=tmp_path / "one" / "other"))
    with pytest.raises(RestoreFault, match="is not empty"):
        await kept.restoring().restore(Wanted(into=kept.into))


async def what_comes_a_byte_at_a_time_is_given_up_by_its_size(kept: Archived) -> None:
    """A stand-in for the program says what it would read of the database, and then reads it without end."""
    real = kept.restoring()
    program = stand_in(real, "exec sleep 600")
    slow = replace(real, tool=replace(real.tool, program=program, fetch_s=0.2, slowest_bytes_a_s=400_000))
    with pytest.raises(RestoreFault, match=r"archive did not send all within \d+ s"):
        await slow.restore(Wanted(into=kept.into))
    assert not kept.into.exists()


async def a_full_disk_is_told_by_the_folder_that_was_named(kept: Archived) -> None:
    real = kept.restoring()
    program = stand_in(real, "echo 'Error: write /.restored.restoring-1/db: no space left on device' >&2; exit 1")
    with pytest.raises(RestoreFault) as caught:
        await replace(real, tool=replace(real.tool, program=program)).restore(Wanted(into=kept.into))
    assert str(caught.value) == f"the disk of {kept.into} is full; nothing was restored"


def stand_in(real: Restoring, command: str) -> Path:
    """The archiver, but for the command that restores the database."""
    program = real.tool.database.parent / "stand-in"
    told = f'case "$*" in *-dry-run*|*{real.tool.ledger.name}*) exec {real.tool.program} "$@";; esac'
    program.write_text(f"#!/bin/sh\n{told}\n{command}\n")
    program.chmod(0o700)
    return program


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["restore", "--into", "here", "--from", "bucket"],
            "--from: 'bucket' is no place of an archive; write it as s3:",
        ),
        (["restore", "--into", "here", "--at", "yesterday"], "--at: 'yesterday' is no moment; write it as 2026-"),
        (["replica", "serve", "--dir", "d", "--port", "70000"], "--port: a port is a whole number up to 65535"),
    ],
)
def test_what_does_not_fit_is_told_in_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.thorough
def test_who_restores_at_a_terminal_is_asked_for_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for typed, asked in ((Terminal("code\n"), True), (io.StringIO("code\n"), False)):
        monkeypatch.setattr(sys, "stdin", typed)
        assert cli.main(["restore", "--into", str(tmp_path / "home"), "--recovery-code", "-"]) == 1
        assert capsys.readouterr().err.startswith("Recovery code: ") is asked
        assert typed.read() == ""


async def test_a_base_backup_is_made_by_the_command_where_no_service_runs(
    tmp_path: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = await archived(tmp_path, threads)
    Home.begin(tmp_path / "home", HOME)
    (tmp_path / "home").chmod(0o700)
    environ = {"SVC_HOME": "home", "ARCHIVE_FILE_PREFIX": "archive", "SVC_MASTER_KEY_FILE": "key"}
    for name, value in environ.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    (tmp_path / "key").write_text(Keyring.random().as_text())
    (tmp_path / "key").chmod(0o600)
    copies = kept.archive / "db" / "ltx" / "9"
    (first,) = copies.iterdir()
    first.unlink()
    assert await trio.to_thread.run_sync(cli.main, ["backup"]) == 0
    assert "A base backup of" in capsys.readouterr().out
    assert len(list(copies.iterdir())) == 1
    Catalogue(Ledger(Home.ledger_of(tmp_path / "home"))).change_line({}, now=0)  # it was at another place meanwhile
    assert await trio.to_thread.run_sync(cli.main, ["backup"]) == 1
    assert "has not been archived to" in capsys.readouterr().err


@pytest.mark.peer
@needs(S3)
async def test_a_bucket_takes_it_and_gives_it_back_through_a_line_that_breaks(
    tmp_path: Path, threads: ThreadPool
) -> None:
    with buckets(tmp_path / "buckets") as there, wire(there.port) as line:

        def target(secret: str) -> Target:
            return target_with(
                ARCHIVE_S3_PREFIX=f"s3://{there.bucket}/a folder",
                ARCHIVE_S3_ENDPOINT=f"http://127.0.0.1:{line.port}",
                ARCHIVE_S3_ACCESS_KEY_ID=there.key_id,
                ARCHIVE_S3_SECRET_ACCESS_KEY=secret,
            )

        await goes_there_and_back(tmp_path, threads, target(there.secret), line)
        with pytest.raises(ArchiveFault, match="SignatureDoesNotMatch"):
            await archived(tmp_path / "denied", threads, target=target("another secret"))


@pytest.mark.peer
@needs(SSHD)
async def test_a_server_by_sftp_takes_it_and_gives_it_back_through_a_line_that_breaks(
    tmp_path: Path, threads: ThreadPool
) -> None:
    with sftp(tmp_path / "host") as host, wire(host.port) as line:

        def target(host_key: str) -> Target:
            return target_with(
                ARCHIVE_SSH_PREFIX=f"ssh://{host.user}@127.0.0.1:{line.port}{tmp_path}/there",
                ARCHIVE_SSH_KEY_FILE=str(host.key),
                ARCHIVE_SSH_HOST_KEY=host_key,
            )

        await goes_there_and_back(tmp_path, threads, target(host.host_key), line)
        keygen(tmp_path / "another")
        another = " ".join((tmp_path / "another.pub").read_text().split()[:2])
        with pytest.raises(ArchiveFault, match="host key"):
            await archived(tmp_path / "denied", threads, target=target(another))


@pytest.mark.skipif(not SOAK, reason="stand-ins of two clouds are tried with SVC_SOAK=1")
@pytest.mark.peer
async def test_azure_takes_it_and_gives_it_back_through_a_line_that_breaks(tmp_path: Path, threads: ThreadPool) -> None:
    need(AZURITE)
    (tmp_path / "azure").mkdir()
    with azurite(tmp_path / "azure") as there, wire(there.port) as line:
        there.make("box")

        def target(key: str) -> Target:
            return target_with(
                ARCHIVE_AZ_PREFIX="azure://box/a folder",
                ARCHIVE_AZ_ACCOUNT=there.account,
                ARCHIVE_AZ_ACCOUNT_KEY=key,
                ARCHIVE_AZ_ENDPOINT=f"http://127.0.0.1:{line.port}/{there.account}",
            )

        await goes_there_and_back(tmp_path, threads, target(there.key), line)
        with pytest.raises(ArchiveFault, match="AuthorizationFailure"):
            await archived(tmp_path / "denied", threads, target=target(b64encode(b"another").decode()))


@pytest.mark.skipif(not SOAK, reason="stand-ins of two clouds are tried with SVC_SOAK=1")
@pytest.mark.peer
async def test_google_s_storage_takes_it_and_gives_it_back_through_a_line_that_breaks(
    tmp_path: Path, threads: ThreadPool
) -> None:
    need(GOOGLE_STORAGE)
    with google_storage() as url, wire(int(url.rpartition(":")[2])) as line:
        target = target_with(
            ARCHIVE_GS_PREFIX=f"gs://{BUCKET}/a folder", ARCHIVE_GS_ENDPOINT=f"http://127.0.0.1:{line.port}"
        )
        await goes_there_and_back(tmp_path, threads, target, line)


def target_with(**environ: str) -> Target:
    found = target_of(read_config(all_settings(), environ, rules=all_rules()))
    assert found is not None
    return found


async def goes_there_and_back(directory: Path, threads: ThreadPool, target: Target, line: Wire) -> None:
    kept = await archived(directory / "one", threads, target=target)
    line.cut()
    assert await kept.fails(patience_s=SOON_S)
    line.mend()
    done = await kept.restoring().restore(Wanted(into=kept.into))
    assert done.position > 0
    assert Home.id_of(kept.into) == HOME


def test_what_a_killed_restore_has_left_is_removed_by_the_next_and_one_that_runs_is_not(tmp_path: Path) -> None:
    into, left = tmp_path / "home [1]", tmp_path / ".home [1].restoring-00000000"
    (left / "db").mkdir(parents=True)
    with scratch_for(into) as scratch:
        assert not left.exists()
        forget_abandoned(tmp_path, into.name)
        assert scratch.exists()
        with scratch_for(into) as other:
            assert scratch.exists()
            assert other.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("v0.5.17", ""),
        ("litestream 1.0.0", ""),
        ("0.5.16", "too old"),
        ("0.3.13", "too old"),
        ("(development build)", "does not say"),
    ],
)
async def test_an_archiver_that_may_lose_data_is_refused(tmp_path: Path, said: str, why: str) -> None:
    program = tmp_path / "archiver"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o700)
    if not why:
        assert await refuse_old(program, {}) in said
        return
    with pytest.raises(ArchiveFault, match=why):
        await refuse_old(program, {})


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x5A]) + data[middle + 1 :]


def halved(data: bytes) -> bytes:
    return data[: len(data) // 2]


def emptied(data: bytes) -> bytes:
    return b""


@contextmanager
def harmed(files: Sequence[Path], harm: Callable[[bytes], bytes]) -> Iterator[None]:
    before = {path: path.read_bytes() for path in files}
    for path, data in before.items():
        path.write_bytes(harm(data))
    try:
        yield
    finally:
        for path, data in before.items():
            path.write_bytes(data)
