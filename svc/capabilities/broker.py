"""The capability broker: the only way to a credential.

Code that needs a credential holds a :class:`Door`, which knows the actor and its grants. Each acquisition adds a row to
the audit, in the same transaction, with its outcome and never with the value. Nothing else in the program holds the
secrets store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from svc.capabilities import actions
from svc.capability import Capability, Grants
from svc.errors import Forbidden
from svc.store import ReadTx, Secrets, SecretSource, Store, Tx

SETTINGS_ACTOR: Final = "settings"


class NotGranted(Forbidden):
    """The actor was never granted this capability."""

    def __init__(self, actor: str, name: str) -> None:
        super().__init__(f"{actor} is not granted {name}.", data={"reason": "not_granted"})


@dataclass(frozen=True, kw_only=True, repr=False)
class Broker:
    """Owns the secrets of one home, and the table of capabilities from the rows of all features.

    ``grants``: for each actor, the uses that its row declares.
    """

    store: Store
    secrets: Secrets
    capabilities: Mapping[str, Capability]
    grants: Mapping[str, Grants]

    def door(self, actor: str) -> Door:
        """The door of a feature, with the grants that its row declares."""
        return Door(broker=self, actor=actor, grants=self.grants.get(actor, _NOTHING))

    def door_for_tests(self) -> Door:
        """The door of an admin who tests a credential: only for credentials that admins set, not for those that a
        person connected."""
        return Door(broker=self, actor=SETTINGS_ACTOR, grants=Grants(frozenset(self.capabilities)))

    def door_for_run(self, actor: str, *, run_id: str, grants: Grants) -> Door:
        """The door of a run: its grants were decided when it began."""
        return Door(broker=self, actor=actor, grants=grants, run_id=run_id)


@dataclass(frozen=True, kw_only=True, repr=False)
class Door:
    """The credentials that one actor may acquire."""

    broker: Broker
    actor: str
    grants: Grants
    run_id: str | None = None

    async def acquire(self, name: str, *, purpose: str) -> bytes | None:
        """The value, or ``None`` where there is none; audited either way.

        Raises :class:`NotGranted`, also audited, and :class:`svc.store.SecretUnreadable`.
        """
        await self.demand(name, purpose=purpose)
        return await self.broker.store.write(self.acquire_in, name, purpose=purpose)

    async def demand(self, name: str, *, purpose: str) -> None:
        """Raise :class:`NotGranted`, audited, unless this actor may acquire ``name``; acquires nothing."""
        if not self.grants.allow(name):
            await self.broker.store.write(
                actions.note, name=name, actor=self.actor, purpose=purpose, run_id=self.run_id, outcome="refused"
            )
            raise NotGranted(self.actor, name)

    def acquire_in(self, tx: Tx, name: str, *, purpose: str) -> bytes | None:
        """:meth:`acquire` inside the caller's transaction."""
        self._demand(name)
        value = self.broker.secrets.read(tx, name)
        outcome: Final = "missing" if value is None else "granted"
        actions.note(tx, name=name, actor=self.actor, purpose=purpose, run_id=self.run_id, outcome=outcome)
        return value

    def available(self, tx: ReadTx, name: str) -> bool:
        """Whether there is a value that this actor may acquire; acquires nothing."""
        return self.grants.allow(name) and self.broker.secrets.has(tx, name)

    async def edition(self, name: str) -> str | None:
        """A mark that changes with the value: a caller that keeps the value can see whether it is still current. It
        acquires nothing, and may be asked for often."""
        if not self.grants.allow(name):
            return None
        return await self.broker.store.read_kept((Door.edition, name), partial(self.broker.secrets.edition, name=name))

    def keep(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        """Store the value from a consent screen or a connection, in place of the old one."""
        self._demand(name)
        self.broker.secrets.write(tx, name, value, source=source)

    def remove(self, tx: Tx, name: str) -> bool:
        """Delete the value. Returns whether there was one."""
        self._demand(name)
        return self.broker.secrets.delete(tx, name)

    def _demand(self, name: str) -> None:
        if not self.grants.allow(name):
            raise NotGranted(self.actor, name)


_NOTHING: Final = Grants()
