"""h11's connection under our own rules, for a front that reads HTTP/1.1 by itself.

Only h11 knows where a body ends and the next request begins; so each head is checked here, in h11's buffer, just before
h11 reads it. No request switches to HTTP/2: after that, a proxy would pass on all bytes unchanged, and with them
headers that only the proxy may set. Keeps no bytes.
"""

from __future__ import annotations

from typing import Any, Final

import h11

from svc.protocol.head import HeadParser
from svc.protocol.limits import Limits
from svc.protocol.strict import HEAD_END, check_unfinished_head, head_too_large

_HTTP2_BEGINS: Final = b"PRI * HTTP/2.0"
_CRLF: Final = b"\r\n"


class StrictConnection(h11.Connection):
    def __init__(self, limits: Limits) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size=limits.head_bytes)
        self._limits = limits
        self._heads = HeadParser(limits)
        self._seen = 0  # bytes of an unfinished head that were checked before

    def receive_data(self, data: bytes) -> None:
        """One empty line before a request is accepted (RFC 9112, 2.2)."""
        if data.startswith(_CRLF) and self.their_state is h11.IDLE and not self.trailing_data[0]:
            data = data[len(_CRLF) :]
            if not data:  # which would say that nothing more comes
                return
        super().receive_data(data)

    def next_event(self) -> Any:
        """Raises a :class:`~svc.errors.Refusal` for a head that our own connection would refuse."""
        if self.their_state is h11.IDLE:
            self._check(self.trailing_data[0])
        event = super().next_event()
        return _without_http2(event) if isinstance(event, h11.Request) else event

    def _check(self, data: bytes) -> None:
        end = data.find(HEAD_END, max(0, self._seen - len(HEAD_END) + 1))
        if end == -1:
            check_unfinished_head(data, seen=self._seen, limits=self._limits)
            self._seen = len(data)
            return
        self._seen = 0
        if end + len(HEAD_END) > self._limits.head_bytes:
            check_unfinished_head(data[:end], seen=0, limits=self._limits)
            raise head_too_large(self._limits)
        if data[:end] != _HTTP2_BEGINS:
            self._heads.parse(data[:end])


def _without_http2(request: h11.Request) -> h11.Request:
    """The request without its offer to continue in HTTP/2, which a server may ignore (RFC 9110, 7.8)."""
    if not any(name == b"upgrade" and value.lower() == b"h2c" for name, value in request.headers):
        return request
    return h11.Request(
        method=request.method,
        target=request.target,
        http_version=request.http_version,
        headers=[(name, value) for name, value in request.headers if name != b"upgrade"],
    )
