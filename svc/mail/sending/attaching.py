"""The files of a draft or an outgoing mail: references of its own to the content that the person attached.

So a mail that waits keeps its attachments when an upload, or a message with its attachments, is deleted. Only the file
rows are copied; the content is one blob, however often it is attached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from svc.errors import NotFound
from svc.files import File, add_file, delete_files, files_of, readable_file
from svc.ids import derived_id
from svc.mail.threads.shared_files import shared_file
from svc.principal import Principal
from svc.store import Tx


def adopt(
    tx: Tx,
    principal: Principal,
    *,
    file_ids: Sequence[str],
    origin: str,
    owner_id: str | None,
    holders: Iterable[str],
) -> tuple[str, ...]:
    """The ids of the record's own files for ``file_ids``, in the same order. The record's other files are deleted.

    ``holders`` are the record and, if it was a draft before, that draft: a file that one of them already copied is
    found by the id that the person's client has for it. Raises :class:`NotFound` for a file that the caller may not
    read.
    """
    holders = tuple(holders)
    mine = {file.id for file in files_of(tx, origin=origin)}
    kept: list[str] = []
    for file_id in dict.fromkeys(file_ids):
        names = (file_id, *(derived_id("fil", holder, file_id) for holder in holders))
        known = next((name for name in names if name in mine), None)
        kept.append(known or _take_over(tx, principal, file_id, origin=origin, owner_id=owner_id, holder=holders[0]))
    delete_files(tx, origin=origin, but=kept)
    return tuple(kept)


def renamed(html: str, file_ids: Sequence[str], own_ids: Sequence[str]) -> str:
    """The text with the ids of its pictures (``<img src="cid:fil_…">``) replaced by those from :func:`adopt`."""
    for file_id, own_id in zip(dict.fromkeys(file_ids), own_ids, strict=True):
        if file_id != own_id:
            html = html.replace(f'"cid:{file_id}"', f'"cid:{own_id}"')
    return html


def attach(tx: Tx, file: File, *, origin: str, owner_id: str | None, holder: str) -> str:
    """Add a file row with the content of ``file``, owned by the record ``holder``. Returns its id."""
    own_id = derived_id("fil", holder, file.id)
    add_file(
        tx,
        id=own_id,
        owner_id=owner_id,
        sha256=file.sha256,
        name=file.name,
        mime=file.mime,
        size=file.size,
        origin=origin,
    )
    return own_id


def _take_over(tx: Tx, principal: Principal, file_id: str, *, origin: str, owner_id: str | None, holder: str) -> str:
    file = readable_file(tx, principal, file_id=file_id, readers=(shared_file,))
    if file is None:
        raise NotFound("There is no such file to attach.")
    return attach(tx, file, origin=origin, owner_id=owner_id, holder=holder)
