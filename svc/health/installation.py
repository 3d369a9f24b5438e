"""Checks of the installation: the settings, the home and its permissions, the lock, the disk, the ports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from svc.check import Check, CheckContext, Finding, failed, ok, refused, warning
from svc.health.neighbours import who_listens
from svc.listening import Address, addresses, bind_once, listening_fault
from svc.settings import PROFILE, canonical_origin
from svc.store import ROOM_BYTES, ROOMS, Home
from svc.switches import overruled

LITTLE_ROOM_BYTES: Final = 512 * 1024 * 1024
_MEBIBYTE: Final = 1024 * 1024
_OTHERS: Final = 0o077
_WRITABLE: Final = "Make it a directory that this user may write, or set SVC_HOME to another"


async def _settings(context: CheckContext) -> Sequence[Finding]:
    found = [failed(f"{fault.name}: {fault.problem}", fault.remedy) for fault in context.faults]
    found += [_unknown(name, nearest) for name, nearest in context.config.unknown()]
    found += [
        warning(
            f"{row.setting.name} has no effect: {row.name} is off under SVC_PROFILE={context.config[PROFILE]}",
            "Unset it; a public cell does not let anybody reach into its machine",
        )
        for row in overruled(context.config)
        if row.setting is not None
    ]
    return found or [ok(f"{len(context.config.settings)} settings, all of them understood")]


def _unknown(name: str, nearest: str | None) -> Finding:
    meant = f"Did you mean {nearest}? " if nearest else ""
    return warning(f"{name} is not a setting of this version, and has no effect", f"{meant}svc config lists them all")


async def _home(context: CheckContext) -> Sequence[Finding]:
    return await context.threads.run(lambda: list(_home_problems(context.home)) or [_home_is_well(context.home)])


def _home_is_well(home: Path) -> Finding:
    if not home.exists():
        return ok(f"{home} does not exist yet: the first start makes it")
    return ok(f"{home} can be written, and nobody else can read it")


def _home_problems(home: Path) -> Iterator[Finding]:
    problem = Home.problem_of(home)
    if problem is not None:
        yield failed(problem, _WRITABLE)
        return
    for path in (home, *(home / room for room in ROOMS), Home.database_of(home)):
        if path.exists():
            yield from _shared(path)


def _shared(path: Path) -> Iterator[Finding]:
    status = path.stat()
    if status.st_uid != os.geteuid():
        yield failed(f"{path} belongs to another user", f"Run: chown {os.geteuid()} {path}")
    elif status.st_mode & _OTHERS:
        mode = "600" if path.is_file() else "700"
        yield failed(f"{path} can be read or written by other users of this machine", f"Run: chmod {mode} {path}")


async def _service(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is not None:
        return [ok(f"The service runs, as process {os.getpid()}")]
    if context.unanswered:
        return [refused(context.unanswered)]
    left_by = Home.last_holder(context.home)
    if left_by is None:
        return [ok("No service runs on this home")]
    return [ok(f"No service runs on this home. Its lock names process {left_by}, which has ended: nothing to do")]


async def _disk(context: CheckContext) -> Sequence[Finding]:
    return [await context.threads.run(_room, context.home)]


def _room(home: Path) -> Finding:
    while not home.exists() and home != home.parent:
        home = home.parent
    disk = os.statvfs(home)
    free = disk.f_bavail * disk.f_frsize
    remedy = f"Delete or move something on the disk that holds {home}"
    if disk.f_blocks == 0:
        return ok("This file system does not tell how much room it has")
    if free < ROOM_BYTES:
        return failed(f"The disk is full: {free // _MEBIBYTE} MiB are free", remedy)
    if disk.f_files > 0 and disk.f_favail == 0:
        return failed("The disk takes no more files: its file system has no inode left", remedy)
    if free < LITTLE_ROOM_BYTES:
        return warning(f"The disk is nearly full: {free // _MEBIBYTE} MiB are free", remedy)
    return ok(f"{free / 2**30:,.1f} GiB are free")


async def _ports(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is not None:
        port = context.workspace.port
        return [ok(f"It is served at {canonical_origin(context.config, port=port)}")]
    return [await _port(context, address) for address in addresses(context.config, "all")]


async def _port(context: CheckContext, address: Address) -> Finding:
    if address.port == 0:
        return ok(f"{address.port_setting}: a free port is taken at the start")
    try:
        await context.threads.run(bind_once, address)
    except OSError as error:
        neighbour = await who_listens(context.egress, address)
        if neighbour is not None:
            free = f"stop it, or set {address.port_setting} to another port"
            return refused(f"{address.port_setting}: {neighbour} listens on port {address.port}; {free}")
        return refused(str(listening_fault(address, error)))
    return ok(f"{address.port_setting}: port {address.port} is free")


CHECKS: Final = (
    Check(name="settings", summary="Every variable is understood.", run=_settings),
    Check(name="home", summary="The home can be used, and only by this user.", run=_home),
    Check(name="service", summary="Who serves this home.", run=_service),
    Check(name="disk", summary="The disk has room.", run=_disk),
    Check(name="ports", summary="The ports are free, or this service's own.", run=_ports),
)
