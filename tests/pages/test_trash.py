"""Deleted pages: who sees them in the trash, how they come back, what can stand in their way, and when they go."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.pages import actions, queries, trash
from svc.pages.claiming import claim
from svc.pages.invariants import INVARIANTS
from svc.principal import UNCLAIMED, Principal
from svc.store import Row, Tx
from tests.pages.naive_tree import NaiveTree
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, MIA, NOA, OLE, PEOPLE, Pages, grant
from tests.pages.test_access import forests, paths, plant
from tests.sizes import SHARES_FIXTURES, examples

FILE = "![](/files/fil_a/content)"


class _Over(Exception):
    """The example is over: nothing of it stays."""


def test_a_page_comes_back_with_its_id_history_grants_links_and_files(pages: Pages) -> None:
    pages.add_file(NOA, "fil_a")
    made = pages.save(NOA, "a", "one")
    pages.save(NOA, "a", f"two, see [[b]] and {FILE}", title="A")
    pages.save(NOA, "a/b", "[[a]]")
    pages.share(NOA, "a", grant(OLE, "write"))
    before = pages.kept()
    pages.delete(NOA, "a")
    assert all(not rows for rows in pages.kept())
    assert pages.file_readers("fil_a") == set()
    assert pages.trash(NOA) == [("a", 1)]
    assert pages.undelete(NOA, made.id) == "a"
    assert pages.kept() == before
    assert pages.trash(NOA) == []
    assert pages.problems() == []


def test_a_page_is_deleted_for_good_with_what_is_its_owners_below_it(pages: Pages) -> None:
    pages.add_file(NOA, "fil_a")
    made = pages.save(NOA, "a", FILE)
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(NOA, "a/b", "below")
    pages.save(OLE, "a/b/ole", "of another")
    pages.save(NOA, "other", "")
    pages.delete(NOA, "other")
    pages.delete(NOA, "a")
    for who in (OLE, MIA):
        with pytest.raises(NotFound, match="of yours in the trash"):
            pages.do(actions.erase, who, page_id=made.id)
    pages.do(actions.erase, NOA, page_id=made.id)
    assert (pages.trash(NOA), pages.trash(OLE)) == ([("other", 0)], [("a/b/ole", 0)])
    for table in ("page_trash_revisions", "page_trash_grants", "page_trash_files"):
        assert pages.rows(f"select * from {table} where page_id = :id", id=made.id) == []
    with pytest.raises(NotFound):
        pages.do(actions.erase, NOA, page_id=made.id)
    assert pages.paths() == set()
    assert pages.problems() == []


@pytest.mark.thorough
@settings(max_examples=examples(200), suppress_health_check=SHARES_FIXTURES)
@given(forests, st.sampled_from([*PEOPLE, UNCLAIMED]), paths)
def test_what_is_deleted_and_restored_is_as_it_was(
    pages: Pages, forest: dict[str, dict[str, Any]], who: Principal, path: str
) -> None:
    def there_and_back(tx: Tx) -> None:
        for place, standing in forest.items():
            plant(tx, NaiveTree(), place, **standing)
        page, before = queries.readable_page(tx, who, path), _rows(tx)
        if page is not None and _is_done(tx, actions.delete, who, path=path):
            if _is_done(tx, actions.undelete, who, page_id=page.id):
                assert _rows(tx) == before
            else:  # the page above is not theirs to write: it was theirs, and stays so, elsewhere
                assert actions.undelete(tx, who, page_id=page.id, to="z") == "z"
                assert [row[0] for row in _rows(tx)[0]] == [row[0] for row in before[0]]
        assert [problem for invariant in INVARIANTS for problem in invariant.check(tx)] == []
        raise _Over

    with suppress(_Over):
        pages.do(there_and_back)


def _is_done(tx: Tx, action: Callable[..., object], who: Principal, **wanted: str) -> bool:
    try:
        with tx.savepoint():
            action(tx, who, **wanted)
    except (Conflict, Forbidden, NotFound):
        return False
    return True


def _rows(tx: Tx) -> list[list[Row]]:
    tables = ("pages", "page_revisions", "page_grants", "page_trash")
    return [tx.all(f"select * from {table} order by 1, 2") for table in tables]


def test_everybody_finds_in_the_trash_what_is_theirs(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(OLE, "a/ole")
    pages.save(OLE, "a/ole/deep")
    pages.save(NOA, "a/ole/deep/noa")
    pages.delete(NOA, "a")
    assert (pages.trash(NOA), pages.trash(OLE), pages.trash(MIA)) == ([("a", 3)], [("a/ole", 2)], [])
    (oles, _), *_ = pages.ask(trash.listed, OLE)
    with pytest.raises(NotFound):
        pages.undelete(MIA, oles.id)
    pages.undelete(OLE, oles.id)
    assert pages.paths() == {"a/ole", "a/ole/deep", "a/ole/deep/noa"}
    assert pages.readers("a/ole") == {"ole"}  # what shared it is gone
    assert pages.trash(NOA) == [("a", 0)]
    assert pages.problems() == []


def test_what_shared_it_comes_back_only_where_it_takes_nobodys_page_from_them(pages: Pages) -> None:
    made = pages.save(NOA, "a")
    pages.share(NOA, "a", FOR_ALL)
    pages.delete(NOA, "a")
    pages.save(OLE, "a/b", "mine alone")
    with pytest.raises(Conflict, match="shared them with nobody"):
        pages.undelete(NOA, made.id)
    assert pages.undelete(NOA, made.id, to="c") == "c"
    assert pages.readers("c") == {"mia", "noa", "ole"}


def test_a_path_that_was_taken_meanwhile_is_told_and_another_may_be_chosen(pages: Pages) -> None:
    made = pages.save(NOA, "a", "old")
    pages.save(NOA, "a/b", "below")
    pages.delete(NOA, "a")
    pages.save(NOA, "a/b", "new")
    with pytest.raises(Conflict, match="There is a page at a/b now"):
        pages.undelete(NOA, made.id)
    with pytest.raises(Invalid):
        pages.undelete(NOA, made.id, to="/".join(["x"] * 16))
    assert pages.paths() == {"a/b"}
    pages.undelete(NOA, made.id, to="before/a")
    assert pages.paths() == {"a/b", "before/a", "before/a/b"}
    assert pages.problems() == []


def test_who_may_not_write_there_any_more_is_told_to_choose_another_path(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    made = pages.save(OLE, "a/b")
    pages.delete(OLE, "a/b")
    pages.share(NOA, "a", FOR_ALL)
    with pytest.raises(Conflict, match="may not add pages"):
        pages.undelete(OLE, made.id)
    pages.share(NOA, "a")
    with pytest.raises(Conflict, match="may not add pages"):
        pages.undelete(OLE, made.id)
    assert pages.undelete(OLE, made.id, to="b") == "b"


def test_a_restored_page_inherits_from_the_place_it_comes_to(pages: Pages) -> None:
    made = pages.save(NOA, "a/b")
    pages.delete(NOA, "a/b")
    pages.save(NOA, "a")
    pages.share(NOA, "a", grant(OLE))
    pages.undelete(NOA, made.id)
    assert pages.readers("a/b") == {"noa", "ole"}


def test_readers_are_told_of_a_page_that_comes_back(pages: Pages) -> None:
    made = pages.save(NOA, "a")
    pages.share(NOA, "a", grant(OLE))
    pages.delete(NOA, "a")
    head = pages.head()
    pages.undelete(NOA, made.id)
    assert set(pages.news(head)) == {("page.changed", "a", "noa"), ("page.changed", "a", "ole")}


def test_after_thirty_days_it_is_gone_for_good(pages: Pages) -> None:
    made = pages.save(NOA, "a", "text")
    pages.delete(NOA, "a")
    assert pages.do(trash.purge) == 0
    pages.do(lambda tx: tx.run("update page_trash set deleted_at = deleted_at - :keep", keep=trash.KEEP_MS))
    assert pages.trash(NOA) == []
    with pytest.raises(NotFound):
        pages.undelete(NOA, made.id)
    assert pages.do(trash.purge) == 1
    assert pages.rows("select * from page_trash_revisions") == []
    assert pages.ask(trash.next_purge) is None


def test_what_was_deleted_before_the_claim_is_the_first_admins(pages: Pages) -> None:
    pages.save(UNCLAIMED, "a")
    pages.delete(UNCLAIMED, "a")
    assert pages.trash(MIA) == []
    pages.do(claim, str(MIA.user_id))
    assert pages.trash(MIA) == [("a", 0)]
