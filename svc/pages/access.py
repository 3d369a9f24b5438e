"""The one rule by which a page is read or written, as SQL conditions on a row ``p`` of ``pages``.

Theory. A page is its owner's. Beyond that, the grants of one page hold: its own where its access is explicit, else
those of the nearest page above whose access is; and the owner of that page then counts like one who may write. No such
page above: the owner alone. A page that acts as its owner (a rule, an agent, an MCP server) is written by nobody else,
whatever the grants: their word would become the owner's. Which page it is whose grants hold stands in ``source_id``,
kept by whoever changes the tree, so the conditions are index look-ups and nothing walks. Being an admin is no part of
the rule.

    everything    an unclaimed instance, identity turned off, or the service's own loops
    user_id       who asks; null matches nothing
"""

from __future__ import annotations

from typing import Final

from svc.pages.model import ACTING
from svc.principal import Principal
from svc.store import Value

_OWNER: Final = ":everything or p.owner_id = :user_id"
_SOURCE: Final = "exists (select 1 from pages s where s.id = p.source_id and s.owner_id = :user_id)"
_GRANTED: Final = """
    exists (
        select 1 from page_grants g where g.page_id = p.source_id
            and (g.grantee = :user_id or (g.grantee = 'everyone' and :user_id is not null))
"""
_ACTS: Final = " or ".join(f"p.path glob '{folder}/*'" for folder in ACTING)

READABLE: Final = f"({_OWNER} or {_SOURCE} or {_GRANTED}))"
WRITABLE: Final = f"({_OWNER} or not ({_ACTS}) and ({_SOURCE} or {_GRANTED} and g.level = 'write')))"


def who(principal: Principal) -> dict[str, Value]:
    """The parameters of the conditions."""
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def is_own(principal: Principal, owner_id: str | None) -> bool:
    """Whether the caller may share and delete what ``owner_id`` owns."""
    return principal.sees_everything or (owner_id is not None and owner_id == principal.user_id)
