"""What the tests of connections share."""

from __future__ import annotations

import pytest

from tests.support.http import SmallApplication


@pytest.fixture
def app() -> SmallApplication:
    return SmallApplication()
