"""Finds out what listens on a port that is taken: another instance of this service, or another program."""

from __future__ import annotations

from typing import Final

import msgspec

from svc.listening import Address
from svc.protocol.egress import Egress, EgressFault, EgressResponse
from svc.settings import is_wildcard

_DEADLINE_S: Final = 3.0
_ANSWER_MAX_BYTES: Final = 64 * 1024


class _Pong(msgspec.Struct):
    version: str


class _Data(msgspec.Struct):
    data: _Pong


class _Answer(msgspec.Struct):
    result: _Data


class _Problem(msgspec.Struct):
    code: str


async def who_listens(egress: Egress, address: Address) -> str | None:
    """The instance that listens; ``None`` if it is no instance of this service, or does not answer."""
    try:
        pong = await _asked(egress, address, "/trpc/health.ping")
        return f"another svc (version {msgspec.json.decode(pong.body, type=_Answer).result.data.version})"
    except EgressFault:
        return None
    except msgspec.DecodeError:
        return await _internal(egress, address)


async def _internal(egress: Egress, address: Address) -> str | None:
    """Recognizes an internal listener: it answers unauthenticated requests with nothing but a refusal."""
    try:
        said = await _asked(egress, address, "/livez")
        problem = msgspec.json.decode(said.body, type=_Problem)
    except (EgressFault, msgspec.DecodeError):
        return None
    return "another svc, with its internal port," if problem.code == "unauthenticated" else None


async def _asked(egress: Egress, address: Address, path: str) -> EgressResponse:
    host = "127.0.0.1" if is_wildcard(address.host) else address.host
    origin = f"http://[{host}]:{address.port}" if ":" in host else f"http://{host}:{address.port}"
    return await egress.request("GET", f"{origin}{path}", deadline_s=_DEADLINE_S, limit_bytes=_ANSWER_MAX_BYTES)
