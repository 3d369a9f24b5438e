"""Makes commits without a work tree, and pushes them to the remote.

``fast-import`` makes many commits in one process. The same parent, content, people and times always give the same ids.
Each commit bears the name of the edit that it carries out, by which it is recognized later in the branch. A push names
only the commit and the branch: the remote accepts it only if the branch is still at the commit that it was made on;
otherwise the fault is ``moved``. Nothing here ever forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import SECOND_MS, Millis
from svc.gitops.git.child import Git
from svc.gitops.git.faults import GitFault

EXPORT: Final = "refs/svc/export"
"""The commits that were made last. Without a ref, a commit could be removed by git's garbage collection."""
TRAILER: Final = "Svc-Edit"
MERGE: Final = "merge"
"""The name of a commit that carries out no edit."""
IMPORT_WITHIN_S: Final = 300.0
LOOKED_BACK_COMMITS: Final = 20_000

_NOT_IN_NAMES: Final = str.maketrans({"<": "", ">": "", "\n": " ", "\r": " ", "\0": ""})


@dataclass(frozen=True, kw_only=True)
class Person:
    name: str
    address: str

    def line(self, at: Millis) -> str:
        name = " ".join(self.name.translate(_NOT_IN_NAMES).split()) or "somebody"
        address = "".join(self.address.translate(_NOT_IN_NAMES).split())
        return f"{name} <{address}> {at // SECOND_MS} +0000"


@dataclass(frozen=True, kw_only=True)
class Commit:
    """``changes``: by path, a file's content, or ``None`` for a deleted one. ``entries``: by path, mode and id of
    objects that exist already. ``merges``: a second parent."""

    name: str
    message: str
    author: Person
    at: Millis
    changes: Mapping[str, bytes | None]
    entries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    merges: str | None = None


async def make(git: Git, *, base: str | None, commits: Sequence[Commit], committer: Person) -> list[str]:
    """Make the commits, each on the one before, the first on ``base``. Returns their ids. Raises :class:`GitFault`."""
    stream = bytearray(b"feature done\n")
    for number, commit in enumerate(commits, 1):
        stream += f"commit {EXPORT}\nmark :{number}\nauthor {commit.author.line(commit.at)}\n".encode()
        stream += f"committer {committer.line(commit.at)}\n".encode()
        stream += _data(f"{commit.message}\n\n{TRAILER}: {commit.name}\n".encode())
        if number > 1 or base is not None:
            stream += f"from {f':{number - 1}' if number > 1 else base}\n".encode()
        if commit.merges is not None:
            stream += f"merge {commit.merges}\n".encode()
        for path, content in sorted(commit.changes.items(), key=lambda change: change[1] is not None):
            stream += _change(path, content)  # deletions first: a file may make room for a folder
        for path, (mode, object_id) in commit.entries.items():
            stream += b"M %s %s %s\n" % (mode.encode(), object_id.encode(), _quoted(path))
    for number in range(1, len(commits) + 1):
        stream += f"get-mark :{number}\n".encode()
    stream += b"done\n"
    printed = await git.run("fast-import", "--quiet", "--force", input=bytes(stream), within_s=IMPORT_WITHIN_S)
    made = printed.decode().split()
    if len(made) != len(commits):
        raise GitFault("failed", "Git has not made all the commits that it was told.")
    return made


async def put_blob(git: Git, content: bytes) -> str:
    """Store a file's content as a blob that is in no tree. Returns its id."""
    return (await git.run("hash-object", "-w", "--stdin", input=content)).decode().strip()


async def push(git: Git, commit: str, *, branch: str) -> None:
    """Move the remote's branch forward to ``commit``. Raises :class:`GitFault`: ``moved`` if it has other commits.

    With any other fault the remote may have accepted it or not.
    """
    await git.run_remote(
        *("push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed"),
        *("--", git.remote.url, f"{commit}:refs/heads/{branch}"),
    )


async def names_since(git: Git, commit: str, *, since: str | None) -> set[str]:
    """The names of the edits in the commits that ``commit`` has and ``since`` has not; only of the newest commits."""
    printed = await git.run(
        *("log", f"--max-count={LOOKED_BACK_COMMITS}", f"--format=%(trailers:key={TRAILER},valueonly)", commit),
        *([f"^{since}"] if since is not None else []),
        "--",
    )
    return set(printed.decode(errors="replace").split())


def _change(path: str, content: bytes | None) -> bytes:
    if content is None:
        return b"D %s\n" % _quoted(path)
    return b"M 100644 inline %s\n" % _quoted(path) + _data(content)


def _quoted(path: str) -> bytes:
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"%s"' % text.encode("utf-8", "surrogateescape")


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"
