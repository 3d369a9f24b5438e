"""Reads and writes cookies (RFC 6265).

Cookies ignore ports: any other program on this host receives ours and can set one of the same name. So a name that is
sent twice counts as absent. Reading never raises. The module does not know what a cookie means.
"""

from __future__ import annotations

import re
from typing import Final

from svc.protocol.messages import Headers

_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE: Final = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")


def cookie(headers: Headers, name: str) -> str | None:
    """The value of ``name`` if the request carries it exactly once and well-formed."""
    known = headers.cookies
    if name not in known:
        known[name] = _read(headers, name)
    return known[name]


def _read(headers: Headers, name: str) -> str | None:
    values = [
        value.strip(" \t")
        for field in headers.all("cookie")
        for key, mark, value in (pair.partition("=") for pair in field.split(";"))
        if mark and key.strip(" \t") == name
    ]
    if len(values) != 1 or not _VALUE.fullmatch(values[0]):
        return None
    return values[0]


def set_cookie(name: str, value: str, *, max_age_s: int, secure: bool, path: str = "/") -> tuple[str, str]:
    """A ``Set-Cookie`` field: always ``HttpOnly`` and ``SameSite=Lax``, never for a domain."""
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value) or ";" in path:
        raise ValueError("a cookie's name, value or path has a character that would break out of it")
    flags = "; Secure" if secure else ""
    return ("set-cookie", f"{name}={value}; Path={path}; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{flags}")


def clear_cookie(name: str, *, secure: bool, path: str = "/") -> tuple[str, str]:
    """A ``Set-Cookie`` field that makes the browser forget ``name``."""
    return set_cookie(name, "", max_age_s=0, secure=secure, path=path)
