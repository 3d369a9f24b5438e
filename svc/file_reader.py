"""Who else may read a file: a row of the feature whose records bring files along, asked after the file's owner."""

from __future__ import annotations

from typing import Literal, Protocol

from svc.principal import Principal
from svc.store import ReadTx


class FileReader(Protocol):
    """The id of a file whose ``by`` (its id, or the hash of its content) is ``value``, which the caller may read
    because they may read what it belongs to; ``None`` where there is none."""

    def __call__(self, tx: ReadTx, principal: Principal, *, by: Literal["id", "sha256"], value: str) -> str | None: ...
