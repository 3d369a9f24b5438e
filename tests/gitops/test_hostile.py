"""Hostile or broken repositories and remotes: what is good in them is taken, and the rest is reported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.gitops.git import reading
from svc.gitops.service import Gitops
from tests.gitops.followed import broken_rules, following, looked, page, paths, status
from tests.gitops.http_remote import HttpRemote, Way, http_remote
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog

GOOD = {"pages/good.md": "good"}


def tree_with(upstream: Upstream, lines: bytes) -> None:
    """``pages/`` with these entries besides a good page, whatever git thinks of their names."""
    good = upstream.put_blob(b"good")
    pages = upstream.put_tree(b"100644 blob " + good.encode() + b"\tgood.md\0" + lines)
    upstream.point_at(upstream.put_tree(b"040000 tree " + pages.encode() + b"\tpages\0"))


def raw_tree(*entries: tuple[bytes, bytes, str]) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + bytes.fromhex(object_id) for mode, name, object_id in entries)


def named(upstream: Upstream, *names: bytes, mode: bytes = b"100644", content: bytes = b"bad") -> None:
    """Entries that only a broken git would write, in the order that git wants."""
    blob, good = upstream.put_blob(content), upstream.put_blob(b"good")
    entries = sorted([(mode, name, blob) for name in names] + [(b"100644", b"good.md", good)], key=lambda one: one[1])
    pages = upstream.put_raw("tree", raw_tree(*entries))
    upstream.point_at(upstream.put_raw("tree", raw_tree((b"40000", b"pages", pages))))


def dots(upstream: Upstream) -> None:
    named(upstream, b"..")


def slashes(upstream: Upstream) -> None:
    named(upstream, b"../../etc/passwd")


def dot_git(upstream: Upstream) -> None:
    named(upstream, b".git")


def dashes(upstream: Upstream) -> None:
    upstream.push({**GOOD, "pages/-rf.md": "dash", "pages/--upload-pack=touch x.md": "dash"})


def not_utf8(upstream: Upstream) -> None:
    blob = upstream.put_blob(b"x")
    tree_with(upstream, b"100644 blob " + blob.encode() + b"\t\xff\xfe.md\0")


def case_clashes(upstream: Upstream) -> None:
    upstream.push(
        {**GOOD, "pages/README.md": "1", "pages/readme.md": "2", "pages/\u00e9.md": "3", "pages/e\u0301.md": "4"}
    )


def symlinks(upstream: Upstream) -> None:
    blob = upstream.put_blob(b"/etc/passwd")
    tree_with(
        upstream, b"120000 blob " + blob.encode() + b"\tlink.md\0" + b"120000 blob " + blob.encode() + b"\tx.png\0"
    )


def submodules(upstream: Upstream) -> None:
    tree_with(upstream, b"160000 commit " + b"1" * 40 + b"\tsub\0")


def filters(upstream: Upstream) -> None:
    upstream.push({**GOOD, ".gitattributes": "* filter=evil diff=evil merge=evil\n", "pages/.gitattributes": "* text"})


def large_files(upstream: Upstream) -> None:
    upstream.push({**GOOD, "pages/large.md": b"x" * (1024 * 1024 + 1), "pages/large.bin": bytes(26 * 1024 * 1024)})


def lfs(upstream: Upstream) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
    upstream.push({**GOOD, "pages/p.png": pointer, ".lfsconfig": "[lfs]\nurl = http://127.0.0.1:1"})


def yaml_bombs(upstream: Upstream) -> None:
    bomb = "\n".join(["a0: &a0 x"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 30)])
    upstream.push(
        {**GOOD, "pages/bomb.md": f"---\n{bomb}\n---\n", "pages/tag.md": "---\nx: !!python/name:os.system\n---\n"}
    )


def wrong_text(upstream: Upstream) -> None:
    upstream.push(
        {**GOOD, "pages/latin.md": b"\n\ncaf\xe9", "pages/nul.md": b"a\n\0", "pages/u16.md": "x".encode("utf-16")}
    )


def strangers(upstream: Upstream) -> None:
    head = "---\ngrants: [{to: evil@example.net, level: write}]\n---\n"
    upstream.push({**GOOD, "pages/open.md": head, "pages/mail.md": "takes the place of the mail"})


def unrelated(upstream: Upstream) -> None:
    upstream.push({"pages/other.md": "x"})
    upstream.push(GOOD, root=True)


def odd_commit(upstream: Upstream) -> None:
    upstream.push(GOOD, author=("\u202eevil script", "x@y"), message="\x1b[31m" + "x" * 10_000)


def deep(upstream: Upstream) -> None:
    upstream.push({**GOOD, "pages/" + "d/" * 200 + "x.md": "deep"})


def plugins_file(upstream: Upstream) -> None:
    upstream.push({**GOOD, "plugins.json": b"\xff" * 1_000})


def long_names(upstream: Upstream) -> None:
    upstream.push({**GOOD, "pages/" + "n" * 250 + ".md": "x", "pages/" + "\U0001f600" * 60 + ".png": b"x"})


def control_characters(upstream: Upstream) -> None:
    upstream.push({**GOOD, "pages/a\x1b[31mb.md": "x", "pages/\u202egnp.md": "x"})


WITH_THE_GOOD: list[Callable[[Upstream], None]] = [
    dashes,
    not_utf8,
    case_clashes,
    symlinks,
    submodules,
    filters,
    large_files,
    lfs,
    yaml_bombs,
    wrong_text,
    strangers,
    unrelated,
    odd_commit,
    deep,
    plugins_file,
    long_names,
    control_characters,
]
REFUSED_BY_GIT: list[Callable[[Upstream], None]] = [dots, slashes, dot_git]


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("lay", WITH_THE_GOOD, ids=lambda lay: lay.__name__)
async def test_what_is_good_in_a_hostile_repository_is_here(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, lay: Callable[[Upstream], None]
) -> None:
    lay(upstream)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert (await page(service, "good"))["body"] == "good"
        found = await status(service)
        assert found["problem"] is None
        for problem in found["problems"]:
            assert problem["file"].isprintable()
            assert problem["reason"].isprintable()
        assert await service.rows("select 1 from page_grants") == []
        assert await broken_rules(service) == []
        copy = tmp_path / "home" / "gitops" / "repository.git"
        assert not any(path.is_symlink() for path in copy.rglob("*"))
        assert "subsystem.crashed" not in log.events()
        again = await looked(service)
        assert (again["commit"], again["problems"]) == (found["commit"], found["problems"])


@pytest.mark.parametrize("lay", REFUSED_BY_GIT, ids=lambda lay: lay.__name__)
async def test_objects_that_git_refuses_change_nothing_here(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, lay: Callable[[Upstream], None]
) -> None:
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        lay(upstream)
        assert (await looked(service))["problem"]
        assert await paths(service) == ["good"]


async def test_an_empty_repository_is_told(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert "no branch main" in (await status(service))["problem"]


async def test_more_files_than_are_followed_are_none(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_FILES", 100)
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({f"pages/{n}.md": "x" for n in range(101)})
        assert "more than" in (await looked(service))["problem"]
        assert await paths(service) == ["good"]


async def test_a_tree_that_holds_itself_many_times_is_cut_off(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git bomb: ten levels of ten equal folders are ten thousand million files, and a few objects."""
    monkeypatch.setattr(reading, "_AT_MOST_BYTES", 1_000_000)
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        kind, one = b"100644 blob", upstream.put_blob(b"x")
        for _ in range(10):
            lines = b"".join(kind + b" " + one.encode() + b"\t" + bytes([97 + n]) + b"\0" for n in range(10))
            one, kind = upstream.put_tree(lines), b"040000 tree"
        upstream.point_at(upstream.put_tree(b"040000 tree " + one.encode() + b"\tpages\0"))
        assert "more than" in (await looked(service))["problem"]
        assert await paths(service) == ["good"]


