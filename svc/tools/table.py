"""The table of tools: our own, and those of sources that other features add (MCP servers); and who may use which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from svc.config import Config
from svc.principal import Principal
from svc.store import ReadTx
from svc.switches import is_on
from svc.tools.model import Level, Tool
from svc.tools.rows import files, http, mail, memory, pages, people, tasks
from svc.workspace import Workspace

OWN: Final[tuple[Tool, ...]] = (
    *pages.TOOLS,
    *mail.TOOLS,
    *people.TOOLS,
    *tasks.TOOLS,
    *files.TOOLS,
    *memory.TOOLS,
    *http.TOOLS,
)
LEVELS: Final[Mapping[Level, frozenset[Level]]] = {
    "read": frozenset({"read"}),
    "mail": frozenset({"read", "mail"}),
    "full": frozenset({"read", "mail", "full"}),
}

Source = Callable[[ReadTx, Principal], Iterable[Tool]]
"""More tools for a principal."""


class Tools:
    """The table. Our own names win over names from any source."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._own = {row.name: row for row in OWN}
        self._sources: list[Source] = []

    @property
    def afters(self) -> tuple[Callable[[Workspace], None], ...]:
        """The functions that wake subsystems after a commit in which a tool may have acted."""
        return tuple(dict.fromkeys(row.after for row in OWN))

    def add(self, source: Source) -> None:
        self._sources.append(source)

    def own(self, principal: Principal) -> dict[str, Tool]:
        """The tools of this service that the principal may use."""
        return {name: row for name, row in self._own.items() if self._may(principal, row)}

    def of(self, tx: ReadTx, principal: Principal) -> dict[str, Tool]:
        """All tools that the principal may use here, by name."""
        found = {row.name: row for source in self._sources for row in source(tx, principal)}
        return {name: row for name, row in (found | self._own).items() if self._may(principal, row)}

    def find(self, tx: ReadTx, principal: Principal, name: str) -> Tool | None:
        own = self._own.get(name)
        if own is not None:
            return own if self._may(principal, own) else None
        return self.of(tx, principal).get(name)

    def _may(self, principal: Principal, row: Tool) -> bool:
        if row.switch is not None and not is_on(self._config, row.switch):
            return False
        if row.access == "admin" and not principal.is_admin:
            return False
        return row.capability is None or principal.may(row.capability)


def chosen(tools: Mapping[str, Tool], patterns: Sequence[str]) -> list[str]:
    """The names that match the patterns of a definition: ``mail.*``, ``pages.read``."""
    return [name for name in tools if any(fnmatchcase(name, pattern) for pattern in patterns)]
