"""The commands of the whole program (serve, config, fsck), and how any command is run. Features add the other commands
as rows.

Every expected fault is printed as one sentence and ends the process with its exit code: 0; 1 failure; 2 usage; 75 the
home is in use by another process; 78 configuration, with every fault on standard error as ``NAME: what is wrong; what
to do``.
"""

from __future__ import annotations

import errno
import gc
import os
import random
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import trio

from svc.app import (
    EXIT_FAILURE,
    EXIT_HOME_BUSY,
    FEATURES,
    BootFault,
    all_invariants,
    all_rules,
    all_settings,
    escrowed_keys,
    open_home,
    serve,
)
from svc.browser import open_in_browser, opener_of
from svc.clock import WallClock
from svc.command import JSON, OK, USAGE, Argument, Command, Invocation, OpenedHome, WrongUsage
from svc.config import EXIT_CONFIG, Config, ConfigError, ConfigFault, Rule, read_config, read_config_without_faults
from svc.confinement import let_nobody_read
from svc.describing import openapi_command, types_command
from svc.doctor import doctor_command
from svc.errors import Refusal
from svc.export import import_archive
from svc.listening import Front, Role
from svc.log import Log
from svc.nursery import ThreadPool, share_memory, shorten_turns
from svc.preflight import serve_rules
from svc.settings import HOME, INTERNAL_PORT, LOG, PORT, WORKER_PROCESS
from svc.store import CannotOpen, Home, KeyRefused, StoreBroken, damage, run_fsck
from svc.worker import process

ROLES: Final = get_args(Role)
FRONTS: Final = get_args(Front)
DESCRIPTORS: Final = 16_384
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def run(name: str, given: Mapping[str, Any]) -> int:
    """Run the command with that name."""
    share_memory()
    shorten_turns()
    if name == "serve" and _role(given) == "worker":
        return process.main()  # written so that `cli` did not recognize it
    command = next(row for row in all_commands() if row.name == name)
    try:
        config, faults = _read(command, _rules(name, given))
        return command.run(
            Invocation(
                given=given,
                config=config,
                clock=WallClock(),
                open_home=partial(_opened_home, config),
                invariants=all_invariants(),
                migrations=tuple(feature.migrations for feature in FEATURES if feature.migrations),
                faults=tuple(faults),
            )
        )
    except ConfigError as error:
        return _misconfigured(name, error)
    except BootFault as fault:
        return _complain(fault.exit_code, str(fault))
    except WrongUsage as fault:
        return _complain(USAGE, str(fault))
    except KeyRefused as fault:
        return _complain(EXIT_FAILURE, str(fault))
    except Refusal as refusal:
        return _complain(EXIT_FAILURE, refusal.detail)
    except StoreBroken as fault:
        return _complain(EXIT_FAILURE, f"The store failed, and the service stopped to keep its promises: {fault}")
    except BrokenPipeError:
        raise
    except OSError as error:
        told = _sentence(error)
        if name == "serve" or told is None:
            raise  # nothing that a person has mistyped
        return _complain(EXIT_FAILURE, told)


def _sentence(error: OSError) -> str | None:
    """What a person can do something about: a file that can't be used, or a full disk. ``None`` for any other error."""
    if error.strerror is None or (error.filename is None and error.errno not in _FULL):
        return None
    return error.strerror if error.filename is None else f"{error.filename} can't be used: {error.strerror}"


def _read(command: Command, rules: tuple[Rule, ...]) -> tuple[Config, list[ConfigFault]]:
    """The environment, and its faults if the command bears them. Raises :class:`ConfigError` for any other command."""
    try:
        return read_config(all_settings(), os.environ, rules), []
    except ConfigError as error:
        if not command.bears_faults:
            raise
        return read_config_without_faults(all_settings(), os.environ), error.faults


def _rules(name: str, given: Mapping[str, Any]) -> tuple[Rule, ...]:
    if name != "serve":
        return all_rules()
    return (*all_rules(), *serve_rules(_role(given), _front(given)))


def _role(given: Mapping[str, Any]) -> Role:
    role: Role = given.get("role", "all")  # bare `svc` is `svc serve`
    return role


def _front(given: Mapping[str, Any]) -> Front:
    front: Front = given.get("front", "own")
    return front


def _misconfigured(name: str, error: ConfigError) -> int:
    """Report all faults. A port held by the same server that holds the home is not a fault of the settings."""
    home = error.values.get(HOME.name)
    busy = Home.busy(home) if name == "serve" and isinstance(home, Path) else None
    told = map(str, error.faults)
    if busy is None:
        return _complain(EXIT_CONFIG, *told)
    only_port = all(fault.name in {PORT.name, INTERNAL_PORT.name} for fault in error.faults)
    return _complain(EXIT_HOME_BUSY if only_port else EXIT_CONFIG, str(busy), *told)


def serve_command(call: Invocation) -> int:
    config = call.config
    role = _role(call.given)
    if role == "web" or config[WORKER_PROCESS]:
        let_nobody_read()
    _raise_descriptor_limit()
    clock = WallClock()
    log = Log.to_stderr(form=config[LOG], clock=clock)
    for unknown, nearest in config.unknown():
        log.warning("config.unknown_variable", name=unknown, nearest=nearest)
    opener = None if call.given.get("no_open") else opener_of(os.environ, at_terminal=_at_terminal())
    told = partial(_listens, opener)
    trio.run(partial(serve, config, clock=clock, log=log, role=role, front=_front(call.given), announce=told))
    return OK


