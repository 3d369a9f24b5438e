"""What the stand-in server answers instead of a result."""

from __future__ import annotations


class Refusal(Exception):
    def __init__(self, code: str, status: int, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.code, self.status = code, status
        self.data = {} if retry_after_s is None else {"retryAfter": retry_after_s}
