"""The pauses between the attempts of the web app to reach the server again: drawn in Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

from tests.peers.needs import NODE, need

BACKOFF: Final = Path(__file__).parents[2] / "static" / "backoff.js"
DRAWN: Final = """
const { pauseMs } = await import(process.argv[1]);
const of = (failures) => Array.from({ length: 200 }, () => pauseMs({ firstMs: 500, longestMs: 15_000 }, failures));
console.log(JSON.stringify([1, 2, 5, 6, 2_000].map(of)));
"""


def test_a_pause_doubles_up_to_the_longest_one_and_is_drawn_from_its_upper_half() -> None:
    need(NODE)
    command = ["node", "--input-type=module", "--eval", DRAWN, BACKOFF.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    for drawn, ceiling in zip(json.loads(ran.stdout), [500, 1_000, 8_000, 15_000, 15_000], strict=True):
        assert ceiling / 2 <= min(drawn) < ceiling * 0.6
        assert ceiling * 0.9 < max(drawn) <= ceiling
