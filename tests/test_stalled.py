from __future__ import annotations

import signal

import pytest

from tests.stalled import StallAlarm


def test_a_run_that_stands_still_ends_and_says_what_was_under_way() -> None:
    alarm = StallAlarm(after_s=0.01)
    alarm.pytest_runtest_logstart("test_done")
    alarm.pytest_runtest_logstart("test_hangs")
    alarm.pytest_runtest_logfinish("test_done")
    try:
        with pytest.raises(pytest.exit.Exception) as ended:
            stand_still(alarm)
    finally:
        alarm.pytest_sessionfinish()
    assert "under way: test_hangs\n" in str(ended.value)
    assert "test_done" not in str(ended.value)
    assert str(ended.value).count("python") >= 1
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def stand_still(alarm: StallAlarm) -> None:
    alarm.pytest_sessionstart()
    signal.pause()
