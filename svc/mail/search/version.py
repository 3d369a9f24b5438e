"""The version of the indexer."""

from __future__ import annotations

from typing import Final

VERSION: Final = 5
"""Increase it when the same message now gives other words or another preview line. Every index is then rebuilt in the
background."""
