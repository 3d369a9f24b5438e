"""What a principal may do with pages: plain functions over a transaction.

    save, move, restore        a caller who may write the page
    set_access, delete         its owner; of a deleted page, undelete and erase
    move, delete               besides, each page below must be writable: no hidden page is taken along

A page that the caller may not read looks like one that does not exist. Two things can be noticed: that a path is taken,
by a caller who tries to take it, and that others have pages below, by a caller who tries to move or delete those too. A
move never changes texts: a link names a path, and finds whatever page is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from svc.errors import Conflict, Forbidden, Invalid, NotFound
from svc.pages import edit_notes, managed, news, queries, trash, tree
from svc.pages.access import is_own
from svc.pages.model import (
    ACTING,
    EVERYONE,
    MAX_DEPTH,
    MAX_GRANTS,
    MAX_PATH_BYTES,
    MAX_SUBTREE_PAGES,
    Access,
    Grant,
    Page,
    acts,
    is_below,
    new_page_path,
    page_body,
    page_path,
    page_title,
    paths_above,
)
from svc.pages.writing import Saved, insert, revise
from svc.principal import Principal
from svc.store import Tx

NO_PAGE: Final = "There is no such page."
NOT_EXISTING: Final = 0
"""As the starting revision of a save: no page may exist yet."""


def save(
    tx: Tx, principal: Principal, *, path: str, title: str | None, body: str, revision: int | None = None
) -> Saved:
    """Create the page at ``path``, or write a new revision of it. Without ``title`` it keeps the one it has.

    ``revision`` is the one that the writer started from: a different current one is a conflict. ``None`` overwrites. An
    unchanged text makes no new revision.
    """
    path, body = page_path(path), page_body(body)
    page = queries.readable_page(tx, principal, path)
    if page is None:
        path = new_page_path(path)
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
    """Create a page for a user on behalf of another feature: private whatever is above it, except for ``grants``.

    Returns its id; ``None`` if the path is taken. Readers are told by :func:`news.tell_of_below`.
    """
    path = page_path(path)
    if queries.exists(tx, path):
        return None
    if has_below := queries.has_below(tx, path):
        tree.keep_alone_below(tx, path)
    page_id = insert(
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
    if has_below:
        tree.settle_sources(tx, path)
    return page_id


def restore(tx: Tx, principal: Principal, *, path: str, revision: int) -> Saved:
    """Write title and body of an old revision as a new one."""
    page = _seen(tx, principal, path)
    _must_write(page)
    if not queries.revision_exists(tx, page_id=page.id, revision=revision):
        raise NotFound("The page has no such revision.")
    title, body = queries.revision_text(tx, page_id=page.id, revision=revision)
    return _revise(tx, principal, page, title=title, body=body, restored_from=revision)


def move(tx: Tx, principal: Principal, *, path: str, to: str) -> None:
    """Move a page with all below it. Grants move too; inherited access is inherited from the new place, but never from
    another's page above pages that act as their owners."""
    page, to = _seen(tx, principal, path), new_page_path(to)
    _must_write(page)
    _must_not_be_surface(page)
    if is_below(to, page.path):
        raise Invalid("A page can't be moved below itself.")
    _must_have_subtree(tx, principal, page)
    _must_fit(top=page.path, paths=queries.subtree_paths(tx, page.path), to=to)
    _must_act_as_oneself(queries.paths_of_others(tx, principal, page.path), top=page.path, to=to)
    apart = _must_be_free(tx, principal, to)
    managed.must_be_editable(tx, principal, page.path, below=True)
    before, files = news.reach_of(tx, page.path), edit_notes.in_subtree(tx, principal, page.path)
    if apart:
        page = _stood_apart(tx, page)
    tree.relocate(tx, page, to=to)
    edit_notes.note_moved(tx, principal, files, top=page.path, to=to)
    news.tell(tx, principal, "page.removed", before)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, to))


