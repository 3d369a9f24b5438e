"""Runs npm as an untrusted child process: with an empty home and only our settings, and ended together with all its
children.

It runs in its own process group, within a deadline. Its output, the size of each file and the total that it writes are
bounded. It runs no scripts, fetches only from the registry, and links no programs. Owns npm's arguments and
environment, and the messages for its failures; it decides nothing about plugins.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import trio

from svc.nursery import ThreadPool, every, kill_group, process_group
from svc.plugins.sets import MAX_BYTES, size_of

OLDEST: Final = (11, 15)
"""The first npm that can be forbidden to fetch from git and from addresses."""
OBTAIN: Final = f"install Node.js with npm {OLDEST[0]}.{OLDEST[1]} or newer (`npm install -g npm@11`)"
DEADLINE_S: Final = 300.0
ANSWER_S: Final = 60.0
MAX_OUTPUT_BYTES: Final = 256 * 1024
MAX_FILE_BYTES: Final = 64 * 1024 * 1024
MAX_WRITTEN_BYTES: Final = 2 * MAX_BYTES  # the set, and npm's own files beside it
MAX_WORDS_CHARS: Final = 300
HEAP_MIB: Final = 512
PASSED_ON: Final = (
    *("PATH", "LANG", "LC_ALL", "TZ", "NODE_EXTRA_CA_CERTS"),
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"),
)
"""The environment variables it gets: for finding programs and the registry, and none of npm's own."""

_LOOK_S: Final = 0.5
_END_S: Final = 2.0
_BLOCK_BYTES: Final = 512  # the unit of `ulimit -f`
_LIMITED: Final = ("/bin/sh", "-c", 'ulimit -f "$1" && ulimit -c 0; shift; exec "$@"', "npm")
_SAFE: Final = (
    "--ignore-scripts",
    "--allow-git=none",
    "--allow-remote=none",
    "--allow-file=none",
    "--allow-directory=none",
    "--no-bin-links",
    "--omit=dev",
    "--install-strategy=hoisted",
    "--lockfile-version=3",
    "--omit-lockfile-registry-resolved=false",
    "--replace-registry-host=never",
    "--strict-ssl=true",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--logs-max=0",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-timeout=60000",
    "--json",
)
_COLOURED: Final = re.compile(r"\x1b\[[0-9;]*m")
_VERSION: Final = re.compile(rb"(\d+)\.(\d+)")


class NpmFault(Exception):
    """npm failed. The message says why, in one sentence without its full stop. ``may_pass``: trying again later may
    help.
    """

    def __init__(self, words: str, *, may_pass: bool = True) -> None:
        super().__init__(words)
        self.may_pass = may_pass


