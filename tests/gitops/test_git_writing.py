"""Making commits and bringing them to a real remote; merging texts by lines."""

from __future__ import annotations

import pytest

from svc.gitops.git import GitFault, Mirror
from svc.gitops.git import commits as made
from svc.gitops.git.commits import Commit, Person
from svc.gitops.git.merging import merge
from tests.gitops.conftest import MakeMirror
from tests.gitops.upstream import Upstream

NOA = Person(name="Noa <x>\nB", address="noa@example.org")
SVC = Person(name="svc", address="svc@localhost")


def change(name: str, **files: bytes | None) -> Commit:
    changes = {path.replace("_", "/"): content for path, content in files.items()}
    return Commit(name=name, message=f"Change {name}", author=NOA, at=1_790_000_000_999, changes=changes)


@pytest.fixture
async def mirror(upstream: Upstream, mirror_of: MakeMirror) -> Mirror:
    upstream.push({"pages/a.md": "one\n", "b": "two\n"})
    mirror = await mirror_of(upstream.url)
    await mirror.fetch()
    return mirror


async def test_each_change_is_a_commit_by_its_author_and_of_the_service(mirror: Mirror, upstream: Upstream) -> None:
    base = await mirror.upstream()
    commits = [change("edt_1", a=b"x", pages_a=b"y\r\n"), change("edt_2", b=None)]
    ids = await made.make(mirror.git, base=base, commits=commits, committer=SVC)
    await made.push(mirror.git, ids[-1], branch="main")
    assert upstream.head() == ids[1]
    shown = upstream.git("log", "-2", "--reverse", "--format=%an|%ae|%cn|%at|%s|%P", "main").decode().splitlines()
    assert shown == [
        f"Noa x B|noa@example.org|svc|1790000000|Change edt_1|{base}",
        f"Noa x B|noa@example.org|svc|1790000000|Change edt_2|{ids[0]}",
    ]
    assert upstream.git("ls-tree", "-r", "--name-only", "main").decode().split() == ["a", "pages/a", "pages/a.md"]
    assert await made.names_since(mirror.git, ids[1], since=base) == {"edt_1", "edt_2"}
    assert await made.names_since(mirror.git, ids[1], since=ids[0]) == {"edt_2"}
    assert await made.make(mirror.git, base=base, commits=commits, committer=SVC) == ids


async def test_a_branch_that_moved_is_not_forced(mirror: Mirror, upstream: Upstream) -> None:
    base = await mirror.upstream()
    (mine,) = await made.make(mirror.git, base=base, commits=[change("edt_1", a=b"x")], committer=SVC)
    theirs = upstream.push({"c": "theirs"})
    with pytest.raises(GitFault) as caught:
        await made.push(mirror.git, mine, branch="main")
    assert caught.value.kind == "moved"
    assert upstream.head() == theirs


async def test_a_file_makes_place_for_a_folder_and_any_name_is_kept(mirror: Mirror, upstream: Upstream) -> None:
    base = await mirror.upstream()
    name = 'ä "quoted" \\ back.md'
    commit = Commit(name="edt_1", message="m", author=NOA, at=0, changes={"b": None, "b/deep": b"1", name: b"2"})
    (mine,) = await made.make(mirror.git, base=base, commits=[commit], committer=SVC)
    await made.push(mirror.git, mine, branch="side")
    names = upstream.git("ls-tree", "-r", "-z", "--name-only", "side").decode().split("\0")[:-1]
    assert set(names) == {"b/deep", name, "pages/a.md"}
    assert upstream.head() == base


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ("A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("a\nb\nc\nd\n", "x\nb\nc\nd\n", "x\nb\nc\nd\n"),
        ("x\nb\nc\nd\n", "x\nb\nc\nd\n", "x\nb\nc\nd\n"),
        ("A\nb\nc\nd\n", "X\nb\nc\nd\n", None),
        ("A\nb\nc\nd\n", "a\nB\nc\nd\n", None),  # side by side
        ("<<<<<<< x\na\nb\nc\nd\n", "a\nb\nc\nd\nlast", "<<<<<<< x\na\nb\nc\nd\nlast"),
        ("", "a\nb\nc\nD\n", None),
    ],
)
async def test_texts_are_merged_by_lines(mirror: Mirror, ours: str, theirs: str, merged: str | None) -> None:
    base = "a\nb\nc\nd\n"
    assert await merge(mirror.git, mirror.threads, base=base, ours=ours, theirs=theirs) == merged
    assert not list(mirror.git.directory.glob("tmp_*"))
