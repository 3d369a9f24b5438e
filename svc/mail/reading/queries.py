"""Statements that read sanitized bodies, a message's attachments, and the blob of its raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from svc.formats.html import CleanHtml
from svc.mail.accounts.access import READABLE, who
from svc.mail.model import AttachmentRef, MessageHeaders
from svc.principal import Principal
from svc.store import ReadTx, damage, json_array, texts_of


@dataclass(frozen=True, kw_only=True)
class Source:
    """The blob of a message's raw bytes."""

    subject: str
    raw_sha256: str
    raw_size: int


def source_for(tx: ReadTx, principal: Principal, *, message_id: str) -> Source | None:
    row = tx.one(
        f"""
        select subject, raw_sha256, raw_size from mail_messages where id = :id and account_id in {READABLE}
        """,
        id=message_id,
        **who(principal),
    )
    if row is None:
        return None
    return Source(subject=cast(str, row[0]), raw_sha256=cast(str, row[1]), raw_size=cast(int, row[2]))


@dataclass(frozen=True, kw_only=True)
class Attached:
    """All attachments of a message."""

    subject: str
    attachments: tuple[AttachmentRef, ...]
    damaged: frozenset[str]
    """The hashes of those that are known to be damaged."""


def attached_to(tx: ReadTx, principal: Principal, *, message_id: str) -> Attached | None:
    row = tx.one(
        f"select subject, headers from mail_messages where id = :id and account_id in {READABLE}",
        id=message_id,
        **who(principal),
    )
    if row is None:
        return None
    headers = msgspec.json.decode(cast(str, row[1]), type=MessageHeaders)
    damaged = damage.damaged_among(tx, [one.sha256 for one in headers.attachments])
    return Attached(subject=cast(str, row[0]), attachments=headers.attachments, damaged=damaged)


# Sanitized bodies


def clean_bodies(tx: ReadTx, *, body_sha256s: Sequence[str], policy: int) -> dict[str, CleanHtml]:
    rows = tx.all(
        """
        select body_sha256, html, blocked_images, remote_images, warnings from mail_clean
        where policy = :policy and body_sha256 in (select value from json_each(:ids))
        """,
        policy=policy,
        ids=json_array(body_sha256s),
    )
    return {
        str(sha256): CleanHtml(
            html=str(html),
            blocked_images=cast(int, blocked),
            remote_images=texts_of(cast(str, remote)),
            warnings=texts_of(cast(str, warnings)),
        )
        for sha256, html, blocked, remote, warnings in rows
    }
