"""The ``svc`` subcommand of the replica: runs the server side, on another machine."""

from __future__ import annotations

import os
import random
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from svc.command import OK, USAGE, Argument, Command, Invocation
from svc.log import Log
from svc.nursery import Child, Root, Subsystem, ThreadPool, open_task_group, watch_signals
from svc.settings import LOG, SHORTEST_TOKEN, bind_host

if TYPE_CHECKING:
    from svc.replica.serving import ReplicaServer

FAILURE: Final = 1
DEFAULT_PORT: Final = 4784
THREADS: Final = 8
TOKEN_VARIABLE: Final = "SVC_BLOB_REPLICA_TOKEN"  # noqa: S105  a variable's name


def serve(call: Invocation) -> int:
    """Serve until a signal."""
    token = call.given["token"] or os.environ.get(TOKEN_VARIABLE, "")
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        told = f"The token needs at least {SHORTEST_TOKEN} letters, digits and signs, without blanks."
        return _complain(USAGE, f"{told} Give --token, or set {TOKEN_VARIABLE}.")
    log = Log.to_stderr(form=call.config[LOG], clock=call.clock)
    try:
        trio.run(partial(_serve, call, Path(call.given["dir"]).expanduser().absolute(), token, log))
    except OSError as error:
        return _complain(FAILURE, f"Can't serve: {error}")
    return OK


async def _serve(call: Invocation, folder: Path, token: str, log: Log) -> None:
    from svc.replica.place import Place
    from svc.replica.serving import ReplicaServer, digest_of

    place = Place(
        root=folder,
        clock=call.clock,
        threads=ThreadPool(limit=THREADS, name="replica"),
    )
    place.open()
    listeners = await trio.open_tcp_listeners(call.given["port"], host=call.given["host"])
    host, port = listeners[0].socket.getsockname()[:2]
    server = ReplicaServer(place=place, digest=digest_of(token), log=log, clock=call.clock)
    root = Root(log=log, rng=random.Random())  # noqa: S311  spreads pauses, guards nothing
    async with open_task_group() as nursery:
        await nursery.start(partial(watch_signals, to_the_end=True), root)
        with suppress(OSError, ValueError):  # the terminal may be closed
            print(f"Keeping blobs in {place.root}; set SVC_BLOB_REPLICA_URL to {_url(host, port)}", flush=True)
        await root.run([Subsystem(name="replica", run=partial(_run, server, listeners), essential=True)])
        nursery.cancel_scope.cancel()


async def _run(server: ReplicaServer, listeners: list[trio.SocketListener], child: Child) -> None:
    await server.run(child, listeners=listeners)


def _url(host: str, port: int) -> str:
    shown = "<this machine>" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104
    return f"http://{shown}:{port}"


def _complain(code: int, line: str) -> int:
    print(line, file=sys.stderr)
    return code


def _port(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 5 and int(value) <= 65_535):
        raise ValueError("a port is a whole number up to 65535")
    return int(value)


COMMANDS: Final = (
    Command(
        name="replica serve",
        summary="serve a replica: keep the blobs of a workspace on this machine; it needs no home",
        run=serve,
        bears_faults=True,
        arguments=(
            Argument(name="--dir", help="the folder for the blobs", required=True),
            Argument(name="--host", help="the address to listen on (127.0.0.1)", type=bind_host, default="127.0.0.1"),
            Argument(name="--port", help="the port to listen on (4784)", type=_port, default=DEFAULT_PORT),
            Argument(
                name="--token",
                help="the token that the workspace sends; without it, SVC_BLOB_REPLICA_TOKEN is read",
            ),
        ),
    ),
)
