"""One call of the git binary, with limits for time, output and written files; it is ended with all its children.

Each call is a session of its own, so git and all that it starts (the helper for https, ssh, index-pack) are one process
group and end together: SIGTERM first, because git then removes its locks, and SIGKILL after a moment. ``/bin/sh`` sets
the limit on written files, which every child inherits. The environment is built from nothing. Git's configuration files
of the user and the machine are switched off, except where a remote without a token is to be reached as the user reaches
it. The token goes through an inherited pipe, which only git's password prompt reads (``askpass.sh``): it is in no
argument, variable, file or address.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from svc.gitops.git.faults import GitFault, GitFaultKind, too_slow
from svc.gitops.git.process import Call
from svc.gitops.git.ssh import Ssh

__all__ = ["Git", "GitFault", "GitFaultKind", "Remote"]

WITHIN_S: Final = 60.0
REMOTE_WITHIN_S: Final = 600.0
AT_MOST_BYTES: Final = 32 * 1024 * 1024
FILE_AT_MOST_BYTES: Final = 2 * 1024 * 1024 * 1024

ASKPASS: Final = Path(__file__).parent / "askpass.sh"
_BLOCK: Final = 512  # the unit of ``ulimit -f`` in POSIX
_BOUNDED: Final = 'ulimit -c 0; ulimit -f "$0" 2>/dev/null; exec "$@"'
"""``ulimit -f`` fails only if the system's limit is already lower."""
_EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

PASSED_ON: Final = ("PATH", "TMPDIR", "LD_LIBRARY_PATH")
_TO_THE_NETWORK: Final = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
_AMBIENT: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "USER", "LOGNAME", "GIT_SSH_COMMAND")
"""Variables by which the user who runs the service reaches the remote."""

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
    """The remote of the repository. ``url`` holds no credential; ``token`` finds the current credential, if there is
    one, and ``ssh`` says how to connect if the url is an ssh one."""

    url: str
    username: str
    ssh: Ssh = field(default_factory=Ssh)
    token: Callable[[], Awaitable[str | None]] = field(repr=False)

    @property
    def protocol(self) -> str:
        """The protocol's name in git's ``protocol.<name>.allow``."""
        scheme, found, _ = self.url.partition("://")
        if found:
            return scheme.lower()
        return "file" if self.url.startswith("/") else "ssh"

    @property
    def takes_token(self) -> bool:
        return self.protocol in {"http", "https"}


@dataclass(frozen=True, kw_only=True)
class Git:
    """``directory`` is the bare repository. ``environ`` is the service's environment; only a little of it is passed
    on."""

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
        """The output of ``git <args>`` on this repository alone: it reaches no remote and has no credential.

        ``extra`` are variables for git, such as ``GIT_AUTHOR_NAME``; ``statuses`` are the exit statuses that are no
        error. Raises :class:`GitFault`.
        """
        call = Call(
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
        """As :meth:`run`, for commands that talk to the remote, with its credential. Raises :class:`GitFault`."""
        token = await self.remote.token() if self.remote.takes_token else None
        config = {**_ALWAYS, f"protocol.{self.remote.protocol}.allow": "always"}
        environ = self._environ(_TO_THE_NETWORK)
        if token is not None:
            config |= {"credential.helper": "", "credential.username": self.remote.username}
            environ |= {**_NOTHING_OF_THE_USER, "GIT_ASKPASS": str(ASKPASS)}
        elif self.remote.protocol == "ssh" and self.remote.ssh.key is not None:
            environ |= {**_NOTHING_OF_THE_USER, "GIT_SSH_COMMAND": self.remote.ssh.command}
        else:
            environ |= self._environ(_AMBIENT)
            environ.setdefault("GIT_SSH_COMMAND", self.remote.ssh.command)
        call = Call(
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
