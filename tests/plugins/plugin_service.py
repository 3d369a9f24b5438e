"""What the tests of plugins share: an installer on a folder, and the whole service with a registry beside it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.plugins.installing import Installer
from svc.plugins.npm import Npm
from svc.plugins.sets import FOLDER, Record, Sets
from svc.plugins.specs import listed
from tests.plugins.registry import Package, Registry
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service
from tests.support.waiting import until


def installer(home: Path, registry: str, threads: ThreadPool, **environ: str) -> Installer:
    """As a service has one on this home."""
    npm = Npm(environ={**os.environ, **environ}, registry=registry, threads=threads)
    return Installer(sets=Sets(home / FOLDER), npm=npm, threads=threads)


def lay(root: Path, package: Package) -> Path:
    """As npm lays it down."""
    folder = root / "node_modules" / package.name
    for name, content in package.contents().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def installed(directory: Path, registry: Registry, plugins: str) -> None:
    """As if an earlier boot had installed the newest of these, without a lock file: npm takes a second for it."""
    wanted = listed(plugins)
    home = directory / "home"
    home.mkdir(mode=0o700)
    sets = Sets(home / FOLDER)
    made = sets.begin()
    for spec in wanted:
        lay(made, list(registry.packages[spec.name].values())[-1])
    sets.switch(made, Record(wanted=tuple(map(str, wanted)), registry=registry.url))


@asynccontextmanager
async def serving_plugins(
    directory: Path, registry: Registry, *, wall: VirtualClock, log: RecordedLog, plugins: str = "", **settings: str
) -> AsyncIterator[Service]:
    """The service, that wants these plugins of the registry. On real time: npm is a program outside."""
    environ = {
        "PATH": os.environ["PATH"],
        "SVC_PLUGINS": plugins,
        "SVC_PLUGINS_REGISTRY": registry.url,
        "PROVIDERS": "fake",
        **settings,
    }
    async with open_service(directory, clock=wall, log=log, environ=environ) as service:
        yield service


async def settled(service: Service) -> dict[str, Any]:
    """Wait until it is busy with plugins no more; each of them by its name."""

    async def is_idle() -> bool:
        return not (await service.query("plugins.status"))["busy"]

    await until(is_idle, what="no plugin to be installed or removed")
    return {one["name"]: one for one in await service.query("plugins.list")}


async def listed_as(service: Service, name: str, **wanted: object) -> dict[str, Any]:
    """Wait until the plugin is listed with these values."""
    found: dict[str, Any] = {}

    async def is_so() -> bool:
        nonlocal found
        found = {one["name"]: one for one in await service.query("plugins.list")}.get(name, {})
        return bool(found) and all(found[key] == value for key, value in wanted.items())

    await until(is_so, what=f"{name} with {wanted}", tell=lambda: found)
    return found
