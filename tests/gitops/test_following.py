"""A repository is followed: what is pushed there is here, with real git."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.gitops.service import Gitops
from tests.gitops.followed import POLL_S, broken_rules, following, looked, page, paths, status, synced
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, open_service


async def test_the_first_sync_is_done_before_anybody_is_served(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    commit = upstream.push({"pages/team/plan.md": "---\ntitle: The plan\ntags: [a]\n---\n\nText\n", "readme": "x"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        shown = await page(service, "team/plan")
        assert (shown["title"], shown["body"]) == ("The plan", "Text\n")
        assert shown["managed"] | {"at": ""} == {
            "file": "pages/team/plan.md",
            "commit": commit,
            "url": None,
            "author": "Mia",
            "at": "",
            "tags": ["a"],
            "editable": False,
            "inConflict": False,
        }
        found = await status(service)
        assert (found["enabled"], found["commit"], found["problems"]) == (True, commit, [])
        assert found["lastChange"] == {"added": 1, "changed": 0, "removed": 0}


@pytest.mark.thorough
async def test_a_push_is_here_after_the_poll(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "one"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        commit = upstream.push({"pages/a.md": "two", "pages/b.md": "new"}, author=("Noa", "noa@example.org"))
        began = trio.current_time()
        await synced(service, commit)
        assert trio.current_time() - began <= POLL_S * 1.2
        assert (await page(service, "a"))["body"] == "two"
        assert (await page(service, "a"))["managed"]["author"] == "Noa"
        assert (await page(service, "a"))["revision"] == 2


async def test_a_look_that_finds_nothing_new_asks_the_remote_once_and_writes_no_page(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.push({"pages/a.md": "one"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        follower = service.workspace.service(Gitops).follower
        assert follower is not None
        calls: list[str] = []
        git = type(follower.mirror.git)
        for name in ("run", "run_remote"):
            inner = getattr(git, name)

            def counted(self: object, *args: str, inner: object = inner, **options: object) -> object:
                calls.append(args[0])
                assert callable(inner)
                return inner(self, *args, **options)

            monkeypatch.setattr(git, name, counted)
        await looked(service)
        assert calls == ["ls-remote"]


@pytest.mark.thorough
async def test_without_a_poll_only_a_call_looks(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    first = upstream.push({"pages/a.md": "one"})
    async with following(tmp_path, upstream.url, clock=wall, log=log, poll_s=0) as service:
        second = upstream.push({"pages/a.md": "two"})
        await trio.sleep(4_000)  # longer than any look and any pause
        found = await status(service)
        assert (found["commit"], found["next"]) == (first, None)
        assert await service.mutate("gitops.sync") == {"queued": True}
        await synced(service, second)


async def test_calls_that_come_meanwhile_are_one_look(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.push({"pages/a.md": "one"})
    async with following(tmp_path, upstream.url, clock=wall, log=log, poll_s=0) as service:
        follower = service.workspace.service(Gitops).follower
        assert follower is not None
        looks: list[float] = []
        inner = follower._look

        async def counted() -> None:
            looks.append(trio.current_time())
            await inner()

        monkeypatch.setattr(follower, "_look", counted)
        for _ in range(50):
            await service.mutate("gitops.sync")
        await trio.sleep(100)
        assert 1 <= len(looks) <= 3


async def test_what_is_gone_there_is_in_the_trash_here(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A", "pages/a/b.md": "B", "pages/c.md": "C"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({"pages/a.md": None})
        found = await looked(service)
        assert found["lastChange"] == {"added": 0, "changed": 0, "removed": 1}
        assert await paths(service) == ["a/b", "c"]
        (entry,) = await service.query("pages.trash")
        assert entry["path"] == "a"
        await service.mutate("pages.undelete", id=entry["id"])
        assert (await page(service, "a"))["managed"] is None


async def test_a_rename_keeps_the_page_its_history_and_its_grants(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    head = "---\ngrants: [{to: everyone, level: read}]\n---\n"
    text = head + "\n".join(f"line {n}" for n in range(20))
    upstream.push({"pages/a.md": text, "pages/x.md": "X", "pages/y.md": "Y"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        before = await page(service, "a")
        x, y = await page(service, "x"), await page(service, "y")
        upstream.push({"pages/b/c.md": text + "\nmore"}, moves={"pages/a.md": "pages/b/c.md"})
        await looked(service)
        after = await page(service, "b/c")
        assert (after["id"], after["revision"]) == (before["id"], 2)
        assert after["grants"] == before["grants"] == [{"to": "everyone", "level": "read", "name": None}]
        upstream.push({}, moves={"pages/x.md": "pages/x/index.md", "pages/y.md": "pages/x/y.md"})
        await looked(service)
        assert (await page(service, "x"))["id"] == x["id"]
        assert (await page(service, "x/y"))["id"] == y["id"]
        assert await paths(service) == ["b/c", "x", "x/y"]
        assert await broken_rules(service) == []


async def test_a_broken_file_keeps_its_last_good_version_and_is_named(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "good", "pages/b.md": "B"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({"pages/a.md": "---\ntitle: x\naccess: everybody\n---\nbad", "pages/b.md": "B2"})
        found = await looked(service)
        (problem,) = found["problems"]
        assert (problem["file"], problem["line"]) == ("pages/a.md", 3)
        assert (await page(service, "a"))["body"] == "good"
        assert (await page(service, "b"))["body"] == "B2"
        upstream.push({"pages/a.md": "better"})
        assert (await looked(service))["problems"] == []
        assert (await page(service, "a"))["body"] == "better"


async def test_a_page_of_a_persons_own_is_never_overwritten(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/other.md": "O"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        await service.mutate("pages.save", path="mine", body="my words")
        upstream.push({"pages/mine.md": "theirs", "pages/more.md": "M"})
        (problem,) = (await looked(service))["problems"]
        assert "another page at mine" in problem["reason"]
        assert (await page(service, "mine"))["body"] == "my words"
        assert (await page(service, "more"))["body"] == "M"
        await service.mutate("pages.move", path="mine", to="moved")
        assert (await looked(service))["problems"] == []
        assert (await page(service, "mine"))["body"] == "theirs"
        assert (await page(service, "moved"))["managed"] is None


async def test_in_readonly_a_managed_page_is_changed_there_alone(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A", "pages/b/c.md": "C"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        await service.mutate("pages.save", path="b", body="above, and nobody's file")
        for procedure, wanted in (
            ("pages.save", {"path": "a", "body": "mine"}),
            ("pages.move", {"path": "a", "to": "z"}),
            ("pages.delete", {"path": "a"}),
            ("pages.delete", {"path": "b"}),
            ("pages.setAccess", {"path": "a", "access": "explicit"}),
        ):
            with pytest.raises(RpcError) as caught:
                await service.mutate(procedure, **wanted)
            assert caught.value.code == "FORBIDDEN"
        assert (await page(service, "a"))["body"] == "A"


async def test_files_beside_pages_are_shown_by_them(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/t/a.md": "![x](img/p.png) and [b](../b.md)", "pages/b.md": "B"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert "(img/p.png)" in (await page(service, "t/a"))["body"]
        upstream.push({"pages/t/img/p.png": b"\x89PNG one"})
        await looked(service)
        body = (await page(service, "t/a"))["body"]
        address = body.partition("](")[2].partition(")")[0]
        assert body == f"![x]({address}) and [b](/p/b)"
        assert await broken_rules(service) == []
        reply = await service.get(address)
        assert (reply.body, reply.header("content-type")) == (b"\x89PNG one", "image/png")
        upstream.push({"pages/t/img/p.png": b"\x89PNG two"})
        await looked(service)
        assert (await service.get(address)).body == b"\x89PNG two"
        upstream.push({"pages/t/img/p.png": None})
        await looked(service)
        assert (await page(service, "t/a"))["body"] == "![x](img/p.png) and [b](/p/b)"
        assert (await service.get(address)).status == 404


async def test_a_page_that_comes_after_a_file_shows_it_to_its_readers(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/p.png": b"\x89PNG", "pages/a.md": "A", "pages/b.md": "B"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        upstream.push({"pages/a.md": "![x](p.png)", "pages/new.md": "![x](p.png)"})
        await looked(service)
        shown = await service.rows("select p.path from page_files f join pages p on p.id = f.page_id order by 1")
        assert shown == [("a",), ("new",)]


async def test_a_text_shows_no_file_of_somebody_elses(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        reply = await service.ask("POST", "/files", b"private", fields={"x-svc-filename": "p.txt"})
        file_id = reply.json["id"]
        upstream.push({"pages/a.md": f"[x](/files/{file_id}/content)"})
        await looked(service)
        assert file_id in (await page(service, "a"))["body"]
        assert await service.rows("select * from page_files") == []


async def test_a_branch_that_was_moved_by_force_is_followed_and_flagged(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A", "pages/b.md": "B"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        before = await page(service, "a")
        upstream.push({"pages/a.md": "A2"}, root=True)
        assert (await looked(service))["wasForced"]
        assert await paths(service) == ["a"]
        assert (await page(service, "a"))["id"] == before["id"]


@pytest.mark.parametrize("way", ["branch gone", "folder gone", "repository gone"])
async def test_what_is_gone_as_a_whole_takes_nothing_away(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, way: str
) -> None:
    upstream.push({"pages/a.md": "A", "x": "x"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        if way == "branch gone":
            upstream.git("update-ref", "-d", "refs/heads/main")
        elif way == "folder gone":
            upstream.push({"pages/a.md": None})
        else:
            upstream.directory.rename(tmp_path / "elsewhere.git")
        found = await looked(service)
        assert found["problem"]
        assert (await page(service, "a"))["body"] == "A"


@pytest.mark.thorough
async def test_where_the_remote_is_away_at_boot_the_last_good_tree_serves(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A"})
    async with following(tmp_path, upstream.url, clock=wall, log=log):
        pass
    upstream.directory.rename(tmp_path / "away.git")
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        assert (await page(service, "a"))["body"] == "A"
        assert "no repository" in (await status(service))["problem"]
        (tmp_path / "away.git").rename(upstream.directory)
        commit = upstream.push({"pages/a.md": "B"})
        await synced(service, commit)
        assert (await page(service, "a"))["body"] == "B"


async def test_a_repository_that_is_followed_no_more_leaves_its_pages_to_people(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A"})
    async with following(tmp_path, upstream.url, clock=wall, log=log):
        pass
    async with open_service(tmp_path, clock=wall, log=log) as service:
        assert (await status(service))["enabled"] is False
        with pytest.raises(RpcError):
            await service.mutate("gitops.sync")
        await service.mutate("pages.save", path="a", body="mine now")
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        shown = await page(service, "a")
        assert (shown["body"], shown["managed"]["file"]) == ("A", "pages/a.md")


async def test_another_folder_of_the_repository_can_be_the_one(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"team/pages/a.md": "A", "pages/b.md": "B"})
    async with following(tmp_path, upstream.url, clock=wall, log=log, SVC_GITOPS_PATH="/team/") as service:
        assert await paths(service) == ["a"]
        assert (await page(service, "a"))["managed"]["author"] == "Mia"


async def test_a_grant_to_a_stranger_waits_until_they_are_here(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "---\ngrants: [{to: noa@example.org, level: read}]\n---\nA"})
    async with following(tmp_path, upstream.url, clock=wall, log=log, SVC_AUTH="off") as service:
        (problem,) = (await status(service))["problems"]
        assert ("noa@example.org" in problem["reason"], problem["line"]) == (True, 2)
        assert (await page(service, "a"))["grants"] == []
        await service.workspace.store.write(
            lambda tx: tx.run("insert into users values ('usr_n', 'noa@example.org', 'Noa', 'member', 1)")
        )
        assert (await looked(service))["problems"] == []
        (grant,) = (await page(service, "a"))["grants"]
        assert (grant["to"], grant["name"]) == ("usr_n", "Noa")


async def test_a_damaged_copy_is_made_again(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        copy = tmp_path / "home" / "gitops" / "repository.git"
        upstream.push({"pages/a.md": "B"})
        for path in [*copy.glob("objects/pack/*"), *copy.glob("objects/??/*")]:
            path.chmod(0o600)
            path.write_bytes(b"garbage")
        found = await looked(service)
        if found["problem"]:
            found = await looked(service)
        assert found["problem"] is None
        assert (await page(service, "a"))["body"] == "B"


async def test_the_plugins_of_the_repository_are_named_there_and_a_bad_list_is_told(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog
) -> None:
    upstream.push({"pages/a.md": "A", "plugins.json": "{"})
    async with following(tmp_path, upstream.url, clock=wall, log=log) as service:
        (problem,) = (await status(service))["problems"]
        assert problem["file"] == "plugins.json"
        upstream.push({"plugins.json": None})
        assert (await looked(service))["problems"] == []
