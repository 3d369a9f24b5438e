"""Which header fields pass the broker, by name. Whatever stands in no list stays behind, both ways."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from svc.errors import Invalid
from svc.protocol import Headers

ANY_CALL: Final = frozenset({"accept", "accept-language", "content-type", "user-agent", "idempotency-key"})
ANY_ANSWER: Final = frozenset({"content-type", "retry-after", "retry-after-ms", "x-should-retry"})

NEVER: Final = frozenset(
    {
        "authorization",
        "x-api-key",
        "api-key",
        "cookie",
        "host",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "content-length",
        "upgrade",
        "expect",
    }
)
"""What frames a message or says who asks: it passes in no list."""
_NEVER_PREFIXES: Final = ("proxy-", "x-svc-", "x-forwarded-")
_MAX_VALUE_CHARS: Final = 8 * 1024


def of_call(given: Headers, *, allowed: Set[str] = frozenset(), prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """What goes out of a caller's header: what ``allowed``, ``prefixes`` or any call may have.

    What ``Connection`` names was meant for this hop alone, and stays.
    """
    named = {word.strip().lower() for value in given.all("connection") for word in value.split(",")}
    passed: dict[str, str] = {}
    for name, value in given.items():
        known = name in ANY_CALL or name in allowed or name.startswith(prefixes or _NOTHING)
        if not known or name in named or is_ours(name):
            continue
        if not (value.isascii() and value.isprintable() and len(value) <= _MAX_VALUE_CHARS):
            raise Invalid(f"The header {name} may hold up to {_MAX_VALUE_CHARS} printable ASCII characters.")
        passed[name] = f"{passed[name]}, {value}" if name in passed else value
    return passed


def of_answer(
    given: Headers, *, allowed: Set[str] = frozenset(), prefixes: tuple[str, ...] = ()
) -> list[tuple[str, str]]:
    """What comes back of an answer's header."""
    return [
        (name, value)
        for name, value in given.items()
        if name in ANY_ANSWER or name in allowed or name.startswith(prefixes or _NOTHING)
    ]


def is_ours(name: str) -> bool:
    """Nobody but the broker says this."""
    return name in NEVER or name.startswith(_NEVER_PREFIXES)


_NOTHING: Final[tuple[str, ...]] = ()
