"""The rows that people add to the feature tables."""

from __future__ import annotations

from svc.feature import Feature
from svc.people import actions, queries
from svc.people.commands import COMMANDS
from svc.people.invariants import INVARIANTS
from svc.people.migrations import MIGRATIONS
from svc.people.model import TOPIC
from svc.people.procedures import PROCEDURES
from svc.people.settings import SETTINGS, SKIPPED_DOMAINS
from svc.workspace import Workspace


async def _boot(workspace: Workspace) -> None:
    """Copy the setting into the database, where transactions read it. Writes nothing if it has not changed."""
    domains = workspace.config[SKIPPED_DOMAINS]
    if workspace.store.read_now(queries.skipped_domains) != set(domains):
        workspace.store.write_now(actions.skip_domains, domains=domains)


FEATURE = Feature(
    name="people",
    summary="The people one writes with, and the pages they are filed under.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("people", "people_words", "people_skipped", "people_together"),
    procedures=PROCEDURES,
    commands=COMMANDS,
    topics=(TOPIC,),
    invariants=INVARIANTS,
    claim=actions.claim,
    boot=_boot,
)
