"""Real repositories for tests: an upstream that people push to, made with the git binary."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

AT: Final = 1_790_000_000
"""When the first commit was made, in seconds; each later one is a minute after the one before."""
Author = tuple[str, str]
MIA: Final[Author] = ("Mia", "mia@example.org")


class Rejected(Exception):
    """Somebody else pushed to the branch meanwhile: this commit is not there, and has to be made anew."""


@dataclass
class Upstream:
    """A bare repository, as a forge has it. Commits are streamed into it: no work tree, any name of a file."""

    directory: Path
    branch: str = "main"
    made: int = 0

    def __post_init__(self) -> None:
        self.git("init", "--quiet", "--bare", f"--initial-branch={self.branch}", str(self.directory), inside=False)
        self.git("config", "http.receivepack", "true")

    @property
    def url(self) -> str:
        return self.directory.as_uri()

    def git(self, *args: str, input: bytes = b"", inside: bool = True) -> bytes:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Mia" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "mia@example.org" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_DATE": f"{AT} +0000" for who in ("AUTHOR", "COMMITTER")},
        }
        command = ["git", *(["-C", str(self.directory)] if inside else []), *args]
        done = subprocess.run(command, input=input, capture_output=True, env=environ, check=False, timeout=600)
        assert done.returncode == 0, f"{args}: {done.stderr.decode(errors='replace')}"
        return done.stdout

    def push(
        self,
        files: Mapping[str, str | bytes | None],
        *,
        message: str = "Change",
        author: Author = MIA,
        root: bool = False,
        moves: Mapping[str, str] | None = None,
        onto: str | None = None,
    ) -> str:
        """One commit on the branch with these files changed (``None``: removed). ``root``: one without a parent.

        ``onto``: the commit whose files were looked at, if that is not simply the newest; raises ``Rejected`` if the
        branch has moved on since then.
        """
        self.made += 1
        branch, (name, address) = f"refs/heads/{self.branch}", author
        when = f"{AT + 60 * self.made} +0000"
        lines = [f"commit {branch}", f"author {name} <{address}> {when}", f"committer {name} <{address}> {when}"]
        stream = "\n".join(lines).encode() + b"\n" + _data(message.encode())
        head = onto or self.head()
        if head and not root:
            stream += f"from {head}\n".encode()
        if root:
            stream += b"deleteall\n"
        for old, new in (moves or {}).items():
            stream += f"R {_quoted(old)} {_quoted(new)}\n".encode()
        for path, content in files.items():
            if content is None:
                stream += f"D {_quoted(path)}\n".encode()
            else:
                data = content.encode() if isinstance(content, str) else content
                stream += f"M 100644 inline {_quoted(path)}\n".encode() + _data(data)
        force = ["--force"] if root else []
        try:
            self.git("fast-import", "--quiet", "--done", *force, input=stream + b"\ndone\n")
        except AssertionError:
            if onto and self.head() != onto:
                raise Rejected from None
            raise
        head = self.head()
        assert head is not None
        return head

    def head(self) -> str | None:
        found = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{self.branch}").decode().strip()
        return found or None

    def put_tree(self, lines: bytes) -> str:
        """A tree as it is written, whatever its names: lines of ``ls-tree -z``. Returns its id."""
        return self.git("mktree", "-z", "--missing", input=lines).decode().strip()

    def put_blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", input=content).decode().strip()

    def put_raw(self, kind: str, content: bytes) -> str:
        """An object that git itself would not write so."""
        return self.git("hash-object", "-t", kind, "-w", "--literally", "--stdin", input=content).decode().strip()

    def point_at(self, tree: str) -> str:
        """A commit of that tree becomes the branch's only one."""
        commit = self.git("commit-tree", tree, "-m", "Change").decode().strip()
        self.git("update-ref", f"refs/heads/{self.branch}", commit)
        return commit

    def file(self, path: str, ref: str | None = None) -> str:
        return self.git("cat-file", "blob", f"{ref or self.branch}:{path}").decode()


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
