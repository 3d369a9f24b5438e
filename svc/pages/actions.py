"""What a principal may do with pages: plain functions over a transaction.

    save, move, restore        who may write the page
    set_access, delete         its owner
    move, delete               besides, only if each page below may be written: nobody's page is taken along unseen

A page that the caller may not read is as missing as one that never was. Two things can be noticed: that a name is
taken, by who tries to take it, and that others have pages below, by who tries to take those along. Texts never change
in a move: a link names a path, and finds whatever page is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.ids import new_id
from svc.pages import news, queries, tree
from svc.pages.access import READABLE, is_own, who
from svc.pages.links import files_in, pages_in
from svc.pages.model import (
    EVERYONE,
    MAX_DEPTH,
    MAX_GRANTS,
    MAX_PATH_BYTES,
    MAX_SUBTREE_PAGES,
    SHARED_SURFACES,
    Access,
    Grant,
    Kind,
    Page,
    is_below,
    page_body,
    page_path,
    page_title,
    paths_above,
)
from svc.principal import Principal, system
from svc.store import Tx, json_array

NO_PAGE: Final = "There is no such page."
NOT_EXISTING: Final = 0
"""As the revision a save starts from: there must be no page yet."""


@dataclass(frozen=True, kw_only=True)
class Saved:
    id: str
    revision: int


def save(
    tx: Tx, principal: Principal, *, path: str, title: str | None, body: str, revision: int | None = None
) -> Saved:
    """Create the page at ``path``, or write a new revision of it. Without ``title`` it keeps the one it has.

    ``revision`` is the one the writer started from: any other current one is a conflict. ``None`` overwrites. The same
    text again is no new revision.
    """
    path, body = page_path(path), page_body(body)
    page = queries.readable_page(tx, principal, path)
    if page is None:
        return _create(tx, principal, path=path, title=page_title(title, path=path), body=body, revision=revision)
    _must_write(page)
    if revision is not None and revision != page.revision:
        raise _stale(page.revision)
    wanted = page.title if title is None else page_title(title, path=path)
    return _revise(tx, principal, page, title=wanted, body=body)


def make_private(
    tx: Tx,
    principal: Principal,
    *,
    owner_id: str | None,
    path: str,
    title: str,
    body: str,
    grants: Sequence[Grant] = (),
) -> str | None:
    """A page that another feature makes for somebody: theirs alone, whatever stands above, but for ``grants``.

    Returns its id; ``None`` if the path is taken. It is told by :func:`news.tell_of_below`.
    """
    path = page_path(path)
    if queries.exists(tx, path):
        return None
    page_id = _insert(
        tx,
        principal,
        path=path,
        title=page_title(title, path=path),
        body=page_body(body),
        owner_id=owner_id,
        kind="page",
        access="explicit",
    )
    tree.grant(tx, page_id, grants)
    return page_id


def restore(tx: Tx, principal: Principal, *, path: str, revision: int) -> Saved:
    """Write title and body of an old revision as a new one."""
    page = _seen(tx, principal, path)
    _must_write(page)
    if not queries.revision_exists(tx, page_id=page.id, revision=revision):
        raise NotFound("The page has no such revision.")
    title, body = queries.revision_text(tx, page_id=page.id, revision=revision)
    return _revise(tx, principal, page, title=title, body=body)


def move(tx: Tx, principal: Principal, *, path: str, to: str) -> None:
    """Move a page with all below it. Grants go along; what is inherited is inherited from the new place."""
    page, to = _seen(tx, principal, path), page_path(to)
    _must_write(page)
    _must_not_be_surface(page)
    if is_below(to, page.path):
        raise Invalid("A page can't be moved below itself.")
    _must_have_subtree(tx, principal, page)
    _must_fit(tx, page, to)
    _must_be_free(tx, principal, to)
    before = news.reach_of(tx, page.path)
    tree.relocate(tx, page, to=to)
    news.tell(tx, principal, "page.removed", before)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, to))


def delete(tx: Tx, principal: Principal, *, path: str) -> None:
    """Delete a page with all below it, and with their revisions: nothing is kept to restore them from."""
    page = _seen(tx, principal, path)
    _must_own(principal, page, "Only its owner may delete a page.")
    _must_not_be_surface(page)
    _must_have_subtree(tx, principal, page)
    before = news.reach_of(tx, page.path)
    tree.remove(tx, page)
    news.tell(tx, principal, "page.removed", before)


def set_access(tx: Tx, principal: Principal, *, path: str, access: Access, grants: Sequence[Grant]) -> None:
    """Say who besides its owner may read or write a page and what inherits from it; ``grants`` replace the old."""
    page = _seen(tx, principal, path)
    _must_own(principal, page, "Only its owner may share a page.")
    _check_grants(tx, access, grants)
    if (
        page.access == "inherited"
        and access == "explicit"
        and queries.unshared_of_others_below(tx, principal, page.path)
    ):
        raise Conflict("Below it lie pages of others, who have shared them with nobody.")
    before, *_ = news.reach_of(tx, page.path)
    tree.set_access(tx, page, access=access, grants=grants)
    after = news.reach_of(tx, page.path)
    news.tell_the_excluded(tx, principal, before=before, after=after[0])
    news.tell(tx, principal, "page.changed", after)


def claim(tx: Tx, user_id: str) -> None:
    """The first admin claims the instance: every page becomes theirs, the shared surfaces are open to everyone."""
    principal = system("claim")
    tx.run("update pages set owner_id = :user_id", user_id=user_id)
    for path, title in SHARED_SURFACES:
        if not queries.exists(tx, path):
            _insert(tx, principal, path=path, title=title, body="", owner_id=user_id, kind="surface")
        tx.run("update pages set kind = 'surface' where path = :path", path=path)
        surface = _seen(tx, principal, path)
        tree.set_access(tx, surface, access="explicit", grants=[Grant(to=EVERYONE, level="write")])
        news.tell(tx, principal, "page.changed", news.reach_of(tx, path))


# What must hold


def _seen(tx: Tx, principal: Principal, path: str) -> Page:
    page = queries.readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    return page


def _must_write(page: Page) -> None:
    if not page.can_write:
        raise Forbidden("The page is shared with you for reading.")


def _must_own(principal: Principal, page: Page, sentence: str) -> None:
    if not is_own(principal, page.owner_id):
        raise Forbidden(sentence)


def _must_not_be_surface(page: Page) -> None:
    if page.kind == "surface":
        raise Forbidden("A shared surface stays where it is.")


def _must_have_subtree(tx: Tx, principal: Principal, page: Page) -> None:
    if queries.unwritable_below(tx, principal, page.path):
        raise Conflict("Below it lie pages of others, which are not yours to take along.")
    if queries.subtree_measures(tx, page.path)[0] > MAX_SUBTREE_PAGES:
        raise Conflict(f"More than {MAX_SUBTREE_PAGES} pages can't be changed at once.")


def _must_fit(tx: Tx, page: Page, to: str) -> None:
    """No path below may become longer or deeper than a path can be."""
    _, longest, deepest = queries.subtree_measures(tx, page.path)
    too_long = longest - len(page.path.encode()) + len(to.encode()) > MAX_PATH_BYTES
    if too_long or deepest - page.path.count("/") + to.count("/") > MAX_DEPTH:
        raise Invalid("Paths below it would become too long there.")


def _must_be_free(tx: Tx, principal: Principal, path: str) -> None:
    """The caller may put a page at ``path``: nothing is there or below, and they may write the nearest page above."""
    if queries.readable_page(tx, principal, path):
        raise Conflict("There is a page at that path already.")
    _must_be_allowed_at(tx, principal, path)
    if queries.has_below(tx, path):
        raise Conflict("There are pages below that path already.")


def _must_be_allowed_at(tx: Tx, principal: Principal, path: str) -> None:
    """What the caller sees decides first: what they don't see is noticed only by who could have made the page."""
    seen = (queries.readable_page(tx, principal, above) for above in paths_above(path))
    nearest = next((page for page in seen if page is not None), None)
    if nearest is not None and not nearest.can_write:
        raise Forbidden("The page above is shared with you for reading.")
    above = queries.nearest_above(tx, path)
    hidden_above = above is not None and (nearest is None or above[0] != nearest.path)
    if hidden_above or queries.exists(tx, path):
        raise NotFound(NO_PAGE)


