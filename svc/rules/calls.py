"""The calls of a run of rules to the trusted plane: act on answers, propose a reply, sort the next mails."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any, Final, Literal

import msgspec

from svc import mail
from svc.configuring import Configuration
from svc.formats.writing import mailbox_text, reply_subject
from svc.inert import inert
from svc.mail import answer_to
from svc.protocol import Wire
from svc.rules import acting, finding
from svc.rules.filing import Filing
from svc.rules.finding import InForce
from svc.rules.matching import Hit
from svc.rules.page import KIND
from svc.runs import Dispatcher, progress
from svc.store import Tx
from svc.worker.rules import DECIDE, LEAVE, NEXT, PROPOSE
from svc.workflow import Call, Caller, Json
from svc.workspace import Workspace

A_TIME: Final = 20
MAX_REPLY_CHARS: Final = 20_000
"""A reply that a model drafts. Beyond: it is cut."""


class DecideInput(Wire, frozen=True):
    """``hits``: as :func:`svc.rules.finding.kept`. ``answers``: by the position of the rule, such as ``q0``.
    ``problem``: kept for runs that began with it.
    """

    message: str
    batch: str
    hits: list[tuple[str, ...]]
    answers: dict[str, bool]
    problem: Literal[""] = ""


class LeaveInput(Wire, frozen=True):
    """``problem``: why there are no answers."""

    message: str
    batch: str
    hits: list[tuple[str, ...]]
    problem: str


class ProposeInput(Wire, frozen=True):
    message: str
    rule: str
    text: Annotated[str, msgspec.Meta(min_length=1)]


class NextInput(Wire, frozen=True):
    after: int


def _decide(workspace: Workspace, tx: Tx, caller: Caller, wanted: DecideInput) -> Json:
    found = finding.found(tx, wanted.message)
    if found is None or found.account.owner_id != caller.principal.user_id:
        return {"draft": None}
    run_id = acting.run_id_of(wanted.message, wanted.batch)
    if wanted.batch:
        acting.take(tx, found, batch=wanted.batch, state="asking")
    hits = [
        hit
        for place, hit in enumerate(_hits(workspace, tx, caller, wanted.hits, sender=found.mail.sender))
        if hit is not None and wanted.answers.get(f"q{place}", bool(hit.why_not) or hit.rule.value.ask is None)
    ]
    filing = Filing(tx=tx, principal=finding.owner(found.account.owner_id))
    draft = acting.act(filing, found, hits, run_id=run_id, quiet=bool(wanted.batch))
    filing.close()
    return {"draft": None if draft is None else {"rule": draft.rule_id, "instructions": draft.instructions}}


def _leave(workspace: Workspace, tx: Tx, caller: Caller, wanted: LeaveInput) -> Json:
    """Without an answer nothing is done: the mail stays where it is, and the record says why."""
    found = finding.found(tx, wanted.message)
    if found is None or found.account.owner_id != caller.principal.user_id:
        return None
    acting.take(tx, found, batch=wanted.batch, state="asking")
    there = [(_rule(workspace, tx, caller, page_id), because) for page_id, because, *_ in wanted.hits]
    hits = [Hit(rule=rule, actions=rule.value.then, because=because) for rule, because in there if rule is not None]
    acting.leave(tx, hits, run_id=acting.run_id_of(wanted.message, wanted.batch), problem=wanted.problem)
    return None


def _hits(
    workspace: Workspace, tx: Tx, caller: Caller, given: list[tuple[str, ...]], *, sender: str
) -> list[Hit[InForce] | None]:
    """The rules that matched; ``None`` for a rule that is deleted, or now has this sender among its exceptions. A rule
    that was changed or switched off since does nothing, and says so: mail and answer were matched with its earlier
    form.
    """
    found: list[Hit[InForce] | None] = []
    for page_id, because, *kept in given:
        rule = _rule(workspace, tx, caller, page_id)
        if rule is None or any(one.matches(sender) for one in rule.value.except_):
            found.append(None)
        elif why_not := finding.changed_since(rule, kept):
            found.append(Hit(rule=rule, actions=(), because=because, why_not=why_not))
        else:
            said = because if rule.value.ask is None else f"{because}; the model says yes: {rule.value.ask}"
            found.append(Hit(rule=rule, actions=rule.value.then, because=said))
    return found


def _rule(workspace: Workspace, tx: Tx, caller: Caller, page_id: str) -> InForce | None:
    """The rule as it is now, if it still is the rule of the mail's owner."""
    rule = workspace.service(Configuration).one(tx, KIND, page_id)
    return rule if rule is not None and rule.owner_id == caller.principal.user_id else None


