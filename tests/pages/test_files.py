"""Files that pages show: readable by whom the page is readable, but only if its writer could read them."""

from __future__ import annotations

from svc.pages.claiming import claim
from svc.pages.model import page_path
from svc.principal import UNCLAIMED
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, MIA, NOA, OLE, Pages, grant

PHOTO = "![](/files/fil_noa/content)"


def test_a_file_is_read_by_the_readers_of_a_page_that_shows_it(pages: Pages) -> None:
    pages.add_file(NOA, "fil_noa")
    assert pages.file_readers("fil_noa") == set()
    pages.save(NOA, "a/b", PHOTO)
    pages.save(NOA, "a")
    assert pages.file_readers("fil_noa") == {"noa"}
    pages.share(NOA, "a", grant(OLE))
    assert pages.file_readers("fil_noa") == {"noa", "ole"}
    pages.save(NOA, "a/b", "Gone.")
    assert pages.file_readers("fil_noa") == set()
    assert not pages.problems()


def test_naming_anothers_file_in_a_page_of_ones_own_opens_nothing(pages: Pages) -> None:
    pages.add_file(NOA, "fil_noa")
    pages.save(OLE, "his", PHOTO)
    pages.share(OLE, "his", FOR_ALL)
    assert pages.file_readers("fil_noa") == set()
    pages.save(OLE, "his", PHOTO + " again")
    assert pages.file_readers("fil_noa") == set()
    pages.add_file(OLE, "fil_ole")
    pages.save(OLE, "his", PHOTO + " [](/files/fil_ole/content)")
    assert pages.file_readers("fil_noa") == set()
    assert pages.file_readers("fil_ole") == {"mia", "noa", "ole"}


def test_a_page_of_ones_own_may_show_what_one_reads_through_another(pages: Pages) -> None:
    pages.add_file(NOA, "fil_noa")
    pages.save(NOA, "a", PHOTO)
    pages.share(NOA, "a", grant(OLE))
    pages.save(OLE, "his", PHOTO)
    pages.share(OLE, "his", grant(MIA))
    assert pages.file_readers("fil_noa") == {"mia", "noa", "ole"}


def test_a_save_by_somebody_else_keeps_what_the_page_shows_already(pages: Pages) -> None:
    pages.add_file(NOA, "fil_noa")
    pages.add_file(NOA, "fil_private")
    pages.save(NOA, "a", PHOTO)
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(OLE, "a", PHOTO + " edited, and /files/fil_private/content")
    assert pages.file_readers("fil_noa") == {"mia", "noa", "ole"}
    assert pages.file_readers("fil_private") == set()
    pages.save(NOA, "a", PHOTO + " edited again, and /files/fil_private/content")
    assert pages.file_readers("fil_private") == {"mia", "noa", "ole"}


def test_a_file_that_is_not_there_is_none_of_the_pages(pages: Pages) -> None:
    pages.save(UNCLAIMED, "a", PHOTO)
    pages.add_file(NOA, "fil_noa")
    assert pages.rows("select * from page_files") == []


def test_files_of_the_time_before_the_claim_stay_with_the_pages_that_show_them(pages: Pages) -> None:
    pages.add_file(UNCLAIMED, "fil_noa")
    pages.save(UNCLAIMED, page_path("memory/photo"), PHOTO)
    assert pages.file_readers("fil_noa") == set()
    pages.do(claim, str(MIA.user_id))
    assert pages.file_readers("fil_noa") == {"mia", "noa", "ole"}
