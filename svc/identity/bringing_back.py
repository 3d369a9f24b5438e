"""Imports the users of an export into a home that has none."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import Conflict
from svc.identity import queries
from svc.identity.actions import ClaimHook, add_user, valid_email
from svc.identity.model import Proof, Role
from svc.store import Tx


def bring_back(
    tx: Tx, *, people: Sequence[tuple[str, str, Role]], hooks: Sequence[ClaimHook], refused: str
) -> dict[str, str]:
    """Add the users of an export to a home without users; returns their ids by address. The first admin claims the
    home: existing data becomes theirs. Raises :class:`Conflict` with ``refused`` where the home is already claimed."""
    if queries.is_claimed(tx):
        raise Conflict(refused)
    ids: dict[str, str] = {}
    for email, name, role in sorted(people, key=lambda one: one[2] != "admin"):
        proof = Proof(issuer=None, subject=None, email=email, name=name)
        ids[email] = add_user(tx, proof, valid_email(email), role=role).id
    if ids:
        for hook in hooks:
            hook(tx, next(iter(ids.values())))
    return ids
