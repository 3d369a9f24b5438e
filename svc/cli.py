"""The ``svc`` command: its words, its help and its exit codes. What each subcommand does stands in ``commands.py``.

Codes: 0; 1 failure; 2 usage; 75 the home is in use by another process; 78 configuration, with every fault on standard
error as ``NAME: what is wrong; what to do``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from svc import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one ``svc`` command; the process's exit code."""
    parsed = build_parser().parse_args(arguments)
    # Imported late: a worker process imports the main module, and should not load the service with it.
    from svc import commands

    return commands.run(parsed.command, parsed)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="svc",
        description="A self-hosted workspace server. Settings are environment variables: see `svc config`.",
    )
    parser.add_argument("--version", action="version", version=f"svc {__version__}")
    parser.set_defaults(command="serve")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    serve = _command(commands, "serve", "run the server (the default)")
    serve.add_argument("--role", choices=("all", "web"), default="all", help="which planes to run (one process: all)")
    config = _command(commands, "config", "print every setting with its value and source; secrets are never shown")
    _json(config)
    fsck = _command(commands, "fsck", "check every invariant of the home; prints `ok` when all hold")
    fsck.add_argument("--deep", action="store_true", help="also read every blob and compare its hash")
    _json(fsck)

    claim = _command(commands, "claim", "print a one-time link, good for 30 minutes, that signs its opener in")
    claim.add_argument("--email", required=True, metavar="ADDRESS", help="who signs in: the first one becomes admin")
    invite = _command(commands, "invite", "print a one-shot invite link (the server must be stopped)")
    invite.add_argument("--email", metavar="ADDRESS", help="only this address may use it")
    invite.add_argument("--days", type=int, default=7, help="how long it is good for (default 7)")
    invite.add_argument("--admin", action="store_true", help="it makes an admin: to bootstrap or to recover")

    user = _group(commands, "user", "list, promote and demote users")
    _json(_command(user, "list", "everybody with an account", name="user list"))
    for verb, help_text in (("promote", "make somebody an admin"), ("demote", "make an admin a member")):
        _command(user, verb, f"{help_text} (the server must be stopped)", name=f"user {verb}").add_argument("email")

    device = _group(commands, "device", "list and revoke devices")
    _json(_command(device, "list", "every device", name="device list"))
    revoke = _command(device, "revoke", "revoke a device (the server must be stopped)", name="device revoke")
    revoke.add_argument("id")

    mail = _group(commands, "mail", "look after the stored mail")
    reindex = "make the search index anew, from the stored mail; done in the background after the next start"
    _command(mail, "reindex", f"{reindex} (the server must be stopped)", name="mail reindex")

    session = _group(commands, "session", "end sessions")
    end = _command(session, "revoke", "end every session (the server must be stopped)", name="session revoke")
    end.add_argument("--all", action="store_true", required=True, help="sign everybody out")
    return parser


Commands = argparse._SubParsersAction  # argparse gives its type no public name


def _command(
    commands: Commands[argparse.ArgumentParser], word: str, help_text: str, *, name: str | None = None
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(word, help=help_text, description=f"{help_text}.")
    parser.set_defaults(command=name or word)
    return parser


def _group(commands: Commands[argparse.ArgumentParser], word: str, help_text: str) -> Commands[argparse.ArgumentParser]:
    parser: argparse.ArgumentParser = commands.add_parser(word, help=help_text, description=f"{help_text}.")
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
