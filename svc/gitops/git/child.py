"""One call of the git binary: bounded in time, output and written files, and ended whole.

Each call is a session of its own, so that git and all that it starts (the helper for https, ssh, index-pack) are one
process group, ended together: TERM first, as git then removes its locks, and KILL after a moment. ``/bin/sh`` sets the
bound on written files, which every child inherits. The environment is built from nothing, and what git reads from files
of the user or the machine is switched off, except where a remote without a token is to be reached as the user reaches
it. The token goes through an inherited pipe, of which only git's question for a password reads (``askpass.sh``): it is
in no argument, no variable, no file and no address.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from svc.gitops.git.faults import GitFault, GitFaultKind, fault_of, lacks_program, too_large, too_slow
from svc.nursery import autojump_held

__all__ = ["Git", "GitFault", "GitFaultKind", "Remote"]

WITHIN_S: Final = 60.0
REMOTE_WITHIN_S: Final = 600.0
AT_MOST_BYTES: Final = 32 * 1024 * 1024
FILE_AT_MOST_BYTES: Final = 2 * 1024 * 1024 * 1024
GRACE_S: Final = 2.0
"""Between TERM and KILL."""

ASKPASS: Final = Path(__file__).parent / "askpass.sh"
TOKEN_FD: Final = "SVC_GIT_TOKEN_FD"  # noqa: S105  the name of a variable that holds a number
_ASKED_AT_MOST: Final = 16
_MAX_TOKEN_BYTES: Final = 3_000
"""All answers together fit into a pipe's buffer, so that writing them never waits."""
_STDERR_KEPT: Final = 16 * 1024
_PIECE: Final = 64 * 1024
_BLOCK: Final = 512  # in which POSIX has ``ulimit -f`` count
_BOUNDED: Final = 'ulimit -c 0; ulimit -f "$0" 2>/dev/null; exec "$@"'
"""It only fails where the system allows less than that."""
_EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

PASSED_ON: Final = ("PATH", "TMPDIR", "LD_LIBRARY_PATH")
_TO_THE_NETWORK: Final = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
_AMBIENT: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "USER", "LOGNAME", "GIT_SSH_COMMAND")
"""How the user who runs the service reaches the remote by himself."""

_ALWAYS: Final = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.pager": "cat",
    "attr.tree": _EMPTY_TREE,
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "gc.auto": "0",
    "gc.autoDetach": "false",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.fsckObjects": "true",
    "fetch.unpackLimit": "100",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "protocol.version": "2",
    "protocol.allow": "never",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "120",
}


@dataclass(frozen=True, kw_only=True)
class Remote:
    """Where the repository comes from. ``url`` holds no credential; ``token`` finds the one of this moment, if any."""

    url: str
    username: str
    token: Callable[[], Awaitable[str | None]] = field(repr=False)

    @property
    def protocol(self) -> str:
        """As git names it in ``protocol.<name>.allow``."""
        scheme, found, _ = self.url.partition("://")
        if found:
            return scheme.lower()
        return "file" if self.url.startswith("/") else "ssh"

    @property
    def takes_token(self) -> bool:
        return self.protocol in {"http", "https"}


@dataclass(frozen=True, kw_only=True)
class Git:
    """``directory`` is the bare repository. ``environ`` is the service's, of which little is passed on."""

    directory: Path
    remote: Remote
    environ: Mapping[str, str] = field(repr=False)

    async def run(
        self,
        *args: str,
        input: bytes = b"",
        within_s: float = WITHIN_S,
        at_most_bytes: int = AT_MOST_BYTES,
        file_at_most_bytes: int = FILE_AT_MOST_BYTES,
        extra: Mapping[str, str] | None = None,
        statuses: Container[int] = (0,),
    ) -> bytes:
        """What ``git <args>`` prints, of this repository alone: it reaches no remote and has no credential.

        ``extra`` are variables for git, such as ``GIT_AUTHOR_NAME``; ``statuses`` those that are an answer, no fault.
        Raises :class:`GitFault`.
        """
        call = _Call(
            command=self._command(args, config=_ALWAYS, file_at_most_bytes=file_at_most_bytes),
            environ={**self._environ(()), **_NOTHING_OF_THE_USER, **(extra or {})},
            directory=self.directory,
            input=input,
            at_most_bytes=at_most_bytes,
            statuses=statuses,
        )
        with _within(within_s):
            return await call.run()

    async def run_remote(
        self,
        *args: str,
        input: bytes = b"",
        within_s: float = REMOTE_WITHIN_S,
        at_most_bytes: int = AT_MOST_BYTES,
        file_at_most_bytes: int = FILE_AT_MOST_BYTES,
    ) -> bytes:
        """The same for what speaks with the remote, with its credential. Raises :class:`GitFault`."""
        token = await self.remote.token() if self.remote.takes_token else None
        config = {**_ALWAYS, f"protocol.{self.remote.protocol}.allow": "always"}
        environ = self._environ(_TO_THE_NETWORK)
        if token is not None:
            config |= {"credential.helper": "", "credential.username": self.remote.username}
            environ |= {**_NOTHING_OF_THE_USER, "GIT_ASKPASS": str(ASKPASS)}
        else:
            environ |= self._environ(_AMBIENT)
            environ.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20")
        call = _Call(
            command=self._command(args, config=config, file_at_most_bytes=file_at_most_bytes),
            environ=environ,
            directory=self.directory,
            input=input,
            at_most_bytes=at_most_bytes,
            token=token,
        )
        with _within(within_s):
            return await call.run()

    def _command(self, args: Sequence[str], *, config: Mapping[str, str], file_at_most_bytes: int) -> list[str]:
        options = [part for name, value in config.items() for part in ("-c", f"{name}={value}")]
        blocks = str(math.ceil(file_at_most_bytes / _BLOCK))
        return ["/bin/sh", "-c", _BOUNDED, blocks, "git", "--literal-pathspecs", "--no-pager", *options, *args]

    def _environ(self, names: Sequence[str]) -> dict[str, str]:
        passed = {name: self.environ[name] for name in (*PASSED_ON, *names) if name in self.environ}
        return {
            **passed,
            "LC_ALL": "C",
            "GIT_DIR": str(self.directory),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_PROTOCOL_FROM_USER": "0",
        }


