"""What features can get from the master key without seeing it: derived keys, and a sealed copy.

Only this package holds the secrets store, so features call this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from svc.capabilities import recovery
from svc.capabilities.broker import Broker
from svc.capabilities.recovery import SEALED, CodeRefused
from svc.clock import Millis
from svc.store import Ledger


@dataclass(frozen=True, kw_only=True, repr=False)
class MasterKey:
    """The master key of the home with the id ``home``. All methods block."""

    broker: Broker
    home: str

    def derived(self, purpose: bytes) -> tuple[str, bytes]:
        """The id of the current master key, and 32 bytes derived from it for this one purpose."""
        return self.broker.secrets.derived(purpose)

    def begin_code(self, ledger: Ledger, *, now: Millis) -> str:
        """Make a new recovery code; from now on an earlier one opens nothing."""
        code = recovery.new_code()
        sealed = recovery.seal(self.broker.secrets, code, home=self.home, now=now)
        ledger.put({SEALED: recovery.encode(sealed)})
        return code

    def confirm_code(self, ledger: Ledger, code: str) -> None:
        """Note that a person typed the code again from their written copy. Raises :class:`CodeRefused`."""
        sealed = recovery.sealed_of(ledger)
        if sealed is None:
            raise CodeRefused("There is no recovery code yet.")
        recovery.code_opens(sealed, code)
        ledger.put({SEALED: recovery.encode(msgspec.structs.replace(sealed, confirmed=True))})

    def renew(self, ledger: Ledger, *, now: Millis) -> bool:
        """After a rotation: seal the new key, too. Returns whether anything had to be done."""
        sealed = recovery.sealed_of(ledger)
        current, _ = self.broker.secrets.derived(b"svc recovery")
        if sealed is None or (sealed.key == current and sealed.home == self.home):
            return False
        renewed = recovery.seal_to(
            self.broker.secrets, sealed.public, home=sealed.home, now=now, confirmed=sealed.confirmed
        )
        ledger.put({SEALED: recovery.encode(renewed)})
        return True
