"""Applies rules to one mail in one transaction: labels, pages and tasks. Records it, for the explanation
and for undo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from svc import mail
from svc.errors import Refusal
from svc.ids import derived_id
from svc.inert import inert
from svc.mail import INBOX, SENT, STARRED, UNREAD, Changes, Step
from svc.principal import Principal
from svc.rules.filing import Filing
from svc.rules.finding import Found, InForce
from svc.rules.matching import Hit, Plan, in_order, plan_of
from svc.rules.model import Action, What
from svc.store import ReadTx, Tx

KEEP_MS: Final = 400 * 86_400_000
UNDONE_AT_ONCE: Final = 200
"""Mails in one transaction of an undo."""
Problems = dict[tuple[What, str], str]
"""What could not be done, by the action and its value, each in words."""
_decode_changes = msgspec.json.Decoder(Changes).decode


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A reply to be drafted: for which rule, and the rule's instructions for it."""

    rule_id: str
    instructions: str


def run_id_of(message_id: str, batch: str) -> str:
    return derived_id("rul", message_id, batch)


def take(tx: Tx, found: Found, *, batch: str, state: str) -> str | None:
    """Record that rules handle this mail, once. Returns ``None`` if they already have."""
    run_id = run_id_of(found.message.id, batch)
    taken = tx.run(
        """
        insert into rule_runs (id, batch, message_id, thread_id, owner_id, at, state)
        values (:id, :batch, :message_id, :thread_id, :owner_id, :now, :state) on conflict do nothing
        """,
        id=run_id,
        batch=batch,
        message_id=found.message.id,
        thread_id=found.message.thread_id,
        owner_id=found.account.owner_id,
        now=tx.now,
        state=state,
    )
    return run_id if taken else None


def act(filing: Filing, found: Found, matched: Sequence[Hit[InForce]], *, run_id: str, quiet: bool) -> Draft | None:
    """Do the actions of these rules, in order, up to ``stop``. Returns the reply to be drafted, if there is one. The
    caller closes ``filing``, which is the mail's owner's.

    ``quiet``: for mail from before; it is sorted, and no reply is drafted. If a part of it can't be done, the mail
    stays in the inbox, and the record says so.
    """
    counted = in_order(matched)
    tx, principal = filing.tx, filing.principal
    opened = Step(tx=tx, principal=principal).thread(found.message.thread_id)
    if opened is None:
        return None
    plan = plan_of(counted, stays=any(SENT in one.labels for one in opened.messages))
    problems = _keep(filing, found, plan)
    changes = _relabel(tx, principal, found, plan, problems)
    tx.run(
        "update rule_runs set state = 'done', changes = :changes where id = :id",
        id=run_id,
        changes=msgspec.json.encode(changes).decode(),
    )
    tx.run("delete from rule_acts where run_id = :id", id=run_id)  # left by an earlier try that got no answer
    for place, hit in enumerate(counted):
        did = [action.words for action in hit.actions if _was_done(action, plan, problems, place, quiet=quiet)]
        failed = list(filter(None, dict.fromkeys(problems.get(_named(one.what, one.value)) for one in hit.actions)))
        if plan.archive and problems and not failed and any(one.what == "archive" for one in hit.actions):
            failed.append("not archived: an action of another rule failed")
        tx.run(
            """
            insert into rule_acts (run_id, place, rule_id, rule_path, because, did)
            values (:run_id, :place, :rule_id, :path, :because, :did)
            """,
            run_id=run_id,
            place=place,
            rule_id=hit.rule.page_id,
            path=hit.rule.path,
            because=hit.because,
            did=msgspec.json.encode([*did, *failed, *filter(None, [hit.why_not])]).decode(),
        )
    if plan.draft is None or quiet or not _may_be_answered(found):
        return None
    place, instructions = plan.draft
    return Draft(rule_id=counted[place].rule.page_id, instructions=inert(instructions))


def _was_done(action: Action, plan: Plan, problems: Problems, place: int, *, quiet: bool) -> bool:
    if action.what == "archive":
        return plan.archive and not problems
    if _named(action.what, action.value) in problems:
        return False
    if action.what == "draft":
        return plan.draft is not None and plan.draft[0] == place and not quiet
    return True


def _may_be_answered(found: Found) -> bool:
    """Whether it is from no robot or list, and has a sender."""
    local = found.mail.sender.partition("@")[0].replace("-", "").replace("_", "").replace(".", "")
    robot = local.startswith(("noreply", "donotreply", "mailerdaemon", "postmaster", "bounce"))
    return bool(found.mail.sender) and not (robot or found.mail.is_bulk or found.mail.list_id)


def _named(what: What, value: str) -> tuple[What, str]:
    return what, value.casefold()


