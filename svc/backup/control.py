"""Client for the socket of a running archiver: asks for its position, and makes it release the database."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from svc.backup.litestream import SHOWN_CHARS, ArchiveFault, LogMisread, kept_beside, says_log_is_misread
from svc.protocol.egress import Egress, EgressFault
from svc.store import Home

T = TypeVar("T")

ANSWER_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 256 * 1024
SOCKET_PATH_MAX: Final = 100


class Position(msgspec.Struct, frozen=True):
    """``txid``: the newest commit that it has read. ``replicated_txid``: the newest one that the target has."""

    txid: int
    replicated_txid: int = 0


def unsent(database: Path, position: Position) -> int:
    """Bytes that wait for the target; blocks. The folder has the files of two weeks: it is read only if some wait."""
    if position.replicated_txid >= position.txid:
        return 0
    level = kept_beside(database) / "ltx" / "0"
    total = 0
    for entry in level.iterdir() if level.is_dir() else ():
        last = entry.name.partition("-")[2].partition(".")[0]
        if len(last) == 16 and int(last, 16) > position.replicated_txid:
            total += entry.stat().st_size
    return total


class _Info(msgspec.Struct, frozen=True):
    pid: int


class _Error(msgspec.Struct, frozen=True):
    error: str


@dataclass(frozen=True, kw_only=True)
class Control:
    """Controls one archiver, for the database at ``path``. Each call raises :class:`ArchiveFault`."""

    egress: Egress
    path: str

    def of(self, path: Path) -> Control:
        """For another database of the same archiver."""
        return replace(self, path=str(path))

    async def sync(self, *, wait_s: float | None = None) -> Position:
        """Make it read all commits; with ``wait_s`` also send them, or stop waiting after that time."""
        body: dict[str, object] = {"path": self.path}
        if wait_s is not None:
            body |= {"wait": True, "timeout": max(1, round(wait_s))}
        answer = await self._call("POST", "/sync", body, deadline_s=ANSWER_S + (wait_s or 0.0))
        return _read(answer, Position)

    async def pid(self) -> int | None:
        """The id of the process that answers, if any."""
        try:
            return _read(await self._call("GET", "/info"), _Info).pid
        except ArchiveFault:
            return None

    async def hold(self) -> None:
        """Make it release the database, so that another process may send a copy."""
        await self._call("POST", "/stop", {"path": self.path, "timeout": 30}, deadline_s=4 * ANSWER_S)

    async def _call(
        self, method: str, path: str, body: dict[str, object] | None = None, *, deadline_s: float = ANSWER_S
    ) -> bytes:
        try:
            answer = await self.egress.request(
                method,
                f"http://localhost{path}",
                headers={"content-type": "application/json"} if body is not None else {},
                body=None if body is None else msgspec.json.encode(body),
                deadline_s=deadline_s,
                limit_bytes=MAX_ANSWER_BYTES,
            )
        except EgressFault as fault:
            raise ArchiveFault(f"the archiver does not answer ({fault.kind})") from fault
        if answer.status != 200:
            told = _told(answer.body)
            kind = LogMisread if says_log_is_misread(told) else ArchiveFault
            raise kind(f"the archiver refused: {told[:SHOWN_CHARS]}")
        return answer.body


def _told(body: bytes) -> str:
    """Its error message, which is in a JSON object."""
    try:
        return msgspec.json.decode(body, type=_Error).error
    except msgspec.DecodeError:
        return body.decode(errors="replace").strip()


def _read(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise ArchiveFault("the archiver's answer can't be read") from error


def socket_folder(home: Home) -> Path:
    """``run/``, unless its path is too long for a socket; the same folder after each start. Blocks."""
    run = home.path / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    if len(str(run / "archive.sock").encode()) <= SOCKET_PATH_MAX:
        return run
    other = Path(tempfile.gettempdir()) / f"svc-{home.id}"
    other.mkdir(mode=0o700, exist_ok=True)
    status = other.lstat()
    if status.st_uid != os.geteuid() or not other.is_dir() or other.is_symlink() or status.st_mode & 0o077:
        raise ArchiveFault(f"{other} belongs to somebody else; remove it")
    return other
