"""Whom this machine trusts to prove who they are: its certificate authorities, read once a process."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def system_trust() -> ssl.SSLContext:
    """For clients of HTTP/1.1. All share it: to read a hundred certificates takes a moment each time."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])  # as the HTTP client would say anyway, on the context that it is given
    return context
