"""Reads configuration: the newest valid revision of each page, and what is wrong with a newer one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar, cast

from svc.configuring.from_plugins import PREFIX, Brought, id_of, nothing, path_of, revision_of
from svc.configuring.kinds import Fault, Kind
from svc.configuring.values import split
from svc.plugins import Acting
from svc.principal import Principal
from svc.store import ReadTx

T = TypeVar("T")

MAX_PAGES: Final = 1_000
"""Pages of one kind. Beyond: the first ones by their paths count."""
MAX_LOOKED_BACK: Final = 50
"""Revisions of a broken page that are searched for a valid one. Beyond: nothing of it is in force."""
REVISIONS_REMEMBERED: Final = 4_000


@dataclass(frozen=True, kw_only=True)
class Configured(Generic[T]):
    """One page that is in force, as of ``revision``. ``owner_id``: the owner of the page; it acts on this person's data
    alone. ``plugin``: the package that brings it, where it is no page. ``is_held``: it holds text of others, so it must
    not act before a person vouches for it."""

    page_id: str
    path: str
    name: str
    title: str
    owner_id: str | None
    revision: int
    value: T
    body: str
    plugin: str | None = None
    is_held: bool = False


@dataclass(frozen=True, kw_only=True)
class Problem:
    """``in_force``: an earlier revision of the page is in force."""

    path: str
    line: int
    reason: str
    in_force: bool


@dataclass(frozen=True)
class _Page:
    id: str
    path: str
    owner_id: str | None
    revision: int


_Parsed = tuple[str, str, Any, Fault | None]
"""Title, text, value and fault of one revision."""


OfOthers = Callable[[ReadTx, Mapping[str, int]], Collection[str]]
"""Which of these pages, each in that revision, hold text of others that nobody has vouched for."""


def _none(tx: ReadTx, revisions: Mapping[str, int]) -> Collection[str]:
    return ()


@dataclass
class Configuration:
    """Owns the cache of parsed revisions, which never change. Features add their kinds when they are built.
    ``of_others`` is set by the feature that keeps these marks.
    """

    brought: Brought = nothing
    of_others: OfOthers = _none
    kinds: dict[str, Kind[Any]] = field(default_factory=dict)
    _read: OrderedDict[tuple[str, str, int], _Parsed] = field(default_factory=OrderedDict)

    def add(self, kind: Kind[Any]) -> None:
        if kind.folder in self.kinds:
            raise RuntimeError(f"the folder {kind.folder} is configuration twice")
        self.kinds[kind.folder] = kind

    def of(
        self,
        tx: ReadTx,
        kind: Kind[T],
        *,
        owner_id: str | None = None,
        everybody: bool = False,
        also_held: bool = False,
    ) -> list[Configured[T]]:
        """The configuration in force: of one person's pages, or of everybody's, sorted by path; then of plugins.
        ``also_held``: with the pages that wait for a person's word, to show them.
        """
        pages = (self._in_force(tx, kind, page)[0] for page in _pages(tx, kind.folder, owner_id, everybody=everybody))
        acting = (self._of_plugin(kind, one)[0] for one in self._brought(tx, kind, owner_id, everybody=everybody))
        found = [cast("Configured[T]", one) for one in (*pages, *acting) if one is not None]
        return [one for one in self._with_marks(tx, kind, found) if also_held or not one.is_held]

    def any_of(self, tx: ReadTx, kind: Kind[Any]) -> bool:
        """Whether anybody has a page of that kind, or a plugin brings one."""
        found = tx.value(
            "select 1 from pages where path > :folder || '/' and path < :folder || '0' limit 1", folder=kind.folder
        )
        return found is not None or next(iter(self.brought(tx, kind)), None) is not None

    def one(self, tx: ReadTx, kind: Kind[T], page_id: str) -> Configured[T] | None:
        """The configuration of that page, also if it is held, wherever it lies in the folder of its kind; or of a
        plugin.
        """
        if page_id.startswith(PREFIX):
            acting = next((one for one in self.brought(tx, kind) if id_of(kind, one) == page_id), None)
            return None if acting is None else self._of_plugin(kind, acting)[0]
        row = tx.one("select id, path, owner_id, revision from pages where id = :id", id=page_id)
        if row is None or not _is_right_below(str(row[1]), kind.folder):
            return None
        found = cast("Configured[T] | None", self._in_force(tx, kind, _Page(*row))[0])
        return None if found is None else self._with_marks(tx, kind, [found])[0]

    def problems(self, tx: ReadTx, principal: Principal) -> list[Problem]:
        """The problems of the caller's own pages, or of all pages if the caller sees everything, sorted by path."""
        found: list[Problem] = []
        for kind in self.kinds.values():
            for page in _pages(tx, kind.folder, principal.user_id, everybody=principal.sees_everything):
                in_force, fault = self._in_force(tx, kind, page)
                if fault is not None:
                    acts = any(not one.is_held for one in self._with_marks(tx, kind, [in_force] if in_force else []))
                    found.append(Problem(path=page.path, line=fault.line, reason=fault.reason, in_force=acts))
            for one in self._brought(tx, kind, principal.user_id, everybody=principal.sees_everything):
                in_force, fault = self._of_plugin(kind, one)
                if fault is not None:
                    found.append(Problem(path=path_of(one), line=fault.line, reason=fault.reason, in_force=False))
        return sorted(found, key=lambda one: one.path)

    def _with_marks(self, tx: ReadTx, kind: Kind[Any], found: list[Configured[T]]) -> list[Configured[T]]:
        if not kind.own_word or not found:
            return found
        held = self.of_others(tx, {one.page_id: one.revision for one in found})
        return [replace(one, is_held=True) if one.page_id in held else one for one in found]

    def _brought(self, tx: ReadTx, kind: Kind[Any], owner_id: str | None, *, everybody: bool) -> list[Acting]:
        return [one for one in self.brought(tx, kind) if everybody or one.owner_id == owner_id]

    def _of_plugin(self, kind: Kind[Any], one: Acting) -> tuple[Configured[Any] | None, Fault | None]:
        page_id, revision = id_of(kind, one), revision_of(one)
        key = (kind.folder, page_id, revision)
        title, text, value, fault = self._known(key) or self._keep(key, parse(kind, title=one.title, body=one.body))
        if fault is not None:
            return None, fault
        return (
            Configured(
                page_id=page_id,
                path=path_of(one),
                name=one.name,
                title=title,
                owner_id=one.owner_id,
                revision=revision,
                value=value,
                body=text,
                plugin=one.plugin,
            ),
            None,
        )

    def _in_force(self, tx: ReadTx, kind: Kind[Any], page: _Page) -> tuple[Configured[Any] | None, Fault | None]:
        newest: Fault | None = None
        for revision in range(page.revision, max(page.revision - MAX_LOOKED_BACK, 0), -1):
            parsed = self._parsed(tx, kind, page.id, revision)
            if parsed is None:
                continue
            title, body, value, fault = parsed
            if fault is not None:
                newest = newest or fault
                continue
            return (
                Configured(
                    page_id=page.id,
                    path=page.path,
                    name=page.path.rpartition("/")[2],
                    title=title,
                    owner_id=page.owner_id,
                    revision=revision,
                    value=value,
                    body=body,
                ),
                newest,
            )
        return None, newest

    def _parsed(self, tx: ReadTx, kind: Kind[Any], page_id: str, revision: int) -> _Parsed | None:
        key = (kind.folder, page_id, revision)  # a page that moves to another folder is read as that kind
        known = self._known(key)
        if known is not None:
            return known
        row = tx.one(
            "select title, body from page_revisions where page_id = :id and revision = :revision",
            id=page_id,
            revision=revision,
        )
        if row is None:
            return None
        return self._keep(key, parse(kind, title=str(row[0]), body=str(row[1])))

    def _known(self, key: tuple[str, str, int]) -> _Parsed | None:
        known = self._read.get(key)
        if known is not None:
            self._read.move_to_end(key)
        return known

    def _keep(self, key: tuple[str, str, int], parsed: _Parsed) -> _Parsed:
        self._read[key] = parsed
        if len(self._read) > REVISIONS_REMEMBERED:
            self._read.popitem(last=False)
        return parsed


def parse(kind: Kind[Any], *, title: str, body: str) -> _Parsed:
    """Reads a page's text. The value is ``None`` where there is a fault."""
    try:
        fields, text = split(body)
        return title, text, kind.read(fields, text), None
    except Fault as fault:
        return title, "", None, fault


def _is_right_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/") and "/" not in path[len(folder) + 1 :]


def _pages(tx: ReadTx, folder: str, owner_id: str | None, *, everybody: bool) -> list[_Page]:
    rows = tx.all(
        """
        select id, path, owner_id, revision from pages
        where path > :folder || '/' and path < :folder || '0' and instr(substr(path, length(:folder) + 2), '/') = 0
            and (:everybody or owner_id is :owner_id)
        order by path limit :most
        """,
        folder=folder,
        owner_id=owner_id,
        everybody=int(everybody),
        most=MAX_PAGES,
    )
    return [_Page(*row) for row in rows]
