"""Computes the rows of a sync's files after the sync. Pure: the result for each file is already known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from svc.gitops.model import Broken, Found, Known, Origin
from svc.gitops.planning import LOOK_AGAIN, NEVER_READ
from svc.store import Value, json_array


def row_after(
    before: Known | None,
    one: Found,
    *,
    page_id: str | None,
    file_id: str | None,
    broken: Broken | None,
    is_read: bool,
    digest: str | None,
) -> Known:
    """``page_id`` and ``file_id``: what the file has just become here. ``digest``: ``None`` keeps the old one.

    Returns ``before`` itself if nothing changed.
    """
    row = before or Known(
        file=one.file,
        kind=one.kind,
        page_id=None,
        file_id=None,
        path=None,
        blob=None,
        seen_blob=one.blob,
        digest=NEVER_READ,
    )
    was_put, page_id = page_id is not None, page_id or row.page_id
    if broken is not None and not was_put:
        path = one.path if one.problem is None else row.path if page_id is not None else None
        looks_again = one.problem is not None or digest == LOOK_AGAIN
        return replace(
            row,
            kind=one.kind if page_id is None else "page",
            seen_blob=one.blob,
            path=path,
            problem=broken.reason,
            line=broken.line,
            digest=LOOK_AGAIN if looks_again else row.digest,
        )
    if not ((is_read and page_id is not None) or (one.kind == "file" and one.problem is None)):
        return row
    after = Known(
        file=row.file,
        kind=one.kind,
        page_id=page_id,
        file_id=(file_id or row.file_id) if one.kind == "file" else None,
        path=one.path,
        blob=one.blob,
        seen_blob=one.blob,
        digest=row.digest if digest is None else digest,
        title=row.title,
        problem=None if broken is None else broken.reason,
        line=None if broken is None else broken.line,
    )
    return row if after == row and before is not None else after


def values_of(row: Known, *, origin: Origin | None, strangers: Sequence[str]) -> dict[str, Value]:
    """``origin``: ``None`` if it has not changed."""
    return {
        "file": row.file,
        "kind": row.kind,
        "page_id": row.page_id,
        "file_id": row.file_id,
        "path": row.path,
        "blob": row.blob,
        "seen_blob": row.seen_blob,
        "commit": None if origin is None else origin.commit,
        "author": None if origin is None else origin.author,
        "address": None if origin is None else origin.address,
        "at": None if origin is None else origin.at,
        "digest": LOOK_AGAIN if strangers else row.digest,
        "strangers": json_array(strangers),
        "problem": row.problem,
        "line": row.line,
    }
