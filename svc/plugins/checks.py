"""Checks that the wanted plugins are installed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.plugins import queries
from svc.plugins.npm import OBTAIN
from svc.plugins.queries import UNDECIDED
from svc.plugins.service import Plugins
from svc.plugins.settings import PLUGINS
from svc.workspace import Workspace

_NONE: Final = "No plugins are wanted"


async def _check(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is not None:
        return await _of_service(context.workspace)
    if not context.config[PLUGINS]:
        return [skipped(_NONE)]
    if shutil.which("npm", path=context.config.environ.get("PATH")) is None:
        return [warning("npm is not installed: no plugin can be", _begun(OBTAIN))]
    return [skipped("Plugins are installed by the service", "Start it, then ask again")]


async def _of_service(workspace: Workspace) -> Sequence[Finding]:
    plugins = workspace.service(Plugins)
    pin, decided = await workspace.store.read(lambda tx: (queries.pin(tx), queries.decided(tx)))
    standings = list(plugins.standings())
    found = [] if pin.problem is None else [_incomplete(pin.problem, "Correct the file in the repository")]
    if plugins.problem is not None:
        found.append(_incomplete(plugins.problem, "See Settings > Plugins; those that were there before hold on"))
    for one in standings:
        if one.plugin is not None and one.plugin.problem is not None and decided.get(one.name, UNDECIDED).is_on:
            found.append(_incomplete(f"{one.name}: {one.plugin.problem}", "Tell its author, or want another version"))
    if found:
        return found
    return [ok(f"{len(standings)} plugins are there" if standings else _NONE)]


def _incomplete(detail: str, remedy: str) -> Finding:
    return Finding(state="warning", detail=detail, remedy=remedy, public="incomplete")


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


CHECKS: Final = (Check(name="plugins", summary="The plugins that are wanted are there.", run=_check, readyz="trouble"),)