def delete(tx: Tx, principal: Principal, *, path: str) -> None:
    """Move a page with all below it into the trash, where it stays for ``trash.KEEP_MS``."""
    page = _seen(tx, principal, path)
    _must_own(principal, page, "Only its owner may delete a page.")
    _must_not_be_surface(page)
    _must_have_subtree(tx, principal, page)
    managed.must_be_editable(tx, principal, page.path, below=True)
    before, files = news.reach_of(tx, page.path), edit_notes.in_subtree(tx, principal, page.path)
    trash.put(tx, principal, page)
    edit_notes.note_deleted(tx, principal, files)
    news.tell(tx, principal, "page.removed", before)


def undelete(tx: Tx, principal: Principal, *, page_id: str, to: str | None = None) -> str:
    """Restore a deleted page of the caller's and what was deleted below it: with ids, histories and grants.

    It goes to ``to``, or to where it was. Returns its new path. Inherited access is inherited from the new place.
    """
    page = _own_in_trash(tx, principal, page_id)
    path = page.path if to is None else new_page_path(to)
    found = trash.with_it(tx, page)
    _must_fit(top=page.path, paths=[old for _, old, _ in found], to=path)
    _must_act_as_oneself(trash.paths_of_others(tx, principal, page), top=page.path, to=path)
    apart = _must_have_room(tx, principal, path, [path + old.removeprefix(page.path) for _, old, _ in found])
    if (apart or any(explicit for _, _, explicit in found)) and queries.unshared_of_others_below(tx, principal, path):
        raise Conflict("Below that path lie pages of others, who have shared them with nobody. Restore it elsewhere.")
    page_ids = [one for one, _, _ in found]
    trash.take_out(tx, page, to=path, page_ids=page_ids)
    if apart:
        _stood_apart(tx, _seen(tx, principal, path))
    edit_notes.note_undeleted(tx, principal, page_ids)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, path))
    return path


def erase(tx: Tx, principal: Principal, *, page_id: str) -> None:
    """Delete a page of the caller's in the trash for good, and the caller's pages that were deleted below it."""
    trash.erase(tx, principal, _own_in_trash(tx, principal, page_id))


def set_access(tx: Tx, principal: Principal, *, path: str, access: Access, grants: Sequence[Grant]) -> None:
    """Set who besides its owner may read or write a page and the pages that inherit from it. ``grants`` replace the old
    ones."""
    page = _seen(tx, principal, path)
    _must_own(principal, page, "Only its owner may share a page.")
    _check_grants(tx, access, grants)
    if (
        page.access == "inherited"
        and access == "explicit"
        and queries.unshared_of_others_below(tx, principal, page.path)
    ):
        raise Conflict("Below it lie pages of others, who have shared them with nobody.")
    managed.must_be_editable(tx, principal, page.path)
    before, *_ = news.reach_of(tx, page.path)
    tree.set_access(tx, page, access=access, grants=grants)
    edit_notes.note_access(tx, principal, page)
    after = news.reach_of(tx, page.path)
    news.tell_the_excluded(tx, principal, before=before, after=after[0])
    news.tell(tx, principal, "page.changed", after)


# Checks


def _seen(tx: Tx, principal: Principal, path: str) -> Page:
    page = queries.readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    return page


def _own_in_trash(tx: Tx, principal: Principal, page_id: str) -> trash.Trashed:
    page = trash.own(tx, principal, page_id)
    if page is None:
        raise NotFound("There is no such page of yours in the trash.")
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
    if queries.subtree_size(tx, page.path) > MAX_SUBTREE_PAGES:
        raise Conflict(f"More than {MAX_SUBTREE_PAGES} pages can't be changed at once.")


def _must_fit(*, top: str, paths: Iterable[str], to: str) -> None:
    """Refuse if a path below would become longer or deeper than the limits."""
    moved = [to + path.removeprefix(top) for path in paths]
    if any(len(path.encode()) > MAX_PATH_BYTES or path.count("/") >= MAX_DEPTH for path in moved):
        raise Invalid("Paths below it would become too long there.")


def _must_act_as_oneself(paths_of_others: Iterable[str], *, top: str, to: str) -> None:
    """Refuse to move another's page to a folder where it acts as its owner."""
    if any(acts(to + path.removeprefix(top)) for path in paths_of_others):
        raise Forbidden("A page acts as its owner there. Only its owner may move it to there.")


