"""One-time sign-in links for the owner of the home directory: ``svc claim`` writes one, the server redeems it.

A link is a file ``spool/claim-<digest>.json`` in the home (0700), so the command works beside a running server and
before a first start, without touching the database. Redeeming removes the file first: if two open the link, one gets
in.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from svc.clock import Millis
from svc.identity import tokens
from svc.identity.model import CLAIM_LINK_LIFETIME_MS
from svc.store import write_durably

_MAX_BYTES: Final = 4_096


class _Link(msgspec.Struct):
    email: str
    expires_at: Millis


def make(spool: Path, *, email: str, now: Millis) -> str:
    """Write a link for ``email``. Returns its token, which is stored nowhere else."""
    token = tokens.new_token()
    link = _Link(email=email, expires_at=now + CLAIM_LINK_LIFETIME_MS)
    write_durably(_path(spool, token), msgspec.json.encode(link))
    return token


def take(spool: Path, token: str, now: Millis) -> str | None:
    """The address that ``token`` signs in, once; ``None`` for a wrong, used or expired one. Blocks."""
    path = _path(spool, token)
    taken = path.with_suffix(f".{os.getpid()}.taken")
    try:
        path.rename(taken)
        with taken.open("rb") as file:
            link = msgspec.json.decode(file.read(_MAX_BYTES), type=_Link)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    finally:
        taken.unlink(missing_ok=True)
    return link.email if link.expires_at > now else None


def _path(spool: Path, token: str) -> Path:
    return spool / f"claim-{tokens.digest(token)}.json"
