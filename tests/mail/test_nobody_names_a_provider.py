"""Mail and connections name no provider outside the folders that are its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
OWN: Final = (
    "svc/mail/providers/gmail/",
    "svc/mail/providers/imap/discovery/presets.py",
    "svc/connections/google.py",
    "svc/fakes/",
)
LISTS: Final = {
    "svc/mail/providers/kinds.py": "from svc.mail.providers.gmail.kind import KIND",
    "svc/connections/__init__.py": "google_terms",
    "svc/mail/migrations.py": "check (provider in (",
    "svc/mail/tables.py": "check (provider in (",
}
"""Where a provider is listed, and how. A migration keeps its words for ever."""


def test_a_provider_is_named_in_its_own_folder_only() -> None:
    named = [
        f"{place}:{number}: {line.strip()}"
        for feature in ("mail", "connections")
        for path in sorted((ROOT / "svc" / feature).rglob("*.py"))
        if not (place := str(path.relative_to(ROOT))).startswith(OWN)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search("google|gmail", line, re.IGNORECASE) and LISTS.get(place, "\0") not in line
    ]
    assert named == []