def _check_grants(tx: Tx, access: Access, grants: Sequence[Grant]) -> None:
    if access == "inherited" and grants:
        raise Invalid("Grants are given with explicit access only.")
    if len(grants) > MAX_GRANTS:
        raise Invalid(f"A page has at most {MAX_GRANTS} grants.")
    people = [grant.to for grant in grants]
    if len(set(people)) < len(people):
        raise Invalid("Each person is granted one level.")
    named = set(people) - {EVERYONE}
    if named - queries.user_names(tx, named).keys():
        raise Invalid("A grant names somebody who is not a user here.")


def _stale(current: int) -> Conflict:
    return Conflict("The page was changed meanwhile.", data={"revision": current})


# Writing a page


def _create(tx: Tx, principal: Principal, *, path: str, title: str, body: str, revision: int | None) -> Saved:
    if revision not in {None, NOT_EXISTING}:
        raise _stale(NOT_EXISTING)  # also where there is one that the caller may not see
    _must_be_allowed_at(tx, principal, path)
    page_id = _insert(tx, principal, path=path, title=title, body=body, owner_id=principal.user_id, kind="page")
    news.tell(tx, principal, "page.changed", news.reach_of(tx, path, alone=True))
    return Saved(id=page_id, revision=1)


def _insert(
    tx: Tx,
    principal: Principal,
    *,
    path: str,
    title: str,
    body: str,
    owner_id: str | None,
    kind: Kind,
    access: Access = "inherited",
) -> str:
    page_id = new_id("pag")
    above = queries.nearest_above(tx, path) if access == "inherited" else None
    tx.run(
        """
        insert into pages (id, path, title, kind, owner_id, access, source_id, revision, created_at, updated_at)
        values (:id, :path, :title, :kind, :owner_id, :access, :source_id, 1, :now, :now)
        """,
        id=page_id,
        path=path,
        title=title,
        kind=kind,
        owner_id=owner_id,
        access=access,
        source_id=page_id if access == "explicit" else above and above[1],
        now=tx.now,
    )
    _store_text(tx, principal, page_id=page_id, revision=1, title=title, body=body)
    return page_id


