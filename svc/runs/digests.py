"""A digest of what a decision is about."""

from __future__ import annotations

import hashlib


def digest(tool: str, input: str) -> bytes:
    """The digest of this tool with this input (as JSON), and nothing else."""
    return hashlib.sha256(f"{tool}\0{input}".encode()).digest()
