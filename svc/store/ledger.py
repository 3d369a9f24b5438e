"""A small database of named values beside the large one, for example the facts about its archive.

It is SQLite, so that the program that archives the large one can archive it too, and several processes may write it.
Owns its one table. Each call opens it and blocks: values are few and rarely read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from svc.store.faults import CannotOpen

_WAIT_S: Final = 10.0
_TABLE: Final = "create table if not exists items (name text primary key, value blob not null) strict, without rowid"


@dataclass(frozen=True)
class Ledger:
    """The ledger at ``path``; the first value creates the file. Raises :class:`CannotOpen`."""

    path: Path

    def make(self) -> None:
        """Create the file, for programs that look for one."""
        self.put({})

    def put(self, values: Mapping[str, bytes], *, without: Iterable[str] = ()) -> None:
        """Store ``values`` and delete the names in ``without``: all or nothing, durably."""
        with self._opened(mode="rwc") as connection:
            connection.execute("begin immediate")
            connection.execute(_TABLE)
            connection.executemany("delete from items where name = ?", [(name,) for name in without])
            connection.executemany(
                "insert into items (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
                list(values.items()),
            )
            connection.execute("commit")

    def get(self, name: str) -> bytes | None:
        found = self._rows("select value from items where name = ?", name)
        return None if not found else cast(bytes, found[0][0])

    def under(self, prefix: str) -> dict[str, bytes]:
        """All values whose names begin with ``prefix``, sorted by name."""
        statement = "select name, value from items where substr(name, 1, ?) = ? order by name"
        return {cast(str, name): cast(bytes, value) for name, value in self._rows(statement, len(prefix), prefix)}

    def _rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        if not self.path.exists():
            return []
        with self._opened(mode="rw") as connection:
            connection.execute(_TABLE)
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _opened(self, *, mode: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=_WAIT_S, isolation_level=None
            )
        except sqlite3.Error as error:
            raise CannotOpen(f"{self.path} can't be opened: {error}") from error
        try:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
            connection.execute("pragma wal_autocheckpoint = 0")
            connection.execute("pragma trusted_schema = off")
            yield connection
        except sqlite3.Error as error:
            raise CannotOpen(f"{self.path} can't be used: {error}") from error
        finally:
            connection.close()