def _revise(tx: Tx, principal: Principal, page: Page, *, title: str, body: str) -> Saved:
    if (title, body) == queries.revision_text(tx, page_id=page.id, revision=page.revision):
        return Saved(id=page.id, revision=page.revision)
    revision = page.revision + 1
    tx.run(
        "update pages set title = :title, revision = :revision, updated_at = :now where id = :id",
        id=page.id,
        title=title,
        revision=revision,
        now=tx.now,
    )
    _store_text(tx, principal, page_id=page.id, revision=revision, title=title, body=body)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, page.path, alone=True))
    return Saved(id=page.id, revision=revision)


def _store_text(tx: Tx, principal: Principal, *, page_id: str, revision: int, title: str, body: str) -> None:
    tx.run(
        """
        insert into page_revisions (page_id, revision, title, author_id, device_id, at, body)
        values (:id, :revision, :title, :author_id, :device_id, :now, :body)
        """,
        id=page_id,
        revision=revision,
        title=title,
        author_id=principal.user_id,
        device_id=principal.device_id,
        now=tx.now,
        body=body,
    )
    links, files = pages_in(body), files_in(body)
    if revision == 1 and not links and not files:
        return  # there is nothing to replace either: pages come by the thousand with a mailbox
    tx.run("delete from page_links where page_id = :id", id=page_id)
    tx.run(
        "insert into page_links (target_path, page_id) select value, :id from json_each(:paths)",
        id=page_id,
        paths=json_array(links),
    )
    _refer_to_files(tx, principal, page_id=page_id, file_ids=json_array(files))


def _refer_to_files(tx: Tx, principal: Principal, *, page_id: str, file_ids: str) -> None:
    """Keep which files the page shows. A new one counts only if the writer may read it: who merely knows a file's id
    can't read it by naming it in a page of their own."""
    tx.run(
        "delete from page_files where page_id = :id and file_id not in (select value from json_each(:files))",
        id=page_id,
        files=file_ids,
    )
    tx.run(
        f"""
        insert into page_files (file_id, page_id)
        select f.id, :id from files f
        where f.id in (select value from json_each(:files)) and (
            :everything or f.owner_id = :user_id or exists (
                select 1 from page_files o join pages p on p.id = o.page_id where o.file_id = f.id and {READABLE}
            )
        )
        on conflict do nothing
        """,
        id=page_id,
        files=file_ids,
        **who(principal),
    )
