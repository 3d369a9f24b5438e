"""Pages that act as their owner (rules, agents, MCP servers): words of others never become the owner's."""

from __future__ import annotations

import pytest

from svc.agents.definitions import AGENTS
from svc.errors import Conflict, Forbidden, NotFound
from svc.mcp.declared import KIND as SERVER
from svc.pages import actions
from svc.pages.model import ACTING
from svc.rules.model import GUIDING
from svc.rules.page import KIND as RULE
from svc.tools.rows.memory import TOP as MEMORY
from svc.tools.rows.pages import CONFIGURATION
from tests.pages.people_and_pages import FOR_ALL, FOR_ALL_TO_WRITE, MIA, NOA, OLE, Pages, grant
from tests.pages.test_actions import seen


def test_each_kind_of_configuration_that_acts_is_known() -> None:
    assert {kind.folder for kind in (AGENTS, SERVER, RULE)} == set(ACTING)
    assert set(GUIDING) == set(CONFIGURATION) == {*ACTING, MEMORY}


@pytest.mark.parametrize("folder", ACTING)
def test_only_its_owner_brings_a_page_to_where_it_acts_as_them(pages: Pages, folder: str) -> None:
    pages.save(NOA, "a")
    pages.share(NOA, "a", FOR_ALL_TO_WRITE)
    pages.save(MIA, "mias")
    pages.share(MIA, "mias", FOR_ALL_TO_WRITE)
    pages.save(NOA, "mias/noas")  # which Mia writes too, as the owner of the page whose grants hold
    before = pages.state()
    for path, to in (("a", f"{folder}/a"), ("mias", folder), ("mias", f"{folder}/his")):
        with pytest.raises(Forbidden):
            pages.move(MIA, path, to)
    assert pages.state() == before
    pages.move(NOA, "a", f"{folder}/a")
    assert seen(pages, f"{folder}/a").owner_id == NOA.user_id


@pytest.mark.parametrize("folder", ACTING)
def test_what_was_deleted_together_comes_not_back_to_where_it_acts_as_another(pages: Pages, folder: str) -> None:
    pages.save(MIA, "mias")
    pages.share(MIA, "mias", FOR_ALL_TO_WRITE)
    pages.save(NOA, "mias/noas")
    page_id = seen(pages, "mias").id
    pages.delete(MIA, "mias")
    with pytest.raises(Forbidden):
        pages.undelete(MIA, page_id, to=folder)
    pages.undelete(MIA, page_id)


@pytest.mark.parametrize("folder", ACTING)
def test_others_may_read_what_acts_and_never_write_it(pages: Pages, folder: str) -> None:
    pages.save(NOA, f"{folder}/one", body="hers")
    pages.share(NOA, f"{folder}/one", grant(OLE, "write"))
    assert pages.readers(f"{folder}/one") == {"noa", "ole"}
    assert pages.writers(f"{folder}/one") == {"noa"}
    with pytest.raises(Forbidden):
        pages.save(OLE, f"{folder}/one", body="his")
    with pytest.raises(Forbidden):
        pages.do(actions.restore, OLE, path=f"{folder}/one", revision=1)
    with pytest.raises(Forbidden):
        pages.move(OLE, f"{folder}/one", "elsewhere")


@pytest.mark.parametrize("folder", ACTING)
@pytest.mark.parametrize("is_shared", [True, False])
def test_whoever_has_the_page_above_keeps_nobody_from_theirs_and_reads_none(
    pages: Pages, folder: str, is_shared: bool
) -> None:
    with pytest.raises(Forbidden):
        pages.save(OLE, folder)  # a page above everybody's is an admin's to make
    pages.save(MIA, folder)
    if is_shared:
        pages.share(MIA, folder, FOR_ALL_TO_WRITE)
    pages.save(NOA, f"{folder}/one")
    assert (pages.readers(f"{folder}/one"), pages.writers(f"{folder}/one")) == ({"noa"}, {"noa"})
    with pytest.raises(NotFound):
        pages.save(OLE, f"{folder}/one")
    assert pages.problems() == []


@pytest.mark.parametrize("folder", ACTING)
@pytest.mark.parametrize("is_shared", [True, False])
def test_whoever_has_the_page_above_keeps_nobody_from_bringing_theirs_there(
    pages: Pages, folder: str, is_shared: bool
) -> None:
    pages.save(MIA, folder)
    if is_shared:
        pages.share(MIA, folder, FOR_ALL)
    pages.save(NOA, "drafts")
    pages.share(NOA, "drafts", FOR_ALL_TO_WRITE)
    for path in ("drafts/one", "drafts/one/more"):
        pages.save(NOA, path)
    alone = ({"noa"}, {"noa"})

    def who(path: str) -> tuple[set[str], set[str]]:
        return pages.readers(path), pages.writers(path)

    pages.move(NOA, "drafts/one", f"{folder}/one")
    assert (who(f"{folder}/one"), who(f"{folder}/one/more")) == (alone, alone)
    pages.move(NOA, f"{folder}/one", f"{folder}/two")
    pages.share(NOA, f"{folder}/two", access="inherited")
    page_id = seen(pages, f"{folder}/two").id
    pages.delete(NOA, f"{folder}/two")
    pages.undelete(NOA, page_id)
    assert (who(f"{folder}/two"), who(f"{folder}/two/more")) == (alone, alone)
    pages.save(OLE, "his")
    with pytest.raises(NotFound):
        pages.move(OLE, "his", f"{folder}/two")  # hers is there, which he may not know
    assert pages.problems() == []


@pytest.mark.parametrize("folder", ACTING)
def test_a_page_that_stands_apart_opens_to_its_maker_none_of_others_below(pages: Pages, folder: str) -> None:
    pages.save(OLE, f"{folder}/one/his")
    pages.save(NOA, f"{folder}/two/hers")
    pages.save(MIA, folder)
    with pytest.raises(Conflict):
        pages.save(NOA, f"{folder}/one")
    pages.save(NOA, f"{folder}/two")
    assert pages.readers(f"{folder}/one/his") == {"ole"}
    assert pages.problems() == []
