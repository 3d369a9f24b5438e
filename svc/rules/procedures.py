"""The procedures of rules and proposed replies."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any, Final

import msgspec

from svc import mail
from svc.configuring import PLUGINS, Configuration, parse
from svc.errors import Conflict, Invalid, NotFound
from svc.mail import SendRequest
from svc.models import Models
from svc.pages import page_path, page_text, page_title, readable_page, save_page
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.rules import acting, finding, following, habits, wire
from svc.rules.finding import Found, InForce
from svc.rules.model import FOLDER, Addresses, Rule
from svc.rules.page import KIND, written
from svc.runs import Dispatcher, begin, close_undone, mine
from svc.store import ReadTx, Tx
from svc.worker.rules import APPLY, MAX_ANSWER_TOKENS
from svc.workspace import RequestContext, Workspace

SAMPLES: Final = 20
PROMPT_TOKENS: Final = (following.MAX_PROMPT_CHARS + 1_200) // 3
"""The most tokens of a question about one mail."""
_NO_RULE: Final = "There is no such rule."
_OF_PLUGINS: Final = f"{PLUGINS}/"


async def list_rules(context: RequestContext, wanted: Nothing) -> list[wire.RuleOut]:
    pages = context.workspace.service(Configuration)
    return await context.workspace.store.read(_listed, context.principal, pages=pages)


def _listed(tx: ReadTx, principal: Principal, *, pages: Configuration) -> list[wire.RuleOut]:
    problems = {one.path: f"line {one.line}: {one.reason}" for one in pages.problems(tx, principal)}
    rules = pages.of(tx, KIND, owner_id=principal.user_id, everybody=principal.sees_everything, also_held=True)
    return [wire.rule_out(one, problem=problems.get(one.path, "")) for one in finding.in_their_order(rules)]


async def save(context: RequestContext, wanted: wire.SaveRuleInput) -> wire.SavedRuleOut:
    """The saved page must read back as exactly this rule, or the call is refused: this never saves a broken page."""
    rule = _checked(wanted.rule)
    path = await context.workspace.store.write(
        _save, context.principal, title=wanted.title, rule=rule, path=wanted.path
    )
    return wire.SavedRuleOut(path=path)


def _checked(wanted: wire.RuleIO) -> Rule:
    """The rule as its page would be read. Raises :class:`svc.errors.Invalid` if it is not a valid rule."""
    rule = wanted.rule()
    _, _, value, fault = parse(KIND, title="", body=written(rule))
    if fault is not None or value != rule:
        reason = fault.reason if fault else "a value has signs that a page does not keep"
        raise Invalid(f"This can't be a rule: {reason}.")
    return rule


def _save(tx: Tx, principal: Principal, *, title: str, rule: Rule, path: str | None) -> str:
    text = ""
    if path is None:
        path = _free_path(tx, principal, title)
    else:
        path = _rule_path(path)
        page = readable_page(tx, principal, path)
        if page is None:
            raise NotFound(_NO_RULE)
        text = _below(page_text(tx, page_id=page.id, revision=page.revision))
    save_page(tx, principal, path=path, title=page_title(title, path=path), body=written(rule, text))
    return path


def _below(body: str) -> str:
    """The text below a page's front matter, which can be read even if the page is broken."""
    parts = re.split(r"(?m)^---[ \t]*$", body, maxsplit=2)
    return parts[2] if len(parts) == 3 and not parts[0].strip() else ""


def _rule_path(path: str) -> str:
    path = page_path(path)
    if not path.startswith(f"{FOLDER}/") or path.count("/") != 1:
        raise Invalid(f"A rule is a page {FOLDER}/<name>.")
    return path


