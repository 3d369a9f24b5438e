"""The headers that tell a browser what it may do with our answers.

Every response carries them. A response may bring its own ``content-security-policy`` (the app shell, a file), which is
then kept. Owns the policies and their wording, and decides nothing about a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from svc.protocol.messages import HeaderList

DEFAULT_CSP: Final = "default-src 'none'; frame-ancestors 'none'"
HSTS: Final = "max-age=31536000"

PRINTS_HASH: Final = "sha256-QQ/7uRg6v0wzG9MBDmtS3/yldBimY9c6CuxuCLQxP2I="
"""Hash of the one script in the frame that prints a message (``static/mail/printing.js``): it only asks the browser to
print, and tells the page when that is done."""
PRINTED_HASH: Final = "sha256-6KDSbmPVh17Ffre+1D295bbUDbYCcp6o3sYIBu3Ce4Y="
"""Hash of the one style of a mail's frame on dark paper (``static/mail/paper.js``): in print, pictures look as sent."""

_ALWAYS: Final[HeaderList] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=(self), payment=(), usb=(), browsing-topics=()",
    ),
]
_DEFAULTS: Final[HeaderList] = [
    ("content-security-policy", DEFAULT_CSP),
    ("cache-control", "no-store"),
]


def shell_csp(script_hashes: Iterable[str]) -> str:
    """The app shell's policy. A ``srcdoc`` frame inherits it: hence inline style attributes and ``data:`` images."""
    scripts = " ".join(["'self'", *(f"'{value}'" for value in (*script_hashes, PRINTS_HASH))])
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {scripts}",
            f"style-src 'self' '{PRINTED_HASH}'",
            "style-src-attr 'unsafe-inline'",
            "img-src 'self' data:",
            "media-src 'self'",
            "font-src 'self'",
            "connect-src 'self'",
            "frame-src 'self'",
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def worker_csp() -> str:
    """The service worker's policy: its modules and what it fetches are ours. The page's policy does not apply to it."""
    return "; ".join(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])


def confined_worker_csp() -> str:
    """Policy of a worker that reads content from strangers: it may import our scripts and connect nowhere, not even to
    us.

    A dedicated worker has the policy of its own script's response, not of its page.
    """
    return "; ".join(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])


@lru_cache(maxsize=256)
def secure_headers(names: tuple[str, ...], *, pins_https: bool = False) -> HeaderList:
    """The headers that a response with headers of these ``names`` still lacks. Do not change the list.

    ``pins_https``: the browser is told to come by HTTPS only from now on.
    """
    missing = [field for field in _DEFAULTS if field[0] not in names]
    hsts = [("strict-transport-security", HSTS)] if pins_https else []
    return [*missing, *_ALWAYS, *hsts]
