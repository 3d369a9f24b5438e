"""Apply a new mail, a model's answer and a person's correction. Plain functions over a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from svc import mail
from svc.clock import Millis
from svc.errors import Conflict, Invalid, NotFound
from svc.mail import SENT, Account, MessageRow
from svc.people import own_people
from svc.principal import Principal
from svc.rules import FoundMail, find_mail, rules_owner
from svc.runs import begin
from svc.store import ReadTx, Tx
from svc.triage import queries
from svc.triage.deciding import decide
from svc.triage.model import SENDERS_KINDS, TOPIC, Decision, Facts, Kind, Sorted
from svc.triage.queries import owner_of
from svc.worker.triage import SORT

_CALENDAR: Final = frozenset({"text/calendar", "application/ics"})


@dataclass(frozen=True, kw_only=True)
class Came:
    """One mail that was received or sent, with the decision of the rules. ``found``: ``None`` for mail that the owner
    sent.
    """

    seq: int
    owner_id: str | None
    message: MessageRow
    account: Account
    found: FoundMail | None
    decision: Decision
    asks: bool

    @property
    def owner(self) -> str:
        return self.owner_id or ""


def look(tx: ReadTx, message_id: str, *, snippet: str, seq: int) -> Came | None:
    """``None`` for mail that is not sorted: spam, trash, drafts, deleted mail, and mail of users who have not switched
    triage on.
    """
    found = find_mail(tx, message_id)
    message = found.message if found is not None else mail.message(tx, message_id)
    if message is None:
        return None
    account = found.account if found is not None else mail.connected_account(tx, message.account_id)
    asks_model = None if account is None else queries.asks_model(tx, account.owner_id or "")
    if account is None or asks_model is None:
        return None
    if found is None:
        decision = _of_own(message, account)
    else:
        facts = _facts(tx, found, snippet)
        decision = decide(facts, learned=queries.learned_of(tx, account.owner_id or "", facts.sender))
    if decision is None:
        return None
    return Came(
        seq=seq,
        owner_id=account.owner_id,
        message=message,
        account=account,
        found=found,
        decision=decision,
        asks=asks_model and not decision.sure,
    )


def _of_own(message: MessageRow, account: Account) -> Decision | None:
    """An owner who wrote to somebody else waits for an answer."""
    if SENT not in message.labels or {"DRAFT", "SPAM", "TRASH"} & set(message.labels):
        return None
    own = {account.address.lower(), *account.aliases}
    headers = message.headers
    others = [one for one in (*headers.to, *headers.cc, *headers.bcc) if one.address.lower() not in own]
    return Decision(kind="waiting", because="you wrote last") if others else None


def _facts(tx: ReadTx, found: FoundMail, snippet: str) -> Facts:
    message, account = found.message, found.account
    principal = rules_owner(account.owner_id)
    own = {account.address.lower(), *account.aliases, *mail.addresses_of(tx, principal)}
    sender = found.mail.sender
    thread = mail.thread_for(tx, principal, thread_id=message.thread_id)
    headers = message.headers
    written_to = thread is not None and thread.sent is not None
    return Facts(
        sender=sender,
        to_me=any(one.address.lower() in own for one in headers.to),
        recipients=len(headers.to) + len(headers.cc),
        subject=found.mail.subject,
        snippet=snippet.casefold(),
        is_bulk=found.mail.is_bulk or bool(found.mail.list_id),
        has_invitation=any(
            one.mime.partition(";")[0] in _CALENDAR or one.filename.lower().endswith(".ics")
            for one in headers.attachments
        ),
        written_to=written_to or any(one.sent > 0 for one in own_people(tx, principal, address=sender)),
    )


def take(tx: Tx, came: Came, *, given: dict[str, Any] | None) -> bool:
    """Store the kind of the mail, once per event; with ``given``, also begin a run that asks the model."""
    before = queries.one(tx, came.message.thread_id)
    thread = mail.thread_for(tx, rules_owner(came.owner_id), thread_id=came.message.thread_id)
    if thread is None or (before is not None and before.seq >= came.seq):
        return False
    if before is not None and before.by == "person" and before.message_id == came.message.id:
        return False  # the person was quicker than the consumer
    if queries.asks_model(tx, came.owner) is None:
        return False  # triage was switched off since
    decision = came.decision
    _put(
        tx,
        came.owner_id,
        Sorted(
            thread_id=thread.id,
            account_id=thread.account_id,
            message_id=came.message.id,
            kind=decision.kind,
            by=decision.by,
            because=decision.because,
            at=thread.last_message_at,
            seq=came.seq,
        ),
    )
    if given is not None:
        begin(tx, came.owner_id, SORT, given, title=f"Triage: {came.message.subject[:100]}")
    return True


def answer(tx: Tx, principal: Principal, *, message_id: str, kind: Kind) -> bool:
    """Store the model's answer for a mail. It changes nothing if newer mail has come or a person has corrected it
    since.
    """
    message = mail.message(tx, message_id)
    before = None if message is None else queries.one(tx, message.thread_id)
    if before is None or before.message_id != message_id or before.by != "rule":
        return False
    account = mail.connected_account(tx, before.account_id)
    if account is None or account.owner_id != principal.user_id:
        return False
    _put(tx, account.owner_id, replace(before, kind=kind, by="model", because="the model says so"))
    return True


def correct(tx: Tx, principal: Principal, *, thread_id: str, kind: Kind) -> str | None:
    """Store a person's correction of a thread. Returns the sender that it is remembered for."""
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    account = None if thread is None else mail.account_for(tx, principal, account_id=thread.account_id, to="own")
    if thread is None or account is None:
        raise NotFound("There is no such thread.")
    owner = account.owner_id or ""
    if queries.asks_model(tx, owner) is None:
        raise Conflict("Triage is off. It is switched on under Settings, Triage.")
    before = queries.one(tx, thread.id)
    newest = mail.messages_of(tx, thread.id)[-1]
    _put(
        tx,
        account.owner_id,
        Sorted(
            thread_id=thread.id,
            account_id=account.id,
            message_id=newest.id,
            kind=kind,
            by="person",
            because="you said so",
            at=thread.last_message_at,
            seq=0 if before is None else before.seq,
        ),
    )
    sender = thread.sender_address.lower()
    own = {account.address.lower(), *account.aliases, *mail.addresses_of(tx, principal)}
    if kind not in SENDERS_KINDS or not sender or sender in own:
        return None
    queries.learn(tx, owner, [(sender, kind, tx.now)])
    return sender


