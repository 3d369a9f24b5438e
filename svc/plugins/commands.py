"""The commands of ``svc`` that plugins add."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from svc.command import OK, Argument, Command, Invocation
from svc.plugins.reading import read_folder

BAD: Final = 1


def check(call: Invocation) -> int:
    """Print what a service would report about the plugin in a folder, before it is published."""
    plugin = read_folder(Path(call.given["folder"]))
    if plugin.manifest is None:
        print(f"{plugin.name}: {plugin.problem}")
        return BAD
    brought = plugin.manifest
    print(f"{plugin.name} {plugin.version}: {brought.title}")
    for row in brought.pages:
        print(f"  {row.kind} {row.name}: {row.title}")
    for entry in brought.palette:
        print(f"  command: {entry.title}")
    for theme in brought.themes:
        print(f"  theme {theme.name}: {theme.title}")
    for right in plugin.rights:
        print(f"  needs a yes: {right.words}")
    return OK


COMMANDS: Final = (
    Command(
        name="plugins check",
        summary="check the plugin in a folder, and say what it brings and what it needs a yes for",
        run=check,
        arguments=(Argument(name="folder", help="the folder of its package.json"),),
        bears_faults=True,
    ),
)
