"""The rule of access and the live updates, on random trees under random hands, beside a naive model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.pages import actions, queries, readable_page
from svc.pages.invariants import INVARIANTS
from svc.pages.model import Grant
from svc.principal import UNCLAIMED, Principal
from svc.store import EVERYONE, Tx
from tests.pages.naive_tree import NaivePage, NaiveTree, Outcome, above
from tests.pages.people_and_pages import NOA, OLE, PEOPLE, Pages
from tests.sizes import SHARES_FIXTURES, examples

EVERYBODY = (*PEOPLE, UNCLAIMED)

hands = st.sampled_from((*PEOPLE, NOA, OLE, UNCLAIMED))
paths = st.sampled_from(["a", "a-", "a0", "a/b", "a/b-", "a/b/c", "b", "b/c", "b/c/a"])
grants = st.dictionaries(
    st.sampled_from(["everyone", *(str(who.user_id) for who in PEOPLE)]), st.sampled_from(["read", "write"]), max_size=2
).map(lambda levels: [Grant(to=to, level=level) for to, level in levels.items()])  # type: ignore[arg-type]
steps: st.SearchStrategy[tuple[Any, ...]] = st.one_of(
    st.tuples(st.just("save"), hands, paths),
    st.tuples(st.just("share"), hands, paths, st.just("explicit"), grants),
    st.tuples(st.just("share"), hands, paths, st.just("inherited"), st.just([])),
    st.tuples(st.just("move"), hands, paths, paths),
    st.tuples(st.just("delete"), hands, paths),
)

standing = st.fixed_dictionaries({"owner": st.sampled_from(PEOPLE), "grants": st.none() | grants})
forests = st.dictionaries(paths, standing, min_size=2)

View = Mapping[tuple[str, str], bool]  # (person, path) -> may write; absent: may not read


class _Over(Exception):
    """The example is over: nothing of it stays."""


@settings(max_examples=examples(100), suppress_health_check=SHARES_FIXTURES)
@given(forests, st.lists(steps, min_size=1, max_size=12))
@pytest.mark.thorough
def test_every_page_is_read_and_written_by_whom_the_naive_rule_names(
    pages: Pages, forest: dict[str, dict[str, Any]], program: list[tuple[Any, ...]]
) -> None:
    with suppress(_Over):
        pages.do(_follow, forest, program)
    assert pages.paths() == set()


def _follow(tx: Tx, forest: dict[str, dict[str, Any]], program: list[tuple[Any, ...]]) -> None:
    naive = NaiveTree()
    for path, standing in forest.items():  # in any order, so also a page above older ones of others
        plant(tx, naive, path, **standing)
    _compare(tx, naive)
    for step in program:
        before, told = _view(tx), tx.value("select max(seq) from outbox") or 0
        model, real = _naively(naive, step), _really(tx, step)
        assert real is model, step
        assert {path for (path,) in tx.all("select path from pages")} == set(naive.pages)
        _compare(tx, naive)
        _check_news(tx, before, _view(tx), after=told)
    assert [problem for invariant in INVARIANTS for problem in invariant.check(tx)] == []
    raise _Over


def plant(tx: Tx, naive: NaiveTree, path: str, *, owner: Principal, grants: list[Grant] | None) -> None:
    """A page of ``owner``, whatever is around it; ``grants`` make its access explicit."""
    actions.save(tx, UNCLAIMED, path=path, title=None, body="")
    tx.run("update pages set owner_id = :owner where path = :path", owner=owner.user_id, path=path)
    naive.pages[path] = NaivePage(owner.user_id)
    if grants is not None:
        actions.set_access(tx, UNCLAIMED, path=path, access="explicit", grants=grants)
        naive.pages[path] = NaivePage(owner.user_id, "explicit", grants)


def _naively(naive: NaiveTree, step: tuple[Any, ...]) -> Outcome:
    name, *arguments = step
    outcome: Outcome = getattr(naive, name)(*arguments)
    return outcome


def _really(tx: Tx, step: tuple[Any, ...]) -> Outcome:
    try:
        with tx.savepoint():
            match step:
                case ("save", who, path):
                    actions.save(tx, who, path=path, title=None, body="")
                case ("share", who, path, access, grants):
                    actions.set_access(tx, who, path=path, access=access, grants=grants)
                case ("move", who, path, to):
                    actions.move(tx, who, path=path, to=to)
                case ("delete", who, path):
                    actions.delete(tx, who, path=path)
    except Refusal as refusal:
        return type(refusal)
    return None


def _compare(tx: Tx, naive: NaiveTree) -> None:
    for who in EVERYBODY:
        for path in naive.pages:
            page = readable_page(tx, who, path)
            assert (page is not None) == naive.reads(who, path), (who, path)
            assert bool(page and page.can_write) == naive.writes(who, path), (who, path)
        for top in (None, *(path for path in naive.pages if naive.reads(who, path))):
            listed = [(page.path, has_children) for page, has_children in queries.tree(tx, who, top)]
            assert listed == naive.tree(who, top), (who, top)


def _view(tx: Tx) -> View:
    every = [str(path) for (path,) in tx.all("select path from pages")]
    return {
        (str(who.user_id), path): page.can_write
        for who in PEOPLE
        for path in every
        if (page := readable_page(tx, who, path))
    }


def _check_news(tx: Tx, before: View, now: View, *, after: int) -> None:
    """Nobody hears of a page that they could not read; nobody is left with an old view of one."""
    heard: dict[str, set[str]] = {str(who.user_id): set() for who in PEOPLE}
    for kind, payload, audience in tx.all("select kind, payload, audience from outbox where seq > :after", after=after):
        path = msgspec.json.decode(payload)["path"]
        readable = now if kind == "page.changed" else before
        for user_id in heard if audience == EVERYONE else [audience] if audience else []:
            assert (user_id, path) in readable, (kind, path, user_id)
            heard[user_id].add(path)
    for user_id, path in {key for key in before.keys() | now.keys() if before.get(key) is not now.get(key)}:
        assert heard[user_id] & {path, *above(path)}, (user_id, path)


def test_an_admin_reads_no_page_for_being_one(pages: Pages) -> None:
    admin = Principal(user_id="usr_mia", device_id="dev", is_admin=True, via="session")
    pages.save(NOA, "a")
    assert pages.ask(readable_page, admin, "a") is None


def test_who_is_nobody_reads_not_even_what_everyone_may(pages: Pages) -> None:
    """A device that was paired while the instance was unclaimed has no user behind it."""
    nobody = Principal(user_id=None, device_id="dev_old", is_admin=False, via="device")
    pages.save(NOA, "a")
    pages.save(UNCLAIMED, "b")
    pages.share(NOA, "a", Grant(to="everyone", level="write"))
    assert [pages.ask(readable_page, nobody, path) for path in ("a", "b")] == [None, None]
