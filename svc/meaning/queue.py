"""Every SQL statement that writes: who has it switched on, the queue for vectors, and the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from svc.clock import Millis
from svc.erase import Left
from svc.mail import own_texts
from svc.meaning.texts import MAIL_CHARS, MAX_MAIL_PIECES, MAX_PAGE_PIECES, Piece, pieces_of
from svc.pages import searched_texts
from svc.store import ReadTx, Tx, json_array

PAGES: Final = "pages"
TOPIC: Final = "meaning"
ITEMS_A_CALL: Final = 32
PIECES_A_CALL: Final = 64
"""Texts of one call. Beyond: the next one has them."""
REST_MS: Final = 60_000
"""A page must be unchanged for this long before it is read."""
ROWS_A_BATCH: Final = 1_000
READ_CHARS: Final = 4 * MAIL_CHARS
"""Characters of a mail's body, quotations included, in which its own words are looked for. Beyond: they are not."""

GOES: Final = """instr(m.labels, '"SPAM"') = 0 and instr(m.labels, '"TRASH"') = 0 and instr(m.labels, '"DRAFT"') = 0"""
_OWNERS: Final = "(select user_id from meaning_people where state = 'on')"
_LIVE_RUN: Final = "(select id from runs where state in ('queued', 'running', 'waiting'))"


def owner_key(user_id: str | None) -> str:
    """The user's key in the tables."""
    return user_id or ""


def is_on(tx: ReadTx, user_id: str | None) -> bool:
    found = tx.value("select 1 from meaning_people where user_id = :id and state = 'on'", id=owner_key(user_id))
    return found is not None


def is_on_for_anybody(tx: ReadTx) -> bool:
    return tx.value("select 1 from meaning_people where state = 'on' limit 1") is not None


def switch(tx: Tx, user_id: str | None, *, on: bool) -> None:
    """Off: from now on this person's vectors are being deleted."""
    key = owner_key(user_id)
    if on:
        tx.run(
            """
            insert into meaning_people (user_id, state, at) values (:id, 'on', :now)
            on conflict (user_id) do update set state = 'on', at = :now, form = iif(state = 'on', form, null)
            """,
            id=key,
            now=tx.now,
        )
    else:
        tx.run("update meaning_people set state = 'leaving', at = :now where user_id = :id", id=key, now=tx.now)
        tx.run("delete from meaning_queue where owner_id = :id", id=key)


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the rows without a user to the first admin."""
    tx.run("update or ignore meaning_people set user_id = :id where user_id = ''", id=user_id)
    tx.run("update meaning_queue set owner_id = :id where owner_id = ''", id=user_id)


# The queue


def queue_mail(tx: Tx, message_ids: Sequence[str], *, run_id: str, form: str) -> int:
    """Queue the mails whose owners have it on, and that have no vectors of this form. Returns how many were queued."""
    return tx.run(
        f"""
        insert into meaning_queue (message_id, owner_id, run_id)
        select m.id, coalesce(a.owner_id, ''), :run_id
        from mail_messages m join mail_accounts a on a.id = m.account_id
        where m.id in (select value from json_each(:ids)) and not a.erasing and {GOES}
            and coalesce(a.owner_id, '') in {_OWNERS}
            and not exists (select 1 from meaning_vectors v where v.message_id = m.id and v.form = :form)
        on conflict do nothing
        """,
        ids=json_array(message_ids),
        run_id=run_id,
        form=form,
    )


def queue_pages(tx: Tx, page_ids: Sequence[str], *, run_id: str, form: str) -> int:
    return tx.run(
        f"""
        insert into meaning_queue (page_id, owner_id, run_id)
        select p.id, coalesce(p.owner_id, ''), :run_id from pages p
        where p.id in (select value from json_each(:ids)) and p.kind = 'page'
            and coalesce(p.owner_id, '') in {_OWNERS}
            and not exists (select 1 from meaning_vectors v where v.page_id = p.id and v.form = :form)
        on conflict do nothing
        """,
        ids=json_array(page_ids),
        run_id=run_id,
        form=form,
    )


def waiting_of_run(tx: ReadTx, run_id: str) -> int:
    return cast(int, tx.value("select count(*) from meaning_queue where run_id = :id", id=run_id))


def has_any(tx: ReadTx) -> bool:
    return bool(
        tx.value(
            """
            select exists (select 1 from meaning_queue)
                or exists (select 1 from meaning_people where state = 'leaving' or swept = 0)
            """
        )
    )


def drop_ended(tx: Tx) -> None:
    """Delete the queue rows of runs that have ended."""
    tx.run(f"delete from meaning_queue where run_id <> '' and run_id not in {_LIVE_RUN}")


def has_ended(tx: ReadTx) -> bool:
    return bool(
        tx.value(f"select exists (select 1 from meaning_queue where run_id <> '' and run_id not in {_LIVE_RUN})")
    )


@dataclass(frozen=True, kw_only=True)
class Item:
    """A message or a page, and its pieces without a vector; ``kept``: the vectors whose pieces have not changed."""

    number: int
    message_id: str | None
    page_id: str | None
    space: str
    pieces: tuple[Piece, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Items of one owner and one run, so that the cost has one account. ``lost``: numbers of items that have no text
    any more.
    """

    owner_id: str
    run_id: str
    items: tuple[Item, ...]
    lost: tuple[int, ...]

    @property
    def key(self) -> str:
        return f"{self.run_id}|{self.owner_id}"

    @property
    def texts(self) -> list[str]:
        return [piece.text for item in self.items for piece in item.pieces]


