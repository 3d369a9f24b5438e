"""Every bound of the HTTP/1.1 side, each with its unit in its name.

Owns the record and the defaults; the surface may tighten them, tests make them small. Nothing here enforces anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, kw_only=True)
class Limits:
    """``head`` is request line and fields together; ``body`` bounds say how fast, each route says how much."""

    read_bytes: int = 16 * KIB  # one receive; also keeps what is buffered ahead of the parser small
    body_read_bytes: int = 128 * KIB  # one receive of a body: a large one comes in fewer steps
    head_bytes: int = 16 * KIB
    head_fields: int = 100
    target_bytes: int = 8 * KIB
    head_s: float = 5.0  # from a head's first byte to its last
    idle_s: float = 75.0  # keep-alive, with no byte of a next request
    body_window_s: float = 30.0  # time spent waiting for the client; a slow handler does not count
    body_rate_bytes_s: int = 1 * KIB  # at least, over each window
    unread_body_bytes: int = 64 * KIB  # what a handler left unread and is still worth reading to keep the connection
    unread_body_s: float = 1.0  # and how long the answer waits to see whether a chunked one is well-formed
    send_piece_bytes: int = 64 * KIB
    send_piece_s: float = 30.0  # for each piece: so a reader slower than about 2 KiB/s is cut
    linger_silence_s: float = 2.0  # after a last answer: a close over bytes still coming would reset the answer away
    linger_s: float = 30.0
    linger_bytes: int = 64 * MIB
    requests_per_connection: int = 10_000


DEFAULT_LIMITS: Final = Limits()
