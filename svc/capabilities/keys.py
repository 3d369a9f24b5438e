"""Where the master key of a home is kept, by its settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from svc.config import Config
from svc.settings import MASTER_KEY_FILE, MASTER_KEY_STORE
from svc.store import KeyFile, MasterKeySource, OsKeyring, master_key_path


def key_source(config: Config, *, home_id: str, home: Path, environ: Mapping[str, str]) -> MasterKeySource:
    if config[MASTER_KEY_STORE] == "keyring":
        return OsKeyring(home_id=home_id)
    return KeyFile(path=master_key_path(config[MASTER_KEY_FILE], home_id=home_id, environ=environ), home=home)
