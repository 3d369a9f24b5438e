"""Identity's subcommands of ``svc``: for the owner of the home directory, who may be locked out of the app."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from svc.clock import rfc3339, rfc3339_or_none
from svc.command import JSON, OK, Argument, Command, Invocation, WrongUsage
from svc.errors import Invalid
from svc.identity import claim_links, recovery
from svc.identity.actions import valid_days, valid_email
from svc.identity.model import INVITE_DEFAULT_DAYS, Role
from svc.settings import HOME, PORT, PUBLIC_ORIGIN, canonical_origin
from svc.store import Home


@contextmanager
def _wrong_usage() -> Iterator[None]:
    """Before anything is opened or made: an argument that can't be meant is wrong usage."""
    try:
        yield
    except Invalid as fault:
        raise WrongUsage(fault.detail) from None


def claim(call: Invocation) -> int:
    """Write a file for the server to redeem: the one command that acts while a server holds the home."""
    with _wrong_usage():
        email = valid_email(call.given["email"])
    token = claim_links.make(Home.spool_of(call.config[HOME]), email=email, now=call.clock.now())
    _print_link(call, f"/login?claim={token}")
    return OK


def invite(call: Invocation) -> int:
    given = call.given
    with _wrong_usage():
        valid_days(given["days"])
        if given["email"] is not None:
            valid_email(given["email"])
    with call.home(may_create=True) as opened:
        code = opened.store.write_now(recovery.invite, email=given["email"], days=given["days"], admin=given["admin"])
    _print_link(call, f"/login?invite={code}")
    return OK


def _print_link(call: Invocation, path: str) -> None:
    """Print the link with the running server's port, else the port of the settings. A free port is unknown before the
    start."""
    running = Home.busy(call.config[HOME])
    port = call.config[PORT] if running is None or running.port is None else running.port
    if port == 0 and call.config[PUBLIC_ORIGIN] is None:
        print("SVC_PORT is 0: put the address that `svc serve` prints before this.", file=sys.stderr)
        print(path)
    else:
        print(f"{canonical_origin(call.config, port=port)}{path}")


def list_users(call: Invocation) -> int:
    with call.home(read_only=True) as opened:
        rows = [
            {
                "id": user.id,
                "email": user.email,
                "name": user.name,
                "role": user.role,
                "since": rfc3339(user.created_at),
            }
            for user in opened.store.read_now(recovery.users)
        ]
    call.print_rows(rows, columns=("email", "role", "name", "id"))
    return OK


def set_role(role: Role, call: Invocation) -> int:
    with call.home() as opened:
        opened.store.write_now(recovery.set_role, email=call.given["email"], role=role)
    return OK


def list_devices(call: Invocation) -> int:
    with call.home(read_only=True) as opened:
        rows = [
            {
                "id": device.id,
                "kind": device.kind,
                "name": device.name,
                "user": device.user_id or "",
                "revoked": "revoked" if device.revoked else "",
                "seen": rfc3339_or_none(device.last_seen_at) or "",
            }
            for device in opened.store.read_now(recovery.devices)
        ]
    call.print_rows(rows, columns=("id", "kind", "name", "seen", "revoked"))
    return OK


def revoke_device(call: Invocation) -> int:
    with call.home() as opened:
        opened.store.write_now(recovery.revoke_device, device_id=call.given["id"])
    return OK


def end_sessions(call: Invocation) -> int:
    with call.home() as opened:
        ended = opened.store.write_now(recovery.end_all_sessions)
    print(f"{ended} ended")
    return OK


_STOPPED = "(the server must be stopped)"

COMMANDS = (
    Command(
        name="claim",
        summary="print a one-time link, good for 30 minutes, that signs its opener in",
        run=claim,
        arguments=(
            Argument(
                name="--email", required=True, metavar="ADDRESS", help="who signs in: the first one becomes admin"
            ),
        ),
    ),
    Command(
        name="invite",
        summary=f"print a one-shot invite link {_STOPPED}",
        run=invite,
        arguments=(
            Argument(name="--email", metavar="ADDRESS", help="only this address may use it"),
            Argument(
                name="--days",
                type=int,
                default=INVITE_DEFAULT_DAYS,
                help=f"how long it is good for (default {INVITE_DEFAULT_DAYS})",
            ),
            Argument(name="--admin", is_flag=True, help="it makes an admin: to bootstrap or to recover"),
        ),
    ),
    Command(name="user list", summary="everybody with an account", run=list_users, arguments=(JSON,)),
    Command(
        name="user promote",
        summary=f"make somebody an admin {_STOPPED}",
        run=partial(set_role, "admin"),
        arguments=(Argument(name="email", help="whom"),),
    ),
    Command(
        name="user demote",
        summary=f"make an admin a member {_STOPPED}",
        run=partial(set_role, "member"),
        arguments=(Argument(name="email", help="whom"),),
    ),
    Command(name="device list", summary="every device", run=list_devices, arguments=(JSON,)),
    Command(
        name="device revoke",
        summary=f"revoke a device {_STOPPED}",
        run=revoke_device,
        arguments=(Argument(name="id", help="as `svc device list` shows it"),),
    ),
    Command(
        name="session revoke",
        summary=f"end every session {_STOPPED}",
        run=end_sessions,
        arguments=(Argument(name="--all", is_flag=True, required=True, help="sign everybody out"),),
    ),
)
