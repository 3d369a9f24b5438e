"""Switches: the parts of the service that reach into the machine it runs on. A public cell must not run them.

A feature with such a part asks :func:`is_on`; nothing else reads the profile for it. Under every profile but ``local``
they are off, whatever a variable says: a cell that strangers can reach fails closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.config import AnySetting, Config, Setting, on_off
from svc.settings import PROFILE, default_under_fakes

OS_EXEC: Final[Setting[bool]] = Setting(
    name="SVC_OS_EXEC",
    parse=on_off,
    default=default_under_fakes(True, otherwise=False),
    shown_default="`1` under PROVIDERS=fake, else `0`",
    type="0 or 1",
    help="`1` lets agents run programs on this machine (`os.exec`): not in this version yet. "
    "Never under SVC_PROFILE=cloud.",
)
CONTAINERS: Final[Setting[bool]] = Setting(
    name="SVC_CONTAINERS",
    parse=on_off,
    default=False,
    shown_default="`0`",
    type="0 or 1",
    help="`1` lets agents start containers on this machine (`containers.*`): not in this version yet. "
    "Never under SVC_PROFILE=cloud.",
)


@dataclass(frozen=True, kw_only=True)
class Switch:
    """``setting`` switches it under the local profile. Without ``setting`` it is on under that profile."""

    name: str
    summary: str
    setting: Setting[bool] | None = None


TERMINALS: Final = Switch(name="terminals", summary="Shells on the server, at `/pty`.")
KERNELS: Final = Switch(
    name="kernels", summary="Notebook kernels, which run code on the server. Not in this version yet."
)
STDIO_MCP: Final = Switch(name="stdio-mcp", summary="MCP servers that are programs on the server.")
EXEC: Final = Switch(
    name="os-exec", summary="Agents run programs on the server. Not in this version yet.", setting=OS_EXEC
)
CONTAINER_TOOLS: Final = Switch(
    name="containers", summary="Agents start containers on the server. Not in this version yet.", setting=CONTAINERS
)
LOCAL_MLOPS: Final = Switch(name="local-mlops", summary="Training runs on the server. Not in this version yet.")
OKF_WATCHER: Final = Switch(name="okf-watcher", summary="Changes of the files under `okf/` become changes of pages.")

SWITCHES: Final = (TERMINALS, KERNELS, STDIO_MCP, EXEC, CONTAINER_TOOLS, LOCAL_MLOPS, OKF_WATCHER)
SWITCH_SETTINGS: Final[tuple[AnySetting, ...]] = (OS_EXEC, CONTAINERS)


def is_on(config: Config, switch: Switch) -> bool:
    """Whether a part with a switch runs in this process. Only this function decides it."""
    if config[PROFILE] != "local":
        return False
    return switch.setting is None or config[switch.setting]


def overruled(config: Config) -> list[Switch]:
    """The switches that a variable turns on, but the profile does not allow."""
    return [row for row in SWITCHES if _is_asked_for(config, row) and not is_on(config, row)]


def _is_asked_for(config: Config, row: Switch) -> bool:
    return row.setting is not None and config.source(row.setting) != "default" and config[row.setting]
