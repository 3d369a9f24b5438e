"""The rules and agents of plugins, beside those of pages: they act after an admin's agreement, and for that admin."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from svc import plugins
from svc.configuring.kinds import Kind
from svc.plugins import Acting, Plugins
from svc.store import ReadTx
from svc.workspace import Workspace

FOLDER: Final = "plugins"
"""The paths of what plugins bring begin so. No page of a kind of configuration lies there."""
PREFIX: Final = "plg_"
_ID_CHARS: Final = 32
_REVISION_HEX: Final = 12

Brought = Callable[[ReadTx, Kind[Any]], Iterable[Acting]]


def nothing(tx: ReadTx, kind: Kind[Any]) -> Iterable[Acting]:
    return ()


def brought_to(workspace: Workspace) -> Brought:
    return partial(_brought, workspace)


def _brought(workspace: Workspace, tx: ReadTx, kind: Kind[Any]) -> Iterator[Acting]:
    held = workspace.service(Plugins)
    if kind.in_plugins is not None and held.brings(kind.in_plugins):
        yield from held.acting(plugins.decided(tx), kind.in_plugins)


def id_of(kind: Kind[Any], one: Acting) -> str:
    said = "\0".join((kind.folder, one.plugin, one.name))
    return f"{PREFIX}{hashlib.sha256(said.encode()).hexdigest()[:_ID_CHARS]}"


def path_of(one: Acting) -> str:
    return f"{FOLDER}/{one.plugin}/{one.name}"


def revision_of(one: Acting) -> int:
    """A number that changes with the text."""
    return int(one.digest[:_REVISION_HEX], 16)
