"""Which header fields pass the broker, by name. A field that is in no list is dropped, in both directions."""

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
"""Fields that frame a message or identify the caller: no list can let them pass."""
_NEVER_PREFIXES: Final = ("proxy-", "x-svc-", "x-forwarded-")
_MAX_VALUE_CHARS: Final = 8 * 1024


def of_call(given: Headers, *, allowed: Set[str] = frozenset(), prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """The fields of a caller's header that are sent on: those in ``allowed`` or ``prefixes``, and those that every call
    may have.

    Fields that ``Connection`` names are meant for this hop only, and are dropped.
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
    """The fields of an answer's header that are passed back."""
    return [
        (name, value)
        for name, value in given.items()
        if name in ANY_ANSWER or name in allowed or name.startswith(prefixes or _NOTHING)
    ]


def is_ours(name: str) -> bool:
    """Whether only the broker may set this field."""
    return name in NEVER or name.startswith(_NEVER_PREFIXES)


_NOTHING: Final[tuple[str, ...]] = ()
