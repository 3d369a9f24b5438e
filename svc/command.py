"""A word of the ``svc`` command: the row by which a feature adds one, and what its function gets.

A command that writes takes the home for itself, so it is refused while a server holds it; those that read run beside
one. Owns the form of the rows and of what they print, never what a command does.
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


@dataclass(frozen=True, kw_only=True)
class OpenedHome:
    """What lies on disk, opened: the part of a boot that commands share with the server."""

    home: Home
    store: Store
    blobs: Blobs
    secrets: Secrets
    keyring: Keyring
    keys: MasterKeySource


class OpenHome(Protocol):
    def __call__(self, *, read_only: bool) -> AbstractContextManager[OpenedHome]: ...


@dataclass(frozen=True, kw_only=True)
class Argument:
    """``--name`` is an option, a bare ``name`` has its place. ``is_flag``: an option without a value."""

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
        """Under which :attr:`Invocation.given` has it."""
        return self.name.lstrip("-").replace("-", "_")


JSON: Final = Argument(name="--json", is_flag=True, help="print JSON")
"""Whatever lists something has it."""


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One run of a command: what was given, and the way to the home."""

    given: Mapping[str, Any]
    config: Config
    clock: Clock
    open_home: OpenHome
    invariants: tuple[Invariant, ...] = ()
    migrations: tuple[Migrations, ...] = ()
    """Of all features: what a database must have, and must be."""
    faults: tuple[ConfigFault, ...] = ()
    """Of the environment, for a command that :attr:`Command.bears_faults`."""

    def home(self, *, read_only: bool = False) -> AbstractContextManager[OpenedHome]:
        """The home, opened for as long as the ``with`` lasts. To write, no server may hold it."""
        return self.open_home(read_only=read_only)

    def print_rows(self, rows: Sequence[dict[str, str]], *, columns: Sequence[str], titled: bool = False) -> None:
        """The rows as JSON, or as a table with aligned columns, their names above them where ``titled``."""
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
    """``name`` is one word, or two: ``user list`` stands under ``user``. ``run`` returns the exit code.

    ``bears_faults``: it is run in a faulty environment, too, where what is at fault counts as unset.
    """

    name: str
    summary: str
    run: Callable[[Invocation], int]
    arguments: tuple[Argument, ...] = ()
    bears_faults: bool = False
