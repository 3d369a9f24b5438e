"""The one rule for who may read or write a page, as SQL conditions on a row ``p`` of ``pages``.

Theory. A page belongs to its owner. Besides, the grants of one page apply: its own if its access is explicit, else
those of the nearest page above with explicit access; the owner of that page may then write, too. Without such a page
above, only the owner has access. A page that acts as its owner (a rule, an agent, an MCP server) is written by nobody
else, whatever the grants: others' text would act as the owner. ``source_id`` names the page whose grants apply. The
code that changes the tree keeps it up to date, so the conditions are index look-ups and need no walk. Being an admin
has no effect here.

    everything    an unclaimed instance, identity turned off, or the service's own loops
    user_id       the caller; null matches nothing
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
