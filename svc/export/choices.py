"""What people have set and taught svc, in an export: snippets, signatures, senders whose pictures are shown, shared
mailboxes, notifications, how mail is sorted, and meetings with the words that were said.

Each kind has one form, for the way out and in. Addresses name people and mailboxes, and paths name pages, because ids
differ in another home.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal

import msgspec

from svc.notifications import Minute
from svc.store import ReadTx, texts_of

Id = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{1,100}$")]
Moment = Annotated[int, msgspec.Meta(ge=0, lt=253_402_300_800_000)]
"""In milliseconds since 1970, before the year 10,000."""
Span = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Kind = Literal["reply", "waiting", "reading", "receipt", "calendar", "other"]


class Snippet(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    html: str
    subject: str = ""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    owner: str | None = None


class TrustedSender(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    owner: str | None = None


class SharedWith(msgspec.Struct, frozen=True, kw_only=True):
    person: str
    access: Literal["read", "act"]


class Mailbox(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    account: str
    signature: str
    shared_with: tuple[SharedWith, ...]
    owner: str | None = None


class Notified(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``begin`` and ``end``: of the quiet hours, in minutes of the day; without ``time_zone`` there are none."""

    person: str
    words: Literal["all", "sender", "none"]
    time_zone: str | None = None
    begin: Minute = 0
    end: Minute = 0


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """``at``: ``None`` in an export of an earlier version."""

    address: str
    kind: Kind
    at: Moment | None = None


class Sorting(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``asks_model``: ``None`` where the person has switched sorting off. ``senders``: what corrections have taught."""

    asks_model: bool | None
    senders: tuple[Learned, ...]
    owner: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    start_ms: Span
    end_ms: Span
    text: str
    speaker: str | None = None


class Meeting(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``file``: the id of its sound; ``page``: the path of its page."""

    id: Id
    title: str
    format: Literal["pcm16", "opus"]
    rate: Span
    started_at: Moment
    ended_at: Moment | None
    sound_ms: Span
    problem: str
    lines: tuple[Said, ...]
    file: str | None = None
    page: str | None = None
    owner: str | None = None


def snippets(tx: ReadTx) -> list[Snippet]:
    rows = tx.all(
        """
        select u.email, s.name, s.html, s.subject, s.to_addresses, s.cc_addresses, s.bcc_addresses
        from mail_snippets s left join users u on u.id = s.owner_id order by u.email, s.name_key
        """
    )
    return [
        Snippet(
            owner=row[0],
            name=row[1],
            html=row[2],
            subject=row[3],
            to=texts_of(row[4]),
            cc=texts_of(row[5]),
            bcc=texts_of(row[6]),
        )
        for row in rows
    ]


def trusted_senders(tx: ReadTx) -> list[TrustedSender]:
    rows = tx.all(
        """
        select u.email, t.address from mail_trusted_senders t left join users u on u.id = t.owner_id
        order by u.email, t.address
        """
    )
    return [TrustedSender(owner=owner, address=address) for owner, address in rows]


def mailboxes(tx: ReadTx) -> list[Mailbox]:
    """Those with a signature, or shared with somebody."""
    rows = tx.all(
        """
        select a.id, a.address, u.email, coalesce(s.html, '') from mail_accounts a
            left join users u on u.id = a.owner_id left join mail_signatures s on s.account_id = a.id
        where not a.erasing
            and (s.html <> '' or exists (select 1 from mail_shares m where m.account_id = a.id))
        order by a.created_at, a.id
        """
    )
    return [
        Mailbox(account=address, owner=owner, signature=html, shared_with=_shared_with(tx, account_id))
        for account_id, address, owner, html in rows
    ]


def _shared_with(tx: ReadTx, account_id: str) -> tuple[SharedWith, ...]:
    rows = tx.all(
        """
        select u.email, s.access from mail_shares s join users u on u.id = s.user_id
        where s.account_id = :id order by u.email
        """,
        id=account_id,
    )
    return tuple(SharedWith(person=person, access=access) for person, access in rows)


def notified(tx: ReadTx) -> list[Notified]:
    rows = tx.all(
        """
        select u.email, n.words, n.time_zone, n.quiet_begin, n.quiet_end
        from notify_preferences n join users u on u.id = n.user_id order by u.email
        """
    )
    return [
        Notified(person=person, words=words, time_zone=zone, begin=begin or 0, end=end or 0)
        for person, words, zone, begin, end in rows
    ]


def sorting(tx: ReadTx) -> list[Sorting]:
    rows = tx.all(
        """
        select o.owner, u.email, p.asks_model
        from (select owner from triage_people union select owner from triage_senders) o
            left join triage_people p on p.owner = o.owner left join users u on u.id = o.owner
        where o.owner = '' or u.id is not null order by u.email
        """
    )
    return [
        Sorting(owner=email, asks_model=None if asks is None else bool(asks), senders=_learned(tx, owner))
        for owner, email, asks in rows
    ]


def _learned(tx: ReadTx, owner: str) -> tuple[Learned, ...]:
    rows = tx.all("select address, kind, at from triage_senders where owner = :owner order by at, address", owner=owner)
    return tuple(Learned(address=address, kind=kind, at=at) for address, kind, at in rows)


def meeting_ids(tx: ReadTx) -> list[str]:
    """Of meetings that are over."""
    return [str(row[0]) for row in tx.all("select id from meetings where state = 'done' order by started_at, id")]


def meeting(tx: ReadTx, meeting_id: str) -> Meeting | None:
    row = tx.one(
        """
        select u.email, m.title, m.format, m.rate, m.started_at, m.ended_at, m.sound_ms, m.problem, m.file_id, p.path
        from meetings m left join users u on u.id = m.owner_id left join pages p on p.id = m.page_id
        where m.id = :id
        """,
        id=meeting_id,
    )
    if row is None:
        return None
    lines = tx.all(
        "select start_ms, end_ms, text, speaker from meeting_lines where meeting_id = :id order by number",
        id=meeting_id,
    )
    return Meeting(
        id=meeting_id,
        owner=row[0],
        title=row[1],
        format=row[2],
        rate=row[3],
        started_at=row[4],
        ended_at=row[5],
        sound_ms=row[6],
        problem=row[7],
        file=row[8],
        page=row[9],
        lines=tuple(Said(start_ms=one[0], end_ms=one[1], text=one[2], speaker=one[3]) for one in lines),
    )


LISTS: Final[Sequence[tuple[str, Callable[[ReadTx], Sequence[object]]]]] = (
    ("snippets", snippets),
    ("trusted-senders", trusted_senders),
    ("mailboxes", mailboxes),
    ("notifications", notified),
    ("sorting", sorting),
)
"""The name of each file, and what reads its rows. Meetings have a file each."""
