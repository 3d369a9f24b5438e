"""Statements that read sanitized bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from svc.formats.html import CleanHtml
from svc.store import ReadTx, json_array, texts_of

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
