"""The copy of the followed repository, against real remotes."""

from __future__ import annotations

import pytest

from svc.gitops.git import UPSTREAM, Entry, GitFault, blob, blobs, entries_of, top_entries
from tests.gitops.conftest import MakeMirror
from tests.gitops.upstream import Upstream


async def test_a_branch_that_is_not_there_is_told_apart_from_a_repository_that_is_not(
    upstream: Upstream, mirror_of: MakeMirror
) -> None:
    mirror = await mirror_of(upstream.url)
    assert await mirror.ls_remote() is None
    with pytest.raises(GitFault) as caught:
        await mirror.fetch()
    assert caught.value.kind == "no_branch"
    missing = await mirror_of(upstream.url + "-not")
    with pytest.raises(GitFault) as caught:
        await missing.ls_remote()
    assert caught.value.kind == "missing"


async def test_a_branch_is_followed_also_where_it_was_moved_by_force(upstream: Upstream, mirror_of: MakeMirror) -> None:
    first = upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    assert await mirror.fetch() == first
    second = upstream.push({"a": "B"})
    assert await mirror.fetch() == second
    assert await mirror.is_ancestor(first, second)
    other = upstream.push({"a": "C"}, root=True)
    assert await mirror.fetch() == other
    assert not await mirror.is_ancestor(second, other)
    assert await mirror.commit_at(UPSTREAM) == other


async def test_a_local_path_will_do(upstream: Upstream, mirror_of: MakeMirror) -> None:
    commit = upstream.push({"a": "A"})
    mirror = await mirror_of(str(upstream.directory))
    assert await mirror.fetch() == commit


async def test_a_failed_fetch_leaves_what_there_is(upstream: Upstream, mirror_of: MakeMirror) -> None:
    commit = upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    upstream.git("update-ref", "-d", "refs/heads/main")
    with pytest.raises(GitFault):
        await mirror.fetch()
    assert await mirror.upstream() == commit
    assert await mirror.has(commit)


async def test_locks_of_a_process_that_died_are_swept_at_boot(upstream: Upstream, mirror_of: MakeMirror) -> None:
    upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    left = [
        mirror.git.directory / name
        for name in ("refs/svc/upstream.lock", "config.lock", "objects/pack/tmp_pack_x1", "packed-refs.lock")
    ]
    for path in left:
        path.write_bytes(b"")
    (mirror.git.directory / "objects" / "tmp_objdir-incoming-x").mkdir()
    commit = upstream.push({"a": "B"})
    await mirror.init()
    assert not any(path.exists() for path in left)
    assert await mirror.fetch() == commit


async def test_a_copy_that_is_thrown_away_is_made_again(upstream: Upstream, mirror_of: MakeMirror) -> None:
    commit = upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    await mirror.start_over()
    assert await mirror.upstream() is None
    assert not await mirror.has(commit)
    assert await mirror.fetch() == commit


async def test_it_is_tidied_in_the_foreground(upstream: Upstream, mirror_of: MakeMirror) -> None:
    commit = upstream.push({"a": "A"})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    await mirror.tidy()
    assert await mirror.has(commit)


async def test_files_are_listed_and_read_without_being_laid_out(upstream: Upstream, mirror_of: MakeMirror) -> None:
    files = {"team/pages/a.md": "A", "team/pages/b/c é.md": "C\n", "team/plugins.json": "{}", "other/x": "X"}
    commit = upstream.push(files)
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    top = await top_entries(mirror.git, commit, folder="team")
    assert set(top) == {b"pages", b"plugins.json"}
    assert await top_entries(mirror.git, commit, folder="not/there") == {}
    found = await entries_of(mirror.git, top[b"pages"].id)
    assert [(entry.name.decode(), entry.size, entry.is_file) for entry in found] == [
        ("a.md", 1, True),
        ("b/c é.md", 2, True),
    ]
    assert [content async for _, content in blobs(mirror.git, found)] == [b"A", b"C\n"]
    assert await blob(mirror.git, top[b"plugins.json"].id, at_most_bytes=100) == b"{}"


async def test_many_files_are_read_a_batch_at_a_time(
    upstream: Upstream, mirror_of: MakeMirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.gitops.git.reading.BATCH_BYTES", 100)
    contents = [bytes([65 + number]) * number * 7 for number in range(20)]
    commit = upstream.push({f"{number:02}": content for number, content in enumerate(contents)})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    found = await entries_of(mirror.git, commit)
    assert [content async for _, content in blobs(mirror.git, found)] == contents


async def test_an_object_that_is_not_there_is_damage(upstream: Upstream, mirror_of: MakeMirror) -> None:
    mirror = await mirror_of(upstream.url)
    missing = Entry(mode="100644", kind="blob", id="1" * 40, size=3, name=b"a")
    with pytest.raises(GitFault) as caught:
        [pair async for pair in blobs(mirror.git, [missing])]
    assert caught.value.kind == "damaged"
