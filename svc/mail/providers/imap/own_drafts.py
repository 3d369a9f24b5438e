"""Tells our copies of drafts from the versions that other programs made of them.

Such a version may keep our mark, and even the date, so only the text is certain. The text is read only for a message
with a mark and the size of a copy of ours, and not where the server named the UID of the copy: that one is known.

Some servers change the text that they are given, and the answer that names the copy may get lost. Until it is known
what the server made of a copy, a message with its mark that says the same is that copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from svc.formats.mime import parse_message
from svc.log import Log
from svc.mail.providers.imap.protocol.messages import Message
from svc.mail.providers.imap.rows import drafts as draft_rows
from svc.mail.providers.imap.session import Using
from svc.nursery import ThreadPool
from svc.store import Store

_TEXT: Final = "(UID BODY.PEEK[])"
MAX_COMPARED_BYTES: Final = 1024 * 1024
"""A larger copy is known by its text alone."""


def digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()


async def content_digest(raw: bytes, threads: ThreadPool, log: Log) -> bytes | None:
    """The digest of what a message says, however it is written; ``None`` if it is too large, or can't be read."""
    if len(raw) > MAX_COMPARED_BYTES:
        return None
    try:
        return await threads.run(_content_digest, raw)
    except Exception as fault:  # a boundary: one mail from outside must never stop the account
        log.error("mail.draft_unread", fault, size=len(raw))
        return None


def _content_digest(raw: bytes) -> bytes:
    """Runs in a thread: another program may have written the message."""
    said = parse_message(raw)
    content = [
        said.subject,
        [[one.address for one in people] for people in (said.to, said.cc, said.bcc)],
        [" ".join(text.split()) for text in (said.text, said.html or "")],
        [[one.filename, digest(one.content).hex()] for one in said.attachments],
    ]
    return digest(msgspec.json.encode(content))


async def copies_among(
    met: Sequence[Message],
    *,
    account_id: str,
    store: Store,
    threads: ThreadPool,
    log: Log,
    using: Using,
    known: Iterable[int] = (),
) -> frozenset[int]:
    """The UIDs of our copies among the messages, whose folder is open. ``known``: UIDs that are known to be copies."""
    marks = {one.uid: one.draft_mark for one in met if one.uid is not None}
    claims = await store.read(draft_rows.claims, account_id=account_id, marks=marks.values())
    found: set[int] = set()
    for one in met:
        claim = claims.get(one.draft_mark or "")
        if one.uid is None or claim is None:
            continue
        if claim.sha256 is None or one.uid in known:
            found.add(one.uid)
        elif one.size == claim.size or claim.content is not None:
            raw = await text_of(using, one.uid)
            if raw is not None and digest(raw) == claim.sha256:
                found.add(one.uid)
            elif (
                claim.content is not None
                and raw is not None
                and (await content_digest(raw, threads, log) == claim.content)
            ):
                found.add(one.uid)
                size = len(raw) if one.size is None else one.size
                mark = one.draft_mark or ""
                await store.write(draft_rows.claim, account_id=account_id, mark=mark, size=size, sha256=digest(raw))
    return frozenset(found)


async def text_of(using: Using, uid: int) -> bytes | None:
    """``None`` if the message is gone, or too large to be read."""
    texts = (await using.command("UID", "FETCH", str(uid), _TEXT)).all(Message)
    return next((one.raw for one in texts if one.uid == uid and one.raw is not None), None)
