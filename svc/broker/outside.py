"""The way out to addresses that a declaration names. A test hands in a network of its own here."""

from __future__ import annotations

from dataclasses import dataclass

from svc.protocol.pinned import PinnedEgress


@dataclass
class Outside:
    pinned: PinnedEgress
