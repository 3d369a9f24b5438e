"""The wanted plugins: names of packages with a version or a range, as in ``SVC_PLUGINS`` and ``plugins.json``.

Only a package of a registry has such a name: a path, an address, a git repository or an alias is refused here, before
any program gets it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

MAX_PLUGINS: Final = 50
MAX_RANGE_CHARS: Final = 100
MAX_NAME_CHARS: Final = 214  # npm's own limit
MAX_PINNED_BYTES: Final = 64 * 1024
ANY: Final = "*"

_PART: Final = r"[a-z0-9][a-z0-9._~-]*"
_NAME: Final = re.compile(rf"(@{_PART}/)?{_PART}")
_RESERVED: Final = frozenset({"node_modules", "favicon.ico"})
_NUMBER: Final = r"(0|[1-9]\d{0,8}|[xX*])"
_VERSION: Final = rf"v?{_NUMBER}(\.{_NUMBER}(\.{_NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?)?)?"
_COMPARATOR: Final = rf"((\^|~|>=|<=|>|<|=) ?)?{_VERSION}"
_ALL_OF: Final = rf"({_VERSION} - {_VERSION}|{_COMPARATOR}( {_COMPARATOR})*)"
_RANGE: Final = re.compile(rf"{_ALL_OF}( ?\|\| ?{_ALL_OF})*")
"""A blank may only be a single space, so that a text matches in one way only; else matching could take forever."""


class BadSpec(ValueError):
    """A list of plugins is wrong. The message says what, in one sentence without its full stop."""


@dataclass(frozen=True, kw_only=True, order=True)
class Spec:
    """``range`` is a version or a range of versions, as npm reads it."""

    name: str
    range: str

    def __str__(self) -> str:
        return f"{self.name}@{self.range}"


def listed(text: str) -> tuple[Spec, ...]:
    """From a list separated by commas or spaces. Raises :class:`BadSpec`."""
    return _distinct(text.replace(",", " ").split())


def pinned(text: str) -> tuple[Spec, ...]:
    """From the text of a ``plugins.json``. Raises :class:`BadSpec`."""
    if len(text) > MAX_PINNED_BYTES:
        raise BadSpec(f"it is longer than {MAX_PINNED_BYTES} bytes")
    try:
        wanted = msgspec.json.decode(text, type=_Pinned)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadSpec(f'it is not {{"plugins": ["name@range", …]}}: {error}') from error
    return _distinct(wanted.plugins)


class _Pinned(msgspec.Struct, forbid_unknown_fields=True):
    plugins: list[str]


def spec_of(text: str) -> Spec:
    """``name`` or ``name@range``. Raises :class:`BadSpec`."""
    at = text.find("@", 1)
    name, wanted = (text, ANY) if at < 0 else (text[:at], " ".join(text[at + 1 :].split()))
    if not is_name(name):
        raise BadSpec(f"{_shown(text)} names no package of a registry")
    if len(wanted) > MAX_RANGE_CHARS or not _RANGE.fullmatch(wanted):
        raise BadSpec(f"{_shown(wanted)} of {name} is neither a version nor a range")
    return Spec(name=name, range=wanted)


def is_name(name: str) -> bool:
    """Whether a registry may have a package with this name."""
    return len(name) <= MAX_NAME_CHARS and bool(_NAME.fullmatch(name)) and name not in _RESERVED


def _distinct(texts: Iterable[str]) -> tuple[Spec, ...]:
    specs = [spec_of(text.strip()) for text in texts]
    names = [spec.name for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadSpec(f"{twice} is named twice")
    if len(specs) > MAX_PLUGINS:
        raise BadSpec(f"it names more than {MAX_PLUGINS} plugins")
    return tuple(sorted(specs))


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_RANGE_CHARS else f"{text[:MAX_RANGE_CHARS]}…")
