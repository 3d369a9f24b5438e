"""Many new pages at once are what they are one by one: rows, links, readers and news."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from svc.pages import alone, managed, readable_page, together
from svc.pages.together import NewPage
from svc.principal import system
from svc.store import Tx
from tests.pages.conftest import MakePages
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, MIA, NOA, OLE, Pages, grant

GIT = system("gitops")
NAMES = ("a", "b", "team", "team 1", "team/plan", "team/plan/deep", "b/c", "b/c/d", "taken", "taken/below", "open/x")


def some(chance: Random) -> list[NewPage]:
    return [
        NewPage(
            path=path,
            title=chance.choice([None, "A title"]),
            body=chance.choice(["", "to [[team/plan]] and [b](/p/b)", "![x](/files/fil_1/content)"]),
            access="explicit"
            if (grants := chance.choice([(), (), (FOR_ALL,), (grant(NOA, "write"),)]))
            else "inherited",
            grants=grants,
        )
        for path in chance.sample(NAMES, chance.randint(1, len(NAMES)))
    ]


def one_by_one(tx: Tx, new: Sequence[NewPage]) -> set[str]:
    made = set()
    for page in sorted(new, key=lambda page: page.path):
        below = page.access == "explicit" and tx.value(
            "select 1 from pages where path > :path || '/' and path < :path || '0'", path=page.path
        )
        if not below and alone.make(tx, GIT, owner_id=MIA.user_id, path=page.path, title=page.title, body=page.body):
            made.add(page.path)
            found = readable_page(tx, GIT, page.path)
            assert found is not None
            alone.share(tx, GIT, found, access=page.access, grants=page.grants)
    return made


def begin(pages: Pages) -> None:
    pages.do(managed.set_manager, GIT, editable=True)
    pages.save(OLE, "taken", "a person's own")
    pages.save(OLE, "team 1/below", "")
    pages.save(NOA, "open", "")
    pages.share(NOA, "open", FOR_ALL_TO_WRITE)


def what_is_here(pages: Pages) -> list[object]:
    return [
        pages.rows(
            """
            select p.path, p.title, p.kind, p.owner_id, p.access, s.path, p.revision, r.body, r.device_id
            from pages p join page_revisions r on r.page_id = p.id left join pages s on s.id = p.source_id order by 1
            """
        ),
        pages.rows("select path, grantee, level from page_grants join pages on id = page_id order by 1, 2"),
        pages.rows("select target_path, path from page_links join pages on id = page_id order by 1, 2"),
        pages.rows("select file_id, path from page_files join pages on id = page_id order by 1, 2"),
        {path: (pages.readers(path), pages.writers(path)) for path in pages.paths()},
        pages.problems(),
    ]


@pytest.mark.thorough
def test_pages_made_together_are_those_made_one_by_one(make_pages: MakePages, chance: Random) -> None:
    for _ in range(20):
        new = some(chance)
        both = make_pages(), make_pages()
        for pages in both:
            begin(pages)
        head = both[0].head()
        ids = both[0].do(together.make, GIT, owner_id=MIA.user_id, pages=new)
        made = both[1].do(one_by_one, new)
        assert ids.keys() == made
        assert what_is_here(both[0]) == what_is_here(both[1])
        told, alone_told = both[0].news(head), both[1].news(head)
        assert set(told) <= set(alone_told)
        assert {path for _, path, _ in told} == made
        records = both[0].rows("select payload ->> 'path', audience from events where type = 'page-changed'")
        assert {(path, who) for _, path, who in told} <= {(path, _name(who)) for path, who in records}


def test_a_page_that_none_can_be_is_left_out(pages: Pages) -> None:
    pages.do(managed.set_manager, GIT, editable=True)
    new = [
        NewPage(path="a//b", title=None, body=""),
        NewPage(path="b", title="t" * 300, body=""),
        NewPage(path="c", title=None, body="\0"),
        NewPage(path="d", title=None, body="fine", file_ids=("fil_1", "fil_1")),
    ]
    ids = pages.do(together.make, GIT, owner_id=None, pages=new)
    assert ids.keys() == {"d"}
    assert pages.rows("select * from page_files") == [("fil_1", ids["d"])]
    assert pages.do(together.make, GIT, owner_id=None, pages=[]) == {}


def test_each_live_update_has_the_number_of_its_row(pages: Pages) -> None:
    pages.do(managed.set_manager, GIT, editable=True)

    def make(tx: Tx) -> list[tuple[int, str]]:
        tx.emit(topic="x", kind="x", id="before", audience=None)
        new = [NewPage(path=str(n), title=None, body="") for n in range(5)]
        together.make(tx, GIT, owner_id=NOA.user_id, pages=new)
        tx.emit(topic="x", kind="x", id="after", audience=None)
        return [(row.seq, row.id) for row in tx.emitted]

    assert pages.do(make) == pages.rows("select seq, ref from outbox order by seq")


def _name(audience: str | None) -> str | None:
    return audience.removeprefix("usr_") if audience else audience
