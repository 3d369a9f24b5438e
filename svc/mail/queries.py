"""Every statement that reads mail.

None counts or groups over messages to show a list; ownership stands in each ``where``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.mail.model import (
    HIDDEN_LABELS,
    Account,
    AccountState,
    Label,
    MessageHeaders,
    MessageRow,
    MirrorRow,
    Person,
    ProviderName,
    Section,
    ThreadRow,
)
from svc.mail.provider import Trouble
from svc.mail.sanitize import CleanHtml
from svc.principal import Principal
from svc.store import ReadTx, Value

_ACCOUNT: Final = """
    id, owner_id, address, provider, state, problem, history_id, sweep_no, sweep_history_id, sweep_page_token,
    sweep_started_at, progress_done, progress_total, messages, unread_threads, last_synced_at,
    unread_twins, cause, provider_total, erasing
"""
_THREAD: Final = """
    t.id, t.account_id, t.subject, t.snippet, t.sender_name, t.sender_address, t.last_message_at, t.messages,
    t.in_inbox, t.unread, t.visible, t.attachments, t.labels,
    (select s.until from mail_snoozes s where s.thread_id = t.id), t.twins, t.leads
"""
_MESSAGE: Final = """
    id, account_id, thread_id, provider_message_id, sent_at, sender_name, sender_address, subject, headers, labels,
    body_sha256
"""
_LEADS: Final = 15  # among the columns of _THREAD
_SECTION_WHERE: Final[dict[Section, str]] = {
    "inbox": "t.in_inbox > 0",
    "skipped": "t.in_inbox = 0 and t.visible > 0",
}
_LEADER_IS_LISTED: Final = """
    (t.twins is not null and not t.leads and exists (
        select 1 from mail_threads o join mail_thread_labels ol on ol.account_id = o.account_id
            and ol.label_id = (select value from json_each(:label_ids) where key = o.account_id)
            and ol.last_message_at = o.last_message_at and ol.thread_id = o.id
        where o.twins = t.twins and o.leads
    ))
"""
_MIRROR: Final = "m.id, m.provider_message_id, m.add_labels, m.remove_labels, m.attempts, m.created_at"
_GOES_NEXT: Final = """
    m.account_id = :id and m.next_at <= :now and not exists (
        select 1 from mail_mirror e
        where e.account_id = m.account_id and e.provider_message_id = m.provider_message_id and e.id < m.id
    )
"""
# A device paired before the claim has no user yet.
_MAY_SEE: Final = "(:everything or owner_id is :user_id) and not erasing"

decode_headers = msgspec.json.Decoder(MessageHeaders).decode
decode_labels = msgspec.json.Decoder(tuple[str, ...]).decode


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """Where a page of threads ended: the next begins strictly after this row in list order."""

    last_message_at: Millis
    id: str


# Accounts


def accounts(tx: ReadTx, principal: Principal) -> list[Account]:
    """The caller's accounts, oldest first."""
    rows = tx.all(f"select {_ACCOUNT} from mail_accounts where {_MAY_SEE} order by created_at, id", **_who(principal))
    return [_account(row) for row in rows]


def account_for(tx: ReadTx, principal: Principal, *, account_id: str) -> Account | None:
    row = tx.one(
        f"select {_ACCOUNT} from mail_accounts where id = :id and {_MAY_SEE}", id=account_id, **_who(principal)
    )
    return None if row is None else _account(row)


def account(tx: ReadTx, account_id: str) -> Account | None:
    """For the service's own loops: no principal asks."""
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where id = :id", id=account_id)
    return None if row is None else _account(row)


def connected_account(tx: ReadTx, account_id: str) -> Account | None:
    """For those who write what the provider said: nothing is written any more once the account is disconnected."""
    found = account(tx, account_id)
    return None if found is None or found.state == "disconnected" else found


def account_by_address(tx: ReadTx, address: str) -> Account | None:
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where address = :address", address=address.lower())
    return None if row is None else _account(row)


def addresses_of(tx: ReadTx, *, owner_id: str | None) -> frozenset[str]:
    """The addresses of all accounts of one owner, lower case."""
    rows = tx.all("select address from mail_accounts where owner_id is :owner_id", owner_id=owner_id)
    return frozenset(str(address) for (address,) in rows)