def _at_terminal() -> bool:
    with suppress(OSError, ValueError, AttributeError):  # it may be closed or missing
        return sys.stdout.isatty()
    return False


def _listens(opener: str | None, origin: str) -> None:
    """Freeze the loaded objects first: garbage collection through them would stop everything for 40 ms, each time."""
    gc.collect()
    gc.freeze()
    _announce(opener, origin)


def _announce(opener: str | None, origin: str) -> None:
    with suppress(OSError, ValueError):  # perhaps nothing reads it
        print(f"Open {origin} in a browser.", flush=True)
    if opener is not None:
        open_in_browser(opener, origin)


def _raise_descriptor_limit() -> None:
    """Sockets, blobs and mailboxes take one descriptor each; the soft limit of many systems is meant for smaller
    programs.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def config_command(call: Invocation) -> int:
    config = call.config
    rows = [
        {
            "name": setting.name,
            "value": config.shown(setting),
            "source": config.source(setting),
            "unit": setting.unit,
            "help": setting.help,
        }
        for setting in config.settings
    ]
    for row in rows:
        row["value"] = row["value"] or ("" if call.given["json"] else "(unset)")
    for unknown, nearest in config.unknown():
        hint = f"; did you mean {nearest}?" if nearest else ""
        print(f"{unknown} is not a setting of this version{hint}", file=sys.stderr)
    call.print_rows(rows, columns=("name", "value", "source", "help"), titled=True)
    return OK


def import_command(call: Invocation) -> int:
    return import_archive(call, hooks=[feature.claim for feature in FEATURES if feature.claim])


def fsck_command(call: Invocation) -> int:
    deep = call.given["deep"]
    with call.home(read_only=True) as opened:
        problems = opened.store.read_now(
            run_fsck, invariants=all_invariants(), blobs=opened.blobs, secrets=opened.secrets, deep=deep
        )
        found = opened.store.read_now(damage.counts)
    if call.given["json"]:
        verdict: dict[str, object] = {"ok": not problems, "problems": problems}
        if deep:
            verdict["blobs"] = {"damaged": found.damaged, "lost": found.lost, "mended": found.mended}
        print(msgspec.json.encode(verdict).decode())
    else:
        print("\n".join(problems) or "ok")
        if deep and found.mended:
            print(f"{found.mended} damaged blobs were mended in the last 30 days")
    return EXIT_FAILURE if problems else OK


CORE_COMMANDS: Final = (
    Command(
        name="serve",
        summary="run the server (the default)",
        run=serve_command,
        arguments=(
            Argument(
                name="--role",
                choices=ROLES,
                default="all",
                help="which parts to run: all in one process (the default), web without the worker, or the worker",
            ),
            Argument(
                name="--front",
                choices=FRONTS,
                default="own",
                help="what carries the requests: our own HTTP/1.1 (the default), or Hypercorn, for TLS and HTTP/2",
            ),
            Argument(name="--no-open", is_flag=True, help="do not open a browser"),
        ),
    ),
    Command(
        name="config",
        summary="print every setting with its value and source; secrets are never shown",
        run=config_command,
        arguments=(JSON,),
    ),
    Command(
        name="doctor",
        summary="check the service, its home and what it depends on, and say what to do about each fault",
        run=doctor_command,
        arguments=(JSON,),
        bears_faults=True,
    ),
    Command(
        name="fsck",
        summary="check every invariant of the home; prints `ok` when all hold",
        run=fsck_command,
        arguments=(
            Argument(name="--deep", is_flag=True, help="also read every blob and compare its hash"),
            JSON,
        ),
    ),
    Command(
        name="import",
        summary="import what `svc export` wrote into an empty home (its server must be stopped)",
        run=import_command,
        arguments=(Argument(name="source", metavar="IN", help="the folder, or the .tar archive"),),
    ),
    Command(
        name="types",
        summary="print the TypeScript types of all procedures, as the AppRouter that @trpc/client takes",
        run=types_command,
        bears_faults=True,
    ),
    Command(
        name="openapi",
        summary="print every route and procedure as OpenAPI 3.1",
        run=openapi_command,
        bears_faults=True,
    ),
)


def all_commands() -> tuple[Command, ...]:
    return (*CORE_COMMANDS, *(row for feature in FEATURES for row in feature.commands))


@contextmanager
def _opened_home(config: Config, *, read_only: bool, may_create: bool) -> Iterator[OpenedHome]:
    """The home, opened for one command."""
    if not may_create:
        try:
            Home.id_of(config[HOME])
        except CannotOpen as fault:
            raise BootFault(f"{HOME.name}: {fault}", exit_code=EXIT_CONFIG) from fault
    pool = ThreadPool(limit=1, name="command")
    opened = trio.run(partial(_open, config, pool, read_only))
    try:
        yield opened
    finally:
        opened.store.close_now()
        opened.home.close()


async def _open(config: Config, pool: ThreadPool, read_only: bool) -> OpenedHome:
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    escrowed = await escrowed_keys(config, rng=rng, read_only=read_only)
    return open_home(
        config, clock=WallClock(), threads=pool, environ=os.environ, read_only=read_only, escrowed=escrowed
    )


def _complain(code: int, *lines: str) -> int:
    for line in lines:
        print(line, file=sys.stderr)
    return code
