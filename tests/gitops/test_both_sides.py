"""Edits here and there, in any order, with real git: both sides end equal, and no line that anybody wrote is lost."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.gitops.front_matter_edit import shown, with_body
from svc.gitops.service import Gitops
from tests.gitops.followed import following
from tests.gitops.upstream import Rejected, Upstream
from tests.recorded_log import RecordedLog
from tests.sizes import INTERLEAVINGS
from tests.support.service import RpcError, Service

pytestmark = pytest.mark.thorough

NAMES = ("a", "b", "c", "team", "team/plan", "team/notes")
START = "".join(f"line {n}\n" for n in range(12))


@dataclass
class Both:
    """The workspace, and the repository. ``lines`` that were written; those of pages that somebody deleted may go.

    Others push to ``main``; edits of here go to ``side``, which may be that, too.
    """

    service: Service
    upstream: Upstream
    chance: random.Random
    side: str
    lines: set[str] = field(default_factory=set)
    made: int = 0

    async def step(self) -> None:
        """A save here wakes the follower, which may push while somebody there does: who comes second begins anew."""
        while True:
            lines = set(self.lines)
            try:
                return await self.any_step()
            except Rejected:
                self.lines = lines

    async def any_step(self) -> None:
        kind = self.chance.choices(
            ["save", "push", "look", "move", "move there", "delete", "delete there", "make", "share", "take over"],
            weights=[8, 8, 4, 2, 1, 1, 1, 2, 1, 1],
        )[0]
        await getattr(self, kind.replace(" ", "_"))()

    def new_line(self) -> str:
        self.made += 1
        line = f"written {self.made}\n"
        self.lines.add(line)
        return line

    def with_new_line(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines.insert(self.chance.randint(0, len(lines)), self.new_line())
        return "".join(lines)

    def forget(self, text: str) -> None:
        self.lines -= set(text.splitlines(keepends=True))

    # Here

    async def pages(self) -> list[dict[str, Any]]:
        paths = await self.service.rows(
            "select p.path from pages p join page_managed m on m.page_id = p.id order by p.path"
        )
        return [await self.service.query("pages.get", path=path) for (path,) in paths]

    async def some_page(self) -> dict[str, Any] | None:
        found = await self.pages()
        return self.chance.choice(found) if found else None

    async def is_one_left(self, gone: set[str]) -> bool:
        """Whether both sides have a page without these files, too: a repository without any is not believed."""
        here = {(page["managed"] or {}).get("file") for page in await self.pages()}
        return bool((here & self.files().keys()) - gone)

    async def save(self) -> None:
        if page := await self.some_page():
            body = self.with_new_line(page["body"])
            await self.service.mutate("pages.save", path=page["path"], body=body, revision=page["revision"])

    async def make(self) -> None:
        if page := await self.some_page():
            path = f"{page['path']}/{self.chance.choice('xyz')}"
            try:
                await self.service.mutate("pages.save", path=path, body=START + self.new_line(), revision=0)
            except RpcError:  # there is one: it is not made, and its line is not written
                self.lines.discard(f"written {self.made}\n")

    async def move(self) -> None:
        if page := await self.some_page():
            try:
                await self.service.mutate("pages.move", path=page["path"], to=self.chance.choice([*NAMES, "moved"]))
            except RpcError:
                return

    async def delete(self) -> None:
        if page := await self.some_page():
            going = [
                one
                for one in await self.pages()
                if one["path"] == page["path"] or one["path"].startswith(page["path"] + "/")
            ]
            files = {(one["managed"] or {}).get("file", "") for one in going}
            if not await self.is_one_left(files):
                return
            for below in going:
                self.forget(below["body"])
            for branch in self.branches:
                for file in files:
                    self.forget(self.files(branch).get(file, ""))
            await self.service.mutate("pages.delete", path=page["path"])

    async def share(self) -> None:
        if page := await self.some_page():
            await self.service.mutate(
                "pages.setAccess", path=page["path"], access="explicit", grants=[{"to": "everyone", "level": "read"}]
            )

    # There

    @property
    def branches(self) -> set[str]:
        known = self.upstream.git("for-each-ref", "--format=%(refname:short)").decode().split()
        return {"main", self.side} & set(known)

    @property
    def whole(self) -> str:
        """The branch that has it all, where all is settled: the side, unless all of it was taken over."""
        if self.side not in self.branches:
            return "main"
        meets = self.upstream.git("merge-base", "main", self.side).decode().strip()
        return self.side if meets == self.upstream.head() else "main"

    def newest(self) -> str:
        head = self.upstream.head()
        assert head is not None
        return head

    def files(self, branch: str = "main") -> dict[str, str]:
        names = self.upstream.git("ls-tree", "-r", "-z", "--name-only", branch, "pages/").decode().split("\0")[:-1]
        return {name: self.upstream.file(name, branch) for name in names}

    async def take_over(self) -> None:
        """The pull request is merged, if it can be as it is."""
        self.upstream.git("update-ref", "refs/heads/main", f"refs/heads/{self.whole}")

    async def push(self) -> None:
        head = self.newest()
        files = self.files(head)
        if files:
            file = self.chance.choice(sorted(files))
            self.upstream.push({file: with_body(files[file], self.with_new_line(shown(files[file])))}, onto=head)

    async def move_there(self) -> None:
        head = self.newest()
        files = self.files(head)
        new = f"pages/{self.chance.choice(NAMES)}.md"
        if files and new not in files:
            old = self.chance.choice(sorted(files))
            self.upstream.push({old: None, new: files[old]}, onto=head)

    async def delete_there(self) -> None:
        head = self.newest()
        files = self.files(head)
        file = self.chance.choice(sorted(files)) if files else ""
        if file and await self.is_one_left({file}):
            for branch in self.branches:
                self.forget(self.files(branch).get(file, ""))
            for page in await self.pages():
                if page["managed"] and page["managed"]["file"] == file:
                    self.forget(page["body"])
            self.upstream.push({file: None}, onto=head)

    # Between

    async def look(self) -> None:
        follower = self.service.workspace.service(Gitops).follower
        assert follower is not None
        await follower.look()

    async def settle(self) -> None:
        """Until nothing waits. What people have to choose is chosen so that both texts stay."""
        for _ in range(12):
            await self.look()
            status = await self.service.query("gitops.status")
            assert status["problem"] is None, status["problem"]
            if not status["pending"] and not status["conflicts"] and not status["problems"]:
                await self.look()
                return
            for conflict in status["conflicts"]:
                if conflict in (await self.service.query("gitops.status"))["conflicts"]:  # it went along with another
                    await self.choose(conflict)
            for problem in status["problems"]:
                await self.make_room(problem)
        raise AssertionError(f"it does not come to rest: {status}")

    async def choose(self, conflict: dict[str, Any]) -> None:
        path = conflict["path"]
        contested = await self.service.query("gitops.conflict", path=path)
        if "another file" in contested["reason"]:
            self.made += 1
            await self.service.mutate("pages.move", path=path, to=f"free {self.made}")
        elif contested["there"] is None:
            await self.service.mutate("gitops.resolve", path=path, keep="here")
        else:
            here = (await self.service.query("pages.get", path=path))["body"]
            mine = set(here.splitlines(keepends=True))
            theirs = [line for line in contested["there"]["body"].splitlines(keepends=True) if line not in mine]
            await self.service.mutate("gitops.resolve", path=path, keep="text", text=here + "".join(theirs))

    async def make_room(self, problem: dict[str, Any]) -> None:
        """A page of here alone stands where a file should be, or two files would be one page."""
        head = self.newest()
        files = self.files(head)
        if problem["file"] in files:
            self.made += 1
            with suppress(Rejected):  # the problem stays, and is seen again
                self.upstream.push(
                    {problem["file"]: None, f"pages/room {self.made}.md": files[problem["file"]]}, onto=head
                )

    async def check(self) -> None:
        files = self.files(self.whole)
        pages = {page["managed"]["file"]: page for page in await self.pages()}
        assert pages.keys() == files.keys()
        for file, page in pages.items():
            assert page["body"] == shown(files[file]), file
            assert not page["managed"]["inConflict"]
        everything = "".join(files.values())
        assert {line for line in self.lines if line not in everything} == set()


@pytest.mark.share(2)
@pytest.mark.parametrize("side", ["main", "workspace"])
async def test_any_row_of_edits_here_and_there_ends_with_both_sides_equal_and_nothing_lost(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, chance: random.Random, side: str
) -> None:
    upstream.push({f"pages/{name}.md": f"---\ntitle: {name} # kept\n---\n\n{START}" for name in NAMES})
    settings = {"SVC_GITOPS_MODE": "write-back"} | ({} if side == "main" else {"SVC_GITOPS_WRITEBACK_BRANCH": side})
    async with following(tmp_path, upstream.url, clock=wall, log=log, poll_s=0, **settings) as service:
        both = Both(service=service, upstream=upstream, chance=chance, side=side)
        for _ in range(INTERLEAVINGS):
            for _ in range(chance.randint(2, 7)):
                await both.step()
            await both.settle()
            await both.check()
        assert await service.rows("select count(*) from page_edits") == [(0,)]