def next_batch(tx: ReadTx, *, form: str, before: Millis, passing_by: Sequence[str]) -> Batch | None:
    """The next batch: new items first, then items that runs queued; none of the keys in ``passing_by``."""
    rows = tx.all(
        """
        select q.number, q.message_id, q.page_id, q.owner_id, q.run_id
        from meaning_queue q left join pages p on p.id = q.page_id
        where q.run_id || '|' || q.owner_id not in (select value from json_each(:passing_by))
            and (q.page_id is null or q.run_id <> '' or p.updated_at <= :before)
            and (q.message_id is null or exists (select 1 from mail_search s where s.message_id = q.message_id))
        order by q.run_id <> '', q.number limit :limit
        """,
        passing_by=json_array(passing_by),
        before=before,
        limit=ITEMS_A_CALL,
    )
    if not rows:
        return None
    owner_id, run_id = str(rows[0][3]), str(rows[0][4])
    rows = [row for row in rows if (row[3], row[4]) == (owner_id, run_id)]
    items, lost = _items(tx, rows, form=form)
    return Batch(owner_id=owner_id, run_id=run_id, items=items, lost=lost)


def _items(tx: ReadTx, rows: Sequence[tuple[Any, ...]], *, form: str) -> tuple[tuple[Item, ...], tuple[int, ...]]:
    mails = own_texts(tx, [row[1] for row in rows if row[1] is not None], most_chars=READ_CHARS)
    pages = searched_texts(tx, [row[2] for row in rows if row[2] is not None])
    items: list[Item] = []
    lost: list[int] = []
    count = 0
    for number, message_id, page_id, *_ in rows:
        if message_id in mails:
            one = mails[message_id]
            space, pieces = one.account_id, pieces_of(one.head, one.text, most=MAX_MAIL_PIECES)
        elif page_id in pages:
            title, body = pages[page_id]
            space, pieces = PAGES, pieces_of(title, body, most=MAX_PAGE_PIECES)
        else:
            lost.append(number)
            continue
        known = _known(tx, message_id, page_id, form=form)
        new = tuple(piece for piece in pieces if (piece.part, piece.digest) not in known)
        if items and count + len(new) > PIECES_A_CALL:
            break
        count += len(new)
        kept = tuple(known[piece.part, piece.digest] for piece in pieces if (piece.part, piece.digest) in known)
        items.append(Item(number=number, message_id=message_id, page_id=page_id, space=space, pieces=new, kept=kept))
    return tuple(items), tuple(lost)


def _known(tx: ReadTx, message_id: str | None, page_id: str | None, *, form: str) -> dict[tuple[int, bytes], int]:
    rows = tx.all(
        """
        select part, digest, id from meaning_vectors
        where (message_id = :message_id or page_id = :page_id) and form = :form
        """,
        message_id=message_id,
        page_id=page_id,
        form=form,
    )
    return {(cast(int, part), bytes(cast(bytes, digest))): cast(int, row_id) for part, digest, row_id in rows}


Packed = tuple[bytes, bytes]
"""The signs and the bytes of a vector."""


def put(tx: Tx, batch: Batch, vectors: Sequence[Packed], *, form: str) -> None:
    """Store them instead of the old vectors, and remove their items from the queue: all of it, or nothing.

    A run that reads everything for another model keeps the vectors of the earlier model: these are searched until the
    run is complete.
    """
    made = iter(vectors)
    for item in batch.items:
        pieces = [(piece, next(made)) for piece in item.pieces]
        is_wanted = _still_there(tx, item, batch.owner_id)
        tx.run("delete from meaning_queue where number = :number", number=item.number)
        if not is_wanted:
            continue
        tx.run(
            """
            delete from meaning_vectors
            where (message_id = :message_id or page_id = :page_id)
                and id not in (select value from json_each(:kept)) and (form = :form or :run_id = '')
            """,
            form=form,
            run_id=batch.run_id,
            message_id=item.message_id,
            page_id=item.page_id,
            kept=json_array(item.kept),
        )
        for piece, (bits, vector) in pieces:
            tx.run(
                """
                insert into meaning_vectors (space, message_id, page_id, part, form, digest, bits, vector)
                values (:space, :message_id, :page_id, :part, :form, :digest, :bits, :vector)
                """,
                space=item.space,
                message_id=item.message_id,
                page_id=item.page_id,
                part=piece.part,
                form=form,
                digest=piece.digest,
                bits=bits,
                vector=vector,
            )
    for number in batch.lost:
        tx.run("delete from meaning_queue where number = :number", number=number)


