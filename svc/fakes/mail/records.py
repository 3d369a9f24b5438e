"""The DNS of the fake world: the keys that a test publishes there, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

TTL_MS: Final = 3_600_000


@dataclass(kw_only=True)
class FakeRecords:
    """``published``: by name, lower case and without a dot at its end."""

    published: dict[str, bytes] = field(default_factory=dict)

    async def text(self, name: str) -> tuple[bytes | None, int]:
        return self.published.get(name), TTL_MS
