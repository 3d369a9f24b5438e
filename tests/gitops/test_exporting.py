"""What people change here comes to the repository: one commit an edit, in order, once; and what stands in the way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.errors import Conflict, Forbidden, NotFound
from svc.gitops import conflicts
from svc.gitops.git import GitFault, Mirror
from svc.gitops.git import commits as git_commits
from svc.gitops.model import GITOPS
from svc.nursery import ThreadPool
from svc.pages import managed
from tests.gitops.conftest import MakeMirror
from tests.gitops.pages_and_repository import PagesAndRepository, open_store
from tests.gitops.upstream import Upstream
from tests.pages.people_and_pages import FOR_ALL, MIA, NOA, OLE, grant

TEXT = "one\n\ntwo\n\nthree\n"


@pytest.fixture
async def pages(
    tmp_path: Path, threads: ThreadPool, upstream: Upstream, mirror_of: MakeMirror
) -> AsyncIterator[PagesAndRepository]:
    store = open_store(tmp_path / "svc.sqlite3", threads)
    upstream.push({"README.md": "not a page\n"})
    pages = PagesAndRepository(store, mirror=await mirror_of(upstream.url), upstream=upstream)
    await pages.follow(team="---\ntitle: Team # ours\n---\n\nAbout\n", team__plan=TEXT, team__notes="a\r\n\r\nb\r\n")
    for path in ("team", "team/plan", "team/notes"):
        pages.open_to_all(path)
    yield pages
    store.close_now()


def keep(pages: PagesAndRepository, path: str, choice: conflicts.Keep, text: str | None = None) -> None:
    pages.do(conflicts.resolve, NOA, path=path, keep=choice, text=text)


async def test_each_edit_is_a_commit_by_who_made_it_in_their_order(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/plan", TEXT + "by noa\n", title="plan")
    pages.save(OLE, "team/plan", TEXT + "by noa\nby ole\n", title="plan")
    pages.share(MIA, "team/notes", grant(OLE, "write"))
    pages.save(NOA, "team/new", "new\n")
    pages.move(MIA, "team/plan", "team/old/plan")
    pages.delete(MIA, "team/notes")
    head = await pages.export()
    assert pages.upstream.head() == head
    assert pages.log()[1:] == [
        "Noa: Change team/plan",
        "Ole: Change team/plan",
        "Mia: Share team/notes",
        "Noa: Add team/new",
        "Mia: Move team/plan to team/old/plan",
        "Mia: Delete team/notes",
    ]
    assert pages.upstream.file("pages/team/old/plan.md").endswith("three\nby noa\nby ole\n")
    assert pages.upstream.file("pages/team/new.md") == "new\n"
    listed = pages.upstream.git("ls-tree", "-r", "--name-only", "main").decode().split()
    assert listed == ["README.md", "pages/team.md", "pages/team/new.md", "pages/team/old/plan.md"]
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert await pages.export() == head


async def test_only_what_was_changed_is_changed_there(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/notes", "a\n\nB\n")
    await pages.export()
    assert pages.upstream.file("pages/team/notes.md").endswith("a\r\n\r\nB\r\n")
    assert pages.upstream.file("pages/team/notes.md").count("\n") == pages.upstream.file("pages/team/notes.md").count(
        "\r\n"
    )


async def test_other_lines_changed_there_are_merged_and_each_edit_is_there_once(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE"), title="plan")
    pages.save(OLE, "team/plan", TEXT.replace("one", "ONE!"), title="plan")
    pages.upstream.push({"pages/team/plan.md": TEXT.replace("three", "THREE"), "other.txt": "x"})
    await pages.export()
    assert pages.upstream.file("pages/team/plan.md").endswith(TEXT.replace("one", "ONE!").replace("three", "THREE"))
    assert pages.log()[-2:] == ["Noa: Change team/plan", "Ole: Change team/plan"]
    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE?"), title="plan")  # before a sync has brought THREE here
    await pages.export()
    assert pages.upstream.file("pages/team/plan.md").endswith(TEXT.replace("one", "ONE?").replace("three", "THREE"))


async def test_a_push_that_comes_second_is_made_again_upon_what_is_there(
    pages: PagesAndRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed = git_commits.push
    others = iter(["x", "y"])

    async def push(git: object, commit: str, *, branch: str) -> None:
        for text in others:
            pages.upstream.push({"other.txt": text})
            break
        await pushed(git, commit, branch=branch)  # type: ignore[arg-type]

    monkeypatch.setattr(git_commits, "push", push)
    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE"), title="plan")
    await pages.export()
    assert pages.log()[-3:] == ["Mia: Change", "Mia: Change", "Noa: Change team/plan"]
    assert pages.waiting() == 0


@pytest.mark.parametrize("arrived", [True, False])
async def test_a_push_of_which_nobody_knows_whether_it_arrived_repeats_and_loses_nothing(
    pages: PagesAndRepository, monkeypatch: pytest.MonkeyPatch, arrived: bool
) -> None:
    pushed = git_commits.push

    async def push(git: object, commit: str, *, branch: str) -> None:
        if arrived:
            await pushed(git, commit, branch=branch)  # type: ignore[arg-type]
        raise GitFault("unreachable", "The line was cut.")

    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE"), title="plan")
    pages.save(OLE, "team/new", "new")
    with monkeypatch.context() as patched:
        patched.setattr(git_commits, "push", push)
        with pytest.raises(GitFault):
            await pages.export()
    assert pages.waiting() == 2
    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE").replace("two", "TWO"), title="plan")
    await pages.export()
    assert pages.log()[1:] == ["Noa: Change team/plan", "Ole: Add team/new", "Noa: Change team/plan"]
    assert pages.waiting() == 0


async def in_conflict(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/plan", TEXT.replace("one", "HERE"), title="plan")
    pages.save(OLE, "team/new", "goes on")
    pages.upstream.push({"pages/team/plan.md": TEXT.replace("one", "THERE")})
    await pages.export()
    assert pages.conflicts() == [("team/plan", "It was changed in the repository as well, in the same lines.")]
    assert pages.upstream.file("pages/team/plan.md") == TEXT.replace("one", "THERE")
    assert pages.log()[-1] == "Ole: Add team/new"
    assert pages.waiting() == 1
    (page_id,) = pages.rows("select id from pages where path = 'team/plan'")[0]
    file = pages.ask(managed.managed, page_id)
    assert file is not None
    assert file.in_conflict


async def test_a_conflict_keeps_both_and_every_other_page_goes_on(pages: PagesAndRepository) -> None:
    await in_conflict(pages)
    found, page = pages.ask(conflicts.found, OLE, path="team/plan")
    assert found.there == conflicts.Side(title="plan", body=TEXT.replace("one", "THERE"))
    assert page.path == "team/plan"
    pages.save(OLE, "team/plan", TEXT.replace("one", "HERE, too"), title="plan")
    await pages.export()
    assert len(pages.conflicts()) == 1


@pytest.mark.parametrize(("choice", "text"), [("here", None), ("text", TEXT.replace("one", "BOTH"))])
async def test_who_chooses_what_is_here_makes_a_commit_of_it(
    pages: PagesAndRepository, choice: conflicts.Keep, text: str | None
) -> None:
    await in_conflict(pages)
    keep(pages, "team/plan", choice, text)
    assert pages.conflicts() == []
    await pages.export()
    assert pages.upstream.file("pages/team/plan.md").endswith(text or TEXT.replace("one", "HERE"))
    assert pages.log()[-1] == "Noa: Change team/plan"
    assert (pages.waiting(), pages.conflicts()) == (0, [])


async def test_who_chooses_what_is_there_leaves_the_repository_alone(pages: PagesAndRepository) -> None:
    await in_conflict(pages)
    head = pages.upstream.head()
    keep(pages, "team/plan", "there")
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert await pages.export() == head
    assert pages.rows("select digest from gitops_files where path = 'team/plan'") == [("",)]  # the sync takes it


async def test_a_conflict_that_is_gone_there_ends_by_itself(pages: PagesAndRepository) -> None:
    await in_conflict(pages)
    pages.upstream.push({"pages/team/plan.md": TEXT})
    await pages.export()
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert pages.upstream.file("pages/team/plan.md").endswith(TEXT.replace("one", "HERE"))


async def test_what_was_deleted_there_and_changed_here_waits_for_a_choice(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/plan", TEXT.replace("one", "HERE"), title="plan")
    pages.upstream.push({"pages/team/plan.md": None})
    await pages.export()
    assert pages.conflicts() == [("team/plan", "It was deleted in the repository, and changed here.")]
    keep(pages, "team/plan", "here")
    await pages.export()
    assert pages.upstream.file("pages/team/plan.md").endswith(TEXT.replace("one", "HERE"))


async def test_what_was_changed_there_and_deleted_here_stays_there(pages: PagesAndRepository) -> None:
    pages.delete(MIA, "team/plan")
    pages.upstream.push({"pages/team/plan.md": TEXT.replace("one", "THERE")})
    await pages.export()
    assert pages.upstream.file("pages/team/plan.md") == TEXT.replace("one", "THERE")
    assert pages.rows("select * from gitops_files where path = 'team/plan'") == []  # the sync makes a page of it
    assert (pages.waiting(), pages.conflicts()) == (0, [])


async def test_what_was_changed_here_and_there_and_then_deleted_here_stays_there(pages: PagesAndRepository) -> None:
    """All of it between two looks: the page is gone, so there is no place to ask which version is wanted."""
    theirs = TEXT.replace("one", "THEIRS")
    pages.save(NOA, "team/plan", TEXT.replace("one", "OURS"))
    pages.delete(MIA, "team/plan")
    pages.upstream.push({"pages/team/plan.md": theirs})
    await pages.export()
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert pages.upstream.file("pages/team/plan.md") == theirs


async def test_where_the_text_that_an_edit_was_made_upon_is_lost_a_person_chooses(pages: PagesAndRepository) -> None:
    """It stood in no commit, only in our copy of the repository: what a merge had made of the page here."""
    pages.save(NOA, "team/plan", TEXT.replace("one", "ONE"), title="plan")
    pages.upstream.push({"pages/team/plan.md": TEXT.replace("three", "THREE")})
    await pages.export()
    there = pages.upstream.file("pages/team/plan.md")
    pages.save(OLE, "team/plan", TEXT.replace("one", "ONE").replace("two", "TWO"), title="plan")
    await pages.mirror.start_over()
    await pages.export()
    assert pages.conflicts() == [("team/plan", "It was changed in the repository as well, in the same lines.")]
    assert (pages.upstream.file("pages/team/plan.md"), pages.waiting()) == (there, 1)
    keep(pages, "team/plan", "text", TEXT.replace("one", "ONE").replace("two", "TWO").replace("three", "THREE"))
    await pages.export()
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert "TWO\n\nTHREE" in pages.upstream.file("pages/team/plan.md")


async def test_a_path_that_another_file_has_there_is_told_and_a_move_ends_it(pages: PagesAndRepository) -> None:
    pages.move(MIA, "team/plan", "team/taken")
    pages.upstream.push({"pages/team/taken.md": "theirs"})
    await pages.export()
    assert pages.conflicts() == [("team/taken", "There is another file where it would be.")]
    with pytest.raises(Conflict, match="move the page"):
        keep(pages, "team/taken", "here")
    pages.move(MIA, "team/taken", "team/free")
    await pages.export()
    assert (pages.waiting(), pages.conflicts()) == (0, [])
    assert pages.upstream.file("pages/team/free.md").endswith(TEXT)
    assert pages.upstream.file("pages/team/taken.md") == "theirs"


async def test_a_name_that_no_file_can_have_is_told(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/.hidden", "x")
    await pages.export()
    assert pages.conflicts() == [("team/.hidden", "The name of a file there can't begin with a dot.")]
    pages.delete(NOA, "team/.hidden")
    await pages.export()
    assert (pages.waiting(), pages.conflicts()) == (0, [])


async def test_who_may_choose_is_who_may_write_and_a_choice_is_made_once(pages: PagesAndRepository) -> None:
    await in_conflict(pages)
    pages.share(MIA, "team/plan", FOR_ALL)
    with pytest.raises(Forbidden):
        keep(pages, "team/plan", "here")
    pages.open_to_all("team/plan")
    keep(pages, "team/plan", "here")
    with pytest.raises(NotFound, match="Nothing waits"):
        keep(pages, "team/plan", "there")


async def test_below_a_folder_of_the_repository_only_that_is_touched(
    tmp_path: Path, threads: ThreadPool, upstream: Upstream, mirror_of: MakeMirror
) -> None:
    store = open_store(tmp_path / "svc.sqlite3", threads)
    upstream.push({"pages/a.md": "not ours"})
    mirror: Mirror = await mirror_of(upstream.url)
    pages = PagesAndRepository(store, mirror=mirror, upstream=upstream, folder="work/space")
    await pages.follow(a="ours\n")
    pages.open_to_all("a")
    pages.save(NOA, "a", "changed\n", title="a")
    await pages.export()
    assert (upstream.file("pages/a.md"), upstream.file("work/space/pages/a.md")[-8:]) == ("not ours", "changed\n")
    store.close_now()


async def test_a_manager_that_is_gone_has_nothing_to_carry_out(pages: PagesAndRepository) -> None:
    pages.save(NOA, "team/plan", "x", title="plan")
    pages.do(managed.forget_manager, GITOPS)
    head = pages.upstream.head()
    assert await pages.export() == head
