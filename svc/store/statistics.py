"""Statistics for the query planner: how full the tables are, and how many rows each value of an index has.

SQLite takes a sample of each index, however large it is. But it counts the rows of a table that has no index, and for
that it reads the whole table, while all writes wait. So a large one of these, such as the words of all mail, gets no
statistics: the planner takes it for large anyway, and there is only one way to find a row in it.
"""

from __future__ import annotations

from typing import Final

from svc.store.transaction import Tx

COUNTED_ROWS: Final = 1_000  # a table without an index is counted up to this size


def analyse(tx: Tx, analysed_at: int | None) -> int | None:
    """Returns how many rows this process has changed so far; ``None``: none since ``analysed_at``."""
    if tx.value("select total_changes()") == analysed_at:
        return None
    for name, has_index in tx.all(_TABLES):
        if has_index or tx.value(f"select not exists (select 1 from {_quoted(name)} limit 1 offset {COUNTED_ROWS})"):
            tx.run(f"analyze {_quoted(name)}")
        else:
            _forget(tx, name)
    return int(tx.value("select total_changes()"))


_TABLES: Final = """
select t.name, exists (select 1 from pragma_index_list(t.name) where not partial)
from sqlite_schema t where t.type = 'table' and t.rootpage > 0 and t.name not glob 'sqlite_*'
"""


def _forget(tx: Tx, name: str) -> None:
    """Delete the statistics of a table that is not counted: they are from a time when it was smaller."""
    if tx.value("select exists (select 1 from sqlite_schema where name = 'sqlite_stat1')"):
        tx.run("delete from sqlite_stat1 where tbl = :name", name=name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
