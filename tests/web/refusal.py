"""What the stand-in server answers instead of a result."""

from __future__ import annotations


class Refusal(Exception):
    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code, self.status = code, status
