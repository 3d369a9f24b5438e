"""The ``svc`` command. Each subcommand is one function that returns an exit code.

Codes: 0; 1 failure; 2 usage; 75 the home is in use by another process; 78 configuration, with every fault on standard
error as ``NAME: what is wrong; what to do``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec
import trio

from svc import __version__
from svc.app import EXIT_CONFIG, EXIT_FAILURE, BootFault, all_invariants, all_rules, all_settings, open_vault, serve
from svc.clock import WallClock
from svc.config import Config, ConfigError, read_config
from svc.log import Log
from svc.nursery import ThreadGate
from svc.settings import LOG
from svc.store import StoreBroken, run_fsck

OK: Final = 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one ``svc`` command; the process's exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
    except ConfigError as error:
        return _complain(EXIT_CONFIG, *map(str, error.faults))
    except BootFault as fault:
        return _complain(fault.exit_code, str(fault))
    except StoreBroken as fault:
        return _complain(EXIT_FAILURE, f"The store failed, and the service stopped to keep its promises: {fault}")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc",
        description="A self-hosted workspace server. Settings are environment variables: see `svc config`.",
    )
    parser.add_argument("--version", action="version", version=f"svc {__version__}")
    parser.set_defaults(run=_serve)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    serve_parser = commands.add_parser("serve", help="run the server (the default)", description="Run the server.")
    serve_parser.set_defaults(run=_serve)

    config_parser = commands.add_parser(
        "config",
        help="print every setting with its value and source",
        description="Print every setting with its value and where it came from. Secrets are never shown.",
    )
    config_parser.add_argument("--json", action="store_true", help="print JSON")
    config_parser.set_defaults(run=_config)

    fsck_parser = commands.add_parser(
        "fsck",
        help="check every invariant of the home",
        description="Check every invariant of the home; prints `ok` when all hold. May run beside a server.",
    )
    fsck_parser.add_argument("--deep", action="store_true", help="also read every blob and compare its hash")
    fsck_parser.add_argument("--json", action="store_true", help="print JSON")
    fsck_parser.set_defaults(run=_fsck)
    return parser


def _serve(parsed: argparse.Namespace) -> int:
    config = _read()
    log = Log.to_stderr(form=config[LOG], clock=WallClock())
    trio.run(partial(serve, config, clock=WallClock(), log=log))
    return OK


def _config(parsed: argparse.Namespace) -> int:
    config = _read()
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
    if parsed.json:
        print(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return OK
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(f"{row['name']:<{width}}  {row['source']:<11}  {row['value'] or '(unset)'}")
    return OK


def _fsck(parsed: argparse.Namespace) -> int:
    config = _read()
    problems = trio.run(_find_problems, config, parsed.deep)
    if parsed.json:
        print(msgspec.json.encode({"ok": not problems, "problems": problems}).decode())
    elif problems:
        print("\n".join(problems))
    else:
        print("ok")
    return EXIT_FAILURE if problems else OK


async def _find_problems(config: Config, deep: bool) -> list[str]:
    vault = open_vault(
        config, clock=WallClock(), threads=ThreadGate(limit=1, name="fsck"), environ=os.environ, read_only=True
    )
    try:
        return vault.store.read_now(
            run_fsck, invariants=all_invariants(), blobs=vault.blobs, secrets=vault.secrets, deep=deep
        )
    finally:
        vault.store.close_now()
        vault.home.close()


def _read() -> Config:
    return read_config(all_settings(), os.environ, all_rules())


def _complain(code: int, *lines: str) -> int:
    for line in lines:
        print(line, file=sys.stderr)
    return code