def _still_there(tx: Tx, item: Item, owner_id: str) -> bool:
    """Whether the item is not deleted, switched off or being erased. A changed item has a new number, and is read
    again.
    """
    here = tx.value(
        """
        select exists (select 1 from meaning_queue where number = :number)
            and exists (select 1 from meaning_people where user_id = :owner_id and state = 'on')
            and (:message_id is null or exists (
                select 1 from mail_messages m join mail_accounts a on a.id = m.account_id
                where m.id = :message_id and not a.erasing
            ))
        """,
        number=item.number,
        owner_id=owner_id,
        message_id=item.message_id,
    )
    return bool(here)


# The form that is searched


def searched_form(tx: ReadTx, user_id: str | None) -> str | None:
    """The form in which all items of the person were last read; ``None`` if they never were."""
    return cast("str | None", tx.value("select form from meaning_people where user_id = :id", id=owner_key(user_id)))


def is_whole(tx: Tx, user_id: str | None, *, form: str) -> None:
    """All items of the person are read in this form: search it from now on, and delete the vectors of other models."""
    tx.run(
        "update meaning_people set form = :form, swept = 0 where user_id = :id and state = 'on'",
        form=form,
        id=owner_key(user_id),
    )


def delete_other_forms(tx: Tx) -> bool:
    """Delete a batch of other models' vectors of people whose form is complete. Returns whether there may be more."""
    row = tx.one("select user_id, form from meaning_people where swept = 0 limit 1")
    if row is None:
        return False
    gone = tx.run(
        """
        delete from meaning_vectors where id in (
            select v.id from meaning_vectors v join mail_accounts a on a.id = v.space
            where coalesce(a.owner_id, '') = :id and v.form <> :form limit :limit
        ) or id in (
            select v.id from meaning_vectors v join pages p on p.id = v.page_id
            where coalesce(p.owner_id, '') = :id and v.form <> :form limit :limit
        )
        """,
        id=row[0],
        form=row[1],
        limit=ROWS_A_BATCH,
    )
    if not gone:
        tx.run("update meaning_people set swept = 1 where user_id = :id", id=row[0])
    return True


# Runs that can't continue


def fail_run(tx: Tx, run_id: str, problem: str) -> None:
    """Delete its queue rows. The run gets the reason when it looks again."""
    tx.run("delete from meaning_queue where run_id = :id", id=run_id)
    tx.run(
        "insert into meaning_faults (run_id, problem) values (:id, :problem) on conflict do nothing",
        id=run_id,
        problem=problem,
    )


def fault_of_run(tx: Tx, run_id: str) -> str:
    """Why the run can't continue; empty if it can."""
    problem = tx.value("select problem from meaning_faults where run_id = :id", id=run_id)
    tx.run(
        f"delete from meaning_faults where run_id = :id or run_id not in {_LIVE_RUN}",
        id=run_id,
    )
    return str(problem or "")


# Deleting


def leave(tx: Tx) -> bool:
    """Delete a batch of vectors of people who switched it off. Returns whether there may be more."""
    user_id = tx.value("select user_id from meaning_people where state = 'leaving' limit 1")
    if user_id is None:
        return False
    gone = tx.run(
        """
        delete from meaning_vectors where id in (
            select v.id from meaning_vectors v join mail_accounts a on a.id = v.space
            where coalesce(a.owner_id, '') = :id limit :limit
        ) or id in (
            select v.id from meaning_vectors v join pages p on p.id = v.page_id
            where coalesce(p.owner_id, '') = :id limit :limit
        )
        """,
        id=user_id,
        limit=ROWS_A_BATCH,
    )
    if not gone:
        tx.run("delete from meaning_people where user_id = :id and state = 'leaving'", id=user_id)
    return True


def erase(tx: Tx, *, account_id: str) -> Left:
    """Erase an account: its vectors, and its rows in the queue."""
    gone = tx.run(
        "delete from meaning_vectors where id in (select id from meaning_vectors where space = :id limit :limit)",
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    gone += tx.run(
        """
        delete from meaning_queue where number in (
            select q.number from meaning_queue q join mail_messages m on m.id = q.message_id
            where m.account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    return "more" if gone else "nothing"