def forget(tx: Tx, principal: Principal, *, address: str) -> None:
    if not queries.unlearn(tx, owner_of(principal), address.strip().lower()):
        raise NotFound("Nothing is remembered of this sender.")


def inbox(tx: ReadTx, principal: Principal, *, limit: int) -> list[str]:
    """The newest threads in the inboxes of the caller's own accounts."""
    own = [one.id for one in mail.accounts(tx, principal) if one.owner_id == principal.user_id]
    return [one.id for one in mail.list_threads(tx, account_ids=own, sections=["inbox"], cursor=None, limit=limit)]


def look_at_newest(tx: ReadTx, principal: Principal, thread_id: str) -> Came | None:
    """A thread from before triage was switched on, by its newest mail."""
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    shown = [one for one in mail.messages_of(tx, thread_id) if not mail.HIDDEN_LABELS & set(one.labels)]
    if thread is None or not shown:
        return None
    came = look(tx, shown[-1].id, snippet=thread.snippet, seq=0)
    return None if came is None else replace(came, asks=False)


def take_what_is_there(tx: Tx, came: Came) -> None:
    if queries.one(tx, came.message.thread_id) is None:
        take(tx, came, given=None)


def is_listed(kind: Kind, thread: mail.ThreadRow) -> bool:
    """A waiting thread is listed wherever it is. Any other thread is done once it has left the inbox."""
    return thread.visible > 0 and (kind == "waiting" or thread.in_inbox > 0)


def _put(tx: Tx, owner_id: str | None, wanted: Sorted) -> None:
    queries.put(tx, owner_id or "", wanted)
    payload = {"threadId": wanted.thread_id, "kind": wanted.kind, "by": wanted.by, "because": wanted.because}
    tx.emit(topic=TOPIC, kind="triage.changed", id=wanted.thread_id, payload=payload, audience=owner_id)


def kind_of(word: str) -> Kind:
    for one in SENDERS_KINDS:
        if one == word:
            return one
    raise Invalid("There is no such kind of mail.")


def bring_back(
    tx: Tx, owner: str, *, asks_model: bool | None, senders: Sequence[tuple[str, Kind, Millis | None]]
) -> None:
    """Restore a person's choice and corrections from an export. ``asks_model``: ``None`` where it was off; ``senders``:
    each with the time of its correction, where the export says it."""
    if asks_model is not None:
        queries.switch(tx, owner, on=True, asks_model=asks_model)
    queries.learn(tx, owner, [(address, kind, tx.now if at is None else at) for address, kind, at in senders])
