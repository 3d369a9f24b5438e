"""The vendors' list prices of models, looked up by a model's id without its version. A model on one's own server is
free.

A vendor's model that is not in the list costs as much as the most expensive one, so a wrong price stops a run too early
and not too late. A name that goes on with a word is another model, and often a dearer one (``gpt-5-pro``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Price:
    """Micro-dollars per token, which equals dollars per million tokens."""

    input: float
    output: float

    def micros(self, input_tokens: int, output_tokens: int) -> int:
        return round(self.input * input_tokens + self.output * output_tokens)


FREE: Final = Price(0.0, 0.0)
DEAREST: Final = Price(15.0, 75.0)
LIST: Final[tuple[tuple[str, Price], ...]] = (
    ("claude-opus-4-5", Price(5.0, 25.0)),
    ("claude-opus", Price(15.0, 75.0)),
    ("claude-sonnet", Price(3.0, 15.0)),
    ("claude-haiku", Price(1.0, 5.0)),
    ("claude-3-5-haiku", Price(0.8, 4.0)),
    ("claude-3-haiku", Price(0.25, 1.25)),
    ("gpt-5-mini", Price(0.25, 2.0)),
    ("gpt-5-nano", Price(0.05, 0.4)),
    ("gpt-5-codex", Price(1.25, 10.0)),
    ("gpt-5-chat", Price(1.25, 10.0)),
    ("gpt-5.1", Price(1.25, 10.0)),
    ("gpt-5", Price(1.25, 10.0)),
    ("gpt-4.1-nano", Price(0.1, 0.4)),
    ("gpt-4.1-mini", Price(0.4, 1.6)),
    ("gpt-4.1", Price(2.0, 8.0)),
    ("gpt-4o-mini", Price(0.15, 0.6)),
    ("gpt-4o-2024-05-13", Price(5.0, 15.0)),
    ("gpt-4o", Price(2.5, 10.0)),
    ("o4-mini", Price(1.1, 4.4)),
    ("o3", Price(2.0, 8.0)),
    ("text-embedding-3-small", Price(0.02, 0.0)),
    ("text-embedding-3-large", Price(0.13, 0.0)),
)
_VERSION: Final = re.compile(r"(?:-(?:\d+|latest|v\d+(?::\d+)?))*")


def price_of(model: str, *, is_own_server: bool) -> Price:
    """``model`` is the vendor's own name of it."""
    if is_own_server:
        return FREE
    return next((price for start, price in LIST if _is_version(model, of=start)), DEAREST)


def _is_version(model: str, *, of: str) -> bool:
    return model.startswith(of) and _VERSION.fullmatch(model[len(of) :]) is not None
