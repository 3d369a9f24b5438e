"""Pages by their words: what is found, by whom, in which order, and that the index follows whatever happens."""

from __future__ import annotations

import pytest

from svc.pages import finding, make_private, search_index, search_words, tasks
from svc.store import Tx
from tests.pages.people_and_pages import FOR_ALL, MIA, NOA, OLE, SYSTEM, Pages, grant
from tests.support.service import RpcError, Service


@pytest.mark.parametrize(
    ("title", "body", "typed"),
    [
        ("Harbour plan", "", "harb"),
        ("Harbour plan", "the quay wall", "quay plan"),
        ("München", "", "munchen"),
        ("Notes", "a **bold** word", "bold"),
        ("Notes", "see [the tide table](https://x.example/a_b)", "tide"),
        ("Notes", "see [[crm/jonas|Jonas]]", "jonas"),
        ("Notes", "# Low water\n- [ ] buy_rope now", "buy_rope"),
        ("会議の記録", "東京都の天気", "京都"),
        ("บันทึก", "ประชุมวันนี้", "วันนี้"),
        ("Notes", 'say "hello" (twice) AND more', '"hello" (twice) AND'),
        ("C", "one letter", "c"),
    ],
)
def test_a_page_is_found_by_words_of_its_title_and_text(pages: Pages, title: str, body: str, typed: str) -> None:
    pages.save(NOA, "other", "nothing of it", title="Unlike")
    pages.save(NOA, "wanted", body, title=title)
    assert pages.find(NOA, typed) == ["wanted"]


@pytest.mark.parametrize(
    "typed", ["https", "x.example", "harbor", "-", '"', "*", "NEAR(", "a:b", "xylophone", "x\0y", "\0"]
)
def test_what_no_page_has_is_not_found_and_never_refused(pages: Pages, typed: str) -> None:
    pages.save(NOA, "a", "see [the table](https://x.example/a)", title="Harbour")
    assert pages.find(NOA, typed) == []


def test_only_who_may_read_a_page_finds_it(pages: Pages) -> None:
    pages.save(NOA, "secret", "tide")
    pages.save(NOA, "shared", "tide")
    pages.save(NOA, "everyone", "tide")
    pages.share(NOA, "shared", grant(OLE))
    pages.share(NOA, "everyone", FOR_ALL)
    assert pages.find(NOA, "tide") == ["everyone", "shared", "secret"]
    assert pages.find(OLE, "tide") == ["everyone", "shared"]
    assert pages.find(MIA, "tide") == ["everyone"]  # an admin is no exception
    assert pages.find(OLE, "") == ["everyone", "shared"]


def test_what_changed_last_is_known_before_the_index_is(pages: Pages) -> None:
    pages.save(NOA, "older")
    pages.find(NOA, "")
    pages.save(NOA, "newest")
    assert [page.path for page in pages.ask(finding.find, NOA, text="", limit=5)] == ["newest", "older"]


def test_a_title_with_all_words_comes_first_then_what_changed_last(pages: Pages) -> None:
    pages.save(NOA, "named", title="Tide table")
    pages.save(NOA, "older", "tide table")
    pages.save(NOA, "newer", "tide table")
    assert pages.find(NOA, "tide tab") == ["named", "newer", "older"]
    assert pages.find(NOA, "tide tab", limit=2) == ["named", "newer"]
    pages.save(NOA, "older", "the tide table")
    assert pages.find(NOA, "tide tab") == ["named", "older", "newer"]
    assert pages.find(NOA, "", limit=2) == ["older", "newer"]


def test_the_index_follows_what_is_changed_moved_deleted_and_brought_back(pages: Pages) -> None:
    made = pages.save(NOA, "a", "spring tide", title="A")
    assert pages.find(NOA, "spring") == ["a"]
    pages.save(NOA, "a", "neap tide", title="A")
    assert (pages.find(NOA, "spring"), pages.find(NOA, "neap")) == ([], ["a"])
    pages.move(NOA, "a", "b")
    assert pages.find(NOA, "neap") == ["b"]
    pages.delete(NOA, "b")
    assert pages.find(NOA, "neap") == []
    assert pages.rows("select * from page_search") == []
    pages.undelete(NOA, made.id)
    assert pages.find(NOA, "neap") == ["b"]
    assert pages.problems() == []
    pages.do(lambda tx: tx.run("insert into page_search_fts (page_search_fts, rank) values ('integrity-check', 1)"))


def test_pages_that_a_feature_makes_are_found_though_nothing_is_recorded_of_them(pages: Pages) -> None:
    def make(tx: Tx) -> None:
        make_private(tx, SYSTEM, owner_id=NOA.user_id, path="crm/jonas", title="Jonas Feld", body="")

    pages.do(make)
    assert pages.find(NOA, "jonas") == ["crm/jonas"]
    assert pages.find(OLE, "jonas") == []


def test_the_queue_is_worked_off_in_parts(pages: Pages) -> None:
    for number in range(search_index.TAKEN_AT_ONCE + 1):
        pages.save(NOA, f"page {number}", "tide")
    assert pages.do(search_index.take) is True
    assert pages.do(search_index.take) is False
    assert len(pages.find(NOA, "tide", limit=finding.MAX_FOUND)) == finding.MAX_FOUND


def test_the_passage_shown_is_the_one_with_the_words(pages: Pages) -> None:
    pages.save(NOA, "a", f"Beginning. {'word ' * 100}The *spring* tide is at nine. {'word ' * 100}", title="A")
    assert pages.find(NOA, "spring") == ["a"]
    (found,) = pages.ask(finding.find, NOA, text="Spring", limit=5)
    assert found.snippet.startswith("…word")
    assert "The spring tide is at nine." in found.snippet
    assert len(found.snippet) <= search_words.SNIPPET_CHARS + 2


def test_the_passage_stands_where_the_word_does_also_after_letters_whose_small_form_is_longer() -> None:
    assert [one for one in map(chr, range(0x11_0000)) if len(one.lower()) != 1] == ["İ"]
    text = "İ" * 100 + " then İstanbul" + " and more" * 40
    assert "then İstanbul" in search_words.snippet(text, ["istanbul"])
    assert "then İstanbul" in search_words.snippet(text, ["İSTANBUL"])


def test_front_matter_is_shown_only_for_a_word_that_stands_there_alone(pages: Pages) -> None:
    pages.save(NOA, "a", "---\norder: 100\nwhen: harbour\n---\nMoves mail about tides.", title="A")
    for typed, shown in (("tides", "Moves mail about tides."), ("harbour", "order: 100 when: harbour")):
        assert pages.find(NOA, typed) == ["a"]
        (found,) = pages.ask(finding.find, NOA, text=typed, limit=5)
        assert shown in found.snippet
        assert ("order" in found.snippet) is (typed == "harbour")


def test_text_in_scripts_without_spaces_is_given_back_as_it_was() -> None:
    text = "東京 and ไทย, 서울"
    assert search_words.restored(search_words.indexed(text)) == text


async def test_who_asks_is_answered_with_what_the_indexer_has_taken(service: Service) -> None:
    await service.mutate("pages.save", path="tides", title="Tides", body="Neap and spring.")
    await tasks.catch_up(service.workspace.store)
    found = await service.query("pages.find", text="spr")
    assert [(one["path"], one["title"], one["snippet"]) for one in found] == [("tides", "Tides", "Neap and spring.")]
    assert await service.query("pages.find", text="spring", limit=1) == found
    for wrong in ({"text": "a" * 501}, {"limit": 0}, {"limit": 21}):
        with pytest.raises(RpcError):
            await service.query("pages.find", **wrong)
