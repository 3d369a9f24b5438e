"""What a claim does to pages: who owns them, and which are open to everyone."""

from __future__ import annotations

from svc.pages import news, queries, trash, tree
from svc.pages.model import EVERYONE, SHARED_SURFACES, Grant
from svc.pages.writing import insert
from svc.principal import system
from svc.store import Tx


def claim(tx: Tx, user_id: str) -> None:
    """Give every page to the first admin, and open the shared surfaces to everyone."""
    principal = system("claim")
    tx.run("update pages set owner_id = :user_id", user_id=user_id)
    trash.hand_over(tx, user_id)
    for path, title in SHARED_SURFACES:
        if not queries.exists(tx, path):
            insert(tx, principal, path=path, title=title, body="", owner_id=user_id, kind="surface")
        tx.run("update pages set kind = 'surface' where path = :path", path=path)
        surface = queries.readable_page(tx, principal, path)
        assert surface is not None, "it was made"
        tree.set_access(tx, surface, access="explicit", grants=[Grant(to=EVERYONE, level="write")])
        news.tell(tx, principal, "page.changed", news.reach_of(tx, path))
