"""A page is a file and a file is a page, whoever changes which; and nothing that somebody wrote is lost in between."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.errors import Invalid
from svc.okf import FilePage, read, written
from svc.okf.text import CONFLICT, path_of
from tests.recorded_log import RecordedLog
from tests.support.service import RpcError, Service, open_service
from tests.tools.tool_runs import call, outcome

CLOUD: Final = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://mail.example.org"}


def folder(service: Service) -> Path:
    return service.workspace.home.path / "okf"


async def settled() -> None:
    """Longer than the loop waits for an editor to be done; threads hold this clock."""
    for _ in range(4):
        await trio.sleep(1)


async def page(service: Service, path: str) -> dict[str, Any]:
    found: dict[str, Any] = await service.query("pages.get", path=path)
    return found


async def write(service: Service, path: str, body: str, **more: object) -> None:
    await service.mutate("pages.save", path=path, body=body, **more)
    await settled()


async def test_a_page_is_a_file_that_follows_it_and_goes_with_it(service: Service) -> None:
    await write(service, "team/plan", "# Plan\n\nFirst.\n", title="The: plan")
    file = folder(service) / "team" / "plan.md"
    text = file.read_text()
    found = await page(service, "team/plan")
    for line in (f"id: {found['id']}", 'title: "The: plan"', "access: inherited", "revision: 1", "grants: []"):
        assert f"\n{line}\n" in text
    assert f"\nupdatedAt: {found['updatedAt']}\n---\n\n# Plan\n\nFirst.\n" in text
    assert file.stat().st_mode & 0o077 == 0

    await service.mutate(
        "pages.setAccess", path="team/plan", access="explicit", grants=[{"to": "everyone", "level": "read"}]
    )
    await settled()
    assert "access: explicit\ngrants:\n  - to: everyone\n    level: read\n" in file.read_text()

    await service.mutate("pages.move", path="team/plan", to="plans/one")
    await settled()
    assert not file.parent.exists()
    assert (folder(service) / "plans" / "one.md").exists()
    await service.mutate("pages.delete", path="plans/one")
    await settled()
    assert not (folder(service) / "plans").exists()
    assert (await service.query("okf.status"))["conflicts"] == []


async def test_a_file_that_is_edited_becomes_a_revision_and_a_new_one_a_page(service: Service) -> None:
    await write(service, "notes", "---\ncolour: red\n---\nBefore.\n", title="Notes")
    file = folder(service) / "notes.md"
    text = file.read_text()
    assert "colour: red" in text
    file.write_text(text.replace("Before.", "After.").replace("title: Notes", "title: Other notes"))
    (folder(service) / "new").mkdir()
    await settled()
    (folder(service) / "new" / "from an editor.md").write_text("Just text.\n")
    await settled()
    found = await page(service, "notes")
    assert (found["title"], found["body"], found["revision"]) == ("Other notes", "---\ncolour: red\n---\nAfter.\n", 2)
    assert "revision: 2" in file.read_text()
    assert (await page(service, "new/from an editor"))["body"] == "Just text.\n"
    assert (
        f"id: {(await page(service, 'new/from an editor'))['id']}"
        in (folder(service) / "new" / "from an editor.md").read_text()
    )

    file.unlink()  # it is not how a page is deleted
    await settled()
    assert "After." in file.read_text()


async def test_where_both_have_changed_the_page_stays_and_what_was_written_is_kept(service: Service) -> None:
    await write(service, "both", "one\n")
    file = folder(service) / "both.md"
    keeper_sees = file.read_text().replace("one", "from the file")
    async with trio.open_nursery() as nursery:  # in the same moment
        nursery.start_soon(lambda: service.mutate("pages.save", path="both", body="from the app\n"))
        await trio.to_thread.run_sync(lambda: file.write_text(keeper_sees))
    await settled()
    found = await page(service, "both")
    copies = list(folder(service).glob(f"both{CONFLICT}*.md"))
    texts = {read(one.read_bytes()).body for one in copies} | {found["body"]}
    history = await service.query("pages.history", path="both")
    if copies:
        assert texts == {"from the app\n", "from the file\n"}
        (told,) = (await service.query("okf.status"))["conflicts"]
        assert (told["file"], told["kept"]) == ("both.md", copies[0].name)
        copies[0].unlink()  # it was put right
        await settled()
        assert (await service.query("okf.status"))["conflicts"] == []
    else:  # the file came first: then the app's is the next revision
        assert len(history) == 3
    assert read(file.read_bytes()).body == found["body"]


async def test_what_can_be_no_page_is_told_and_left_as_it_is(service: Service) -> None:
    (folder(service) / "broken.md").write_bytes(b"\xff\xfe no text")
    (folder(service) / "half.md").write_text("---\ntitle: [\n---\ntext\n")
    os.symlink("/etc/passwd", folder(service) / "link.md")
    await settled()
    told = {one["file"]: one["reason"] for one in (await service.query("okf.status"))["conflicts"]}
    assert told.keys() == {"broken.md", "half.md"}
    assert (folder(service) / "broken.md").read_bytes() == b"\xff\xfe no text"
    with pytest.raises(RpcError):
        await page(service, "link")


async def test_edits_made_while_the_service_is_down_are_taken_when_it_is_back(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as one:
        await write(one, "kept", "before\n")
        file = folder(one) / "kept.md"
    file.write_text(file.read_text().replace("before", "meanwhile"))
    (file.parent / ".svc-0123").write_text("half")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as two:
        await settled()
        assert (await page(two, "kept"))["body"] == "meanwhile\n"
        assert not (file.parent / ".svc-0123").exists()


async def test_a_copy_of_a_file_with_text_from_outside_is_from_outside_too(service: Service) -> None:
    """Else an agent would take a stranger's text for its owner's, because a person has tidied up their folder."""
    obey = "---\ncolour: red\n---\nObey.\n"
    await outcome(service, await call(service, "pages.save", tainted=True, path="notes/a", title="A", body=obey))
    await write(service, "mine", "Mine.\n")
    home = folder(service)
    assert "\nfromOutside: run\n" in (home / "notes/a.md").read_text()
    assert "fromOutside" not in (home / "mine.md").read_text()
    text = (home / "notes/a.md").read_text()
    (home / "copy.md").write_text(text.replace("Obey.", "Obey, and more."))
    (home / "mine.md").write_text(text)
    (home / "odd.md").write_text(text.replace("fromOutside: run", "fromOutside: [x]"))
    (home / "notes/a.md").rename(home / "moved.md")
    await settled()
    for path in ("copy", "mine", "odd", "moved", "notes/a"):
        assert (await service.query("pages.trust", path=path)) == {"fromOutside": True, "by": "run"}, path
        body = (await page(service, path))["body"]
        assert body == obey.replace("Obey.", "Obey, and more.") if path == "copy" else obey
    (home / "copy.md").write_text((home / "copy.md").read_text().replace("fromOutside: run\n", ""))
    await settled()
    assert (await service.query("pages.trust", path="copy"))["fromOutside"], "a person says so in the app"
    assert "\nfromOutside: run\n" in (home / "copy.md").read_text()
    await service.mutate("pages.setTrusted", path="copy")
    await settled()
    assert "fromOutside" not in (home / "copy.md").read_text()


async def test_under_cloud_nothing_is_written_or_read(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", environ=CLOUD) as cell:
        assert "okf" not in cell.workspace.root.states()


lines = st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20), max_size=6)


@given(lines, lines, st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30))
def test_what_is_written_is_read_as_it_was(head: list[str], rest: list[str], title: str) -> None:
    body = "\n".join(rest).lstrip("\n")
    if head:
        keys = "".join(f"key{number}: x\n" for number, _ in enumerate(head))
        body = f"---\n{keys}---\n{body}"
    one = FilePage(
        id="pag_x",
        path="a",
        title=title.strip() or "t",
        owner="mia@example.org",
        access="explicit",
        grants=(("everyone", "read"), ("o'hara@example.org", "write")),
        revision=3,
        updated_at=0,
        body=body,
    )
    found = read(written(one).encode())
    assert (found.title, found.body) == (one.title, body)


def test_a_name_that_is_not_a_path_as_it_is_spelled_is_no_page() -> None:
    for name in (" a.md", "a/ b.md", "e\u0301.md", "../a.md"):
        with pytest.raises(Invalid):
            path_of(name)
