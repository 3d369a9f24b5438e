"""The database side of the exporter, each function in one transaction: reads edits that wait, and records their
results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.gitops import rows
from svc.gitops.git.commits import Person
from svc.gitops.model import GITOPS, TOPIC
from svc.gitops.rendering import Links
from svc.pages import Edit, edits, managed
from svc.store import ReadTx, Tx, json_array

EDITS_AT_ONCE: Final = 500


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The file of a page, and the blob that has the page's text here."""

    file: str
    blob: str | None


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Edits to carry out. ``since``: the commit that the pages here are based on. ``people``: by user id."""

    edits: Sequence[Edit]
    standing: Mapping[str, Standing]
    links: Links
    people: Mapping[str, Person]
    since: str | None


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A page whose edits ``seqs`` are carried out. ``file``: its file now; ``None``: it has none any more. ``blob``:
    the blob with the text here; ``there``: the one in the tree."""

    page_id: str
    path: str | None
    seqs: Sequence[int]
    file: str | None
    blob: str | None
    there: str | None


@dataclass(frozen=True, kw_only=True)
class InTheWay:
    """A page in conflict, which waits for a person. ``there_blob`` and ``there_text``: of ``file`` in the repository;
    ``None`` if it is gone."""

    page_id: str
    file: str
    reason: str
    is_clash: bool
    there_blob: str | None
    there_text: str | None


def batch(tx: ReadTx) -> Batch:
    """The next edits. Pages in conflict are left out: their edits wait for a person, and other edits do not wait for
    them."""
    stuck = [str(page_id) for (page_id,) in tx.all("select page_id from gitops_conflicts")]
    waiting = edits.waiting_edits(tx, GITOPS, most=EDITS_AT_ONCE, but_of=stuck)
    page_ids = {page.page_id for edit in waiting for page in edit.pages}
    found = tx.all(
        "select page_id, file, blob from gitops_files where page_id in (select value from json_each(:ids))",
        ids=json_array(page_ids),
    )
    return Batch(
        edits=waiting,
        standing={page_id: Standing(file=file, blob=blob) for page_id, file, blob in found},
        links=links_now(tx) if waiting else Links(addresses={}, files={}),
        people=_people(tx, {edit.author_id for edit in waiting if edit.author_id}),
        since=tx.value("select commit_id from gitops_state"),
    )


def something_waits(tx: ReadTx) -> bool:
    """Whether there are edits, even those in conflict (the cause may be gone), or a page that a sync has to look at."""
    to_look_at = tx.value(
        """
        select 1 from gitops_files where kind = 'page' and digest = '' and page_id is not null and problem is null
            and strangers = '[]' limit 1
        """
    )
    return to_look_at is not None or edits.count_waiting(tx, GITOPS) > 0


def stuck_files(tx: ReadTx) -> list[tuple[str, str, str | None, bool]]:
    """``(page, file, its blob at the conflict, whether there are newer edits)`` of each conflict."""
    found = tx.all("select page_id, file, there_blob, seq from gitops_conflicts order by page_id")
    return [(page_id, file, blob, edits.newest_waiting(tx, page_id) != seq) for page_id, file, blob, seq in found]


def try_again(tx: Tx, *, page_ids: Sequence[str]) -> None:
    """Something has changed about these conflicts: try again, with all waiting edits of each page as one edit."""
    for page_id in page_ids:
        end_conflict(tx, page_id)
        edits.as_one(tx, GITOPS, page_id)


def end_conflict(tx: Tx, page_id: str) -> None:
    if tx.run("delete from gitops_conflicts where page_id = :id", id=page_id):
        managed.set_in_conflict(tx, GITOPS, page_id, False)
        _tell(tx)


def settle(tx: Tx, *, carried: Sequence[Carried], in_the_way: Sequence[InTheWay]) -> None:
    """Remove the edits that were carried out, record the file of each page, and record the conflicts."""
    for page in carried:
        for seq in page.seqs:
            edits.carried_out(tx, GITOPS, seq=seq, page_ids=[page.page_id])
        stands_as(tx, page_id=page.page_id, path=page.path, file=page.file, blob=page.blob, there=page.there)
        _tell(tx)
    for one in in_the_way:
        if tx.value("select 1 from pages where id = :id", id=one.page_id) is None:
            edits.as_one(tx, GITOPS, one.page_id)  # a deletion: nothing can be in its way, and nobody could choose
            continue
        tx.run(
            """
            insert into gitops_conflicts (page_id, file, reason, is_clash, there_blob, there_text, seq, at)
            values (:page_id, :file, :reason, :is_clash, :blob, :text, :seq, :now)
            """,
            page_id=one.page_id,
            file=one.file,
            reason=one.reason,
            is_clash=int(one.is_clash),
            blob=one.there_blob,
            text=one.there_text,
            seq=edits.newest_waiting(tx, one.page_id),
            now=tx.now,
        )
        managed.set_in_conflict(tx, GITOPS, one.page_id, True)
        _tell(tx)


def contest(tx: Tx, *, blobs: Mapping[str, str]) -> None:
    """Make the page's text here an edit, which will then meet the conflict. ``blobs``: by file of the pages that both
    branches have changed, the blob that both started from."""
    for file, blob in blobs.items():
        row = tx.one(
            "select f.page_id, p.path from gitops_files f join pages p on p.id = f.page_id where f.file = :file",
            file=file,
        )
        if row is not None:
            edits.give_up(tx, GITOPS, row[0])
            edits.note_whole(tx, GITOPS, GITOPS, row[0], was_path=row[1])
            end_conflict(tx, row[0])
            tx.run("update gitops_files set blob = :blob where file = :file", file=file, blob=blob)


def stands_as(tx: Tx, *, page_id: str, path: str | None, file: str | None, blob: str | None, there: str | None) -> None:
    """Record that the page is this file, with the text of ``blob``; the next sync looks at it again. ``file`` ``None``:
    the page has no file."""
    tx.run("delete from gitops_files where page_id = :id and file is not :file", id=page_id, file=file)
    if file is None:
        return
    tx.run(
        """
        insert into gitops_files (file, kind, page_id, path, blob, seen_blob)
        values (:file, 'page', :page_id, :path, :blob, :there)
        on conflict (file) do update set kind = 'page', page_id = excluded.page_id, path = excluded.path,
            blob = excluded.blob, seen_blob = excluded.seen_blob, digest = '', problem = null, line = null
        """,
        file=file,
        page_id=page_id,
        path=path,
        blob=blob,
        there=there or "",
    )


def links_now(tx: ReadTx) -> Links:
    addresses = rows.addresses(tx)
    return Links(addresses=addresses, files={address: file for file, address in addresses.items()})


def _people(tx: ReadTx, user_ids: set[str]) -> dict[str, Person]:
    found = tx.all(
        "select id, name, email from users where id in (select value from json_each(:ids))", ids=json_array(user_ids)
    )
    return {user_id: Person(name=name or email.partition("@")[0], address=email) for user_id, name, email in found}


def _tell(tx: Tx) -> None:
    if not any(row.topic == TOPIC for row in tx.emitted):
        rows.tell(tx)
