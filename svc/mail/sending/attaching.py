"""The files of a draft or an outgoing mail: copies by name of what the person attached, owned by the mail itself.

So an upload that is deleted, or a message that goes with its attachments, takes nothing away from a mail that is still
to leave. Only names are copied; the content is one blob, however often it is attached.
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
    """The ids of the record's own files that stand for ``file_ids``, in their order; it keeps no others.

    ``holders`` are the record and, where it was one before, its draft: a file that either has taken over goes on by the
    id that the person knows it by. Raises :class:`NotFound` for what the caller may not read.
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
    """The text whose pictures are shown by the ids that :func:`adopt` answered with: ``<img src="cid:fil_…">``."""
    for file_id, own_id in zip(dict.fromkeys(file_ids), own_ids, strict=True):
        if file_id != own_id:
            html = html.replace(f'"cid:{file_id}"', f'"cid:{own_id}"')
    return html


def attach(tx: Tx, file: File, *, origin: str, owner_id: str | None, holder: str) -> str:
    """Another name for the content of ``file``, owned by the record ``holder``. Its id."""
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
