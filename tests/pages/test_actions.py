"""What people do to pages: saving, moving, deleting, restoring, sharing; and each way it is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from svc.errors import Conflict, Forbidden, Invalid, NotFound, Refusal, TooLarge
from svc.pages import actions, queries, readable_page
from svc.pages.claiming import claim
from svc.pages.model import MAX_BODY_BYTES, MAX_GRANTS, Page
from svc.principal import UNCLAIMED
from svc.store import Tx
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, MIA, NOA, OLE, SYSTEM, Pages, grant


def seen(pages: Pages, path: str) -> Page:
    page = pages.ask(readable_page, SYSTEM, path)
    assert page is not None
    return page


def text(pages: Pages, path: str) -> tuple[str, str]:
    page = seen(pages, path)
    return pages.ask(queries.revision_text, page_id=page.id, revision=page.revision)


# Saving


def test_a_first_save_makes_a_page_of_its_writer_under_a_path_in_one_spelling(pages: Pages) -> None:
    saved = pages.save(NOA, " notes / cafe\u0301 ", "Hi.")
    page = seen(pages, "notes/caf\u00e9")
    assert (page.id, page.revision, page.owner_id, page.title) == (saved.id, 1, NOA.user_id, "caf\u00e9")
    assert (page.access, page.source_id, page.kind) == ("inherited", None, "page")
    assert pages.readers("notes/caf\u00e9") == {"noa"}
    assert not pages.problems()


def test_a_page_made_while_nobody_owns_the_instance_is_nobodys(pages: Pages) -> None:
    pages.save(UNCLAIMED, "a")
    assert seen(pages, "a").owner_id is None
    assert pages.readers("a") == set()


def test_each_save_is_a_revision_with_its_author_and_device(pages: Pages) -> None:
    pages.save(NOA, "a", "one", title="First")
    pages.share(NOA, "a", grant(OLE, "write"))
    assert pages.save(OLE, "a", "two").revision == 2
    assert text(pages, "a") == ("First", "two")
    found = pages.ask(queries.history, seen(pages, "a").id)
    assert [(one.revision, one.title, one.author_name, one.device_id) for one in found] == [
        (2, "First", "Ole", "dev_ole"),
        (1, "First", "Noa", "dev_noa"),
    ]


def test_a_page_that_a_feature_makes_above_those_of_people_opens_none_of_them(pages: Pages) -> None:
    for who, path in ((NOA, "people/ann"), (OLE, "people/bo/b"), (NOA, "people/cleo")):
        pages.save(who, path)
    pages.share(NOA, "people/cleo", FOR_ALL_TO_WRITE)
    pages.save(OLE, "people/cleo/a/b")
    for path, grants in (("people", [FOR_ALL]), ("people/cleo/a", [])):
        assert pages.do(actions.make_private, SYSTEM, owner_id=MIA.user_id, path=path, title="", body="", grants=grants)
    assert [pages.readers(f"people/{one}") for one in ("ann", "bo/b", "cleo/a")] == [{"noa"}, {"ole"}, {"mia"}]
    assert pages.problems() == []


def test_the_same_text_again_is_no_revision_and_no_news(pages: Pages) -> None:
    pages.save(NOA, "a", "one", title="First")
    before = pages.state()
    assert pages.save(NOA, "a", "one", title="First", revision=1).revision == 1
    assert pages.save(NOA, "a", "one").revision == 1
    assert pages.state() == before


@pytest.mark.parametrize("stale", [0, 1, 3])
def test_a_save_from_another_revision_conflicts_and_names_the_current_one(pages: Pages, stale: int) -> None:
    pages.save(NOA, "a", "one")
    pages.save(NOA, "a", "two", revision=1)
    before = pages.state()
    with pytest.raises(Conflict) as caught:
        pages.save(NOA, "a", "mine", revision=stale)
    assert caught.value.data == {"revision": 2}
    assert pages.state() == before


def test_a_save_from_a_revision_of_a_page_that_is_gone_conflicts_with_none(pages: Pages) -> None:
    with pytest.raises(Conflict) as caught:
        pages.save(NOA, "a", "mine", revision=4)
    assert caught.value.data == {"revision": 0}
    assert pages.save(NOA, "a", "mine", revision=0).revision == 1


def test_a_save_without_a_revision_overwrites(pages: Pages) -> None:
    pages.save(NOA, "a", "one")
    assert pages.save(NOA, "a", "two").revision == 2


def test_an_empty_title_is_the_last_part_of_the_path_and_none_keeps_the_old_one(pages: Pages) -> None:
    pages.save(NOA, "a/b", "", title="Mine")
    pages.save(NOA, "a/b", "x")
    assert text(pages, "a/b") == ("Mine", "x")
    pages.save(NOA, "a/b", "x", title="  ")
    assert text(pages, "a/b") == ("b", "x")


def test_a_body_may_have_a_mebibyte_and_not_a_byte_more(pages: Pages) -> None:
    pages.save(NOA, "a", "é" * (MAX_BODY_BYTES // 2))
    with pytest.raises(TooLarge):
        pages.save(NOA, "a", "é" * (MAX_BODY_BYTES // 2) + "x")


@pytest.mark.parametrize(
    "wanted",
    [
        {"path": "a", "body": "\0"},
        {"path": "a", "body": "\ud800"},
        {"path": "a", "body": "", "title": "x" * 201},
        {"path": "a", "body": "", "title": "a\u202eb"},
        {"path": "a//b", "body": ""},
    ],
)
def test_what_is_no_text_no_title_and_no_path_is_refused(pages: Pages, wanted: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        pages.do(actions.save, NOA, path=wanted["path"], title=wanted.get("title"), body=wanted["body"])
    assert pages.paths() == set()


# Saving where others are


def test_a_page_of_others_is_missing_until_it_is_shared_and_then_only_read(pages: Pages) -> None:
    pages.save(NOA, "a", "one")
    with pytest.raises(NotFound):
        pages.save(OLE, "a", "mine")
    pages.share(NOA, "a", grant(OLE))
    with pytest.raises(Forbidden):
        pages.save(OLE, "a", "mine")
    pages.share(NOA, "a", grant(OLE, "write"))
    assert pages.save(OLE, "a", "mine").revision == 2
    assert seen(pages, "a").owner_id == NOA.user_id


def test_below_a_page_one_may_write_it_as_that_page_is_shared(pages: Pages) -> None:
    pages.save(NOA, "a", "")
    with pytest.raises(NotFound):
        pages.save(OLE, "a/b/c", "")
    pages.share(NOA, "a", FOR_ALL)
    with pytest.raises(Forbidden):
        pages.save(OLE, "a/b/c", "")
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(OLE, "a/b/c", "")
    assert pages.writers("a/b/c") == {"mia", "noa", "ole"}
    pages.share(NOA, "a", access="inherited")
    assert pages.readers("a/b/c") == {"ole"}
    assert not pages.problems()


# Moving


def test_a_move_takes_along_what_is_below_and_inherits_from_the_new_place(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c", "a/b-side", "ab", "z"):
        pages.save(NOA, path)
    pages.share(NOA, "a", grant(OLE))
    pages.share(NOA, "z", grant(MIA))
    pages.share(NOA, "a/b/c", FOR_ALL)
    pages.move(NOA, "a", "z/y/x")
    assert pages.paths() == {"z/y/x", "z/y/x/b", "z/y/x/b/c", "z/y/x/b-side", "ab", "z"}
    assert pages.readers("z/y/x/b-side") == {"noa", "ole"}
    pages.move(NOA, "z/y/x/b", "z/b")
    assert pages.readers("z/b") == {"noa", "mia"}
    assert pages.readers("z/b/c") == {"noa", "mia", "ole"}
    pages.move(NOA, "z/b", "free")
    assert pages.readers("free") == {"noa"}
    assert not pages.problems()


def test_a_target_that_is_taken_or_has_pages_below_conflicts(pages: Pages) -> None:
    for path in ("a", "b", "c/d/e"):
        pages.save(NOA, path)
    before = pages.state()
    for to in ("a", "b", "c", "c/d"):
        with pytest.raises(Conflict):
            pages.move(NOA, "a", to)
    assert pages.state() == before


def test_a_page_is_not_moved_below_itself_nor_beyond_what_a_path_may_be(pages: Pages) -> None:
    pages.save(NOA, "a/" + "/".join("x" * 15))
    pages.save(NOA, "a")
    pages.save(NOA, "b/" + "x" * 100)
    pages.save(NOA, "b")
    for path, to in (
        ("a", "a/b"),
        ("a", "c/d"),
        ("b", "/".join(["y" * 190] * 5)),
        ("b", "c//d"),
    ):
        with pytest.raises(Invalid):
            pages.move(NOA, path, to)
    pages.move(NOA, "a", "c")
    pages.move(NOA, "b", "/".join(["y" * 170] * 5))


def test_no_new_path_holds_what_nobody_sees_and_a_page_from_before_is_kept_and_can_be_moved(pages: Pages) -> None:
    hidden = "mail-rules/a\u200bb"
    with pytest.raises(Invalid, match="ZERO WIDTH SPACE"):
        pages.save(NOA, hidden)
    pages.save(NOA, "a")
    with pytest.raises(Invalid, match="ZERO WIDTH SPACE"):
        pages.move(NOA, "a", hidden)
    pages.do(Tx.run, "update pages set path = :path where path = 'a'", path=hidden)
    pages.save(NOA, hidden, "Changed.")
    page_id = seen(pages, hidden).id
    pages.delete(NOA, hidden)
    with pytest.raises(Invalid, match="ZERO WIDTH SPACE"):
        pages.undelete(NOA, page_id, to="b\u200b")
    pages.undelete(NOA, page_id)
    assert seen(pages, hidden).revision == 2
    pages.move(NOA, hidden, "mail-rules/b")
    assert pages.problems() == []


def test_moving_takes_the_right_to_write_the_page_and_the_place(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.save(NOA, "mine")
    pages.save(OLE, "his")
    with pytest.raises(NotFound):
        pages.move(OLE, "a", "his/a")
    pages.share(NOA, "a", grant(OLE))
    with pytest.raises(Forbidden):
        pages.move(OLE, "a", "his/a")
    pages.share(NOA, "a", grant(OLE, "write"))
    for to in ("mine", "mine/a"):
        with pytest.raises(NotFound):
            pages.move(OLE, "a", to)
    pages.share(NOA, "mine", grant(OLE))
    with pytest.raises(Forbidden):
        pages.move(OLE, "a", "mine/a")
    pages.move(OLE, "a", "his/a")
    assert seen(pages, "his/a").owner_id == NOA.user_id
    assert pages.writers("his/a") == {"noa", "ole"}


def test_nobodys_hidden_page_is_taken_along_or_deleted(pages: Pages) -> None:
    pages.save(OLE, "a/b/secret")
    pages.save(NOA, "a")
    before = pages.state()
    with pytest.raises(Conflict):
        pages.move(NOA, "a", "mine")
    with pytest.raises(Conflict):
        pages.delete(NOA, "a")
    with pytest.raises(Conflict):
        pages.share(NOA, "a", grant(MIA))  # would make her its reader, and Noa too
    assert pages.state() == before


def test_links_find_whatever_page_is_at_the_path_they_name(pages: Pages) -> None:
    pages.save(NOA, "target")
    pages.save(NOA, "source", "See [[target]] and [it](/p/target).")

    def backlinks(path: str) -> list[tuple[str, str]]:
        return pages.ask(queries.backlinks, NOA, path)

    assert backlinks("target") == [("source", "source")]
    pages.move(NOA, "source", "elsewhere")
    assert backlinks("target") == [("elsewhere", "source")]
    pages.move(NOA, "target", "renamed")
    assert backlinks("renamed") == []
    pages.save(NOA, "target")
    assert backlinks("target") == [("elsewhere", "source")]
    pages.save(NOA, "elsewhere", "Nothing.")
    assert backlinks("target") == []
    assert not pages.problems()


def test_a_hidden_page_is_no_backlink(pages: Pages) -> None:
    pages.save(NOA, "target")
    pages.share(NOA, "target", FOR_ALL)
    pages.save(NOA, "mine", "[[target]]")
    pages.save(OLE, "his", "[[target]] [[his]]")
    assert pages.ask(queries.backlinks, OLE, "target") == [("his", "his")]
    assert pages.ask(queries.backlinks, OLE, "his") == []


# Deleting and restoring


def test_deleting_takes_along_what_is_below_and_its_history(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c", "a-side"):
        pages.save(NOA, path, "[[x]]")
        pages.save(NOA, path, "[[y]]")
    pages.share(NOA, "a", FOR_ALL)
    pages.delete(NOA, "a")
    assert pages.paths() == {"a-side"}
    assert [len(table) for table in pages.state()[:4]] == [1, 2, 0, 1]
    assert pages.save(NOA, "a").revision == 1


def test_only_the_owner_deletes_and_shares(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(OLE, "a/b")
    for path in ("a", "a/b"):
        with pytest.raises(Forbidden):
            pages.delete(MIA, path)
        with pytest.raises(Forbidden):
            pages.share(MIA, path, FOR_ALL)
    with pytest.raises(Forbidden):
        pages.share(NOA, "a/b", FOR_ALL)
    pages.delete(OLE, "a/b")
    pages.delete(NOA, "a")
    assert pages.paths() == set()


def test_a_restored_revision_is_a_new_one(pages: Pages) -> None:
    pages.save(NOA, "a", "one [[x]]", title="First")
    pages.save(NOA, "a", "two [[y]]", title="Second")
    assert pages.do(actions.restore, NOA, path="a", revision=1).revision == 3
    assert text(pages, "a") == ("First", "one [[x]]")
    assert pages.rows("select target_path from page_links") == [("x",)]
    for revision in (0, 4):
        with pytest.raises(NotFound):
            pages.do(actions.restore, NOA, path="a", revision=revision)
    pages.share(NOA, "a", FOR_ALL)
    with pytest.raises(Forbidden):
        pages.do(actions.restore, OLE, path="a", revision=1)
    assert not pages.problems()


# Sharing


def test_grants_replace_the_old_ones_and_end_with_inherited_access(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", grant(OLE), grant(MIA, "write"))
    assert (pages.readers("a"), pages.writers("a")) == ({"mia", "noa", "ole"}, {"mia", "noa"})
    pages.share(NOA, "a", grant(OLE, "write"))
    assert (pages.readers("a"), pages.writers("a")) == ({"noa", "ole"}, {"noa", "ole"})
    pages.share(NOA, "a", access="inherited")
    assert pages.readers("a") == {"noa"}
    assert pages.rows("select * from page_grants") == []


def test_explicit_access_cuts_off_what_would_be_inherited(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c"):
        pages.save(NOA, path)
    pages.share(NOA, "a", FOR_ALL)
    pages.share(NOA, "a/b", grant(OLE))
    assert (pages.readers("a"), pages.readers("a/b/c")) == ({"mia", "noa", "ole"}, {"noa", "ole"})
    pages.share(NOA, "a/b", access="inherited")
    assert pages.readers("a/b/c") == {"mia", "noa", "ole"}


@pytest.mark.parametrize(
    "share",
    [
        lambda pages: pages.share(NOA, "a", grant("usr_nobody")),
        lambda pages: pages.share(NOA, "a", grant(OLE), grant(OLE, "write")),
        lambda pages: pages.share(NOA, "a", FOR_ALL, access="inherited"),
        lambda pages: pages.share(NOA, "a", *(grant(f"usr_{n}") for n in range(MAX_GRANTS + 1))),
    ],
)
def test_grants_that_make_no_sense_are_refused(pages: Pages, share: Callable[[Pages], None]) -> None:
    pages.save(NOA, "a")
    before = pages.state()
    with pytest.raises(Invalid):
        share(pages)
    assert pages.state() == before


# What is missing


def test_a_foreign_page_is_as_missing_as_one_that_never_was(pages: Pages) -> None:
    pages.save(NOA, "hidden", "one")
    before = pages.state()
    attempts: list[Callable[[str], object]] = [
        lambda path: pages.do(actions.move, OLE, path=path, to="mine"),
        lambda path: pages.do(actions.delete, OLE, path=path),
        lambda path: pages.do(actions.restore, OLE, path=path, revision=1),
        lambda path: pages.do(actions.set_access, OLE, path=path, access="inherited", grants=[]),
    ]
    for attempt in attempts:
        refusals = []
        for path in ("hidden", "neverwas"):
            with pytest.raises(Refusal) as caught:
                attempt(path)
            refusals.append((caught.type, str(caught.value), vars(caught.value)))
        assert refusals[0] == refusals[1]
        assert refusals[0][0] is NotFound
    assert pages.state() == before


# The tree


def test_a_page_stands_under_the_nearest_one_above_that_its_reader_sees(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c", "a/b/c/d", "b/lonely", "c"):
        pages.save(NOA, path)
    pages.share(NOA, "a/b/c", FOR_ALL)
    assert pages.tree(NOA) == [("a", True), ("b/lonely", False), ("c", False)]
    assert pages.tree(NOA, "a") == [("a/b", True)]
    assert pages.tree(NOA, "a/b/c/d") == []
    assert pages.tree(OLE) == [("a/b/c", True)]
    assert pages.tree(OLE, "a/b/c") == [("a/b/c/d", False)]


def test_a_tree_larger_than_one_read_of_it_is_listed_whole(pages: Pages) -> None:
    def plant(tx: Tx) -> None:
        for top in ("a", "a-", "a0", "b", *(f"c{number:03}" for number in range(200))):
            actions.save(tx, NOA, path=top, title=None, body="")
        for number in range(200):
            actions.save(tx, NOA, path=f"a/{number}", title=None, body="")
            actions.save(tx, NOA, path=f"b/x/{number}", title=None, body="")

    pages.do(plant)
    tops = [("a", True), ("a-", False), ("a0", False), ("b", True)]
    assert pages.tree(NOA) == [*tops, *((f"c{number:03}", False) for number in range(200))]
    assert len(pages.tree(NOA, "a")) == len(pages.tree(NOA, "b")) == 200


# The claim


def test_the_claim_gives_every_page_to_the_first_admin_and_opens_the_surfaces(pages: Pages) -> None:
    pages.save(UNCLAIMED, "old")
    pages.save(UNCLAIMED, "memory/notes", "kept")
    pages.save(UNCLAIMED, "memory", "kept too", title="My memory")
    pages.do(claim, str(MIA.user_id))
    assert {owner for (owner,) in pages.rows("select distinct owner_id from pages")} == {MIA.user_id}
    surfaces = {path for (path,) in pages.rows("select path from pages where kind = 'surface'")}
    assert surfaces == {"inbox", "task-queue", "reminders", "calendar", "mail", "im", "memory"}
    for path in (*surfaces, "memory/notes"):
        assert pages.writers(path) == {"mia", "noa", "ole"}
    assert pages.readers("old") == {"mia"}
    assert text(pages, "memory") == ("My memory", "kept too")
    assert not pages.problems()


def test_a_shared_surface_stays_where_it_is(pages: Pages) -> None:
    pages.do(claim, str(MIA.user_id))
    before = pages.state()
    for who in (MIA, NOA):
        with pytest.raises(Forbidden):
            pages.move(who, "mail", "post")
        with pytest.raises(Forbidden):
            pages.delete(who, "mail")
    assert pages.state() == before
    pages.save(NOA, "mail/rules", "")
    assert pages.writers("mail/rules") == {"mia", "noa", "ole"}
