"""The certificate authorities that this machine trusts, read once per process."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def system_trust() -> ssl.SSLContext:
    """For clients of HTTP/1.1. All of them share it: reading a hundred certificates takes a moment each time."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])  # the HTTP client would set the same on the context that it is given
    return context
