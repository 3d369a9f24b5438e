"""The rows that plugins add to the feature tables."""

from __future__ import annotations

from svc.feature import Feature
from svc.plugins.actions import TOPIC, hand_over
from svc.plugins.checks import CHECKS
from svc.plugins.commands import COMMANDS
from svc.plugins.migrations import MIGRATIONS
from svc.plugins.procedures import PROCEDURES
from svc.plugins.service import Plugins
from svc.plugins.settings import SETTINGS
from svc.plugins.tasks import subsystems
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(Plugins.of(workspace))


async def _boot(workspace: Workspace) -> None:
    await workspace.service(Plugins).load()


FEATURE = Feature(
    name="plugins",
    summary="Packages from an npm registry that bring pages, commands, themes and servers, and no code of theirs.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("plugins", "plugin_pins", "plugin_actors"),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    checks=CHECKS,
    commands=COMMANDS,
    claim=hand_over,
    build=_build,
    boot=_boot,
    subsystems=subsystems,
)
