"""A command of ``svc``: the row by which a feature adds one, and what its function gets.

A command that writes takes the home for itself, so it is refused while a server holds the home. A command that reads
runs beside a server. Owns the form of the rows and of their output, never what a command does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from svc.clock import Clock
from svc.config import Config, ConfigFault
from svc.store import Blobs, Home, Invariant, Keyring, MasterKeySource, Secrets, Store

if TYPE_CHECKING:
    from sqlite_utils.migrations import Migrations

OK: Final = 0
USAGE: Final = 2
"""Wrong arguments; `argparse` ends with the same."""


class WrongUsage(Exception):
    """Arguments that do not go together: the command ends with :data:`USAGE`."""


@dataclass(frozen=True, kw_only=True)
class OpenedHome:
    """Everything on disk, opened: the part of a boot that commands share with the server."""

    home: Home
    store: Store
    blobs: Blobs
    secrets: Secrets
    keyring: Keyring
    keys: MasterKeySource


class OpenHome(Protocol):
    def __call__(self, *, read_only: bool, may_create: bool) -> AbstractContextManager[OpenedHome]: ...


@dataclass(frozen=True, kw_only=True)
class Argument:
    """``--name`` is an option; a bare ``name`` is positional. ``is_flag``: an option without a value."""

    name: str
    help: str
    type: Callable[[str], object] = str
    default: object = None
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    required: bool = False
    is_flag: bool = False

    @property
    def key(self) -> str:
        """The key of its value in :attr:`Invocation.given`."""
        return self.name.lstrip("-").replace("-", "_")


JSON: Final = Argument(name="--json", is_flag=True, help="print JSON")
"""Every command that lists something has it."""


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One run of a command: its arguments, and the way to the home."""

    given: Mapping[str, Any]
    config: Config
    clock: Clock
    open_home: OpenHome
    invariants: tuple[Invariant, ...] = ()
    migrations: tuple[Migrations, ...] = ()
    """The migrations of all features, which a database must match."""
    faults: tuple[ConfigFault, ...] = ()
    """The faults of the environment, for a command with :attr:`Command.bears_faults`."""

    def home(self, *, read_only: bool = False, may_create: bool = False) -> AbstractContextManager[OpenedHome]:
        """Open the home for the length of the ``with``. For writing, no server may hold it. ``may_create``: make one
        if there is none; any other command refuses then, because the path is probably mistyped."""
        return self.open_home(read_only=read_only, may_create=may_create)

    def print_rows(self, rows: Sequence[dict[str, str]], *, columns: Sequence[str], titled: bool = False) -> None:
        """Print the rows as JSON, or as a table with aligned columns, with column names if ``titled``."""
        if self.given["json"]:
            print(msgspec.json.format(msgspec.json.encode(rows)).decode())
            return
        if titled:
            rows = [{column: column.upper() for column in columns}, *rows]
        widths = [max((len(row[column]) for row in rows), default=0) for column in columns]
        for row in rows:
            print("  ".join(row[column].ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip())


@dataclass(frozen=True, kw_only=True)
class Command:
    """``name`` is one word, or two: ``user list`` is a subcommand of ``user``. ``run`` returns the exit code.

    ``bears_faults``: the command also runs with a faulty environment; a faulty variable counts as unset.
    """

    name: str
    summary: str
    run: Callable[[Invocation], int]
    arguments: tuple[Argument, ...] = ()
    bears_faults: bool = False


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
