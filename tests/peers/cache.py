"""Where ``.ci/peers`` has put the outside systems that tests run against. ``needs.py`` says which test wants which."""

from __future__ import annotations

import os
from pathlib import Path


def peers_dir() -> Path:
    return Path(os.environ.get("SVC_PEERS") or Path.home() / ".cache" / "svc-peers")


def emulator_files() -> tuple[Path, Path] | None:
    """The Node that the Google emulator wants, and the emulator; ``None`` when either is missing."""
    modules = peers_dir() / "node_modules"
    nodes = [*modules.glob("node-*/bin/node"), *modules.glob("node/bin/node")]
    emulate = modules / "emulate" / "dist" / "index.js"
    return (nodes[0], emulate) if nodes and emulate.is_file() else None
