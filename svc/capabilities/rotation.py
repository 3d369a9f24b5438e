"""Rotates the master key: makes a new one and encrypts every secret under it, even if that is interrupted.

``svc secrets rotate`` makes it and does the work; the next boot finishes an interrupted rotation.
"""

from __future__ import annotations

from typing import Final

from svc.command import OpenedHome
from svc.store import Keyring, Secrets, Store

BATCH_ROWS: Final = 100


def renewed_keyring(opened: OpenedHome) -> Keyring:
    """The keyring to continue with: that of an interrupted rotation, else one with a new current key.

    The new key is stored before the first secret is encrypted under it, so that no secret is ever under a key that is
    stored nowhere.
    """
    if opened.store.read_now(opened.secrets.outdated):
        return opened.keyring
    keyring = opened.keyring.renewed()
    opened.keys.replace(keyring)
    return keyring


def rewrap_all(store: Store, secrets: Secrets) -> None:
    """Encrypt every secret under the current master key, and move those of older versions into envelopes; blocks."""
    after = ""
    while names := store.write_now(secrets.rewrap, after=after, limit=BATCH_ROWS):
        after = names[-1]
