"""A Dovecot for the tests of a module; each test begins with an empty mailbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.peers.dovecot import Dovecot, dovecot


@pytest.fixture(scope="module")
def running_dovecot() -> Iterator[Dovecot]:
    with dovecot() as server:
        yield server


@pytest.fixture
def server(running_dovecot: Dovecot) -> Iterator[Dovecot]:
    """Marked ``needs(DOVECOT)`` by whoever asks for it."""
    running_dovecot.empty()
    yield running_dovecot
    running_dovecot.relay.settle()
