"""What each ``svc`` subcommand does. Each is a function of its parsed arguments that returns an exit code.

A command that writes takes the home for itself, so it is refused while a server holds it; ``svc claim`` only leaves a
file for the server to take, and the ones that read run beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

import msgspec
import trio

from svc.app import (
    EXIT_CONFIG,
    EXIT_FAILURE,
    BootFault,
    Vault,
    all_invariants,
    all_rules,
    all_settings,
    open_vault,
    serve,
)
from svc.clock import WallClock, rfc3339, rfc3339_or_none
from svc.config import Config, ConfigError, read_config
from svc.errors import Refusal
from svc.identity import claim_links, recovery
from svc.log import Log
from svc.mail.search.feature import reindex
from svc.nursery import ThreadGate
from svc.settings import HOME, LOG, PORT, canonical_origin
from svc.store import Home, StoreBroken, run_fsck

OK: Final = 0
DESCRIPTORS: Final = 16_384


def run(name: str, parsed: argparse.Namespace) -> int:
    """Run the command of that name; every expected fault becomes its sentence and its exit code."""
    try:
        return COMMANDS[name](parsed, read_config(all_settings(), os.environ, all_rules()))
    except ConfigError as error:
        return _complain(EXIT_CONFIG, *map(str, error.faults))
    except BootFault as fault:
        return _complain(fault.exit_code, str(fault))
    except Refusal as refusal:
        return _complain(EXIT_FAILURE, refusal.detail)
    except StoreBroken as fault:
        return _complain(EXIT_FAILURE, f"The store failed, and the service stopped to keep its promises: {fault}")


def serve_command(parsed: argparse.Namespace, config: Config) -> int:
    _raise_descriptor_limit()
    clock = WallClock()
    log = Log.to_stderr(form=config[LOG], clock=clock)
    trio.run(partial(serve, config, clock=clock, log=log))
    return OK


def _raise_descriptor_limit() -> None:
    """Sockets, blobs and mailboxes take one each; the soft limit of many systems is meant for smaller programs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def config_command(parsed: argparse.Namespace, config: Config) -> int:
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
        row["value"] = row["value"] or ("" if parsed.json else "(unset)")
    _print(parsed, rows, columns=("name", "source", "value"))
    return OK


def fsck_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config, read_only=True) as vault:
        problems = vault.store.read_now(
            run_fsck, invariants=all_invariants(), blobs=vault.blobs, secrets=vault.secrets, deep=parsed.deep
        )
    if parsed.json:
        print(msgspec.json.encode({"ok": not problems, "problems": problems}).decode())
    else:
        print("\n".join(problems) or "ok")
    return EXIT_FAILURE if problems else OK


def claim_command(parsed: argparse.Namespace, config: Config) -> int:
    spool = Home.spool_of(config[HOME])
    token = claim_links.make(spool, email=parsed.email, now=WallClock().now())
    print(f"{canonical_origin(config, port=config[PORT])}/login?claim={token}")
    return OK


def invite_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        code = vault.store.write_now(recovery.invite, email=parsed.email, days=parsed.days, admin=parsed.admin)
    print(f"{canonical_origin(config, port=config[PORT])}/login?invite={code}")
    return OK


def user_list_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config, read_only=True) as vault:
        rows = [
            {
                "id": user.id,
                "email": user.email,
                "name": user.name,
                "role": user.role,
                "since": rfc3339(user.created_at),
            }
            for user in vault.store.read_now(recovery.users)
        ]
    _print(parsed, rows, columns=("email", "role", "name", "id"))
    return OK


def user_promote_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        vault.store.write_now(recovery.set_role, email=parsed.email, role="admin")
    return OK


def user_demote_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        vault.store.write_now(recovery.set_role, email=parsed.email, role="member")
    return OK


def device_list_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config, read_only=True) as vault:
        rows = [
            {
                "id": device.id,
                "kind": device.kind,
                "name": device.name,
                "user": device.user_id or "",
                "revoked": "revoked" if device.revoked else "",
                "seen": rfc3339_or_none(device.last_seen_at) or "",
            }
            for device in vault.store.read_now(recovery.devices)
        ]
    _print(parsed, rows, columns=("id", "kind", "name", "seen", "revoked"))
    return OK


def device_revoke_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        vault.store.write_now(recovery.revoke_device, device_id=parsed.id)
    return OK


def mail_reindex_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        vault.store.write_now(reindex)
    return OK


def session_revoke_command(parsed: argparse.Namespace, config: Config) -> int:
    with _vault(config) as vault:
        ended = vault.store.write_now(recovery.end_all_sessions)
    print(f"{ended} ended")
    return OK


COMMANDS: Final[dict[str, Callable[[argparse.Namespace, Config], int]]] = {
    "serve": serve_command,
    "config": config_command,
    "fsck": fsck_command,
    "claim": claim_command,
    "invite": invite_command,
    "user list": user_list_command,
    "user promote": user_promote_command,
    "user demote": user_demote_command,
    "device list": device_list_command,
    "device revoke": device_revoke_command,
    "mail reindex": mail_reindex_command,
    "session revoke": session_revoke_command,
}


@contextmanager
def _vault(config: Config, *, read_only: bool = False) -> Iterator[Vault]:
    """The home, opened for one command."""
    gate = ThreadGate(limit=1, name="command")
    vault = trio.run(partial(_open, config, gate, read_only))
    try:
        yield vault
    finally:
        vault.store.close_now()
        vault.home.close()


async def _open(config: Config, gate: ThreadGate, read_only: bool) -> Vault:
    return open_vault(config, clock=WallClock(), threads=gate, environ=os.environ, read_only=read_only)


def _print(parsed: argparse.Namespace, rows: Sequence[dict[str, str]], *, columns: Sequence[str]) -> None:
    """The rows as JSON, or as a table with aligned columns."""
    if parsed.json:
        print(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    widths = [max((len(row[column]) for row in rows), default=0) for column in columns]
    for row in rows:
        print("  ".join(row[column].ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip())


def _complain(code: int, *lines: str) -> int:
    for line in lines:
        print(line, file=sys.stderr)
    return code