def _relabel(tx: Tx, principal: Principal, found: Found, plan: Plan, problems: Problems) -> Changes:
    """Adds to ``problems`` the labels that can't be set."""
    step = Step(tx=tx, principal=principal)
    opened = step.thread(found.message.thread_id)
    assert opened is not None, "it was just looked at"
    add, remove = set[str](), set[str]()
    for name in plan.labels:
        label = mail.label_named(tx, found.account.id, name)
        if label is None or label.system:
            problems[_named("label", name)] = f"failed: there is no label {name}"
        else:
            add.add(label.id)
    if plan.star:
        add.add(STARRED)
    if plan.mark_read:
        remove.add(UNREAD)
    if plan.archive and not problems:
        remove.add(INBOX)
    mail.relabel_thread(step, opened, add=frozenset(add), remove=frozenset(remove))
    return step.close(None)


def _keep(filing: Filing, found: Found, plan: Plan) -> Problems:
    """Write lines on pages: where the mail is filed, and tasks. Returns what could not be done."""
    address = f"/p/mail/t/{found.message.thread_id}"
    subject = found.message.subject.replace("[", "(").replace("]", ")").strip() or "(no subject)"
    lines = [(_named("file", path), path, f"- [{subject}]({address})") for path in plan.files]
    whose = found.account.owner_id or "everybody"
    tasks = f"tasks/mail-{whose[-8:].lower()}"
    lines += [(_named("task", title), tasks, f"- [ ] {title}: [{subject}]({address})") for title in plan.tasks]
    problems: Problems = {}
    for name, path, line in lines:
        try:
            filing.add(path, line)
        except Refusal as refusal:
            problems[name] = f"failed: {path}: {refusal.detail}"
    return problems


def undo(tx: Tx, principal: Principal, *, run_id: str) -> int:
    """Undo what rules did with one mail, or with all mails of a run: labels, star, inbox. Returns the number of mails;
    if there are many, call it again until it returns 0.
    """
    rows = tx.all(
        """
        select id, changes from rule_runs
        where (id = :id or batch = :id) and state = 'done' and (:everything or owner_id is :user_id)
        limit :limit
        """,
        limit=UNDONE_AT_ONCE,
        id=run_id,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    for row_id, changes in rows:
        if changes is not None:
            mail.take_back_changes(tx, principal, _decode_changes(changes))
        tx.run("update rule_runs set state = 'undone' where id = :id", id=row_id)
    return len(rows)


def leave(tx: Tx, matched: Sequence[Hit[InForce]], *, run_id: str, problem: str) -> None:
    """The model gave no answer: the mail stays where it is. What was already done is not undone."""
    if not tx.run("update rule_runs set state = 'failed' where id = :id and state in ('asking', 'failed')", id=run_id):
        return
    tx.run("delete from rule_acts where run_id = :id", id=run_id)
    for place, hit in enumerate(matched):
        tx.run(
            """
            insert into rule_acts (run_id, place, rule_id, rule_path, because, did, problem)
            values (:run_id, :place, :rule_id, :path, :because, '[]', :problem)
            """,
            run_id=run_id,
            place=place,
            rule_id=hit.rule.page_id,
            path=hit.rule.path,
            because=hit.because,
            problem=problem[:500],
        )


@dataclass(frozen=True, kw_only=True)
class Act:
    run_id: str
    rule_id: str
    rule: str
    at: int
    because: str
    did: tuple[str, ...]
    undone: bool
    problem: str


def why(tx: ReadTx, *, thread_id: str) -> list[Act]:
    """What rules did with a thread, the newest first."""
    rows = tx.all(
        """
        select r.id, a.rule_id, a.rule_path, r.at, a.because, a.did, r.state = 'undone', a.problem
        from rule_runs r join rule_acts a on a.run_id = r.id where r.thread_id = :id
        order by r.at desc, r.id, a.place limit 100
        """,
        id=thread_id,
    )
    return [
        Act(
            run_id=row[0],
            rule_id=row[1],
            rule=row[2],
            at=row[3],
            because=row[4],
            did=tuple(msgspec.json.decode(row[5], type=list[str])),
            undone=bool(row[6]),
            problem=row[7],
        )
        for row in rows
    ]


def hand_over(tx: Tx, user_id: str) -> None:
    tx.run("update rule_runs set owner_id = :user_id where owner_id is null", user_id=user_id)


def prune(tx: Tx) -> None:
    """Delete old records, and the mails given to runs that can't continue any more."""
    tx.run("delete from rule_runs where at < :oldest", oldest=tx.now - KEEP_MS)
    tx.run(
        """
        delete from rule_batches where run_id not in (
            select id from runs where state not in ('done', 'cancelled')
        )
        """
    )


__all__ = ["Act", "Draft", "act", "hand_over", "leave", "prune", "run_id_of", "take", "undo", "why"]
