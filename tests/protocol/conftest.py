"""What the tests of connections share."""

from __future__ import annotations

import pytest

from tests.support.http import HttpWorld


@pytest.fixture
def world() -> HttpWorld:
    return HttpWorld()