@dataclass(frozen=True, kw_only=True)
class Npm:
    """``registry`` is an address; if empty, npm's default registry is used."""

    environ: Mapping[str, str]
    registry: str
    threads: ThreadPool

    async def check(self, scratch: Path) -> None:
        """Checks that npm is installed and new enough. Raises :class:`NpmFault`."""
        said = await self._run("--version", folder=scratch, scratch=scratch, within_s=ANSWER_S)
        found = _VERSION.match(said.strip())
        if found is None or (int(found[1]), int(found[2])) < OLDEST:
            version = said[:20].decode(errors="replace").strip()
            words = f"npm is {version}, older than {OLDEST[0]}.{OLDEST[1]}, and could fetch from anywhere; {OBTAIN}"
            raise NpmFault(words, may_pass=False)

    async def source(self, scratch: Path) -> str:
        """The address of the registry. Raises :class:`NpmFault`."""
        if self.registry:
            return self.registry
        said = await self._run(
            *("config", "get", "registry"), *_settings(scratch), folder=scratch, scratch=scratch, within_s=ANSWER_S
        )
        return said.decode(errors="replace").strip()

    async def resolve(self, folder: Path, scratch: Path) -> None:
        """Write a lock file for ``package.json``. Fetches only the registry's metadata."""
        await self._run("install", "--package-lock-only", *self._safe(scratch), folder=folder, scratch=scratch)

    async def fetch(self, folder: Path, scratch: Path) -> None:
        """Install exactly the bytes of the lock file."""
        await self._run("ci", *self._safe(scratch), folder=folder, scratch=scratch)

    def _safe(self, scratch: Path) -> tuple[str, ...]:
        registry = (f"--registry={self.registry}",) if self.registry else ()
        return (*_SAFE, *registry, f"--cache={scratch / 'cache'}", *_settings(scratch))

    async def _run(self, *args: str, folder: Path, scratch: Path, within_s: float | None = None) -> bytes:
        within_s = DEADLINE_S if within_s is None else within_s
        program = shutil.which("npm", path=self.environ.get("PATH"))
        if program is None:
            raise NpmFault(f"npm is not installed; {OBTAIN}", may_pass=False)
        environ = {name: self.environ[name] for name in PASSED_ON if name in self.environ}
        environ |= {"HOME": str(scratch), "TMPDIR": str(scratch), "NODE_OPTIONS": f"--max-old-space-size={HEAP_MIB}"}
        command = [*_LIMITED, str(MAX_FILE_BYTES // _BLOCK_BYTES), program, *args]
        try:
            with trio.fail_after(within_s):
                async with process_group(
                    command, environ=environ, directory=folder, stdin=subprocess.DEVNULL
                ) as process:
                    output, complaint = await self._hear(process, folder, scratch)
        except trio.TooSlowError:
            raise NpmFault(f"npm was ended: it took longer than {within_s:g} seconds") from None
        if process.returncode:
            raise NpmFault(words_of(output, complaint) or f"npm ended with {process.returncode}")
        return output

    async def _hear(self, process: trio.Process, *folders: Path) -> tuple[bytes, bytes]:
        """Its output and its error output, each cut at a bound. Raises :class:`NpmFault` if it writes too many bytes to
        disk.
        """
        said = {"output": b"", "complaint": b""}
        too_large: list[int] = []

        async def read(name: str, stream: trio.abc.ReceiveStream) -> None:
            async for part in stream:
                said[name] = (said[name] + part)[:MAX_OUTPUT_BYTES]

        async def look() -> None:
            size = await self.threads.run(lambda: sum(map(size_of, folders)))
            if size > MAX_WRITTEN_BYTES:
                too_large.append(size)
                nursery.cancel_scope.cancel()

        assert process.stdout is not None, "it was asked for"
        assert process.stderr is not None, "it was asked for"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(every, _LOOK_S, look)
            async with trio.open_nursery() as readers:
                readers.start_soon(read, "output", process.stdout)
                readers.start_soon(read, "complaint", process.stderr)
                await process.wait()
                kill_group(process)  # end its remaining children, which would keep its outputs open
                readers.cancel_scope.deadline = trio.current_time() + _END_S
            nursery.cancel_scope.cancel()
        if too_large:
            raise NpmFault(f"npm was ended: it wrote more than {MAX_WRITTEN_BYTES} bytes", may_pass=False)
        return said["output"], said["complaint"]


def words_of(output: bytes, complaint: bytes) -> str:
    """npm's own reason: from its JSON, else from the lines of its error output that report an error."""
    try:
        error = msgspec.json.decode(output, type=_Answer).error
        words = " ".join(part for part in (error.summary or error.code, error.detail) if part)
    except msgspec.DecodeError:
        lines = complaint.decode(errors="replace").splitlines()
        words = " ".join(line.removeprefix("npm error ") for line in lines if line.startswith("npm error "))
    plain = " ".join(_COLOURED.sub("", words).split())
    return plain if len(plain) <= MAX_WORDS_CHARS else f"{plain[:MAX_WORDS_CHARS]}…"


class _Error(msgspec.Struct, frozen=True):
    code: str | None = None
    summary: str | None = None
    detail: str | None = None


class _Answer(msgspec.Struct, frozen=True):
    error: _Error


def _settings(scratch: Path) -> tuple[str, ...]:
    """Names of files that do not exist, so that no settings of a user or the machine apply."""
    return (f"--userconfig={scratch / 'no-user'}", f"--globalconfig={scratch / 'no-global'}")
