"""The blobs outside of the home: the replica, as backup needs it."""

from __future__ import annotations

from svc import replica
from svc.backup.litestream import ArchiveFault
from svc.config import Config
from svc.protocol.egress import Egress
from svc.replica import Target, TargetFault
from svc.store import Blobs


def beyond_of(config: Config, egress: Egress) -> Target | None:
    """``None`` where no replica is configured."""
    return replica.target_of(config, egress)


async def bring(target: Target, name: str, into: Blobs) -> bool:
    """Bring one blob home, compared with its name. Whether the replica has it, whole. Raises :class:`ArchiveFault`
    where it does not answer."""
    try:
        await target.fetch(name, into)
    except LookupError:
        return False
    except TargetFault as fault:
        raise ArchiveFault(f"the replica of the blobs: {fault}") from fault
    return True
