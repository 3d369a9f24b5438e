"""Who else may read a file: a row of a feature whose records have files. It is asked after the file's owner."""

from __future__ import annotations

from typing import Literal, Protocol

from svc.principal import Principal
from svc.store import ReadTx


class FileReader(Protocol):
    """The id of a file whose ``by`` (its id, or the hash of its content) is ``value``, if the caller may read the
    record that the file belongs to; else ``None``.
    """

    def __call__(self, tx: ReadTx, principal: Principal, *, by: Literal["id", "sha256"], value: str) -> str | None: ...
