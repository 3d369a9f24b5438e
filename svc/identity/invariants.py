"""What must always hold of identity, checked by ``svc fsck``."""

from __future__ import annotations

from collections.abc import Iterable

from svc.identity.model import WEB_SESSION
from svc.store import Invariant, ReadTx


def _kinds(tx: ReadTx) -> Iterable[str]:
    rows = tx.all("select id from devices where (token_digest is null) <> (kind = :kind) order by id", kind=WEB_SESSION)
    return [f"device {device_id} is of the kind of a browser, or a browser is not" for (device_id,) in rows]


INVARIANTS = (Invariant(name="a device with a token is not listed among the browsers", check=_kinds),)
