"""The blobs that are known to be damaged, in memory: found by whoever read them, mended by whoever stores them again.

What is known here decides at once (a damaged blob is not taken for stored); the table ``blob_damage`` keeps it. Readers
are in worker threads, so every change is one operation on a dictionary, and news are told by a callback that may be
called in any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from svc.store.blob_files import Harm

MAX_SUSPECTS: Final = 100_000
"""Known at a time: some 20 MB. What is found beyond it is found again by the next who reads it."""

News = Mapping[str, Harm | None]
"""Blobs by hash: what was found, or ``None`` where the content was stored again."""


class Suspects:
    def __init__(self) -> None:
        self.on_news: Callable[[], None] = _nobody_listens
        self._known: dict[str, Harm] = {}
        self._news: dict[str, Harm | None] = {}

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._known

    def found(self, sha256: str, harm: Harm) -> None:
        """Somebody wanted to read it. Of what is known already nothing is told again."""
        if sha256 not in self._known and len(self._known) < MAX_SUSPECTS:
            self._known[sha256] = harm
            self._news[sha256] = harm
            self.on_news()

    def mended(self, sha256: str) -> None:
        """It was stored again, durably."""
        if self._known.pop(sha256, None) is not None:
            self._news[sha256] = None
            self.on_news()

    def recall(self, recorded: Iterable[tuple[str, Harm]]) -> None:
        """What an earlier process found, of which nothing has to be told."""
        for sha256, harm in recorded:
            self._known.setdefault(sha256, harm)

    def take_news(self) -> News:
        news: dict[str, Harm | None] = {}
        while self._news:
            sha256, harm = self._news.popitem()
            news.setdefault(sha256, harm)
        return news

    def give_back(self, news: News) -> None:
        """They could not be recorded now."""
        for sha256, harm in news.items():
            self._news.setdefault(sha256, harm)


def _nobody_listens() -> None:
    return None