_NOTHING_OF_THE_USER: Final = {"HOME": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    try:
        with trio.fail_after(seconds):
            yield
    except trio.TooSlowError:
        raise too_slow(seconds) from None


@dataclass(kw_only=True)
class _Call:
    """One process group, from its start to its end."""

    command: Sequence[str]
    environ: Mapping[str, str]
    directory: Path
    input: bytes
    at_most_bytes: int
    token: str | None = field(default=None, repr=False)
    statuses: Container[int] = (0,)
    _out: bytearray = field(default_factory=bytearray)
    _err: bytearray = field(default_factory=bytearray)
    _too_large: bool = False

    async def run(self) -> bytes:
        with autojump_held(), self._token_pipe() as (environ, inherited):
            try:
                process = await trio.lowlevel.open_process(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    pass_fds=inherited,
                    env=environ,
                    cwd=self.directory,
                )
            except OSError as error:
                raise lacks_program(str(error)) from error
            status = await self._follow(process)
        if self._too_large:
            raise too_large(self.at_most_bytes)
        if status not in self.statuses:
            raise fault_of(status, bytes(self._err), secret=self.token)
        return bytes(self._out)

    @contextmanager
    def _token_pipe(self) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
        """A pipe that holds the answers to git's questions for the password, and its end for the child."""
        if self.token is None:
            yield dict(self.environ), ()
            return
        line = self.token.encode() + b"\n"
        if len(line) > _MAX_TOKEN_BYTES or b"\n" in line[:-1]:
            raise GitFault("refused", "The token is no token: it is too long, or has more than one line.")
        reading, writing = os.pipe()
        try:
            try:
                os.write(writing, line * _ASKED_AT_MOST)
            finally:
                os.close(writing)
            yield {**self.environ, TOKEN_FD: str(reading)}, (reading,)
        finally:
            os.close(reading)

    async def _follow(self, process: trio.Process) -> int:
        """Feed and read it to its end. Whatever happens, nothing of its group is left when this returns."""
        ended = False
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._feed, process)
                nursery.start_soon(self._read_errors, process)
                nursery.start_soon(self._read, process, nursery.cancel_scope)
            if not self._too_large:
                status = await process.wait()  # its pipes have ended, and with them whoever inherited one
                ended = True
                return status
            return 0
        finally:
            with trio.CancelScope(shield=True):  # bounded by GRACE_S: nothing survives a kill
                if not ended:
                    await _end(process)
                for stream in (process.stdin, process.stdout, process.stderr):
                    assert stream is not None, "each was asked for"
                    await trio.aclose_forcefully(stream)

    async def _feed(self, process: trio.Process) -> None:
        assert process.stdin is not None, "it was asked for"
        with suppress(trio.BrokenResourceError):  # it may end without reading all of it: its status tells why
            async with process.stdin:
                await process.stdin.send_all(self.input)

    async def _read(self, process: trio.Process, scope: trio.CancelScope) -> None:
        assert process.stdout is not None, "it was asked for"
        async for piece in process.stdout:
            if len(self._out) + len(piece) > self.at_most_bytes:
                self._too_large = True
                scope.cancel()
                return
            self._out += piece

    async def _read_errors(self, process: trio.Process) -> None:
        """The end of what it complains about; all of it is read, or it would wait for a reader."""
        assert process.stderr is not None, "it was asked for"
        async for piece in process.stderr:
            self._err += piece
            del self._err[:-_STDERR_KEPT]


async def _end(process: trio.Process) -> None:
    """TERM, and after a moment KILL, to the whole group.

    It is waited for only then: as long as nobody has, the group's number can't become another's.
    """
    assert process.stderr is not None, "it was asked for"
    _signal(process.pid, signal.SIGTERM)
    with trio.move_on_after(GRACE_S), suppress(trio.BrokenResourceError):
        while await process.stderr.receive_some(_PIECE):  # its end: nobody in the group has it any more
            pass
    _signal(process.pid, signal.SIGKILL)
    await process.wait()


def _signal(group: int, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, which)
