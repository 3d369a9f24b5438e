"""The title and the text of a new correspondent's page. Pure functions.

The name comes from a stranger: nothing in it may become markup or a link, in any view of the page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from svc.ids import derived_id
from svc.people.model import PUBLIC_DOMAINS, domain_of
from svc.people.words import folded

ROOT: Final = "crm"
ROOT_TITLE: Final = "People"
ROOT_BODY: Final = "Everybody you write with gets a page below this one. Only you can read yours, until you share it."
MAX_SLUG_CHARS: Final = 60
_HASH_CHARS: Final = 6

_MARKUP: Final = re.compile(r"[\[\]<>`*_\\|#!~/^{}$&]+")
_DASHES: Final = re.compile(r"-+")


def paths(*, owner_id: str | None, name: str, address: str) -> Iterator[str]:
    """Possible paths for the page, the nicest first. All users share the paths, so the last ones are unique to this
    person.
    """
    slug = _slug(name) or _slug(address)
    yield f"{ROOT}/{slug}"
    yield f"{ROOT}/{slug}-{_slug(domain_of(address))}"
    own = derived_id(ROOT, owner_id or "", address)
    yield f"{ROOT}/{slug}-{own[-_HASH_CHARS:]}"
    yield f"{ROOT}/{slug}-{own.removeprefix(f'{ROOT}_')}"


def title(*, name: str, address: str) -> str:
    return name or address


def body(*, name: str, address: str) -> str:
    """What is known at the first mail. Its date is shown beside the page, because older mail may still arrive."""
    domain = domain_of(address)
    lines = [f"- Name: {_MARKUP.sub(' ', name).strip()}"] if name else []
    lines.append(f"- Address: `{address}`")
    if domain not in PUBLIC_DOMAINS:
        lines.append(f"- Company: {domain}")
    return "\n".join(lines) + "\n"


def _slug(text: str) -> str:
    """The text as a part of a path: in plain ASCII letters if possible, else in the letters of its own script."""
    plain = folded(text)
    text = plain if plain.isascii() else unicodedata.normalize("NFC", text.casefold())
    kept = "".join(one if unicodedata.category(one)[0] in "LNM" else "-" for one in text)
    return _DASHES.sub("-", kept)[:MAX_SLUG_CHARS].strip("-")
