"""``svc serve --role=worker``: the worker plane as a process of its own.

It loads nothing of the trusted plane, starts with an environment whose only secret is the internal token, gives up its
rights, and uses only ``SVC_HOME/worker/`` of the home. With Landlock, the system enforces that: it reads the
interpreter and its libraries, writes in that folder, and connects to no port but the trusted plane's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import trio

from svc import landlock
from svc.clock import WallClock
from svc.config import AnySetting, Config, ConfigError, ConfigFault, read_config
from svc.confinement import give_up_rights
from svc.doors import LOOPBACK
from svc.listening import open_listeners, ports_are_free
from svc.log import Log
from svc.nursery import Subsystem, open_task_group, watch_signals
from svc.protocol import Link
from svc.settings import BROKER_URL, DEFAULT_INTERNAL_PORT, DRAIN_S, HOME, INTERNAL_TOKEN, LOG
from svc.worker.halves import HALVES
from svc.worker.plane import PASSED_ON, control_listener, known_settings, scrubbed_workspace, worker_subsystems
from svc.worker.rows import WorkerRows

OK: Final = 0
SCRATCH: Final = "worker"
"""The worker's folder in the home."""
LIBRARIES: Final = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom"),
)
"""Folders that an interpreter reads besides its own."""


def main(halves: Sequence[WorkerRows] = HALVES) -> int:
    """Serve until a signal. Returns the exit code."""
    _leave_secrets_behind(halves)
    settings = (*known_settings(halves), INTERNAL_TOKEN)
    try:
        config = read_config(settings, os.environ, (_web_plane_is_known, partial(ports_are_free, "worker")))
        clock = WallClock()
        log = Log.to_stderr(form=config[LOG], clock=clock)
        give_up_rights()
        log.info("worker.confined", landlock=_confine(config))
        trio.run(partial(_serve, config, halves, clock=clock, log=log))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return OK


def kept_of(environ: Mapping[str, str], settings: Iterable[AnySetting]) -> dict[str, str]:
    """The variables of an environment that a worker may have: these settings, and those of every process."""
    names = {name for setting in settings for name in setting.names} | PASSED_ON
    return {name: value for name, value in environ.items() if name in names}


def _leave_secrets_behind(halves: Sequence[WorkerRows]) -> None:
    """Restart the process with only the variables that a worker may have, if there are others: a running process can't
    remove them from what other processes can read of it."""
    kept = kept_of(os.environ, (*known_settings(halves), INTERNAL_TOKEN))
    if kept.keys() != os.environ.keys():
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)  # noqa: S606  ourselves again


def _confine(config: Config) -> int:
    """Call it before there is a second thread. Returns the version of Landlock, 0 if there is none."""
    home = config[HOME]
    loaded_from = {Path(entry) for entry in sys.path[0 if sys.flags.safe_path else 1 :]}  # the first is the script's
    return landlock.confine(
        read={
            *(place for place in loaded_from if not home.is_relative_to(place)),
            Path(__file__).parent.parent,
            Path(sys.base_prefix) / "lib",
            *map(Path, LIBRARIES),
        },
        write={home / SCRATCH, Path(os.devnull)},
        connect=[_broker_port(config)],
    )


def _broker_port(config: Config) -> int:
    return urlsplit(config[BROKER_URL]).port or DEFAULT_INTERNAL_PORT


def _web_plane_is_known(config: Config) -> Iterable[ConfigFault]:
    if config[INTERNAL_TOKEN] is None:
        yield ConfigFault(
            INTERNAL_TOKEN.name,
            "a worker of its own and its web plane know each other by it",
            "set the same long random token for both",
        )


async def _serve(config: Config, halves: Sequence[WorkerRows], *, clock: WallClock, log: Log) -> None:
    workspace = scrubbed_workspace(config, halves=halves, clock=clock, log=log)
    control = control_listener(workspace, halves)
    token = config[INTERNAL_TOKEN]
    assert token is not None, "a rule asked for it"
    control.trust(token)
    async with open_listeners(config, "worker") as (listeners,), open_task_group() as nursery:
        await nursery.start(partial(watch_signals, to_the_end=True), workspace.root)
        control.take(listeners)
        broker = urlsplit(config[BROKER_URL])
        link = Link(
            connect=partial(trio.open_tcp_stream, broker.hostname or "", _broker_port(config)),
            authority=broker.netloc,
            token=token,
        )
        control_url = f"http://{LOOPBACK}:{control.port}"
        subsystems = await worker_subsystems(workspace, halves, broker=link, control_url=control_url)
        subsystems.append(Subsystem(name="control", run=control.run, drain_s=float(config[DRAIN_S])))
        await workspace.root.run(subsystems)
        nursery.cancel_scope.cancel()