def _propose(workspace: Workspace, tx: Tx, caller: Caller, wanted: ProposeInput) -> Json:
    """The recipients are derived from the mail here, and never from the model's text. Of the text only what its person
    can see is kept.
    """
    found = finding.found(tx, wanted.message)
    if found is None or found.account.owner_id != caller.principal.user_id:
        return {"proposed": False}
    own = mail.addresses_of(tx, caller.principal) | {found.account.address, *found.account.aliases}
    to = answer_to(found.message, own=own, everyone=False)
    proposed = mail.propose(
        tx,
        found.account,
        thread_id=found.message.thread_id,
        message_id=found.message.id,
        to=tuple(map(mailbox_text, to.to)),
        cc=tuple(map(mailbox_text, to.cc)),
        subject=reply_subject(found.message.subject),
        html=html_of(inert(wanted.text[:MAX_REPLY_CHARS])),
        rule_id=wanted.rule,
    )
    return {"proposed": proposed}


def html_of(text: str) -> str:
    """A model's text as paragraphs: no character in it is markup, and no address in it becomes a link."""
    paragraphs = (part.strip() for part in text.replace("\r\n", "\n").split("\n\n"))
    return "".join(f"<p>{escape(part).replace(chr(10), '<br>')}</p>" for part in paragraphs if part)


def _next(workspace: Workspace, tx: Tx, caller: Caller, wanted: NextInput) -> Json:
    """The next mails of the fixed list: those for which no model needs to be asked, or no more, are sorted here."""
    rows = tx.all(
        "select given from rule_batches where run_id = :id and place >= :after order by place limit :limit",
        id=caller.run_id,
        after=wanted.after,
        limit=A_TIME,
    )
    total = tx.value("select count(*) from rule_batches where run_id = :id", id=caller.run_id)
    asking: list[Any] = []
    filing = Filing(tx=tx, principal=finding.owner(caller.principal.user_id))
    for (text,) in rows:
        given = msgspec.json.decode(text)
        found = finding.found(tx, given["message"])
        if found is None or found.account.owner_id != caller.principal.user_id:
            continue
        hits = [hit for hit in _hits(workspace, tx, caller, given["hits"], sender=found.mail.sender) if hit is not None]
        if given["questions"] and any(not hit.why_not and hit.rule.value.ask is not None for hit in hits):
            asking.append({**given, "batch": caller.run_id})
            continue
        run_id = acting.take(tx, found, batch=caller.run_id, state="done")
        if run_id is not None and hits:
            acting.act(filing, found, hits, run_id=run_id, quiet=True)
    filing.close()
    after = wanted.after + len(rows)
    progress(tx, caller.run_id, done=after, total=int(total or 0))
    return {"asking": asking, "after": after, "more": len(rows) == A_TIME, "total": total}


def _carry_on(workspace: Workspace) -> None:
    mail.carry_on(workspace)
    workspace.service(Dispatcher).wake.call()


CALLS: Final = (
    Call(
        name=DECIDE,
        summary="Do what the rules say that a model said yes for.",
        input=DecideInput,
        decide=_decide,
        then=_carry_on,
    ),
    Call(
        name=LEAVE,
        summary="Write down that a mail stays where it is, for a model gave no answer.",
        input=LeaveInput,
        decide=_leave,
    ),
    Call(name=PROPOSE, summary="Propose a reply that a rule drafted.", input=ProposeInput, decide=_propose),
    Call(
        name=NEXT,
        summary="Sort the next mails that a person applies rules to.",
        input=NextInput,
        decide=_next,
        then=_carry_on,
    ),
)
