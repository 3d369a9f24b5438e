"""Tells our copies of drafts from the versions that other programs made of them.

Such a version may keep our mark, and even the date, so only the text is certain. The text is read only for a message
with a mark and the size of a copy of ours, and not where the server named the UID of the copy: that one is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.rows import drafts as draft_rows
from svc.mail.providers.imap.session import Using
from svc.store import Store

_TEXT: Final = "(UID BODY.PEEK[])"


def digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


async def copies_among(
    met: Sequence[Message], *, account_id: str, store: Store, using: Using, known: Iterable[int] = ()
) -> frozenset[int]:
    """The UIDs of our copies among the messages, whose folder is open. ``known``: UIDs that are known to be copies."""
    marks = {one.uid: one.draft_mark for one in met if one.uid is not None}
    claims = await store.read(draft_rows.claims, account_id=account_id, marks=marks.values())
    found: set[int] = set()
    for one in met:
        claim = claims.get(one.draft_mark or "")
        if one.uid is None or claim is None:
            continue
        is_sure = claim.sha256 is None or one.uid in known
        if is_sure or (one.size == claim.size and await text_digest(using, one.uid) == claim.sha256):
            found.add(one.uid)
    return frozenset(found)


async def text_digest(using: Using, uid: int) -> bytes | None:
    """``None`` if the message is gone, or too large to be read."""
    texts = (await using.command("UID", "FETCH", str(uid), _TEXT)).all(Message)
    return next((digest(one.raw) for one in texts if one.uid == uid and one.raw is not None), None)
