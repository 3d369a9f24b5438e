"""The worker plane as a child process, started and watched by the trusted plane (``SVC_WORKER_PROCESS=1``).

It gets an environment with only non-secret settings, its own folder of the home, and the internal token through its
standard input, so that no environment contains the token. If it dies it is started again, with growing pauses.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import trio

from svc.config import AnySetting, Config
from svc.doors import LOOPBACK, Internal
from svc.nursery import Child, Subsystem
from svc.runs import Dispatcher
from svc.settings import BROKER_URL, DRAIN_S, HOME, INTERNAL_TOKEN, PORT, WORKER_PROCESS, WORKER_URL
from svc.worker.plane import known_settings
from svc.worker.process import SCRATCH, kept_of
from svc.workspace import Workspace


class WorkerDied(Exception):
    """The worker process has ended by itself."""


def worker_process(workspace: Workspace, *, environ: Mapping[str, str]) -> Subsystem:
    drain_s = float(workspace.config[DRAIN_S])

    async def run(child: Child) -> None:
        scratch = await workspace.threads.run(_scratch, workspace.home.path)
        process = await trio.lowlevel.open_process(
            command(),
            stdin=subprocess.PIPE,
            cwd=scratch,
            env=environment(
                workspace.config,
                environ,
                settings=known_settings(feature.worker for feature in workspace.features),
                scratch=scratch,
                internal_port=workspace.service(Internal).port,
            ),
        )
        child.log.info("worker.started", pid=process.pid)
        child.work.start_soon(_watch, child, process, workspace.service(Dispatcher))
        child.started()
        await trio.sleep_forever()

    return Subsystem(name="worker", run=run, drain_s=drain_s)


def command() -> list[str]:
    """The command that starts this program again as the worker, also when this one was started as a module."""
    spec = sys.modules["__main__"].__spec__
    return [sys.executable, "-m", spec.name if spec else "svc", "serve", "--role=worker"]


def environment(
    config: Config,
    environ: Mapping[str, str],
    *,
    settings: Iterable[AnySetting],
    scratch: Path,
    internal_port: int,
) -> dict[str, str]:
    """The environment of the worker: these settings without the secret ones, and no variable that is not ours."""
    own = {WORKER_URL.name, BROKER_URL.name, PORT.name, WORKER_PROCESS.name, HOME.name}
    return {
        **{name: value for name, value in kept_of(environ, settings).items() if name not in own},
        "HOME": str(scratch),
        HOME.name: str(config[HOME]),
        WORKER_URL.name: f"http://{LOOPBACK}:0",  # a free port: the handshake reports it
        BROKER_URL.name: f"http://{LOOPBACK}:{internal_port}",
        f"{INTERNAL_TOKEN.name}_FILE": "/dev/stdin",
    }


def _scratch(home: Path) -> Path:
    """The only part of the home that belongs to the worker."""
    path = home / SCRATCH
    path.mkdir(mode=0o700, exist_ok=True)
    os.chmod(path, 0o700)
    return path


async def _watch(child: Child, process: trio.Process, dispatcher: Dispatcher) -> None:
    try:
        assert process.stdin is not None, "it was asked for"
        async with process.stdin:
            await process.stdin.send_all(dispatcher.token.encode())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_end_on_drain, child, process)
            status = await process.wait()
            nursery.cancel_scope.cancel()
        if not child.draining:
            await dispatcher.forget_dead()
            raise WorkerDied(f"the worker process ended with status {status}")
    finally:
        with trio.CancelScope(shield=True):  # bounded: a kill always ends the process
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _end_on_drain(child: Child, process: trio.Process) -> None:
    await child.wait_draining()
    process.terminate()
