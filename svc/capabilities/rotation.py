"""A new master key: made once, and every secret brought under it, however often that is cut.

``svc secrets rotate`` makes it and does the work; the boot finishes what was cut.
"""

from __future__ import annotations

from typing import Final

from svc.command import OpenedHome
from svc.store import Keyring, Secrets, Store

BATCH_ROWS: Final = 100


def renewed_keyring(opened: OpenedHome) -> Keyring:
    """The keyring to go on with: that of a rotation that was cut, else one with a new current key.

    The new key is kept before the first secret is put under it, so that nothing is ever under a key that is nowhere.
    """
    if opened.store.read_now(opened.secrets.outdated):
        return opened.keyring
    keyring = opened.keyring.renewed()
    opened.keys.replace(keyring)
    return keyring


def rewrap_all(store: Store, secrets: Secrets) -> None:
    """Bring every secret under the current master key, and those of older versions into envelopes; blocks."""
    after = ""
    while names := store.write_now(secrets.rewrap, after=after, limit=BATCH_ROWS):
        after = names[-1]
