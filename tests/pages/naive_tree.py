"""Pages as a dictionary, and the rule of access as a walk: a slow and obvious model to compare the real one with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from svc.errors import Conflict, Forbidden, Invalid, NotFound, Refusal
from svc.pages.model import EVERYONE, Access, Grant
from svc.principal import Principal

Outcome = type[Refusal] | None


@dataclass
class NaivePage:
    owner: str | None
    access: Access = "inherited"
    grants: list[Grant] = field(default_factory=list)


@dataclass
class NaiveTree:
    """Each operation answers what refused it, or ``None`` when it was done."""

    pages: dict[str, NaivePage] = field(default_factory=dict)

    def may(self, who: Principal, path: str, *levels: str) -> bool:
        page = self.pages.get(path)
        if page is None:
            return False
        if who.sees_everything or page.owner == who.user_id:
            return True
        source = self.source_of(path)
        if source is None:
            return False
        return source.owner == who.user_id or any(
            grant.to in (EVERYONE, who.user_id) and grant.level in levels for grant in source.grants
        )

    def reads(self, who: Principal, path: str) -> bool:
        return self.may(who, path, "read", "write")

    def writes(self, who: Principal, path: str) -> bool:
        return self.may(who, path, "write")

    def source_of(self, path: str) -> NaivePage | None:
        for place in (path, *above(path)):
            page = self.pages.get(place)
            if page and page.access == "explicit":
                return page
        return None

    def below(self, path: str) -> list[str]:
        return [one for one in self.pages if one.startswith(f"{path}/")]

    def tree(self, who: Principal, top: str | None) -> list[tuple[str, bool]]:
        """Breadth-less and naive: each readable page under the nearest readable one."""
        readable = [path for path in sorted(self.pages) if self.reads(who, path)]
        parents = {path: next((one for one in above(path) if one in readable), None) for path in readable}
        return [(path, path in parents.values()) for path in readable if parents[path] == top]

    def save(self, who: Principal, path: str) -> Outcome:
        if self.reads(who, path):
            return self._refusal(who, path)
        refusal = self._refusal_at(who, path)
        if refusal is None:
            self.pages[path] = NaivePage(who.user_id)
        return refusal

    def share(self, who: Principal, path: str, access: Access, grants: Sequence[Grant]) -> Outcome:
        refusal = self._refusal_of_owner(who, path)
        if refusal:
            return refusal
        page = self.pages[path]
        alone = [one for one in self.below(path) if self.source_of(one) is None]
        of_others = not who.sees_everything and any(self.pages[one].owner != who.user_id for one in alone)
        if page.access == "inherited" and access == "explicit" and of_others:
            return Conflict
        page.access, page.grants = access, list(grants)
        return None

    def move(self, who: Principal, path: str, to: str) -> Outcome:
        refusal = self._refusal(who, path)
        if refusal:
            return refusal
        if to.startswith(f"{path}/"):
            return Invalid
        if any(not self.writes(who, one) for one in self.below(path)):
            return Conflict
        if self.reads(who, to):
            return Conflict
        refusal = self._refusal_at(who, to)
        if refusal:
            return refusal
        if self.below(to):
            return Conflict
        for one in (path, *self.below(path)):
            self.pages[to + one.removeprefix(path)] = self.pages.pop(one)
        return None

    def delete(self, who: Principal, path: str) -> Outcome:
        refusal = self._refusal_of_owner(who, path)
        if refusal:
            return refusal
        if any(not self.writes(who, one) for one in self.below(path)):
            return Conflict
        for one in (path, *self.below(path)):
            del self.pages[one]
        return None

    def _refusal(self, who: Principal, path: str) -> Outcome:
        if not self.reads(who, path):
            return NotFound
        return None if self.writes(who, path) else Forbidden

    def _refusal_of_owner(self, who: Principal, path: str) -> Outcome:
        if not self.reads(who, path):
            return NotFound
        return None if who.sees_everything or self.pages[path].owner == who.user_id else Forbidden

    def _refusal_at(self, who: Principal, path: str) -> Outcome:
        """What one sees decides first; what one doesn't see is noticed only by who could have made the page."""
        seen = next((one for one in above(path) if self.reads(who, one)), None)
        if seen is not None and not self.writes(who, seen):
            return Forbidden
        nearest = next((one for one in above(path) if one in self.pages), None)
        return NotFound if nearest != seen or path in self.pages else None


def above(path: str) -> Iterator[str]:
    parts = path.split("/")
    for length in range(len(parts) - 1, 0, -1):
        yield "/".join(parts[:length])