async def test_a_shallow_remote_is_followed(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/old.md": "x"})
    upstream.push({**GOOD, "pages/old.md": None})
    shallow = tmp_path / "shallow.git"
    upstream.git("clone", "--quiet", "--bare", "--depth=1", upstream.url, str(shallow), inside=False)
    async with following(tmp_path, shallow.as_uri(), clock=wall, log=log) as service:
        assert await paths(service) == ["good"]
        assert (await status(service))["problem"] is None


# Remotes that misbehave


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[HttpRemote]:
    with http_remote(tmp_path) as serving:
        yield serving


async def misbehaving(service: Any, remote: HttpRemote, way: Way, only: str) -> Any:
    remote.way, remote.only = way, only
    found = await looked(service)
    remote.way = "serve"
    return found


@pytest.mark.share(3)
@pytest.mark.thorough
@pytest.mark.parametrize("only", ["info/refs", "git-upload-pack"])
@pytest.mark.parametrize("way", ["redirect", "refuse", "garbage", "cut", "unavailable"])
async def test_a_remote_that_fails_in_a_step_leaves_what_is_here(
    tmp_path: Path,
    upstream: Upstream,
    wall: VirtualClock,
    log: RecordedLog,
    remote: HttpRemote,
    way: Way,
    only: str,
) -> None:
    upstream.push(GOOD)
    async with following(tmp_path, remote.url("upstream.git"), clock=wall, log=log) as service:
        upstream.push({"pages/good.md": "better"})
        found = await misbehaving(service, remote, way, only)
        assert found["problem"], (way, only)
        assert (await page(service, "good"))["body"] == "good"
        assert (await looked(service))["problem"] is None
        assert (await page(service, "good"))["body"] == "better"


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "only"), [("hang", "info/refs"), ("hang", "git-upload-pack"), ("hang-midway", "")])
async def test_a_remote_that_hangs_is_let_go_of(
    tmp_path: Path,
    upstream: Upstream,
    wall: VirtualClock,
    log: RecordedLog,
    remote: HttpRemote,
    clock: trio.testing.MockClock,
    way: Way,
    only: str,
) -> None:
    upstream.push(GOOD)
    async with following(tmp_path, remote.url("upstream.git"), clock=wall, log=log, poll_s=0) as service:
        upstream.push({"pages/good.md": "better"})
        follower = service.workspace.service(Gitops).follower
        assert follower is not None
        remote.way, remote.only = way, only
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follower.look)
            await trio.to_thread.run_sync(remote.reached.wait)
            clock.jump(601)
        assert "longer than" in (await status(service))["problem"]
        remote.way = "serve"
        remote.let_go.set()
        assert (await looked(service))["problem"] is None
        assert (await page(service, "good"))["body"] == "better"


async def test_a_full_disk_is_told_and_passes(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound on written files stands in for a disk that is full: git meets both in the same place."""
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({"pages/good.md": "better", "pages/x.bin": os.urandom(200_000)})
        follower = service.workspace.service(Gitops).follower
        assert follower is not None
        git = follower.mirror.git
        inner = type(git).run_remote

        async def bounded(self: Any, *args: str, **options: Any) -> bytes:
            return await inner(self, *args, **options, file_at_most_bytes=50_000)

        monkeypatch.setattr(type(git), "run_remote", bounded)
        assert "larger than" in (await looked(service))["problem"]
        assert (await page(service, "good"))["body"] == "good"
        monkeypatch.undo()
        assert (await looked(service))["problem"] is None
        assert (await page(service, "good"))["body"] == "better"


async def test_a_copy_that_vanished_is_made_again(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push(GOOD)
    async with following(tmp_path, upstream.url, clock=wall, log=log):
        pass
    shutil.rmtree(tmp_path / "home" / "gitops")
    upstream.push({"pages/good.md": "better"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert (await page(service, "good"))["body"] == "better"
