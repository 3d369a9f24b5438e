"""The master key in the keyring of the operating system: Keychain, Secret Service, Windows Credential Locker.

It uses the ``keyring`` library, an extra (``svc[keyring]``). Only ``SVC_MASTER_KEY_STORE=keyring`` turns it on. It is
never chosen automatically: a home whose key silently went to another place would be lost with that place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from svc.store.faults import KeyRefused
from svc.store.keyring import Keyring

SERVICE: Final = "svc master key"


@dataclass(frozen=True, kw_only=True)
class OsKeyring:
    """The entry of one home, named by its id. Calls block, and may show the system's own question to the user."""

    home_id: str

    def load(self, *, may_create: bool) -> Keyring:
        text = self._get()
        if text is None:
            if not may_create:
                raise KeyRefused(
                    f"the system's keyring has no entry {SERVICE!r} for {self.home_id}, and this home has secrets under"
                    " it; unlock or restore that keyring"
                )
            keyring = Keyring.random()
            self.replace(keyring)
            return keyring
        found = Keyring.from_text(text)
        if found is None:
            raise KeyRefused(f"the entry {SERVICE!r} for {self.home_id} in the system's keyring is damaged; restore it")
        return found

    def exists(self) -> bool:
        return self._get() is not None

    def replace(self, keyring: Keyring) -> None:
        library = _library()
        try:
            library.set_password(SERVICE, self.home_id, keyring.as_text())
        except library.errors.KeyringError as error:
            raise KeyRefused(f"the system's keyring did not take the master key: {error}") from error
        if self._get() != keyring.as_text():
            raise KeyRefused("the system's keyring did not keep the master key; use SVC_MASTER_KEY_STORE=file")

    def _get(self) -> str | None:
        library = _library()
        try:
            found: str | None = library.get_password(SERVICE, self.home_id)
        except library.errors.KeyringError as error:
            raise KeyRefused(f"the system's keyring can't be read: {error}; unlock it") from error
        return found


def _library() -> Any:  # an extra: absent from most installations
    try:
        import keyring
        import keyring.errors
    except ImportError:
        raise KeyRefused(
            "SVC_MASTER_KEY_STORE=keyring needs the keyring library; install svc[keyring], or use file"
        ) from None
    return keyring
