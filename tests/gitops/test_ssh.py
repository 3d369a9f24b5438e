"""A remote by ssh, with a real sshd on this machine: a key of our own, and hosts that are known."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import trio

from svc.gitops.git import Git, GitFault, Mirror, Remote
from svc.gitops.git.ssh import Ssh
from svc.nursery import ThreadPool
from tests.gitops.upstream import Upstream
from tests.peers.needs import SSHD, needs
from tests.peers.sshd import keygen, sshd_path
from tests.support.process import free_port

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, pytest.mark.thorough]


@dataclass(frozen=True)
class Host:
    """``key`` opens it; its own key stands in ``known_hosts``."""

    port: int
    key: Path
    known_hosts: Path
    directory: Path

    def mirror(self, upstream: Upstream, threads: ThreadPool, *, ssh: Ssh, **environ: str) -> Mirror:
        async def no_token() -> str | None:
            return None

        remote = Remote(
            url=f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{upstream.directory}",
            username="x",
            token=no_token,
            ssh=ssh,
        )
        git = Git(
            directory=self.directory / "mirror.git", remote=remote, environ={"PATH": os.environ["PATH"], **environ}
        )
        return Mirror(git=git, branch="main", threads=threads)


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    directory, port = tmp_path / "a host", free_port()
    directory.mkdir()
    for name in ("host", "user", "other"):
        keygen(directory / name)
    public = (directory / "host.pub").read_text().split()[:2]
    (directory / "known hosts").write_text(f"[127.0.0.1]:{port} {' '.join(public)}\n")
    (directory / "authorized").write_text((directory / "user.pub").read_text())
    config = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": f'"{directory / "host"}"',
        "AuthorizedKeysFile": f'"{directory / "authorized"}"',
        "PidFile": "none",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
    }
    (directory / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # which the system's own start makes
    command = [str(sshd_path()), "-D", "-e", "-f", str(directory / "sshd_config")]
    async with trio.open_nursery() as nursery:
        process = await nursery.start(partial(trio.run_process, command, capture_stderr=True, check=False))
        await _listens(port)
        yield Host(port, directory / "user", directory / "known hosts", directory)
        process.terminate()


async def _listens(port: int) -> None:
    with trio.fail_after(60):
        while True:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    return
            except OSError:
                await trio.lowlevel.checkpoint()


@needs(SSHD)
async def test_a_key_of_our_own_opens_a_known_host_for_reading_and_writing(
    host: Host, upstream: Upstream, threads: ThreadPool
) -> None:
    commit = upstream.push({"pages/a.md": "A"})
    mirror = host.mirror(upstream, threads, ssh=Ssh(key=host.key, known_hosts=host.known_hosts))
    await mirror.init()
    assert await mirror.ls_remote() == commit
    assert await mirror.fetch() == commit
    await mirror.git.run_remote("push", "--quiet", "--", mirror.git.remote.url, f"{commit}:refs/heads/side")
    assert upstream.git("rev-parse", "side").decode().strip() == commit


@needs(SSHD)
async def test_a_host_that_is_not_known_is_not_spoken_with(
    host: Host, upstream: Upstream, threads: ThreadPool, tmp_path: Path
) -> None:
    upstream.push({"pages/a.md": "A"})
    nobody = tmp_path / "nobody"
    nobody.write_text("")
    another = tmp_path / "another"
    another.write_text(f"[127.0.0.1]:{host.port} {' '.join((host.directory / 'other.pub').read_text().split()[:2])}\n")
    for known_hosts in (nobody, another):
        mirror = host.mirror(upstream, threads, ssh=Ssh(key=host.key, known_hosts=known_hosts))
        await mirror.init()
        with pytest.raises(GitFault) as caught:
            await mirror.ls_remote()
        assert caught.value.kind == "unknown_host"
        assert "SVC_GITOPS_SSH_KNOWN_HOSTS" in caught.value.words
    assert nobody.read_text() == "", "no key was taken on trust"


@needs(SSHD)
async def test_with_a_key_of_our_own_nothing_of_the_user_is_tried(
    host: Host, upstream: Upstream, threads: ThreadPool, tmp_path: Path
) -> None:
    """An agent that holds the right key, and a command of the user's own, open nothing for the wrong key."""
    upstream.push({"pages/a.md": "A"})
    ran = tmp_path / "ran"
    socket_path, agent = tmp_path / "agent", shutil.which("ssh-agent")
    assert agent is not None
    async with trio.open_nursery() as nursery:
        process = await nursery.start(
            partial(trio.run_process, [agent, "-D", "-a", str(socket_path)], capture_stdout=True, check=False)
        )
        with trio.fail_after(60):
            while not socket_path.exists():
                await trio.lowlevel.checkpoint()
        environ = {"SSH_AUTH_SOCK": str(socket_path)}
        await trio.run_process(["ssh-add", "-q", str(host.key)], env={**os.environ, **environ}, capture_stderr=True)
        mirror = host.mirror(
            upstream,
            threads,
            ssh=Ssh(key=host.directory / "other", known_hosts=host.known_hosts),
            GIT_SSH_COMMAND=f"touch {ran};",
            HOME=str(tmp_path),
            **environ,
        )
        await mirror.init()
        with pytest.raises(GitFault) as caught:
            await mirror.ls_remote()
        assert caught.value.kind == "refused"
        assert not ran.exists()
        ambient = host.mirror(upstream, threads, ssh=Ssh(known_hosts=host.known_hosts), **environ)
        assert await ambient.ls_remote() == upstream.head(), "without one the agent is asked"
        process.terminate()
