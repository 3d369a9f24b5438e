"""The one setting of people: the domains of colleagues."""

from __future__ import annotations

import re
from typing import Final

from svc.config import BadValue, Setting

OWN: Final = "own"
NONE: Final = "none"
_DOMAIN: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{1,62}")


def _domains(value: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(value.lower().replace(",", " ").split()))
    if found == (NONE,):
        return ()
    for domain in found:
        if domain != OWN and not _DOMAIN.fullmatch(domain):
            raise BadValue(f"{domain!r} is not a domain; write domains, `{OWN}`, or `{NONE}` alone")
    return found


SKIPPED_DOMAINS: Setting[tuple[str, ...]] = Setting(
    name="SVC_CRM_SKIP_DOMAINS",
    parse=_domains,
    default=(OWN,),
    shown_default="`own`",
    type="list of domains",
    help=(
        "Domains whose addresses are colleagues': no CRM page is made for them. `own` stands for the domains of one's "
        "own mail accounts, but for those where anybody can have an address (gmail.com and its like); `none` skips no "
        "domain."
    ),
)

SETTINGS = (SKIPPED_DOMAINS,)
