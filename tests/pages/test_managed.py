"""Pages that are kept in step with another place: who may change them here, and what is noted for there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from svc.errors import Conflict, Forbidden
from svc.pages import actions, alone, edits, managed, readable_page
from svc.pages.edits import Edit
from svc.principal import system
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, NOA, OLE, Pages, grant

GIT = system("gitops")


@pytest.fixture
def kept(pages: Pages) -> Pages:
    """``team`` and ``team/plan`` are files of a repository; ``team/plan/own`` below them and ``else`` are not."""
    pages.do(managed.set_manager, GIT, editable=True)
    for path in ("team", "team/plan"):
        make(pages, path)
    pages.share(GIT, "team", FOR_ALL_TO_WRITE)
    pages.do(lambda tx: alone.make(tx, GIT, owner_id=NOA.user_id, path="team/plan/own", title=None, body=""))
    pages.save(NOA, "else", "")
    return pages


def make(pages: Pages, path: str) -> str:
    page_id = pages.do(alone.make, GIT, owner_id=NOA.user_id, path=path, title=None, body="from there")
    assert page_id is not None
    pages.do(managed.manage, GIT, page_id, file=f"pages/{path}.md", commit="c1", url=None)
    return page_id


def noted(pages: Pages) -> list[tuple[Any, ...]]:
    """``(kind, author, [(was, path), …])`` of what waits."""
    return [(edit.kind, edit.author_id, [(page.was_path, page.path) for page in edit.pages]) for edit in waiting(pages)]


def waiting(pages: Pages) -> list[Edit]:
    return pages.ask(edits.waiting_edits, GIT, most=100)


def test_each_change_of_a_managed_page_is_noted_in_order_with_its_author(kept: Pages) -> None:
    kept.save(OLE, "team/plan", "by ole")
    kept.share(NOA, "team/plan", grant(OLE), FOR_ALL)
    kept.move(NOA, "team/plan", "team/old plan")
    kept.delete(NOA, "team/old plan")
    assert noted(kept) == [
        ("save", "usr_ole", [("team/plan", "team/plan")]),
        ("access", "usr_noa", [("team/plan", "team/plan")]),
        ("move", "usr_noa", [("team/plan", "team/old plan")]),
        ("delete", "usr_noa", [("team/old plan", None)]),
    ]
    save, access, move, _ = waiting(kept)
    assert (save.pages[0].title, save.pages[0].body, save.pages[0].access) == ("plan", "by ole", "inherited")
    assert access.pages[0].grants == (("everyone", "read"), ("ole@example.org", "read"))
    assert (access.pages[0].body, move.pages[0].body, move.pages[0].grants) == (None, None, None)


def test_what_changes_nothing_is_no_edit_and_neither_is_a_page_that_is_here_alone(kept: Pages) -> None:
    kept.save(OLE, "team/plan", "from there")
    kept.save(OLE, "team/plan/own", "changed")
    kept.save(NOA, "else", "changed")
    kept.save(NOA, "else/below", "new")
    with pytest.raises(Conflict):
        kept.save(OLE, "team/plan", "late", revision=9)
    assert noted(kept) == []


def test_what_the_manager_does_is_no_edit(kept: Pages) -> None:
    kept.save(GIT, "team/plan", "changed there")
    plan = kept.ask(readable_page, GIT, "team/plan")
    assert plan is not None
    kept.do(alone.move, GIT, plan, to="plan")
    kept.delete(GIT, "team")
    assert noted(kept) == []


def test_a_new_page_is_managed_where_it_inherits_from_one_that_is(kept: Pages) -> None:
    made = kept.save(OLE, "team/new", "text")
    assert noted(kept) == [("save", "usr_ole", [(None, "team/new")])]
    assert kept.ask(managed.managed, made.id) is None  # it is nowhere else yet
    kept.do(managed.manage, GIT, made.id, file="pages/team/new.md", commit="c2", url="https://forge.example/new")
    found = kept.ask(managed.managed, made.id)
    assert found is not None
    assert (found.file, found.editable) == ("pages/team/new.md", True)


def test_a_subtree_is_one_edit_of_all_its_managed_pages(kept: Pages) -> None:
    kept.move(NOA, "team", "club")
    assert noted(kept) == [("move", "usr_noa", [("team", "club"), ("team/plan", "club/plan")])]


def test_a_deleted_page_that_comes_back_is_new_there(kept: Pages) -> None:
    (page_id,) = kept.rows("select id from pages where path = 'team'")[0]
    kept.delete(NOA, "team")
    kept.undelete(NOA, page_id)
    (_, _, both) = noted(kept)[1]
    assert (noted(kept)[1][0], both) == ("undelete", [(None, "team"), (None, "team/plan")])
    assert waiting(kept)[1].pages[0].body == "from there"


def test_what_the_manager_took_away_comes_back_as_a_page_of_here_alone(kept: Pages) -> None:
    team = kept.ask(readable_page, GIT, "team")
    assert team is not None
    kept.do(alone.remove, GIT, team)
    assert kept.paths() == {"team/plan", "team/plan/own", "else"}
    assert kept.readers("team/plan") == {"noa"}
    kept.undelete(NOA, team.id)
    kept.save(NOA, "team", "mine")
    assert noted(kept) == []
    assert kept.readers("team/plan") == {"mia", "noa", "ole"}
    assert kept.problems() == []


CHANGES: dict[str, Callable[[Pages], object]] = {
    "save": lambda pages: pages.save(NOA, "team/plan", "x"),
    "restore": lambda pages: pages.do(actions.restore, NOA, path="team/plan", revision=1),
    "move": lambda pages: pages.move(NOA, "team/plan", "plan"),
    "move with what is below": lambda pages: pages.move(NOA, "team", "club"),
    "delete": lambda pages: pages.delete(NOA, "team"),
    "share": lambda pages: pages.share(NOA, "team/plan", FOR_ALL),
}


@pytest.mark.parametrize("name", CHANGES)
def test_where_nobody_may_change_them_here_each_change_is_refused_in_words(kept: Pages, name: str) -> None:
    kept.do(managed.set_manager, GIT, editable=False)
    before = kept.state()
    with pytest.raises(Forbidden, match="follows a git repository"):
        CHANGES[name](kept)
    assert kept.state() == before
    kept.save(NOA, "team/beside", "pages of one's own may stand beside and below")
    kept.save(GIT, "team/plan", "changed there")
    assert noted(kept) == []


def test_a_manager_that_is_gone_leaves_its_pages_as_pages_like_others(kept: Pages) -> None:
    kept.do(managed.forget_manager, GIT)
    kept.save(OLE, "team/plan", "x")
    assert kept.rows("select count(*) from page_edits") == [(0,)]


def test_a_page_moved_alone_leaves_those_below_where_they_are(kept: Pages) -> None:
    team = kept.ask(readable_page, GIT, "team")
    assert team is not None
    head = kept.head()
    kept.do(alone.move, GIT, team, to="club")
    assert kept.paths() == {"club", "team/plan", "team/plan/own", "else"}
    assert (kept.readers("club"), kept.readers("team/plan")) == ({"mia", "noa", "ole"}, {"noa"})
    assert ("page.removed", "team", "*") in kept.news(head)
    plan = kept.ask(readable_page, GIT, "team/plan")
    assert plan is not None
    kept.do(alone.move, GIT, plan, to="club/plan")
    assert kept.readers("club/plan") == {"mia", "noa", "ole"}
    with pytest.raises(Conflict):
        kept.do(lambda tx: alone.move(tx, GIT, plan, to="else"))
    assert kept.problems() == []


def test_an_edit_goes_with_the_last_of_its_pages(kept: Pages) -> None:
    kept.move(NOA, "team", "club")
    (edit,) = waiting(kept)
    first, second = edit.pages
    kept.do(edits.carried_out, GIT, seq=edit.seq, page_ids=[first.page_id])
    assert kept.ask(edits.pages_with_waiting_edits, GIT) == {second.page_id}
    kept.do(edits.carried_out, GIT, seq=edit.seq, page_ids=[second.page_id])
    assert (waiting(kept), kept.ask(edits.count_waiting, GIT)) == ([], 0)
