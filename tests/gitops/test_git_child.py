"""One call of git: bounded, ended whole, and with a token that nothing but the remote gets to know."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from svc.gitops.git import GitFault, Mirror
from svc.gitops.git.faults import fault_of
from tests.gitops.conftest import MakeMirror, git_of
from tests.gitops.http_remote import HttpRemote, http_remote
from tests.gitops.upstream import Upstream
from tests.sizes import HANGS_S
from tests.support.process import until

TOKEN = "tok-3f9a1c77e0"


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[HttpRemote]:
    with http_remote(tmp_path, token=TOKEN) as serving:
        yield serving


def put_git_first(directory: Path, script: str) -> str:
    """A PATH on which another ``git`` stands first. It may run the real one as ``$REAL_GIT``."""
    directory.mkdir()
    program = directory / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{directory}:{os.environ['PATH']}"


def group_is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


async def until_written(path: Path) -> str:
    """On the wall's clock: a test's own stands still while a process runs."""
    return await trio.to_thread.run_sync(wait_until_written, path)


def wait_until_written(path: Path) -> str:
    until(
        lambda: path.exists() and path.read_text().endswith("\n"), what=f"{path.name} to be written", deadline_s=HANGS_S
    )
    return path.read_text().strip()


def wait_until_gone(pid: int) -> None:
    """A process that was killed stays in the table until init has taken it out."""
    until(lambda: group_is_gone(pid), what="the processes to be gone", deadline_s=HANGS_S)


async def test_a_token_opens_a_private_remote(upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror) -> None:
    commit = upstream.push({"pages/a.md": "A"})
    mirror = await mirror_of(remote.url("upstream.git"), token=TOKEN)
    assert await mirror.ls_remote() == commit
    assert await mirror.fetch() == commit
    assert await mirror.upstream() == commit


async def test_a_wrong_token_is_refused_in_words_that_do_not_hold_it(
    upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    upstream.push({"a": "A"})
    mirror = await mirror_of(remote.url("upstream.git"), token="wrong-one-9917")
    with pytest.raises(GitFault) as caught:
        await mirror.fetch()
    assert caught.value.kind == "refused"
    assert "Settings > Credentials" in caught.value.words
    assert "wrong-one-9917" not in str(caught.value)


async def test_without_a_token_nobody_is_asked_for_one(
    upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    upstream.push({"a": "A"})
    mirror = await mirror_of(remote.url("upstream.git"))
    with pytest.raises(GitFault) as caught:
        await mirror.ls_remote()
    assert caught.value.kind == "refused"


async def test_without_a_token_the_remote_is_reached_as_its_user_reaches_it(
    tmp_path: Path, upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    commit = upstream.push({"a": "A"})
    home = tmp_path / "user"
    home.mkdir()
    (home / ".netrc").write_text(f"machine 127.0.0.1 login x-access-token password {TOKEN}\n")
    mirror = await mirror_of(remote.url("upstream.git"), HOME=str(home))
    assert await mirror.ls_remote() == commit


async def test_with_a_token_nothing_of_the_user_is_read(
    tmp_path: Path, upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    commit = upstream.push({"a": "A"})
    home = tmp_path / "user"
    home.mkdir()
    (home / ".gitconfig").write_text("[broken\n")
    mirror = await mirror_of(remote.url("upstream.git"), token=TOKEN, HOME=str(home))
    assert await mirror.ls_remote() == commit


async def test_a_redirect_is_not_followed_and_not_given_the_token(
    tmp_path: Path, upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    upstream.push({"a": "A"})
    with http_remote(tmp_path, token=TOKEN) as thief:
        remote.way, remote.elsewhere = "redirect", f"http://127.0.0.1:{thief.port}"
        mirror = await mirror_of(remote.url("upstream.git"), token=TOKEN)
        with pytest.raises(GitFault) as caught:
            await mirror.fetch()
        assert thief.seen == []
    assert caught.value.kind == "redirected"


async def test_the_token_stands_in_no_argument_no_variable_and_no_file(
    tmp_path: Path, upstream: Upstream, remote: HttpRemote, mirror_of: MakeMirror
) -> None:
    """While the remote lets it wait for an answer to the request that carried the token."""
    upstream.push({"a": "A"})
    mirror = await mirror_of(remote.url("upstream.git"), token=TOKEN)
    remote.way, remote.only = "hang-midway", "git-upload-pack"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(fetch_whatever_comes, mirror)
        while not remote.reached.is_set():
            await trio.lowlevel.checkpoint()
        seen = arguments_and_variables_of_our_children()
        assert any(b"upload-pack" in text or b"remote-http" in text for text in seen), "git was seen at work"
        assert not any(TOKEN.encode() in text for text in seen)
        nursery.cancel_scope.cancel()
    assert remote.credentials, "the remote was given it"
    for path in (tmp_path / "mirror.git").rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


async def fetch_whatever_comes(mirror: Mirror) -> None:
    with suppress(GitFault):
        await mirror.fetch()


def arguments_and_variables_of_our_children() -> list[bytes]:
    found: list[bytes] = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and is_child_of_ours(process):
            with suppress(FileNotFoundError, ProcessLookupError):  # git ends helpers of its own meanwhile
                found += [(process / name).read_bytes() for name in ("cmdline", "environ")]
    return found


def is_child_of_ours(process: Path) -> bool:
    """A descendant of this process, however far."""
    pid = int(process.name)
    try:
        while pid > 1:
            if pid == os.getpid():
                return int(process.name) != pid
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return False


def test_the_fault_tells_of_no_credential() -> None:
    fault = fault_of(
        128, f"fatal: unable to access 'https://u:{TOKEN}@h/': {TOKEN}\n".encode(), secret=TOKEN, directory=Path("x")
    )
    assert TOKEN not in fault.words


async def test_a_cancelled_call_ends_with_all_that_it_started(tmp_path: Path, upstream: Upstream) -> None:
    told = tmp_path / "grandchild"
    path = put_git_first(tmp_path / "bin", f"sleep 600 & echo $! >{told}; sleep 600")
    git = git_of(upstream.directory, upstream.url, PATH=path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(git.run, "version")
        grandchild = int(await until_written(told))
        nursery.cancel_scope.cancel()
    await trio.to_thread.run_sync(wait_until_gone, grandchild)


@pytest.mark.wall_clock
async def test_one_that_does_not_heed_the_wish_to_end_is_ended(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "grandchild"
    monkeypatch.setattr("svc.nursery.child_process.GRACE_S", 0.05)
    deaf = f'trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & echo $! >{told}; while :; do sleep 1; done'
    git = git_of(upstream.directory, upstream.url, PATH=put_git_first(tmp_path / "bin", deaf))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(git.run, "version")
        grandchild = int(await until_written(told))
        nursery.cancel_scope.cancel()
    await trio.to_thread.run_sync(wait_until_gone, grandchild)


async def test_a_call_has_a_deadline(tmp_path: Path, upstream: Upstream, clock: MockClock) -> None:
    told = tmp_path / "child"
    git = git_of(
        upstream.directory, upstream.url, PATH=put_git_first(tmp_path / "bin", f"echo $$ >{told}; exec sleep 600")
    )

    async def watch() -> None:
        await until_written(told)
        clock.jump(31)

    with pytest.RaisesGroup(pytest.RaisesExc(GitFault, check=lambda fault: fault.kind == "too_slow")):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await git.run("version", within_s=30)


async def test_what_it_prints_is_bounded(tmp_path: Path, upstream: Upstream) -> None:
    path = put_git_first(tmp_path / "bin", "exec yes")
    with pytest.raises(GitFault) as caught:
        await git_of(upstream.directory, upstream.url, PATH=path).run("version", at_most_bytes=100_000)
    assert caught.value.kind == "too_large"


async def test_what_it_complains_about_is_bounded_and_on_one_line(tmp_path: Path, upstream: Upstream) -> None:
    script = "yes complaint | head -c 1000000 >&2; printf 'fatal: \\033[31mthe end\\n' >&2; exit 128"
    with pytest.raises(GitFault) as caught:
        await git_of(upstream.directory, upstream.url, PATH=put_git_first(tmp_path / "bin", script)).run("version")
    assert caught.value.words.endswith("the end")
    assert len(caught.value.words) < 400
    assert caught.value.words.isprintable()


async def test_what_it_writes_is_bounded(upstream: Upstream) -> None:
    with pytest.raises(GitFault) as caught:
        await git_of(upstream.directory, upstream.url).run(
            "hash-object", "-w", "--stdin", input=os.urandom(300_000), file_at_most_bytes=100_000
        )
    assert caught.value.kind == "too_large"


async def test_input_that_nobody_reads_hangs_nothing(upstream: Upstream) -> None:
    assert b"git version" in await git_of(upstream.directory, upstream.url).run("version", input=b"x" * 1_000_000)


async def test_a_missing_program_is_told(tmp_path: Path, upstream: Upstream) -> None:
    with pytest.raises(GitFault) as caught:
        await git_of(upstream.directory, upstream.url, PATH=str(tmp_path / "nothing")).run("version")
    assert caught.value.kind == "no_git"


@pytest.mark.parametrize("url", ["ext::sh -c 'touch {mark}'", "-cfoo", "--upload-pack=touch {mark}", "fd::0"])
async def test_an_address_runs_nothing(tmp_path: Path, mirror_of: MakeMirror, url: str) -> None:
    """The settings refuse it before; and git would, too."""
    mark = tmp_path / "mark"
    mirror = await mirror_of(url.format(mark=mark))
    with pytest.raises(GitFault):
        await mirror.fetch()
    assert not mark.exists()


async def test_hooks_of_the_copy_are_not_run(tmp_path: Path, upstream: Upstream, mirror_of: MakeMirror) -> None:
    upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    mark = tmp_path / "mark"
    hooks = mirror.git.directory / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o700)
    await mirror.fetch()
    assert not mark.exists()