def owners_of(tx: ReadTx, *, account_ids: Iterable[str]) -> dict[str, str | None]:
    """Whose these accounts are."""
    rows = tx.all(
        "select id, owner_id from mail_accounts where id in (select value from json_each(:ids))",
        ids=msgspec.json.encode(list(account_ids)).decode(),
    )
    return {str(account_id): cast("str | None", owner_id) for account_id, owner_id in rows}


def connected_accounts(tx: ReadTx) -> list[Account]:
    rows = tx.all(f"select {_ACCOUNT} from mail_accounts where state <> 'disconnected' order by created_at, id")
    return [_account(row) for row in rows]


def labels(tx: ReadTx, account_id: str) -> dict[str, Label]:
    """Those that the provider lists, by id."""
    rows = tx.all(
        "select label_id, name, system, color from mail_labels where account_id = :id and not gone", id=account_id
    )
    return {
        str(label_id): Label(id=str(label_id), name=str(name), system=bool(system), color=cast("str | None", color))
        for label_id, name, system, color in rows
    }


def pending_counts(tx: ReadTx, account_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Per account: local changes the provider has not confirmed, and messages passed over. Both tables stay small."""
    found: dict[str, tuple[int, int]] = {}
    for account_id in account_ids:
        waiting = tx.value("select count(*) from mail_mirror where account_id = :id", id=account_id)
        failed = tx.value("select count(*) from mail_ledger where account_id = :id", id=account_id)
        found[account_id] = (cast(int, waiting), cast(int, failed))
    return found


# Threads


def threads(
    tx: ReadTx, *, account_ids: Sequence[str], section: Section, cursor: Cursor | None, limit: int
) -> list[ThreadRow]:
    """The newest ``limit`` threads of a section after ``cursor``, merged over the accounts.

    Of twins (one mail in several of these accounts) only the one that leads. The walks have no end of their own then:
    they go on in step, for the same mail has the same date everywhere.
    """
    if len(account_ids) == 1:
        return _merged([_walk(tx, account_id=account_ids[0], section=section, cursor=cursor, limit=limit)], limit)
    walks = [_walk(tx, account_id=one, section=section, cursor=cursor, limit=-1) for one in account_ids]
    return _merged([(row for row in walk if row[_LEADS]) for walk in walks], limit)


def threads_by_label(tx: ReadTx, *, label_ids: Mapping[str, str], cursor: Cursor | None, limit: int) -> list[ThreadRow]:
    """The newest ``limit`` threads after ``cursor`` that carry a label. ``label_ids``: the label's id in each account.

    What is hidden as a whole is listed only under the labels that hide it, as at the provider. A twin is left out
    where the one that leads is listed.
    """
    walks = [
        _walk_label(tx, account_id=account_id, label_ids=label_ids, cursor=cursor, limit=limit)
        for account_id in label_ids
    ]
    return _merged(walks, limit)


def _merged(walks: Iterable[Iterator[tuple[object, ...]]], limit: int) -> list[ThreadRow]:
    """One index walk an account, merged lazily: the cost is the page's, whatever the mailboxes hold."""
    merged = heapq.merge(*walks, key=lambda row: (cast(int, row[6]), cast(str, row[0])), reverse=True)
    return [_thread(row) for row, _ in zip(merged, range(limit), strict=False)]


def thread(tx: ReadTx, thread_id: str) -> ThreadRow | None:
    row = tx.one(f"select {_THREAD} from mail_threads t where t.id = :id", id=thread_id)
    return None if row is None else _thread(row)


def twins_of(tx: ReadTx, groups: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """``(account id, thread id)`` of every thread of these groups."""
    rows = tx.all(
        """
        select twins, account_id, id from mail_threads
        where twins in (select value from json_each(:groups)) order by account_id, id
        """,
        groups=msgspec.json.encode(sorted(groups)).decode(),
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for group, account_id, thread_id in rows:
        found.setdefault(str(group), []).append((str(account_id), str(thread_id)))
    return found


def thread_for(tx: ReadTx, principal: Principal, *, thread_id: str) -> ThreadRow | None:
    row = tx.one(
        f"""
        select {_THREAD} from mail_threads t join mail_accounts a on a.id = t.account_id
        where t.id = :id and {_MAY_SEE}
        """,
        id=thread_id,
        **_who(principal),
    )
    return None if row is None else _thread(row)


def messages_of(tx: ReadTx, thread_id: str) -> list[MessageRow]:
    """A thread's messages, oldest first."""
    rows = tx.all(f"select {_MESSAGE} from mail_messages where thread_id = :id order by sent_at, id", id=thread_id)
    return [_message(row) for row in rows]


def message_for(tx: ReadTx, principal: Principal, *, message_id: str) -> MessageRow | None:
    row = tx.one(
        f"""
        select {_MESSAGE} from mail_messages
        where id = :id and account_id in (select id from mail_accounts where {_MAY_SEE})
        """,
        id=message_id,
        **_who(principal),
    )
    return None if row is None else _message(row)


def message_labels(tx: ReadTx, *, account_id: str, provider_message_id: str) -> tuple[str, str, frozenset[str]] | None:
    """``(message id, thread id, labels)`` of one stored message."""
    row = tx.one(
        "select id, thread_id, labels from mail_messages where account_id = :account_id and provider_message_id = :id",
        account_id=account_id,
        id=provider_message_id,
    )
    return None if row is None else (str(row[0]), str(row[1]), frozenset(decode_labels(cast(str, row[2]))))


def known_ids(tx: ReadTx, *, account_id: str, provider_message_ids: Iterable[str]) -> set[str]:
    """Which of these messages are stored already."""
    rows = tx.all(
        """
        select provider_message_id from mail_messages
        where account_id = :account_id and provider_message_id in (select value from json_each(:ids))
        """,
        account_id=account_id,
        ids=msgspec.json.encode(list(provider_message_ids)).decode(),
    )
    return {str(row[0]) for row in rows}


def failed_ids(tx: ReadTx, *, account_id: str) -> set[str]:
    """Messages that were passed over: not asked for again by themselves."""
    rows = tx.all("select provider_message_id from mail_ledger where account_id = :id", id=account_id)
    return {str(row[0]) for row in rows}


# The mirror queue


def due_mirror(tx: ReadTx, account_id: str, *, limit: int) -> list[MirrorRow]:
    """The oldest change that is due, and others that are the same change of other messages.

    The changes of one message go in order: one that waits holds back its later ones.
    """
    oldest = tx.one(
        f"select {_MIRROR} from mail_mirror m where {_GOES_NEXT} order by id limit 1", id=account_id, now=tx.now
    )
    if oldest is None:
        return []
    rows = tx.all(
        f"""
        select {_MIRROR} from mail_mirror m
        where {_GOES_NEXT} and add_labels = :add and remove_labels = :remove order by id limit :limit
        """,
        id=account_id,
        now=tx.now,
        add=oldest[2],
        remove=oldest[3],
        limit=limit,
    )
    return [_mirror(row) for row in rows]


def next_mirror_at(tx: ReadTx, account_id: str) -> Millis | None:
    """When something may go out again. A change behind another of its message has no time of its own."""
    earliest = tx.value(
        """
        select min(next_at) from mail_mirror m
        where account_id = :id and not exists (
            select 1 from mail_mirror e
            where e.account_id = m.account_id and e.provider_message_id = m.provider_message_id and e.id < m.id
        )
        """,
        id=account_id,
    )
    return cast("int | None", earliest)


def pending_for(tx: ReadTx, *, account_id: str, provider_message_id: str) -> list[MirrorRow]:
    rows = tx.all(
        f"""
        select {_MIRROR} from mail_mirror m
        where account_id = :account_id and provider_message_id = :id order by id
        """,
        account_id=account_id,
        id=provider_message_id,
    )
    return [_mirror(row) for row in rows]


def pending_naming(tx: ReadTx, *, account_id: str, label_id: str) -> list[MirrorRow]:
    """The changes that would set a label, or take it away."""
    rows = tx.all(
        f"""
        select {_MIRROR} from mail_mirror m where account_id = :account_id and :label_id in (
            select value from json_each(m.add_labels) union all select value from json_each(m.remove_labels)
        ) order by id
        """,
        account_id=account_id,
        label_id=label_id,
    )
    return [_mirror(row) for row in rows]


# Sanitized bodies


def clean_bodies(tx: ReadTx, *, body_sha256s: Sequence[str], policy: int) -> dict[str, CleanHtml]:
    rows = tx.all(
        """
        select body_sha256, html, blocked_images, remote_images, warnings from mail_clean
        where policy = :policy and body_sha256 in (select value from json_each(:ids))
        """,
        policy=policy,
        ids=msgspec.json.encode(list(body_sha256s)).decode(),
    )
    return {
        str(sha256): CleanHtml(
            html=str(html),
            blocked_images=cast(int, blocked),
            remote_images=decode_labels(cast(str, remote)),
            warnings=decode_labels(cast(str, warnings)),
        )
        for sha256, html, blocked, remote, warnings in rows
    }


# Rows to records


def _who(principal: Principal) -> dict[str, Value]:
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def _walk(
    tx: ReadTx, *, account_id: str, section: Section, cursor: Cursor | None, limit: int
) -> Iterator[tuple[object, ...]]:
    after = "and (t.last_message_at, t.id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.last_message_at, "id": cursor.id} if cursor else {}
    return tx.each(
        f"""
        select {_THREAD} from mail_threads t
        where t.account_id = :account_id and {_SECTION_WHERE[section]} {after}
        order by t.last_message_at desc, t.id desc limit :limit
        """,
        account_id=account_id,
        limit=limit,
        **place,
    )


def _walk_label(
    tx: ReadTx, *, account_id: str, label_ids: Mapping[str, str], cursor: Cursor | None, limit: int
) -> Iterator[tuple[object, ...]]:
    label_id = label_ids[account_id]
    after = "and (l.last_message_at, l.thread_id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.last_message_at, "id": cursor.id} if cursor else {}
    seen = "" if label_id in HIDDEN_LABELS else "and t.visible > 0"
    led = _LEADER_IS_LISTED if len(label_ids) > 1 else "0"
    return tx.each(
        f"""
        select {_THREAD} from mail_thread_labels l join mail_threads t on t.id = l.thread_id
        where l.account_id = :account_id and l.label_id = :label_id {seen} {after} and not {led}
        order by l.last_message_at desc, l.thread_id desc limit :limit
        """,
        account_id=account_id,
        label_id=label_id,
        label_ids=msgspec.json.encode(label_ids).decode(),
        limit=limit,
        **place,
    )


def _account(row: tuple[object, ...]) -> Account:
    return Account(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        address=cast(str, row[2]),
        provider=cast(ProviderName, row[3]),
        state=cast(AccountState, row[4]),
        problem=cast("str | None", row[5]),
        history_id=cast("str | None", row[6]),
        sweep_no=cast(int, row[7]),
        sweep_history_id=cast("str | None", row[8]),
        sweep_page_token=cast("str | None", row[9]),
        sweep_started_at=cast("int | None", row[10]),
        progress_done=cast(int, row[11]),
        progress_total=cast("int | None", row[12]),
        messages=cast(int, row[13]),
        unread_threads=cast(int, row[14]),
        last_synced_at=cast("int | None", row[15]),
        unread_twins=cast(int, row[16]),
        cause=cast("Trouble | None", row[17]),
        provider_total=cast("int | None", row[18]),
        erasing=bool(row[19]),
    )


def _thread(row: tuple[object, ...]) -> ThreadRow:
    return ThreadRow(
        id=cast(str, row[0]),
        account_id=cast(str, row[1]),
        subject=cast(str, row[2]),
        snippet=cast(str, row[3]),
        sender_name=cast(str, row[4]),
        sender_address=cast(str, row[5]),
        last_message_at=cast(int, row[6]),
        messages=cast(int, row[7]),
        in_inbox=cast(int, row[8]),
        unread=cast(int, row[9]),
        visible=cast(int, row[10]),
        attachments=cast(int, row[11]),
        labels=decode_labels(cast(str, row[12])),
        snoozed_until=cast("int | None", row[13]),
        twins=cast("str | None", row[14]),
        leads=bool(row[15]),
    )


def _message(row: tuple[object, ...]) -> MessageRow:
    return MessageRow(
        id=cast(str, row[0]),
        account_id=cast(str, row[1]),
        thread_id=cast(str, row[2]),
        provider_message_id=cast(str, row[3]),
        sent_at=cast(int, row[4]),
        sender=Person(name=cast(str, row[5]), address=cast(str, row[6])),
        subject=cast(str, row[7]),
        headers=decode_headers(cast(str, row[8])),
        labels=decode_labels(cast(str, row[9])),
        body_sha256=cast(str, row[10]),
    )


def _mirror(row: tuple[object, ...]) -> MirrorRow:
    return MirrorRow(
        id=cast(int, row[0]),
        provider_message_id=cast(str, row[1]),
        add=frozenset(decode_labels(cast(str, row[2]))),
        remove=frozenset(decode_labels(cast(str, row[3]))),
        attempts=cast(int, row[4]),
        created_at=cast(int, row[5]),
    )
