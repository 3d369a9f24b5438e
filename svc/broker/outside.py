"""The connection to addresses that a declaration names. A test replaces it with a network of its own."""

from __future__ import annotations

from dataclasses import dataclass

from svc.protocol.pinned import PinnedEgress


@dataclass
class Outside:
    pinned: PinnedEgress
