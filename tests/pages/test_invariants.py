"""``svc fsck`` finds each kind of damage to pages."""

from __future__ import annotations

import pytest

from svc.pages.invariants import INVARIANTS
from svc.store import Invariant, ReadTx
from tests.pages.people_and_pages import NOA, OLE, Pages, grant

DAMAGE = {
    "a page's path is spelled in one way": "update pages set path = 'a/b ' where path = 'a/b'",
    "a page's grants come from the nearest explicit page": "update pages set source_id = null where path = 'a/b'",
    "a grant is on an explicit page and to a user": "update page_grants set grantee = 'usr_x'",
    "a page's owner is a user": "update pages set owner_id = 'usr_x' where path = 'a'",
    "a page shows its newest revision": "delete from page_revisions where revision = 1",
    "a page's links and files are those of its text": "delete from page_links",
    "search knows every page": "delete from page_search_queue where page_id in (select id from pages where path = 'a')",
    "a page in the trash can come back": "delete from page_trash_revisions where revision = 1",
}


@pytest.mark.parametrize("name", [invariant.name for invariant in INVARIANTS])
def test_damage_is_found_by_the_invariant_that_it_breaks_and_by_no_other(pages: Pages, name: str) -> None:
    for path in ("a", "a/b"):
        pages.save(NOA, path, "one")
        pages.save(NOA, path, "two [[a]]")
    pages.share(NOA, "a", grant(OLE))
    pages.save(NOA, "gone")
    pages.delete(NOA, "gone")
    assert pages.problems() == []
    pages.do(lambda tx: tx.run(DAMAGE[name]))
    assert [one.name for one in INVARIANTS if pages.ask(problems, one)] == [name]


def problems(tx: ReadTx, invariant: Invariant) -> list[str]:
    return list(invariant.check(tx))
