"""Pages on a real database, with a few people; no loop and no HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from svc.pages import (
    actions,
    file_is_readable_through_a_page,
    finding,
    queries,
    readable_page,
    search_index,
    trash,
)
from svc.pages.invariants import INVARIANTS
from svc.pages.model import EVERYONE, Access, Grant, Level
from svc.pages.writing import Saved
from svc.principal import Principal, system
from svc.store import OutboxRow, ReadTx, Store, Tx, Value, rows_after

P = ParamSpec("P")
T = TypeVar("T")

SYSTEM = system("test")


def person(name: str, *, is_admin: bool = False) -> Principal:
    return Principal(user_id=f"usr_{name}", device_id=f"dev_{name}", is_admin=is_admin, via="session")


MIA = person("mia", is_admin=True)  # the admin, who sees no more than others
NOA = person("noa")
OLE = person("ole")
PEOPLE = (MIA, NOA, OLE)


def grant(to: Principal | str, level: Level = "read") -> Grant:
    return Grant(to=to if isinstance(to, str) else str(to.user_id), level=level)


FOR_ALL = grant(EVERYONE)
FOR_ALL_TO_WRITE = grant(EVERYONE, "write")


@dataclass
class Pages:
    store: Store

    def do(self, action: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.store.write_now(action, *args, **kwargs)

    def ask(self, query: Callable[Concatenate[ReadTx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.store.read_now(query, *args, **kwargs)

    def save(
        self, who: Principal, path: str, body: str = "", *, title: str | None = None, revision: int | None = None
    ) -> Saved:
        return self.do(actions.save, who, path=path, title=title, body=body, revision=revision)

    def share(self, who: Principal, path: str, *grants: Grant, access: Access = "explicit") -> None:
        self.do(actions.set_access, who, path=path, access=access, grants=list(grants))

    def move(self, who: Principal, path: str, to: str) -> None:
        self.do(actions.move, who, path=path, to=to)

    def delete(self, who: Principal, path: str) -> None:
        self.do(actions.delete, who, path=path)

    def undelete(self, who: Principal, page_id: str, to: str | None = None) -> str:
        return self.do(actions.undelete, who, page_id=page_id, to=to)

    def trash(self, who: Principal) -> list[tuple[str, int]]:
        """``(path, pages below)`` of the entries."""
        return [(page.path, below) for page, below in self.ask(trash.listed, who)]

    def add_file(self, owner: Principal, file_id: str) -> None:
        self.do(
            lambda tx: tx.run(
                """
                insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
                values (:id, :owner, 'aa', 'a', 'text/plain', 1, 'upload', 0)
                """,
                id=file_id,
                owner=owner.user_id,
            )
        )

    def readers(self, path: str) -> set[str]:
        """Who of the people may read the page, by name."""
        return {name_of(who) for who in PEOPLE if self.ask(readable_page, who, path)}

    def writers(self, path: str) -> set[str]:
        found = {who.user_id: self.ask(readable_page, who, path) for who in PEOPLE}
        return {name_of(who) for who in PEOPLE if (page := found[who.user_id]) and page.can_write}

    def file_readers(self, file_id: str) -> set[str]:
        return {name_of(who) for who in PEOPLE if self.ask(file_is_readable_through_a_page, who, file_id)}

    def tree(self, who: Principal, top: str | None = None) -> list[tuple[str, bool]]:
        return [(page.path, has_children) for page, has_children in self.ask(queries.tree, who, top)]

    def find(self, who: Principal, text: str, *, limit: int = 5) -> list[str]:
        """The paths of what is found, once the index has caught up."""
        while self.do(search_index.take):
            pass
        return [page.path for page in self.ask(finding.find, who, text=text, limit=limit)]

    def paths(self) -> set[str]:
        return {str(path) for (path,) in self.rows("select path from pages")}

    def rows(self, sql: str, **params: Value) -> list[tuple[Any, ...]]:
        return self.ask(lambda tx: tx.all(sql, **params))

    def state(self) -> list[list[tuple[Any, ...]]]:
        """Every row of pages, and what was told."""
        return [*self.kept(), self.rows("select * from outbox order by 1, 2")]

    def kept(self) -> list[list[tuple[Any, ...]]]:
        """Every row of pages."""
        tables = ("pages", "page_revisions", "page_grants", "page_links", "page_files")
        return [self.rows(f"select * from {table} order by 1, 2") for table in tables]

    def head(self) -> int:
        return self.store.outbox.head()

    def news(self, after: int) -> list[tuple[str, str, str | None]]:
        """``(kind, path, audience)`` of what was told since."""
        rows: list[OutboxRow] = self.ask(rows_after, after, 10_000)
        return [(row.kind, msgspec.json.decode(row.payload)["path"], _name(row.audience)) for row in rows]

    def problems(self) -> list[str]:
        """What the invariants say."""
        return self.ask(lambda tx: [problem for invariant in INVARIANTS for problem in invariant.check(tx)])


def name_of(who: Principal) -> str:
    return str(who.user_id).removeprefix("usr_")


def _name(audience: str | None) -> str | None:
    return audience.removeprefix("usr_") if audience else audience
