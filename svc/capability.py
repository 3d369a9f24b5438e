"""A capability: a credential with a name, its purpose, and the form of its value.

Pure records. A feature declares its capabilities as rows; :mod:`svc.capabilities` stores and hands out their values. A
value is one text, or an object of named fields, stored as JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from svc.config import Setting
from svc.errors import Invalid

if TYPE_CHECKING:
    from svc.workspace import Workspace

MAX_VALUE_CHARS = 16 * 1024


@dataclass(frozen=True, kw_only=True)
class CredentialField:
    """One part of a credential. ``setting`` is the variable that seeds it. A ``secret`` field is never shown."""

    name: str
    label: str
    setting: Setting[str | None]

    @property
    def secret(self) -> bool:
        return self.setting.secret


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """The service's answer to a credential: whether it accepted it, and a message. ``remedy``: what a person can do, if
    that is more than to set it again.
    """

    ok: bool
    message: str
    remedy: str = ""


Probe = Callable[["Workspace", Mapping[str, str]], Awaitable[ProbeResult]]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Where the broker may use a credential for a run: only at these hosts, and only in this header.

    ``form`` is the header's value, with fields of the credential in braces. ``passes`` names headers of the caller that
    this service needs, beyond those that every call may have.
    """

    hosts: tuple[str, ...]
    header: str = "authorization"
    form: str = "Bearer {value}"
    passes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Capability:
    """One credential that a feature works with, as an admin sets it.

    ``obtain``: where a person gets the credential. ``complete``: sets of fields; each set alone is enough. If it is
    empty, all fields are needed. ``probe`` tests the credential at the real service; without it there is no test.
    ``reach``: where the broker may use it for a run; nowhere without it. ``callbacks``: the paths of this server to
    which the service sends browsers back; a person registers them at the service.
    """

    name: str
    title: str
    purpose: str
    obtain: str
    fields: tuple[CredentialField, ...]
    complete: tuple[tuple[str, ...], ...] = ()
    probe: Probe | None = None
    reach: Reach | None = None
    callbacks: tuple[str, ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether its value is one text, not an object."""
        return len(self.fields) == 1

    def missing(self, given: Mapping[str, str]) -> tuple[str, ...]:
        """The fields that ``given`` lacks to be complete. Of several sets, the set with the most given
        fields counts.
        """
        present = {name for name, text in given.items() if text}
        sets = self.complete or (tuple(one.name for one in self.fields),)
        if any(present >= set(names) for names in sets):
            return ()
        meant = max(sets, key=lambda names: len(present & set(names)))
        return tuple(name for name in meant if name not in present)

    def encode(self, given: Mapping[str, str]) -> bytes:
        """A complete value in its stored form."""
        if self.is_single:
            return given[self.fields[0].name].encode()
        kept = {one.name: given[one.name] for one in self.fields if given.get(one.name)}
        return msgspec.json.encode(kept)

    def decode(self, stored: bytes) -> dict[str, str]:
        if self.is_single:
            return {self.fields[0].name: stored.decode()}
        return msgspec.json.decode(stored, type=dict[str, str])

    def given(self, value: str | dict[str, str]) -> dict[str, str]:
        """The fields of a value that a person sent, checked. Raises :class:`svc.errors.Invalid`, which
        names the field.
        """
        if isinstance(value, str) != self.is_single:
            raise Invalid(
                f"{self.name} is one text." if self.is_single else f"{self.name} has the fields {self._field_names()}."
            )
        fields = {self.fields[0].name: value} if isinstance(value, str) else value
        unknown = sorted(set(fields) - {one.name for one in self.fields})
        if unknown:
            raise Invalid(f"{self.name} has no field {unknown[0]!r}; it has {self._field_names()}.")
        cleaned = {name: text.strip() for name, text in fields.items()}
        if lacking := self.missing(cleaned):
            raise Invalid(f"{self.name} is not complete without {' and '.join(lacking)}.")
        for name, text in cleaned.items():
            if len(text) > MAX_VALUE_CHARS or not text.isprintable():
                raise Invalid(f"{name} must be one line of at most {MAX_VALUE_CHARS} characters.")
        return cleaned

    def _field_names(self) -> str:
        return ", ".join(one.name for one in self.fields)


@dataclass(frozen=True)
class Grants:
    """Which capabilities a holder may acquire: names, or prefixes that end in ``*``."""

    patterns: frozenset[str] = field(default_factory=frozenset)

    def allow(self, name: str) -> bool:
        return any(
            name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in self.patterns
        )
