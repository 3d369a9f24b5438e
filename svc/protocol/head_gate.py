"""Our own rules for heads before a front that reads HTTP/1.1 by itself.

Owns the bytes of a head that has not ended: the front gets nothing of it. It looks only at the first head of what
arrives; the front knows where a body or a next request begins, and :class:`~svc.protocol.asgi.AsgiFace` checks what it
makes of them.
"""

from __future__ import annotations

from typing import Final

import trio

from svc.protocol.head import HeadParser
from svc.protocol.limits import Limits
from svc.protocol.strict import HEAD_END
from svc.protocol.wire_input import WireInput

_HTTP2_BEGINS: Final = b"PRI * HTTP/2.0"


class HeadGate:
    def __init__(self, stream: trio.abc.Stream, limits: Limits) -> None:
        self._wire = WireInput(stream, limits)
        self._heads = HeadParser(limits)

    @property
    def holds(self) -> bool:
        """Whether a head has begun and has not ended."""
        return bool(self._wire.buffer)

    def pass_on(self, data: bytes) -> bytes:
        """What the front may read now. Raises a :class:`~svc.errors.Refusal` for a head that our own connection would
        refuse."""
        self._wire.buffer += data
        raw = self._wire.take_head()
        if raw is None:
            return b""
        if raw != _HTTP2_BEGINS:
            self._heads.parse(raw)
        return raw + HEAD_END + self._wire.take(len(self._wire.buffer))