def _must_be_free(tx: Tx, principal: Principal, path: str) -> bool:
    """Refuse unless the caller may put a page at ``path``: nothing is there or below, and they may write the nearest
    page above. Returns the result of :func:`_must_be_allowed_at`."""
    if queries.readable_page(tx, principal, path):
        raise Conflict("There is a page at that path already.")
    apart = _must_be_allowed_at(tx, principal, path)
    if queries.has_below(tx, path):
        raise Conflict("There are pages below that path already.")
    return apart


def _must_be_allowed_at(tx: Tx, principal: Principal, path: str) -> bool:
    """Refuse unless the caller may make a page at ``path``. Visible pages are checked first: only a caller who could
    have made the page learns of a hidden one.

    Returns whether the new page stands apart: the owner of the page above can't forbid it, and it inherits nothing.
    """
    if _stands_apart(tx, principal, path):
        if queries.exists(tx, path):
            raise NotFound(NO_PAGE)
        return True
    if path in ACTING and not (principal.is_admin or principal.sees_everything):
        raise Forbidden(f"Everybody's pages lie below {path}: only an admin may make that page itself.")
    seen = (queries.readable_page(tx, principal, above) for above in paths_above(path))
    nearest = next((page for page in seen if page is not None), None)
    if nearest is not None and not nearest.can_write:
        raise Forbidden("The page above is shared with you for reading.")
    above = queries.nearest_above(tx, path)
    hidden_above = above is not None and (nearest is None or above[0] != nearest.path)
    if hidden_above or queries.exists(tx, path):
        raise NotFound(NO_PAGE)
    return False


def _must_have_room(tx: Tx, principal: Principal, path: str, paths: Sequence[str]) -> bool:
    """Refuse unless pages can be restored at ``paths``, below ``path``: none is taken, and the caller may add one at
    ``path``. Returns the result of :func:`_must_be_allowed_at`."""
    taken = queries.first_taken(tx, paths)
    if taken is not None:
        raise Conflict(f"There is a page at {taken} now. Move that one, or restore to another path.")
    try:
        return _must_be_allowed_at(tx, principal, path)
    except (NotFound, Forbidden) as error:
        raise Conflict("You may not add pages at that path any more. Restore it to another one.") from error


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


def _create(tx: Tx, principal: Principal, *, path: str, title: str, body: str, revision: int | None) -> Saved:
    if revision not in {None, NOT_EXISTING}:
        raise _stale(NOT_EXISTING)  # the same answer if a page exists that the caller may not see
    apart = _must_be_allowed_at(tx, principal, path)
    if apart and queries.unshared_of_others_below(tx, principal, path):
        raise Conflict("Below it lie pages of others, who have shared them with nobody.")
    page_id = insert(
        tx,
        principal,
        path=path,
        title=title,
        body=body,
        owner_id=principal.user_id,
        kind="page",
        access="explicit" if apart else "inherited",
    )
    if apart:
        tree.settle_sources(tx, path)
    managed.join(tx, principal, page_id=page_id, path=path)
    edit_notes.note_saved(tx, principal, page_id=page_id, is_new=True)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, path, alone=True))
    return Saved(id=page_id, revision=1)


def _stands_apart(tx: Tx, principal: Principal, path: str) -> bool:
    """Whether a new page acts as its maker and the nearest page above is only the folder's own, of another owner: then
    it inherits nothing."""
    above = queries.nearest_above(tx, path) if acts(path) else None
    return above is not None and above[0] in ACTING and not is_own(principal, queries.owner_of(tx, above[0]))


def _stood_apart(tx: Tx, page: Page) -> Page:
    """The page, with grants of its own: where it inherited, it is its owner's alone from now on."""
    if page.access == "explicit":
        return page
    tree.set_access(tx, page, access="explicit", grants=())
    return replace(page, access="explicit", source_id=page.id)


def _revise(
    tx: Tx, principal: Principal, page: Page, *, title: str, body: str, restored_from: int | None = None
) -> Saved:
    managed.must_be_editable(tx, principal, page.path)
    saved = revise(tx, principal, page, title=title, body=body, restored_from=restored_from)
    if saved.revision != page.revision:
        edit_notes.note_saved(tx, principal, page_id=page.id, is_new=False)
    return saved
