"""Checks that the programs which the service starts are installed, and new enough."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from svc import landlock
from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.confinement import PROTECTED
from svc.settings import WORKER_PROCESS

_ANSWER_S: Final = 10
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """``minimum``: the lowest version that works. ``used_for`` ends the sentence "without it …"."""

    name: str
    title: str
    minimum: tuple[int, int]
    without: str
    obtain: str


TOOLS: Final = (
    Tool(
        name="git",
        title="Git",
        minimum=(2, 31),
        without="pages can't be kept in a repository",
        obtain="Install Git {minimum} or newer from your system's packages, or from git-scm.com",
    ),
    Tool(
        name="node",
        title="Node.js",
        minimum=(20, 0),
        without="the web app can't be built from source; an installed svc brings it along",
        obtain="Install Node.js {minimum} or newer from nodejs.org, if you build from source",
    ),
)


async def _tool(tool: Tool, context: CheckContext) -> Sequence[Finding]:
    return [await context.threads.run(_looked_for, tool, context.config.environ.get("PATH"))]


def _looked_for(tool: Tool, path: str | None) -> Finding:
    minimum = f"{tool.minimum[0]}.{tool.minimum[1]}"
    obtain = tool.obtain.format(minimum=minimum)
    program = shutil.which(tool.name, path=path)
    if program is None:
        return warning(f"{tool.title} is not installed: {tool.without}", obtain)
    version = _version_of(program)
    if version is None:
        return warning(f"{program} does not say its version: {tool.without}", obtain)
    said = f"{version[0]}.{version[1]}"
    if version < tool.minimum:
        return warning(f"{program} is {tool.title} {said}, older than {minimum}: {tool.without}", obtain)
    return ok(f"{program} is {tool.title} {said}")


def _version_of(program: str) -> tuple[int, int] | None:
    try:
        done = subprocess.run(  # noqa: S603  the path comes from PATH, the argument from here
            [program, "--version"], capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(done.stdout)
    return None if found is None or done.returncode != 0 else (int(found[1]), int(found[2]))


async def _worker(context: CheckContext) -> Sequence[Finding]:
    """How the worker plane is isolated from the rest of this process and of this machine."""
    if context.config[WORKER_PROCESS] and PROTECTED:
        return [confinement(landlock.version())]
    if context.config[WORKER_PROCESS]:
        return [
            warning(
                "The worker is a process of its own, but this system lets it read the memory of the service",
                "Run the worker as another user, or the service on Linux",
            )
        ]
    return [
        skipped(
            "The worker runs in the process of the service, without database and keys, but in the same memory",
            f"To keep it apart, set {WORKER_PROCESS.name}=1, or run: svc serve --role=web, and svc serve --role=worker",
        )
    ]


def confinement(abi: int) -> Finding:
    """The isolation of a worker process on Linux, by the version of Landlock."""
    apart = "The worker is a process of its own, which the system keeps from the memory of the service"
    if abi < landlock.FILES_FROM:
        remedy = "Run a Linux of version 5.13 or later with Landlock, or the worker as another user"
        return warning(f"{apart}, but not from the files of its user", remedy)
    ports = " and all ports but the internal one" if abi >= landlock.PORTS_FROM else ""
    return ok(f"{apart}, all files but its own{ports} (Landlock {abi})")


CHECKS: Final = (
    *(Check(name=tool.name, summary=f"{tool.title} is there.", run=partial(_tool, tool)) for tool in TOOLS),
    Check(name="worker", summary="How the worker plane is kept apart on this platform.", run=_worker),
)
