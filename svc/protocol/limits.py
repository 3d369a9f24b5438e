"""The limits of an HTTP/1.1 connection, each with its unit in its name.

Owns the record and the defaults; the surface may tighten them, tests make them small. Nothing here enforces a limit.
How large a body may be is a constant of the route that reads it (of procedures: ``trpc.BODY_MAX_BYTES``).
``docs/limits.md`` lists the limits of all modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, kw_only=True)
class Limits:
    """``head`` is request line and fields together. ``body`` limits say how fast; each route says how much."""

    read_bytes: int = 16 * KIB
    """One receive of a head; a small limit keeps the unparsed data small. Beyond: the rest comes with the next."""
    body_read_bytes: int = 1 * MIB
    """One receive of a body: a large one comes in fewer steps. Beyond: the rest comes with the next."""
    head_bytes: int = 16 * KIB
    """Request line and header fields together. Beyond: 431 `request_header_fields_too_large`; the connection closes."""
    head_fields: int = 100
    """Header fields of a request. Beyond: 431 `request_header_fields_too_large`; the connection closes."""
    target_bytes: int = 8 * KIB
    """The target of a request: path and query. Beyond: 414 `uri_too_long`; the connection closes."""
    head_s: float = 5.0
    """From the first byte of a head to its last. Beyond: 408 `request_timeout`; the connection closes."""
    idle_s: float = 75.0
    """A connection without a byte of a next request. Beyond: the connection closes."""
    drain_idle_s: float = 0.5
    """On drain, for a connection that waits for a request (one may be on its way) or reads on after its last answer. A
    request is still answered, with `Connection: close`. Beyond: the connection closes."""
    body_window_s: float = 30.0
    """The time to wait for a client that sends a body, without the time that the service itself takes. Beyond: 408
    `request_timeout`, unless the body kept its rate: then the next window begins."""
    body_rate_bytes_s: int = 1 * KIB
    """The lowest rate of a body over each such window, in bytes per second. Beyond: 408 `request_timeout`; the
    connection closes."""
    unread_body_bytes: int = 64 * KIB
    """The rest of a body that is still read after the answer, to keep the connection. Beyond: the connection closes
    after the answer."""
    unread_body_s: float = 1.0
    """How long an answer waits to see whether a chunked body that nobody wanted is well-formed. Beyond: the answer goes
    out."""
    send_piece_bytes: int = 64 * KIB
    """One piece of an answer. Beyond: it is sent in several."""
    send_piece_s: float = 30.0
    """Time until a client has taken one piece of an answer (2 KiB/s or more is fast enough). Beyond: the connection is
    cut."""
    linger_silence_s: float = 2.0
    """How long a client may be silent after the last answer, while it may still be sending. Closing while bytes still
    arrive would reset the connection and lose the answer. Beyond: the connection closes."""
    linger_s: float = 30.0
    """How long we read from such a client in all. Beyond: the connection closes."""
    linger_bytes: int = 64 * MIB
    """Bytes that such a client may still send. Beyond: the connection closes."""
    requests_per_connection: int = 10_000
    """Requests of one connection. Beyond: the last answer says `Connection: close`."""


DEFAULT_LIMITS: Final = Limits()
