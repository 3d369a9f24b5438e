"""Chooses the place of a home's master key by its settings."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from svc.capabilities.escrow import EscrowKeys
from svc.config import Config
from svc.settings import HOME, MASTER_KEY_FILE, MASTER_KEY_STORE, is_hosted
from svc.store import KeyFile, MasterKeySource, OsKeyring, master_key_path


def escrow_keys(config: Config, *, rng: random.Random) -> EscrowKeys | None:
    """The key source of a hosted cell; ``None`` where the key is stored on this machine."""
    return EscrowKeys(config, home=config[HOME], rng=rng) if is_hosted(config) else None


def key_source(config: Config, *, home_id: str, home: Path, environ: Mapping[str, str]) -> MasterKeySource:
    if is_hosted(config):
        return EscrowKeys(config, home=home, rng=random.Random())  # noqa: S311  spreads pauses, guards nothing
    if config[MASTER_KEY_STORE] == "keyring":
        return OsKeyring(home_id=home_id)
    return KeyFile(path=master_key_path(config[MASTER_KEY_FILE], home_id=home_id, environ=environ), home=home)
