"""The input of rules: mails with all that a condition may test, and the rules in force for each user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from svc import mail
from svc.configuring import Configuration, Configured
from svc.mail import DRAFT, HIDDEN_LABELS, SENT, Account, MessageRow
from svc.principal import UNCLAIMED, Principal
from svc.rules.matching import Hit, in_order, match
from svc.rules.model import Mail, Rule
from svc.rules.page import KIND, mark_of
from svc.store import ReadTx, json_array

DEVICE_ID: Final = "system:rules"
ON, OFF = "on", "off"
CHANGED: Final = "nothing, for the rule was changed after it had matched: apply it again"
SWITCHED_OFF: Final = "nothing, for the rule was switched off after it had matched"
HELD: Final = "nothing, for the rule now holds text of others that you have not vouched for"
InForce = Configured[Rule]


@dataclass(frozen=True, kw_only=True)
class Found:
    """One mail, as it is now."""

    message: MessageRow
    account: Account
    mail: Mail


def owner(owner_id: str | None) -> Principal:
    """The principal of a rule: its page's owner, never with admin rights."""
    if owner_id is None:
        return replace(UNCLAIMED, device_id=DEVICE_ID, is_admin=False)
    return Principal(user_id=owner_id, device_id=DEVICE_ID, is_admin=False, via="run")


def rules_of(tx: ReadTx, pages: Configuration, owner_id: str | None) -> list[InForce]:
    """One person's rules that are switched on, in their order."""
    return in_their_order(one for one in pages.of(tx, KIND, owner_id=owner_id) if one.value.enabled)


def in_their_order(rules: Iterable[InForce]) -> list[InForce]:
    return sorted(rules, key=lambda one: (one.value.order, one.path))


@dataclass(frozen=True)
class Accounts:
    """Data that all mails of an account share, read once per transaction."""

    known: dict[str, tuple[Account, dict[str, str]] | None] = field(default_factory=dict)

    def of(self, tx: ReadTx, account_id: str) -> tuple[Account, dict[str, str]] | None:
        """The account if it is connected, and the names of its labels by id."""
        if account_id not in self.known:
            account = mail.connected_account(tx, account_id)
            names = {} if account is None else {one.id: one.name for _, one in mail.labels_of(tx, [account_id])}
            self.known[account_id] = None if account is None else (account, names)
        return self.known[account_id]


def found(tx: ReadTx, message_id: str, accounts: Accounts | None = None) -> Found | None:
    """``None`` for mail that rules never touch: sent and own mail, drafts, spam, trash, and deleted mail."""
    message = mail.message(tx, message_id)
    if message is None or (HIDDEN_LABELS | {SENT, DRAFT}) & set(message.labels):
        return None
    of_all = (accounts or Accounts()).of(tx, message.account_id)
    if of_all is None:
        return None
    account, names = of_all
    headers = message.headers
    to = (*(one.address for one in (*headers.to, *headers.cc)), *headers.delivered_to)
    return Found(
        message=message,
        account=account,
        mail=Mail(
            account=account.address.lower(),
            sender=message.sender.address.lower(),
            to=frozenset(address.lower() for address in to),
            subject=message.subject.casefold(),
            has_attachment=any(not one.inline for one in headers.attachments),
            is_bulk=headers.bulk,
            list_id=(headers.list_id or "").casefold(),
            labels=frozenset(names.get(one, one).casefold() for one in message.labels),
        ),
    )


def hits(rules: Iterable[InForce], mail_: Mail) -> list[Hit[InForce]]:
    """Every rule that matches, whether or not it also asks a question; in order."""
    matched = ((rule, match(rule.value, mail_)) for rule in rules)
    return [Hit(rule=rule, actions=rule.value.then, because=one.because) for rule, one in matched if one is not None]


def kept(hit: Hit[InForce]) -> list[str]:
    """A hit as a run carries it: the rule's page and the reason, and by what a later change of the rule is noticed."""
    return [hit.rule.page_id, hit.because, mark_of(hit.rule.value), ON if hit.rule.value.enabled else OFF]


def changed_since(rule: InForce, marks: Sequence[str]) -> str:
    """Why the rule does nothing with mail that it matched before; empty where it is as it was. A rule that was off
    already is applied by hand. A run that began before there were marks has none.
    """
    if rule.is_held:
        return HELD
    if not marks:
        return ""
    mark, switch = marks
    if mark != mark_of(rule.value):
        return CHANGED
    return SWITCHED_OFF if switch == ON and not rule.value.enabled else ""


def wants_text(rules: Iterable[InForce], mail_: Mail) -> bool:
    """Whether the result depends on the body. Only then the body is read."""
    return any(one is not None and one.wants_text for one in (match(rule.value, mail_) for rule in rules))


def asks_first(matched: list[Hit[InForce]]) -> bool:
    """Whether a rule that could count asks a question, which must be answered before anything is done."""
    return any(hit.rule.value.ask is not None for hit in in_order_at_most(matched))


def in_order_at_most(matched: list[Hit[InForce]]) -> list[Hit[InForce]]:
    """The rules that may count, depending on the model's answers: up to a ``stop`` of a rule without a question."""
    kept: list[Hit[InForce]] = []
    for hit in matched:
        kept.append(hit)
        if hit.rule.value.ask is None and len(in_order([hit])) and any(one.what == "stop" for one in hit.actions):
            break
    return kept


def newest_messages(tx: ReadTx, principal: Principal, *, limit: int) -> list[str]:
    """The newest mails of the caller's own accounts that rules may touch."""
    account_ids = [one.id for one in mail.accounts(tx, principal) if one.owner_id == principal.user_id]
    rows = tx.all(
        """
        select m.id from mail_messages m
        where m.account_id in (select value from json_each(:ids)) and not exists (
            select 1 from json_each(m.labels) l where l.value in (select value from json_each(:never))
        ) order by m.sent_at desc, m.id desc limit :limit
        """,
        ids=json_array(account_ids),
        never=json_array(sorted(HIDDEN_LABELS | {SENT, DRAFT})),
        limit=limit,
    )
    return [str(message_id) for (message_id,) in rows]
