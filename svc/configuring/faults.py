"""What is wrong with a page that is configuration."""

from __future__ import annotations


class Fault(Exception):
    """What is wrong with a page, in words. ``line`` counts from 1, in the page's text."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
