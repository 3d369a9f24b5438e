"""The DNS of the fake world: only the keys that a test publishes there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

TTL_MS: Final = 3_600_000


@dataclass(kw_only=True)
class FakeRecords:
    """``published``: by name, in lower case and without a final dot."""

    published: dict[str, bytes] = field(default_factory=dict)

    async def text(self, name: str) -> tuple[bytes | None, int]:
        return self.published.get(name), TTL_MS
