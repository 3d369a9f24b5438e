"""The credentials for a mail server: a user name with a password or an OAuth token, and their encoding for SASL."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Final, Literal

BEARERS: Final = ("XOAUTH2", "OAUTHBEARER")
"""The mechanisms that take a token. All servers that accept tokens support the first one."""


_IN_GROUPS: Final = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
"""An app password as some providers show it."""


def without_copied_spaces(password: str) -> str:
    """The password without the spaces that were probably copied with it: around it, and between the groups of letters
    in which some providers show an app password, where they may be no-break spaces."""
    plain = " ".join(password.split())
    return plain.replace(" ", "") if _IN_GROUPS.fullmatch(plain) else password.strip()


@dataclass(frozen=True, kw_only=True)
class Login:
    username: str
    secret: str = field(repr=False)
    by: Literal["password", "token"] = "password"

    @property
    def is_sayable(self) -> bool:
        """Whether the credentials can be encoded: a NUL byte would end the name or the password too early."""
        return "\0" not in self.username + self.secret and (self.by == "password" or "\x01" not in self.username)

    def plain(self) -> str:
        """The response for PLAIN (RFC 4616)."""
        return _base64(f"\0{self.username}\0{self.secret}")

    def bearer(self, mechanism: str) -> str:
        """The response for one of :data:`BEARERS` (RFC 7628; XOAUTH2 is older and has no RFC)."""
        if mechanism == "XOAUTH2":
            return _base64(f"user={self.username}\x01auth=Bearer {self.secret}\x01\x01")
        name = self.username.replace("=", "=3D").replace(",", "=2C")
        return _base64(f"n,a={name},\x01auth=Bearer {self.secret}\x01\x01")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
