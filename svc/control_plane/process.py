"""``svc serve`` and ``svc config`` where ``SVC_SERVICE`` is ``key-escrow-control-plane``.

Boot: reads the settings and reports all faults at once, opens the port and the pool, prepares tables and credentials,
then serves. After the stop signal: readiness says 503, new calls get 503, calls in flight finish or are cancelled at
the deadline, the pool closes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec
import trio

from svc import __version__
from svc.clock import WallClock
from svc.config import Config, ConfigError, read_config
from svc.confinement import let_nobody_read
from svc.control_plane.settings import DATABASE_URL, RULES, SETTINGS
from svc.errors import Unavailable
from svc.log import Log
from svc.nursery import Root
from svc.settings import LOG

OK: Final = 0
EXIT_FAILURE: Final = 1


def main(arguments: Sequence[str]) -> int:
    """Runs one command; returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        config = read_config(SETTINGS, os.environ, RULES)
        if given.command == "config":
            return _config(config, as_json=given.json)
        return _serve(config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc",
        description="The escrow service of a fleet (SVC_SERVICE=key-escrow-control-plane). Its settings are "
        "environment variables: see `svc config`. For the commands of a cell, unset SVC_SERVICE.",
    )
    parser.add_argument("--version", action="version", version=f"svc {__version__}")
    parser.set_defaults(command="serve")
    words = parser.add_subparsers(title="commands", metavar="COMMAND")
    words.add_parser("serve", help="run the escrow service (the default)").set_defaults(command="serve")
    config = words.add_parser("config", help="print every setting with its value and source; secrets are never shown")
    config.add_argument("--json", action="store_true", help="print JSON")
    config.set_defaults(command="config")
    return parser


def _config(config: Config, *, as_json: bool) -> int:
    rows = [
        {"name": one.name, "value": config.shown(one), "source": config.source(one), "help": one.help}
        for one in config.settings
    ]
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return OK
    for row in rows:
        print(f"{row['name']:<32}{row['value'] or '(unset)':<34}{row['source']:<14}{row['help']}")
    return OK


def _serve(config: Config) -> int:
    from svc.control_plane.serving import serve  # late: it loads the library for PostgreSQL, which may be missing

    let_nobody_read()
    clock = WallClock()
    log = Log.to_stderr(form=config[LOG], clock=clock)
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    try:
        trio.run(partial(serve, config, clock=clock, log=log, root=Root(log=log, rng=rng)))
    except Unavailable as refusal:
        print(f"{DATABASE_URL.name}: the database can't be used; {refusal.detail}", file=sys.stderr)
        return EXIT_FAILURE
    return OK