def _free_path(tx: Tx, principal: Principal, title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "rule"
    for number in range(1, 1_000):
        path = f"{FOLDER}/{name}" + (f"-{number}" if number > 1 else "")
        if tx.value("select 1 from pages where path = :path", path=path) is None:
            return path
    raise Conflict("There are too many rules of this name.")


async def test(context: RequestContext, wanted: wire.TestInput) -> wire.TestOut:
    rule = await _rule_of(context, wanted)
    workspace = context.workspace
    found = await workspace.store.read(_newest, context.principal, limit=wanted.limit)
    matched = await _matched(workspace, found, rule)
    calls = len(matched) if rule.value.ask is not None else 0
    price = workspace.service(Models).price(workspace.service(Models).name)
    return wire.TestOut(
        checked=len(found),
        matched=tuple(dict.fromkeys(one.found.message.thread_id for one in matched)),
        cost=calls * price.micros(PROMPT_TOKENS, MAX_ANSWER_TOKENS) / 1_000_000,
        calls=calls,
        samples=tuple(
            wire.SampleOut(
                thread_id=one.found.message.thread_id,
                sender=one.found.message.sender.address,
                subject=one.found.message.subject,
                because=one.hits[0].because,
            )
            for one in matched[:SAMPLES]
        ),
    )


async def _matched(workspace: Workspace, found: list[Found], rule: InForce) -> list[following.Sorting]:
    """Uses the same matcher as new mail."""
    sorted_ = [await following.sort(workspace, one, [rule]) for one in found]
    return [one for one in sorted_ if one.hits]


def _newest(tx: ReadTx, principal: Principal, *, limit: int) -> list[Found]:
    accounts = finding.Accounts()
    looked_at = (finding.found(tx, one, accounts) for one in finding.newest_messages(tx, principal, limit=limit))
    return [one for one in looked_at if one is not None]


async def _rule_of(context: RequestContext, wanted: wire.TestInput) -> InForce:
    if (wanted.path is not None) + (wanted.body is not None) + (wanted.rule is not None) != 1:
        raise Invalid("Say one of path, body and rule.")
    if wanted.path is not None:
        return await _page_rule(context, wanted.path)
    if wanted.rule is not None:
        value = _checked(wanted.rule)
    else:
        _, _, value, fault = parse(KIND, title="", body=wanted.body or "")
        if fault is not None:
            raise Invalid(f"Line {fault.line}: {fault.reason}.", data={"line": fault.line, "reason": fault.reason})
    return InForce(
        page_id="", path="", name="", title="", owner_id=context.principal.user_id, revision=0, value=value, body=""
    )


async def _page_rule(context: RequestContext, path: str) -> InForce:
    """A rule of the caller that is in force."""
    pages = context.workspace.service(Configuration)
    path = path if path.startswith(_OF_PLUGINS) else _rule_path(path)
    return await context.workspace.store.read(_own_rule, context.principal, path=path, pages=pages)


def _own_rule(tx: ReadTx, principal: Principal, *, path: str, pages: Configuration) -> InForce:
    if path.startswith(_OF_PLUGINS):
        for one in pages.of(tx, KIND, owner_id=principal.user_id, everybody=principal.sees_everything):
            if one.plugin is not None and one.path == path:
                return one
        raise NotFound(_NO_RULE)
    page = readable_page(tx, principal, path)
    if page is None or not (principal.sees_everything or page.owner_id == principal.user_id):
        raise NotFound(_NO_RULE)
    rule = pages.one(tx, KIND, page.id)
    if rule is None:
        raise Conflict("This rule is broken, and no earlier version of it can be used.")
    if rule.is_held:
        raise Conflict("This rule's page holds text of others: read it, and say there that it may be used as a rule.")
    return rule


async def apply(context: RequestContext, wanted: wire.ApplyInput) -> wire.RunOut:
    """The list is fixed now: mail that comes later passes the rules anyway."""
    workspace = context.workspace
    rule = await _page_rule(context, wanted.path)
    found = await workspace.store.read(_newest, context.principal, limit=wanted.limit)
    matched = await _matched(workspace, found, rule)
    for one in {one.found.account.id: one for one in matched}.values():
        await following.make_labels(workspace, one)
    given = [await following.given_of(workspace, one, batch="") for one in matched]
    title = f"Apply the rule {rule.title}"
    run_id = await workspace.store.write(_begin_apply, context.principal, given=given, title=title)
    workspace.service(Dispatcher).wake.call()
    return wire.RunOut(run_id=run_id)


def _begin_apply(tx: Tx, principal: Principal, *, given: list[dict[str, Any]], title: str) -> str:
    run_id = begin(tx, principal.user_id, APPLY, None, title=title)
    tx.run_many(
        "insert into rule_batches (run_id, place, given) values (:run_id, :place, :given)",
        (
            {"run_id": run_id, "place": place, "given": msgspec.json.encode(one).decode()}
            for place, one in enumerate(given)
        ),
    )
    return run_id


async def why(context: RequestContext, wanted: wire.ThreadInput) -> list[wire.ActOut]:
    found = await context.workspace.store.read(_why, context.principal, thread_id=wanted.thread_id)
    return [wire.act_out(one) for one in found]


def _why(tx: ReadTx, principal: Principal, *, thread_id: str) -> list[acting.Act]:
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        raise NotFound("There is no such thread.")
    return acting.why(tx, thread_id=thread.id)


async def undo(context: RequestContext, wanted: wire.RunInput) -> Nothing:
    count = await context.workspace.store.write(_undo_ended, context.principal, run_id=wanted.run_id)
    while count == acting.UNDONE_AT_ONCE:  # so that other writers get their turn
        count = await context.workspace.store.write(acting.undo, context.principal, run_id=wanted.run_id)
    mail.carry_on(context.workspace)
    return NOTHING


def _undo_ended(tx: Tx, principal: Principal, *, run_id: str) -> int:
    """Undo what an ended run did. A run that goes on is refused: what it did later would not be undone."""
    run = mine(tx, principal, run_id)
    if run is not None and run.state in {"queued", "running", "waiting"}:
        raise Conflict("This run goes on: stop it first, or wait for its end.")
    count = acting.undo(tx, principal, run_id=run_id)
    if run is not None and (run.workflow, run.state) == (APPLY.name, "failed"):
        close_undone(tx, run)
    elif not count:
        raise NotFound("There is nothing of that to undo.")
    return count


async def teach(context: RequestContext, wanted: wire.TeachInput) -> Nothing:
    pages = context.workspace.service(Configuration)
    if wanted.path.startswith(_OF_PLUGINS):
        raise Conflict("A plugin brings this rule: it can't be changed here. Write a rule of your own before it.")
    await context.workspace.store.write(
        _teach, context.principal, path=_rule_path(wanted.path), thread_id=wanted.thread_id, pages=pages
    )
    return NOTHING


def _teach(tx: Tx, principal: Principal, *, path: str, thread_id: str, pages: Configuration) -> None:
    rule = _own_rule(tx, principal, path=path, pages=pages)
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        raise NotFound("There is no such thread.")
    sender = thread.sender_address.lower()
    if not sender:
        raise Conflict("This mail names no sender.")
    if any(one.matches(sender) for one in rule.value.except_):
        return
    taught = replace(rule.value, except_=(*rule.value.except_, Addresses(sender)))
    save_page(tx, principal, path=path, title=rule.title, body=written(taught, rule.body))


async def suggestions(context: RequestContext, wanted: wire.SuggestionsInput) -> list[wire.SuggestionOut]:
    await following.learn_habits(context.workspace)
    pages = context.workspace.service(Configuration)
    found = await context.workspace.store.read(_suggestions, context.principal, pages=pages, thread_id=wanted.thread_id)
    return [wire.suggestion_out(one) for one in found]


def _suggestions(
    tx: ReadTx, principal: Principal, *, pages: Configuration, thread_id: str | None
) -> list[habits.Habit]:
    if thread_id is None:
        return habits.suggested(tx, principal, pages=pages)
    thread = mail.thread_for(tx, principal, thread_id=thread_id)
    if thread is None:
        raise NotFound("There is no such thread.")
    return habits.suggested(tx, principal, pages=pages, thread=thread)


async def dismiss_suggestion(context: RequestContext, wanted: wire.DismissInput) -> Nothing:
    await context.workspace.store.write(
        habits.dismiss, context.principal, address=wanted.address, deed=wanted.deed, value=wanted.value
    )
    return NOTHING


async def approve_reply(context: RequestContext, wanted: wire.ApproveInput) -> wire.ApprovedOut:
    """It goes only to the recipients that were shown, and is sent like any other mail."""
    hold_ms = mail.hold_ms(context.workspace)
    outgoing_id = await context.workspace.store.write(
        _approve, context.principal, proposal_id=wanted.id, html=wanted.html, hold_ms=hold_ms
    )
    mail.carry_on(context.workspace)
    return wire.ApprovedOut(outgoing_id=outgoing_id)


def _approve(tx: Tx, principal: Principal, *, proposal_id: str, html: str | None, hold_ms: int) -> str:
    reply = mail.proposal_for(tx, principal, proposal_id=proposal_id)
    if reply is None:
        raise NotFound("There is no such proposed reply: it was answered, dismissed, or newer mail came.")
    request = SendRequest(
        account_id=reply.account_id,
        to=reply.to,
        cc=reply.cc,
        bcc=(),
        subject=reply.subject,
        html=reply.html if html is None else html,
        attachments=(),
        thread_id=reply.thread_id,
        quote=None,
    )
    return mail.send(tx, principal, request=request, send_at=None, draft_id=None, hold_ms=hold_ms).id


async def dismiss_reply(context: RequestContext, wanted: wire.ReplyInput) -> Nothing:
    await context.workspace.store.write(_dismiss, context.principal, proposal_id=wanted.id)
    return NOTHING


def _dismiss(tx: Tx, principal: Principal, *, proposal_id: str) -> None:
    reply = mail.proposal_for(tx, principal, proposal_id=proposal_id)
    if reply is None:
        raise NotFound("There is no such proposed reply.")
    account = mail.account_for(tx, principal, account_id=reply.account_id, to="act")
    if account is not None:
        mail.drop_proposal(tx, account, thread_id=reply.thread_id, device_id=principal.device_id)


def _row(name: str, kind: Any, input_: type, output: object, call: Any, summary: str) -> Procedure[RequestContext]:
    return Procedure(
        name=name, kind=kind, access="authenticated", input=input_, output=output, call=call, summary=summary
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    _row("rules.list", "query", Nothing, list[wire.RuleOut], list_rules, "The caller's mail rules, in their order."),
    _row(
        "rules.save",
        "mutation",
        wire.SaveRuleInput,
        wire.SavedRuleOut,
        save,
        "Write a rule's page, as an editor has it.",
    ),
    _row(
        "rules.test",
        "mutation",
        wire.TestInput,
        wire.TestOut,
        test,
        "Which of the newest mails a rule would match, and what it would cost; nothing is changed.",
    ),
    _row(
        "rules.apply",
        "mutation",
        wire.ApplyInput,
        wire.RunOut,
        apply,
        "Apply a rule to the mail that is there, as a run.",
    ),
    _row("rules.why", "query", wire.ThreadInput, list[wire.ActOut], why, "What rules did with a thread, and why."),
    _row("rules.undo", "mutation", wire.RunInput, Nothing, undo, "Take back what rules did with a mail, or in a run."),
    _row("rules.teach", "mutation", wire.TeachInput, Nothing, teach, "Have a rule leave a thread's sender alone."),
    _row(
        "rules.suggestions",
        "query",
        wire.SuggestionsInput,
        list[wire.SuggestionOut],
        suggestions,
        "Rules for what the caller does again and again; none is in force by itself.",
    ),
    _row(
        "rules.dismissSuggestion",
        "mutation",
        wire.DismissInput,
        Nothing,
        dismiss_suggestion,
        "Never suggest that again.",
    ),
    _row(
        "mail.approveReply",
        "mutation",
        wire.ApproveInput,
        wire.ApprovedOut,
        approve_reply,
        "Send a proposed reply, as drafted or as edited, to the recipients that it shows.",
    ),
    _row("mail.dismissReply", "mutation", wire.ReplyInput, Nothing, dismiss_reply, "Throw a proposed reply away."),
)
