"""Finds what a person does repeatedly with one sender's mail, and suggests rules from it.

Owns ``rule_habits``, ``rule_habits_seen`` and ``rule_never``. A job reads the undo steps of people (:mod:`svc.undo`),
so the code of mail has no extra work. A step that was undone since does not count, because the current state of the
threads is checked. This module changes no mail: a suggestion is a rule that its person may save or dismiss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

import msgspec

from svc import mail
from svc.clock import DAY_MS
from svc.configuring import Configuration
from svc.errors import NotFound
from svc.mail import STARRED, Changes, ThreadRow
from svc.people import own_people
from svc.principal import Principal
from svc.rules import finding
from svc.rules.model import Action, Addresses, Rule, When
from svc.rules.page import DEFAULT_ORDER
from svc.store import ReadTx, Tx

HabitAction = Literal["archive", "star", "label"]

AGAIN: Final = 5
"""The number of threads of one sender with the same action before a rule is suggested."""
WITHIN_MS: Final = 90 * DAY_MS
MAX_THREADS_A_STEP: Final = 20
"""Threads of one step. Beyond: it clears up, and is no habit."""
SUGGESTED_AT_ONCE: Final = 10
CANDIDATES: Final = 50
COUNTED: Final = 50
KEPT_LOOKED_AT: Final = 200
STEPS_AT_ONCE: Final = 500

_decode_changes: Final = msgspec.json.Decoder(Changes).decode
_decode_ids: Final = msgspec.json.Decoder(tuple[str, ...]).decode


@dataclass(frozen=True, kw_only=True)
class Habit:
    """``deed``: the repeated action, by its name in the API and the table. ``value``: the label's name. ``times``: the
    number of threads of that sender."""

    address: str
    deed: HabitAction
    value: str
    times: int

    @property
    def title(self) -> str:
        return {
            "archive": f"Archive what {self.address} sends",
            "star": f"Star what {self.address} sends",
            "label": f"{self.value} for {self.address}",
        }[self.deed][:100]

    @property
    def rule(self) -> Rule:
        return Rule(
            enabled=True,
            order=DEFAULT_ORDER,
            account=None,
            when=When(sender=(Addresses(self.address),)),
            ask=None,
            then=(Action(self.deed, self.value),),
        )


def is_behind(tx: ReadTx) -> bool:
    """Whether there are steps that have not been read yet."""
    newest = tx.value("select max(id) from undo_steps")
    return newest is not None and int(newest) > int(tx.value("select step_id from rule_habits_seen where id = 1") or 0)


def note(tx: Tx) -> None:
    """Read the next steps of people."""
    last = int(tx.value("select max(id) from undo_steps") or 0)
    seen = int(tx.value("select step_id from rule_habits_seen where id = 1") or 0)
    rows = tx.all(
        """
        select id, user_id, what, concerns, inverse, at from undo_steps
        where id > :seen and kind = 'labels' order by id limit :limit
        """,
        seen=seen,
        limit=STEPS_AT_ONCE,
    )
    for _, user_id, what, concerns, inverse, at in rows:
        thread_ids = _decode_ids(concerns)
        if len(thread_ids) <= MAX_THREADS_A_STEP and what in {"archive", "labels"}:
            for thread_id in thread_ids:
                _note_thread(tx, cast("str | None", user_id), thread_id, what=what, inverse=inverse, at=at)
    tx.run(
        "insert into rule_habits_seen (id, step_id) values (1, :id) on conflict (id) do update set step_id = :id",
        id=rows[-1][0] if len(rows) == STEPS_AT_ONCE else max(last, seen),
    )


def _note_thread(tx: Tx, user_id: str | None, thread_id: str, *, what: str, inverse: str, at: int) -> None:
    thread = mail.thread_for(tx, finding.owner(user_id), thread_id=thread_id)
    account = None if thread is None else mail.connected_account(tx, thread.account_id)
    if thread is None or account is None or account.owner_id != user_id:
        return
    sender = thread.sender_address.lower()
    if not sender or sender in {account.address.lower(), *account.aliases}:
        return
    for deed, value in _actions_of(tx, thread, what=what, inverse=inverse):
        tx.run(
            """
            insert into rule_habits (owner, address, deed, value, thread_id, at)
            values (:owner, :address, :deed, :value, :thread_id, :at)
            on conflict (owner, address, deed, value, thread_id) do update set at = :at
            """,
            owner=user_id or "",
            address=sender,
            deed=deed,
            value=value,
            thread_id=thread_id,
            at=at,
        )


def _actions_of(tx: ReadTx, thread: ThreadRow, *, what: str, inverse: str) -> Iterator[tuple[HabitAction, str]]:
    if what == "archive":
        yield "archive", ""
        return
    messages = {one.id for one in mail.messages_of(tx, thread.id)}
    changed = _decode_changes(inverse).messages
    added = {label for one in changed if one.message_id in messages for label in one.added}
    if STARRED in added:
        yield "star", ""
    known = {one.id: one for _, one in mail.labels_of(tx, [thread.account_id])}
    for label_id in sorted(added):
        label = known.get(label_id)
        if label is not None and not label.system:
            yield "label", label.name


def suggested(
    tx: ReadTx, principal: Principal, *, pages: Configuration, thread: ThreadRow | None = None
) -> list[Habit]:
    """What the caller does repeatedly, the most frequent first; for the sender of a thread that is open, or for all."""
    address = None if thread is None else thread.sender_address.lower()
    of_one = "" if address is None else "and h.address = :address"
    rows = tx.all(
        f"""
        select h.address, h.deed, h.value, count(*) from rule_habits h
        where h.owner = :owner and h.at >= :since {of_one} and not exists (
            select 1 from rule_never n
            where n.owner = h.owner and n.address = h.address and n.deed = h.deed and n.value = h.value
        )
        group by h.address, h.deed, h.value having count(*) >= :again order by count(*) desc, h.address, h.deed, h.value
        limit :most
        """,
        owner=principal.user_id or "",
        since=tx.now - WITHIN_MS,
        again=AGAIN,
        most=CANDIDATES,
        **({} if address is None else {"address": address}),
    )
    if not rows:
        return []
    rules = [one.value for one in finding.rules_of(tx, pages, principal.user_id)]
    kept = _kept(tx, principal, but=thread)
    found: list[Habit] = []
    for sender, deed, value, _ in rows:
        times = _still(tx, principal, sender, deed, value)
        habit = Habit(address=sender, deed=deed, value=value, times=times)
        if times >= AGAIN and _is_worth_it(tx, principal, habit, rules, kept):
            found.append(habit)
        if len(found) == SUGGESTED_AT_ONCE:
            break
    return found


def _still(tx: ReadTx, principal: Principal, address: str, deed: HabitAction, value: str) -> int:
    """For how many threads it is still so now: what was undone does not count."""
    rows = tx.all(
        """
        select thread_id from rule_habits
        where owner = :owner and address = :address and deed = :deed and value = :value and at >= :since
        order by at desc limit :most
        """,
        owner=principal.user_id or "",
        address=address,
        deed=deed,
        value=value,
        since=tx.now - WITHIN_MS,
        most=COUNTED,
    )
    threads = (mail.thread_for(tx, principal, thread_id=str(thread_id)) for (thread_id,) in rows)
    return sum(one is not None and _is_so(tx, one, deed, value) for one in threads)


def _is_so(tx: ReadTx, thread: ThreadRow, deed: HabitAction, value: str) -> bool:
    if deed == "archive":
        return thread.in_inbox == 0
    if deed == "star":
        return STARRED in thread.labels
    label = mail.label_named(tx, thread.account_id, value)
    return label is not None and label.id in thread.labels


def _kept(tx: ReadTx, principal: Principal, *, but: ThreadRow | None) -> frozenset[str]:
    """The senders of mail that the caller has read and left in the inbox. The open thread does not count."""
    own = [one.id for one in mail.accounts(tx, principal) if one.owner_id == principal.user_id]
    there = mail.list_threads(tx, account_ids=own, sections=["inbox"], cursor=None, limit=KEPT_LOOKED_AT)
    return frozenset(
        one.sender_address.lower() for one in there if not one.unread and (but is None or one.id != but.id)
    )


def _is_worth_it(tx: ReadTx, principal: Principal, habit: Habit, rules: list[Rule], kept: frozenset[str]) -> bool:
    wanted = Action(habit.deed, habit.value)
    for rule in rules:
        if wanted in rule.then and any(one.matches(habit.address) for one in rule.when.sender):
            return False  # a rule does it already
    if habit.deed != "archive":
        return True
    writes_to = any(one.sent > 0 for one in own_people(tx, principal, address=habit.address))
    return not writes_to and habit.address not in kept


def dismiss(tx: Tx, principal: Principal, *, address: str, deed: HabitAction, value: str) -> None:
    """Never suggest this again."""
    owner = principal.user_id or ""
    known = tx.value(
        "select 1 from rule_habits where owner = :owner and address = :address and deed = :deed and value = :value",
        owner=owner,
        address=address,
        deed=deed,
        value=value,
    )
    if known is None:
        raise NotFound("Nothing of that is suggested.")
    tx.run(
        """
        insert into rule_never (owner, address, deed, value, at) values (:owner, :address, :deed, :value, :now)
        on conflict do nothing
        """,
        owner=owner,
        address=address,
        deed=deed,
        value=value,
        now=tx.now,
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the actions from before there was any user to the first admin."""
    tx.run("update or replace rule_habits set owner = :user_id where owner = ''", user_id=user_id)
    tx.run("update or replace rule_never set owner = :user_id where owner = ''", user_id=user_id)


def prune(tx: Tx) -> None:
    tx.run("delete from rule_habits where at < :oldest", oldest=tx.now - WITHIN_MS)


def let_go(tx: Tx, *, account_id: str, limit: int) -> int:
    return tx.run(
        """
        delete from rule_habits where rowid in (
            select h.rowid from rule_habits h join mail_threads t on t.id = h.thread_id
            where t.account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=limit,
    )
