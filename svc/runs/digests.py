"""What a decision is about, as one number."""

from __future__ import annotations

import hashlib


def digest(tool: str, input: str) -> bytes:
    """This tool with this input (as JSON), and nothing else."""
    return hashlib.sha256(f"{tool}\0{input}".encode()).digest()
