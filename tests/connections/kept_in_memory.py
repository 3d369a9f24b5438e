"""Another place for the secrets of connections than the database."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc.store import SecretSource, Tx


@dataclass
class KeptInMemory:
    kept: dict[str, bytes] = field(default_factory=dict)

    def read(self, tx: Tx, name: str) -> bytes | None:
        return self.kept.get(name)

    def write(self, tx: Tx, name: str, value: bytes, *, source: SecretSource = "oauth") -> None:
        self.kept[name] = value

    def remove(self, tx: Tx, name: str) -> bool:
        return self.kept.pop(name, None) is not None
