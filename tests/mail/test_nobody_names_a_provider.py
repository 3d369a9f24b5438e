"""No code but a provider's own names a provider, neither in the service nor in the web app: it asks what one does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from svc.mail.providers.kinds import ALL, ALL_BY_OAUTH, KEPT_HERE

ROOT: Final = Path(__file__).parent.parent.parent
SEARCHED: Final = ("svc/mail", "svc/connections", "svc/tools", "static")
NOT_OURS: Final = ("static/node_modules/", "static/vendor/")

COMMON_WORDS: Final = (KEPT_HERE, "fake")
"""Words that mean other things, too: here they count only as a whole text in quotes, as in a comparison."""
NAMES: Final = {kind.name for kind in ALL}.difference(COMMON_WORDS) | {kind.terms.service for kind in ALL_BY_OAUTH}
NAMED: Final = re.compile(f"{'|'.join(sorted(NAMES))}|[\"'`](?:{'|'.join(COMMON_WORDS)})[\"'`]", re.IGNORECASE)

OWN: Final = {
    "svc/mail/providers/gmail/": "its own folder",
    "svc/mail/providers/imap/": "its own folder",
    "svc/mail/providers/outlook/": "its own folder; it speaks IMAP",
    "svc/mail/providers/local.py": "its own module",
    "svc/mail/migrations.py": "a migration keeps its words for ever",
    "svc/connections/google.py": "the sign-in at this company",
    "svc/connections/microsoft.py": "the sign-in at this company",
    "svc/connections/microsoft_codes.py": "the codes of that sign-in",
    "svc/mail/connecting/passwords.py": "connects by a password, which is IMAP",
    "svc/mail/connecting/procedures.py": "the calls for that, with both servers",
    "svc/mail/connecting/wire.py": "the input of these calls",
    "static/mail/connect_password.js": "the form for that",
    "static/mail/connect_setup.js": "chooses the steps at a provider's console",
    "static/mail/connect_steps.js": "the texts of these steps",
    "static/mail/consent_refusals.js": "what a provider's refusal means for a person",
    "static/mail/start_path.js": "the address of a sign-in names its provider",
    "static/capabilities/client_json.js": "reads a file of one console",
    "static/settings/key_changes.js": "the keys of another program, as a choice",
    "static/settings/keys.js": "the keys of another program, as a choice",
}
"""Where all may name a provider, and why."""
LINES: Final = {
    "svc/mail/providers/kinds.py": "import KIND|OUTLOOK_KIND|IMAP_KIND",  # the list
    "svc/mail/tables.py": r"check \(provider in \(",  # what a migration made
    "svc/mail/owners.py": "imap",  # names of tables
    "svc/mail/porting/commands.py": "given",  # an option of a command
    "svc/mail/invitations/answering.py": "Outlook accepts",  # the program that reads an invitation
    "svc/mail/invitations/viewing.py": "Outlook cancels",  # the program that wrote one
    "svc/connections/__init__.py": "google_terms|(?i:microsoft)",  # the list
    "svc/connections/feature.py": r"connections\.microsoft|mail\.imap\.\*",  # the list, and the name of a credential
    "static/capabilities/credential_form.js": "The file from Google",
    "static/identity/login.js": "googleLogin",  # a field of the contract
    "static/mail/feature.js": "sign-ins|client",  # what the section is called, and what it holds
    "static/mail/settings/accounts.js": "api-off|console.cloud.google.com|sign-in of|Microsoft.</p>",  # texts
    "static/mail/settings/accounts_disconnect.js": "outlook: |Microsoft account",  # a text
    "static/mail/settings/first_steps.js": "by the sign-in of",
    "static/mail/settings/import.js": "Takeout",
    "static/mail/settings/sign_ins.js": "client also lets",
    "static/settings/feature.js": "Gmail’s keys",
}
"""Where some lines may, and the words that such a line has."""


def files() -> Iterator[tuple[str, Path]]:
    for folder in SEARCHED:
        for path in sorted((ROOT / folder).rglob("*.js" if folder == "static" else "*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(NOT_OURS):
                yield place, path


def named(path: Path) -> list[tuple[int, str]]:
    lines = enumerate(path.read_text().splitlines(), start=1)
    return [(number, line.strip()) for number, line in lines if NAMED.search(line)]


def test_a_provider_is_named_in_its_own_places_only() -> None:
    assert [
        f"{place}:{number}: {line}"
        for place, path in files()
        if not place.startswith(tuple(OWN))
        for number, line in named(path)
        if place not in LINES or not re.search(LINES[place], line)
    ] == []


def test_nothing_is_in_the_lists_that_names_none() -> None:
    naming = [place for place, path in files() if named(path)]
    assert [one for one in (*OWN, *LINES) if not any(place.startswith(one) for place in naming)] == []


@pytest.mark.parametrize(
    "line",
    ['if account.provider == "imap":', 'one.provider !== "local"', "  outlook: 1,", "case 'fake':", "# as Gmail does"],
)
def test_a_name_is_found(line: str) -> None:
    assert NAMED.search(line)


def test_a_common_word_is_no_name() -> None:
    assert not NAMED.search("a local change, local = 1, a fake")
