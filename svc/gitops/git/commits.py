"""Commits made without a work tree, and bringing them to the remote.

``fast-import`` makes a whole row of commits in one process. With the same parent, content, people and times they have
the same ids, however often they are made; each bears the name of what it carries out, by which a later look at the
branch knows it again. A push names the commit and the branch and nothing else: the remote takes it only where the
branch is still at what the commits were made on, or it says ``moved``. Nothing here ever forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.clock import SECOND_MS, Millis
from svc.gitops.git.child import Git
from svc.gitops.git.faults import GitFault

EXPORT: Final = "refs/svc/export"
"""What was made last. A commit without a name would be no one's, and could be tidied away."""
TRAILER: Final = "Svc-Edit"
MERGE: Final = "merge"
"""The name of a commit that carries nothing out."""
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
    """``changes``: by path, a file's content, or ``None`` for one that goes. ``entries``: by path, mode and id of what
    is kept already. ``merges``: a second parent."""

    name: str
    message: str
    author: Person
    at: Millis
    changes: Mapping[str, bytes | None]
    entries: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    merges: str | None = None


async def make(git: Git, *, base: str | None, commits: Sequence[Commit], committer: Person) -> list[str]:
    """Their ids, each made on the one before, the first on ``base``. Raises :class:`GitFault`."""
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
            stream += _change(path, content)  # what goes first: a file may make place for a folder
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
    """Keep a file's content, in no tree. Returns its id."""
    return (await git.run("hash-object", "-w", "--stdin", input=content)).decode().strip()


async def push(git: Git, commit: str, *, branch: str) -> None:
    """Have the remote's branch follow to ``commit``. Raises :class:`GitFault`: ``moved`` if it has other commits.

    With any other fault the remote may have taken it or not.
    """
    await git.run_remote(
        *("push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed"),
        *("--", git.remote.url, f"{commit}:refs/heads/{branch}"),
    )


async def names_since(git: Git, commit: str, *, since: str | None) -> set[str]:
    """What the commits carry out that ``commit`` has and ``since`` has not; of the newest of them."""
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
