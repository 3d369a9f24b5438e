"""Who besides the owner can access a page, or a new page at that path."""

from __future__ import annotations

from dataclasses import dataclass

from svc.pages.model import EVERYONE, acts
from svc.pages.queries import nearest_above
from svc.principal import Principal
from svc.store import ReadTx


@dataclass(frozen=True, kw_only=True)
class Openness:
    """``foreign``: another user owns it. ``by_another``: another wrote its text. ``synced``: it is also a file in a
    repository. ``readers``: how many others it is shared with; ``for_everyone``: with all users."""

    foreign: bool
    by_another: bool
    others_read: bool
    others_write: bool
    synced: bool
    readers: int = 0
    for_everyone: bool = False

    @property
    def is_private(self) -> bool:
        return not (self.foreign or self.others_read or self.others_write or self.synced)


def openness(tx: ReadTx, principal: Principal, path: str, *, revision: int | None = None) -> Openness:
    """For the page at ``path``; if there is none, for a new page there, by what it would inherit. ``revision``: the one
    whose text is meant, if not the newest.
    """
    row = tx.one(
        """
        select p.id, p.owner_id, p.source_id, r.author_id from pages p
            left join page_revisions r on r.page_id = p.id and r.revision = coalesce(:revision, p.revision)
        where p.path = :path
        """,
        path=path,
        revision=revision,
    )
    author_id = None
    if row is not None:
        page_id, owner_id, source_id, author_id = row
    else:
        above = nearest_above(tx, path)
        owner_id, source_id = principal.user_id, above[1] if above else None
        page_id = None if above is None else tx.value("select id from pages where path = :path", path=above[0])
    grants = _grants(tx, source_id, user_id=principal.user_id)
    levels = {level for _, level in grants}
    return Openness(
        foreign=owner_id is not None and owner_id != principal.user_id,
        by_another=author_id is not None and author_id != principal.user_id,
        others_read=bool(levels),
        others_write="write" in levels and not acts(path),
        synced=tx.value("select 1 from page_managed where page_id = :id", id=page_id) is not None,
        readers=len({grantee for grantee, _ in grants} - {EVERYONE}),
        for_everyone=any(grantee == EVERYONE for grantee, _ in grants),
    )


def _grants(tx: ReadTx, source_id: str | None, *, user_id: str | None) -> set[tuple[str, str]]:
    """Which other users may do what there. The owner of the page whose grants apply may write, too."""
    if source_id is None:
        return set()
    owner_id = tx.value("select owner_id from pages where id = :id", id=source_id)
    rows = tx.all("select grantee, level from page_grants where page_id = :id", id=source_id)
    grants = {(str(grantee), str(level)) for grantee, level in rows if grantee == EVERYONE or grantee != user_id}
    return grants | ({(str(owner_id), "write")} if owner_id is not None and owner_id != user_id else set())
