"""The process that starts the others, in tests."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.sizes import HANGS_S
from tests.support.warm import Program, Warm

ROOT = Path(__file__).parents[1]


def test_two_threads_may_ask_whether_a_program_has_ended(tmp_path: Path) -> None:
    """A number that was waited for can't be waited for again: the process that was asked twice ended with all tests."""
    warm = Warm.of(ROOT)
    both = threading.Barrier(2)

    def ended(program: Program) -> int:
        both.wait()
        return program.wait(HANGS_S)

    for _ in range(5):
        program = warm.start(
            ["-m", "this"], cwd=tmp_path, environ={"PATH": sys.prefix}, stdout=None, stderr=tmp_path / "said"
        )
        with ThreadPoolExecutor(2) as pool:
            codes = list(pool.map(ended, [program, program]))
        assert codes == [0, 0]
