"""Random choices that can be repeated: each run draws a new seed, and a failing test prints it.

    def test_anything(chance: random.Random) -> None: ...

pytest shows what the fixture prints when the test fails: ``SVC_TEST_SEED=123456``. Set so, the test makes the same
choices again.
"""

from __future__ import annotations

import os
import random
from typing import Final

SEED: Final = "SVC_TEST_SEED"
_SEEDS: Final = 10**6


def seeded() -> random.Random:
    seed = int(os.environ.get(SEED) or random.SystemRandom().randrange(_SEEDS))
    print(f"to make the same choices again: {SEED}={seed}")
    return random.Random(seed)
