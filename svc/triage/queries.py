"""SQL statements on the tables of triage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from svc.clock import Millis
from svc.mail import Cursor
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array
from svc.triage.model import KEEP_MS, MAX_LEARNED, By, Kind, Sorted

_SORTED: Final = "thread_id, account_id, message_id, kind, by, because, at, seq"
PRUNE_ROWS: Final = 1_000


def owner_of(principal: Principal) -> str:
    return principal.user_id or ""


def asks_model(tx: ReadTx, owner: str) -> bool | None:
    """Whether a model is asked where the rules are not sure; ``None`` where triage is off."""
    found = tx.value("select asks_model from triage_people where owner = :owner", owner=owner)
    return None if found is None else bool(found)


def anybody(tx: ReadTx) -> bool:
    return tx.value("select 1 from triage_people limit 1") is not None


def switch(tx: Tx, owner: str, *, on: bool, asks_model: bool) -> None:
    """Switching off deletes the sorted threads, and keeps what was learned."""
    if not on:
        tx.run("delete from triage_people where owner = :owner", owner=owner)
        tx.run("delete from triage_threads where owner = :owner", owner=owner)
        return
    tx.run(
        """
        insert into triage_people (owner, asks_model, since) values (:owner, :asks, :now)
        on conflict (owner) do update set asks_model = :asks
        """,
        owner=owner,
        asks=int(asks_model),
        now=tx.now,
    )


def one(tx: ReadTx, thread_id: str) -> Sorted | None:
    row = tx.one(f"select {_SORTED} from triage_threads where thread_id = :id", id=thread_id)
    return None if row is None else _sorted(row)


def some(tx: ReadTx, owner: str, thread_ids: Sequence[str]) -> list[Sorted]:
    rows = tx.all(
        f"""
        select {_SORTED} from triage_threads
        where owner = :owner and thread_id in (select value from json_each(:ids))
        """,
        owner=owner,
        ids=json_array(list(thread_ids)),
    )
    return [_sorted(row) for row in rows]


def put(tx: Tx, owner: str, wanted: Sorted) -> None:
    tx.run(
        """
        insert into triage_threads (thread_id, account_id, owner, message_id, kind, by, because, at, seq)
        values (:thread_id, :account_id, :owner, :message_id, :kind, :by, :because, :at, :seq)
        on conflict (thread_id) do update set owner = :owner, message_id = :message_id, kind = :kind, by = :by,
            because = :because, at = :at, seq = :seq
        """,
        thread_id=wanted.thread_id,
        account_id=wanted.account_id,
        owner=owner,
        message_id=wanted.message_id,
        kind=wanted.kind,
        by=wanted.by,
        because=wanted.because,
        at=wanted.at,
        seq=wanted.seq,
    )


def of_kind(tx: ReadTx, owner: str, kind: Kind, *, cursor: Cursor | None, limit: int) -> list[Sorted]:
    """The newest ``limit`` after ``cursor``."""
    after = "and (at, thread_id) < (:at, :id)" if cursor else ""
    place: dict[str, Any] = {"at": cursor.at, "id": cursor.id} if cursor else {}
    rows = tx.all(
        f"""
        select {_SORTED} from triage_threads where owner = :owner and kind = :kind {after}
        order by at desc, thread_id desc limit :limit
        """,
        owner=owner,
        kind=kind,
        limit=limit,
        **place,
    )
    return [_sorted(row) for row in rows]


def learned_of(tx: ReadTx, owner: str, address: str) -> Kind | None:
    found = tx.value(
        "select kind from triage_senders where owner = :owner and address = :address", owner=owner, address=address
    )
    return cast("Kind | None", found)


def learned(tx: ReadTx, owner: str) -> list[tuple[str, Kind]]:
    """All remembered corrections, by address."""
    rows = tx.all("select address, kind from triage_senders where owner = :owner order by address", owner=owner)
    return [(cast(str, address), cast(Kind, kind)) for address, kind in rows]


def learn(tx: Tx, owner: str, senders: Iterable[tuple[str, Kind, Millis]]) -> None:
    """Keep corrections: of which sender, to which kind, and when. The oldest are forgotten."""
    tx.run_many(
        """
        insert into triage_senders (owner, address, kind, at) values (:owner, :address, :kind, :at)
        on conflict (owner, address) do update set kind = excluded.kind, at = excluded.at
        """,
        [{"owner": owner, "address": address, "kind": kind, "at": at} for address, kind, at in senders],
    )
    tx.run(
        """
        delete from triage_senders where owner = :owner and address in (
            select address from triage_senders where owner = :owner order by at desc, address limit -1 offset :kept
        )
        """,
        owner=owner,
        kept=MAX_LEARNED,
    )


def unlearn(tx: Tx, owner: str, address: str) -> bool:
    return bool(
        tx.run("delete from triage_senders where owner = :owner and address = :address", owner=owner, address=address)
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the rows from before there was any user to the first admin."""
    tx.run("update or replace triage_people set owner = :user_id where owner = ''", user_id=user_id)
    tx.run("update triage_threads set owner = :user_id where owner = ''", user_id=user_id)
    tx.run("update or replace triage_senders set owner = :user_id where owner = ''", user_id=user_id)


def prune(tx: Tx) -> None:
    """Delete what came long ago, and threads that no longer exist."""
    tx.run(
        """
        delete from triage_threads where thread_id in (
            select k.thread_id from triage_threads k left join mail_threads t on t.id = k.thread_id
            where k.at < :oldest or t.id is null limit :limit
        )
        """,
        oldest=tx.now - KEEP_MS,
        limit=PRUNE_ROWS,
    )


def let_go(tx: Tx, account_id: str, *, limit: int) -> int:
    return tx.run(
        """
        delete from triage_threads where thread_id in (
            select thread_id from triage_threads where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=limit,
    )


def _sorted(row: Sequence[object]) -> Sorted:
    thread_id, account_id, message_id, kind, by, because, at, seq = row
    return Sorted(
        thread_id=cast(str, thread_id),
        account_id=cast(str, account_id),
        message_id=cast(str, message_id),
        kind=cast(Kind, kind),
        by=cast(By, by),
        because=cast(str, because),
        at=cast(int, at),
        seq=cast(int, seq),
    )
