"""Live updates: told to exactly those who may read, once, with the device that did it."""

from __future__ import annotations

import pytest

from svc.pages.claiming import claim
from svc.principal import UNCLAIMED
from tests.pages.people_and_pages import FOR_ALL, MIA, NOA, OLE, Pages, grant


def test_a_saved_page_is_told_to_its_readers_alone(pages: Pages) -> None:
    head = pages.head()
    pages.save(NOA, "a", "one")
    assert pages.news(head) == [("page.changed", "a", "noa")]
    pages.share(NOA, "a", grant(OLE))
    head = pages.head()
    pages.save(NOA, "a", "two")
    assert pages.news(head) == [("page.changed", "a", "noa"), ("page.changed", "a", "ole")]
    pages.share(NOA, "a", FOR_ALL)
    head = pages.head()
    pages.save(NOA, "a", "three")
    assert pages.news(head) == [("page.changed", "a", "*")]


def test_a_page_of_nobody_is_told_to_those_who_see_everything(pages: Pages) -> None:
    head = pages.head()
    pages.save(UNCLAIMED, "a")
    assert pages.news(head) == [("page.changed", "a", None)]


def test_an_update_names_the_page_and_the_device(pages: Pages) -> None:
    saved = pages.save(NOA, "a")
    assert pages.rows("select topic, ref, device_id from outbox") == [("pages", saved.id, NOA.device_id)]


def test_whoever_is_shut_out_hears_that_the_page_is_gone(pages: Pages) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", grant(OLE), grant(MIA))
    head = pages.head()
    pages.share(NOA, "a", grant(MIA))
    assert pages.news(head) == [
        ("page.removed", "a", "ole"),
        ("page.changed", "a", "mia"),
        ("page.changed", "a", "noa"),
    ]
    pages.share(NOA, "a", FOR_ALL)
    head = pages.head()
    pages.share(NOA, "a", grant(MIA))
    assert pages.news(head) == [
        ("page.removed", "a", "*"),
        ("page.changed", "a", "mia"),
        ("page.changed", "a", "noa"),
    ]


def test_a_subtree_is_told_once_by_its_top(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c", "a/d"):
        pages.save(NOA, path)
    pages.share(NOA, "a", grant(OLE))
    pages.share(NOA, "a/d", grant(OLE))
    head = pages.head()
    pages.move(NOA, "a", "z")
    assert pages.news(head) == [
        ("page.removed", "a", "noa"),
        ("page.removed", "a", "ole"),
        ("page.changed", "z", "noa"),
        ("page.changed", "z", "ole"),
    ]
    head = pages.head()
    pages.delete(NOA, "z")
    assert pages.news(head) == [("page.removed", "z", "noa"), ("page.removed", "z", "ole")]


def test_who_sees_only_something_below_is_told_of_that_alone(pages: Pages) -> None:
    for path in ("a", "a/b", "a/b/c"):
        pages.save(NOA, path)
    pages.share(NOA, "a/b", grant(OLE))
    head = pages.head()
    pages.move(NOA, "a", "z")
    assert pages.news(head) == [
        ("page.removed", "a", "noa"),
        ("page.removed", "a/b", "ole"),
        ("page.changed", "z", "noa"),
        ("page.changed", "z/b", "ole"),
    ]


@pytest.mark.parametrize("path", ["inbox", "memory"])
def test_the_claim_tells_everyone_of_the_shared_surfaces(pages: Pages, path: str) -> None:
    head = pages.head()
    pages.do(claim, str(MIA.user_id))
    assert ("page.changed", path, "*") in pages.news(head)


def test_what_is_refused_is_told_to_nobody(pages: Pages) -> None:
    pages.save(NOA, "a")
    head = pages.head()
    for attempt in (
        lambda: pages.save(OLE, "a", "x"),
        lambda: pages.delete(OLE, "a"),
        lambda: pages.move(NOA, "a", "a"),
    ):
        with pytest.raises(Exception, match=r"page"):
            attempt()
    assert pages.news(head) == []
