"""The damaged blobs that are known, in memory: found by a reader, repaired when the content is stored again.

This memory decides at once (a damaged blob does not count as stored); the table ``blob_damage`` keeps it. Readers are
in worker threads, so every change is one operation on a dictionary. A callback announces news; any thread may call it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from svc.store.blob_files import Harm

MAX_SUSPECTS: Final = 100_000
"""Known at the same time: some 20 MB. Damage found beyond that is found again by the next reader."""

News = Mapping[str, Harm | None]
"""Blobs by hash: the damage found, or ``None`` where the content was stored again."""


class Suspects:
    def __init__(self) -> None:
        self.on_news: Callable[[], None] = _nobody_listens
        self._known: dict[str, Harm] = {}
        self._news: dict[str, Harm | None] = {}

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._known

    def found(self, sha256: str, harm: Harm) -> None:
        """Note damage that a reader found. Damage that is known already is not announced again."""
        if sha256 not in self._known and len(self._known) < MAX_SUSPECTS:
            self._known[sha256] = harm
            self._news[sha256] = harm
            self.on_news()

    def mended(self, sha256: str) -> None:
        """Note that it was stored again, durably."""
        if self._known.pop(sha256, None) is not None:
            self._news[sha256] = None
            self.on_news()

    def recall(self, recorded: Iterable[tuple[str, Harm]]) -> None:
        """Load what an earlier process found, without announcing it."""
        for sha256, harm in recorded:
            self._known.setdefault(sha256, harm)

    def take_news(self) -> News:
        news: dict[str, Harm | None] = {}
        while self._news:
            sha256, harm = self._news.popitem()
            news.setdefault(sha256, harm)
        return news

    def give_back(self, news: News) -> None:
        """Take back news that could not be recorded now."""
        for sha256, harm in news.items():
            self._news.setdefault(sha256, harm)


def _nobody_listens() -> None:
    return None
