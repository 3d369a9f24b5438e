"""Verifies a recovery point's signature, without the master key. Blocks."""

from __future__ import annotations

from svc.backup.catalogue import Catalogue
from svc.backup.points import Point


def fault_of(catalogue: Catalogue, point: Point) -> str | None:
    """What is wrong with its manifest; ``None`` if it is valid."""
    signed = catalogue.signed(point.id)
    if signed is None:
        return f"the recovery point {point.id} is not there"
    public = catalogue.keys().get(point.key)
    if public is None:
        return f"the recovery point {point.id} is signed by a key that is not known"
    if not signed.is_signed_by(public) or signed.read() != point:
        return f"the signature of the recovery point {point.id} is wrong: its manifest was changed"
    if point.home != catalogue.home():
        return f"the recovery point {point.id} is of another home"
    return None
