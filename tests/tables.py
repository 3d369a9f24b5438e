"""Who may write and read which table: the exceptions, and a function for each rule.

Each function takes the tables of a tree of sources and returns its faults, one line each. ``test_tables.py`` asks them
about this repository and about small trees that break a rule; ``web/test_new_feature.py`` about a tree with one feature
more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from svc.app import FEATURES
from svc.mail.owners import OWNERS
from svc.store import TABLES as STORE_TABLES
from tests.statements import UNKNOWN, Mention, mentions
from tests.structure import INSIDE_MAIL, Tree

FEATURE_OF: Final = {
    **dict.fromkeys(STORE_TABLES, "store"),
    **{table: feature.name for feature in FEATURES for table in feature.tables},
}
FOLDER_OF: Final = {table: folder for folder, tables in OWNERS.items() for table in tables}
"""Of the tables of mail."""

READS_LATER: Final = {
    ("svc/pages/writing.py", "files"): "a page may show only files that its writer may read. The insert decides it for"
    " all files of a page in one statement; files stand after pages, since who reads a page reads its files",
    ("svc/mail/accounts/queries.py", "mail_mirror"): "an account tells how many changes wait. A column that counts them"
    " would be one more write for each change queued and confirmed; the table is short",
    (
        "svc/mail/accounts/queries.py",
        "mail_threads",
    ): "which of an owner's accounts a member sees is each one's own, and"
    " what Unified counts once for them follows from it. A column would be one for each member and account",
}
"""The reads backward that there are, each with its reason. Nothing is added here without one."""

WRITTEN_ONCE: Final = {
    ("svc/mail/labelling/tables.py", "mail_thread_labels"): "labelling made the table and filled it",
    ("svc/mail/migrations.py", "undo_steps"): "the undo log was mail's; its rows were handed over",
    ("svc/mail/migrations.py", "mail_accounts"): "a column was made anew without its check",
    ("svc/mail/threads/tables.py", "mail_accounts"): "the counts of an account follow from the corrected threads",
    ("svc/mail/threads/tables.py", "people_together"): "it was filled from mail that was stored before it was kept",
}
"""Migrations that once wrote a table of somebody else. A trigger, which writes for ever, has no exception."""


@dataclass(frozen=True)
class Tables:
    """The statements of a tree, and who owns which table."""

    tree: Tree
    feature_of: Mapping[str, str] = field(default_factory=lambda: FEATURE_OF)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Read once for all rules: it parses the whole service."""
        tables = frozenset(self.feature_of)
        return tuple(one for path in self.tree.sources for one in mentions(path, tables, self.tree.root))

    @cached_property
    def order(self) -> tuple[str, ...]:
        return ("store", *self.tree.order)

    def key(self, one: Mention) -> tuple[str, str]:
        return (self.tree.place(one.path), one.table)

    def told(self, one: Mention) -> str:
        return f"{self.tree.place(one.path)}:{one.line} {'writes' if one.writes else 'reads'} {one.table}"

    def place_in_mail(self, path: Path) -> str:
        return path.relative_to(self.tree.root / "svc" / "mail").parts[0].removesuffix(".py")


def untold(tables: Tables) -> Iterator[str]:
    """Every statement names its tables, outside the store, whose own work is to serve any table."""
    for one in tables.mentions:
        if one.table == UNKNOWN and (one.writes or tables.tree.room(one.path) != "store"):
            yield tables.told(one)


def written_by_others(tables: Tables) -> Iterator[str]:
    """Only its feature writes a table, and inside mail only its folder."""
    for one in tables.mentions:
        if not one.writes or one.table == UNKNOWN:
            continue
        owns = tables.feature_of[one.table] == tables.tree.room(one.path)
        if owns and one.table in FOLDER_OF:
            owns = FOLDER_OF[one.table] == tables.place_in_mail(one.path)
        if not owns and (one.in_trigger or tables.key(one) not in WRITTEN_ONCE):
            yield tables.told(one)


def read_backward(tables: Tables) -> Iterator[str]:
    """No feature reads a table of a later one; nor does a folder of mail."""
    for one in tables.mentions:
        room = tables.tree.room(one.path)
        if one.writes or one.table == UNKNOWN or tables.key(one) in READS_LATER:
            continue
        if room in tables.order and tables.order.index(tables.feature_of[one.table]) > tables.order.index(room):
            yield tables.told(one)
        elif room == "mail" and one.table in FOLDER_OF:
            place = tables.place_in_mail(one.path)
            if INSIDE_MAIL.index(FOLDER_OF[one.table]) > INSIDE_MAIL.index(place):
                yield tables.told(one)


def faults_of(tables: Tables) -> list[str]:
    """All faults."""
    return [fault for rule in (untold, written_by_others, read_backward) for fault in rule(tables)]
