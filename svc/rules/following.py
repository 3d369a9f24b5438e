"""Rules follow received mail as a durable consumer: each mail once, in order, and a crash repeats nothing.

The body is read only if a rule tests its words, and before the transaction. A decision without a model is applied in
the transaction that records the mail as handled. If a model is asked, that transaction begins a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from svc import mail
from svc.configuring import Configuration
from svc.errors import Refusal
from svc.inert import inert
from svc.mail import MAIL_RECEIVED, Body, text_of_body
from svc.models import Models
from svc.rules import acting, finding, habits
from svc.rules.filing import Filing
from svc.rules.finding import Found, InForce
from svc.rules.matching import Hit
from svc.rules.page import KIND
from svc.runs import Dispatcher, begin
from svc.store import BlobCorrupt, BlobMissing, Consumer, Event, ReadTx, Tx
from svc.worker.rules import MAIL
from svc.workspace import Workspace

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
"""A body in which words are looked for. Beyond: it has none of them."""
MAX_TEXT_CHARS: Final = 200_000
"""Characters of a body in which words are looked for. Beyond: they are not looked for."""


MAX_PROMPT_CHARS: Final = 8_000
"""Characters of a mail's text that a model is shown. Beyond: it is cut."""
MAX_NAMED: Final = 20
"""Recipients in a prompt for a model. Beyond: they are left out."""
_BEGINS: Final = "MAIL BEGINS"
_ENDS: Final = "MAIL ENDS"
_GARBLED: Final = "mail …"


class _Received(msgspec.Struct, frozen=True, rename="camel"):
    message_id: str
    own: bool
    backfill: bool


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """One mail and the rules that match it, before anything is done."""

    found: Found
    hits: list[Hit[InForce]]


async def follow(workspace: Workspace, events: Sequence[Event]) -> None:
    received = [msgspec.json.decode(event.payload, type=_Received) for event in events]
    message_ids = [one.message_id for one in received if not (one.own or one.backfill)]
    if not message_ids:
        return
    pages = workspace.service(Configuration)
    changed = False
    for found, rules in await workspace.store.read(_with_rules, message_ids, pages=pages):
        sorting = await sort(workspace, found, rules)
        if sorting.hits:
            await make_labels(workspace, sorting)
            given = await given_of(workspace, sorting, batch="")
            await workspace.store.write(take_on, sorting, given=given)
            changed = True
    if changed:
        mail.carry_on(workspace)
        workspace.service(Dispatcher).wake.call()


def _with_rules(tx: ReadTx, message_ids: list[str], *, pages: Configuration) -> list[tuple[Found, list[InForce]]]:
    rules: dict[str | None, list[InForce]] = {}
    if not pages.any_of(tx, KIND):
        return []
    listed = []
    accounts = finding.Accounts()
    for message_id in message_ids:
        found = finding.found(tx, message_id, accounts)
        if found is None:
            continue
        owner_id = found.account.owner_id
        if owner_id not in rules:
            rules[owner_id] = finding.rules_of(tx, pages, owner_id)
        if rules[owner_id]:
            listed.append((found, rules[owner_id]))
    return listed


async def sort(workspace: Workspace, found: Found, rules: Sequence[InForce]) -> Sorting:
    """Which rules match. Nothing is changed."""
    if finding.wants_text(rules, found.mail):
        text = (await body_text(workspace, found))[:MAX_TEXT_CHARS].casefold()
        found = replace(found, mail=replace(found.mail, text=text))
    return Sorting(found=found, hits=finding.hits(rules, found.mail))


async def body_text(workspace: Workspace, found: Found) -> str:
    """The text of the mail; empty if its file is missing or it is too large."""
    try:
        data = await workspace.blobs.read(found.message.body_sha256, limit=MAX_BODY_BYTES)
    except (BlobMissing, BlobCorrupt, Refusal) as fault:
        workspace.log.warning("rules.no_body", message=found.message.id, reason=str(fault))
        return ""
    body = msgspec.json.decode(data, type=Body)
    return await workspace.threads.run(text_of_body, body)


async def make_labels(workspace: Workspace, sorting: Sorting) -> None:
    """Make missing labels at the provider first. If a label can't be made, the record of the rule says so."""
    names = {one.value for hit in sorting.hits for one in hit.actions if one.what == "label"}
    account_id = sorting.found.account.id
    missing = await workspace.store.read(_missing, account_id, names=names) if names else []
    for name in missing:
        try:
            await mail.make_label(workspace, account_id, name)
        except Refusal as refusal:
            workspace.log.warning("rules.no_label", name=name, reason=refusal.detail)


def _missing(tx: ReadTx, account_id: str, *, names: set[str]) -> list[str]:
    return sorted(name for name in names if mail.label_named(tx, account_id, name) is None)


async def prompt_of(workspace: Workspace, found: Found) -> str:
    """The mail as text for a model: cut, without what nobody sees, and between lines that mark its beginning and
    end.
    """
    message = found.message
    text = (await body_text(workspace, found))[:MAX_PROMPT_CHARS]
    names = [f"{one.name} <{one.address}>" for one in (*message.headers.to, *message.headers.cc)][:MAX_NAMED]
    head = f"From: {message.sender.name} <{message.sender.address}>\nTo: {', '.join(names)}\nSubject: {message.subject}"
    lines = inert(f"{head}\n\n{text}").replace(_BEGINS, _GARBLED).replace(_ENDS, _GARBLED)
    return f"{_BEGINS}\n{lines}\n{_ENDS}"


async def given_of(workspace: Workspace, sorting: Sorting, *, batch: str) -> dict[str, Any]:
    """The data of a mail for a run, fixed from now on: the questions of its rules, by the position of each rule."""
    may_count = finding.in_order_at_most(sorting.hits)
    asks = {
        f"q{place}": inert(hit.rule.value.ask) for place, hit in enumerate(may_count) if hit.rule.value.ask is not None
    }
    drafts = any(one.what == "draft" for hit in may_count for one in hit.actions)
    return {
        "message": sorting.found.message.id,
        "batch": batch,
        "hits": [finding.kept(hit) for hit in may_count],
        "questions": asks,
        "mail": await prompt_of(workspace, sorting.found) if asks or drafts else "",
        "model": workspace.service(Models).name,
        "draft": None,
    }


def take_on(tx: Tx, sorting: Sorting, *, given: dict[str, Any]) -> None:
    """Apply the rules, or begin the run that first asks, or that drafts a reply afterwards. Once for each mail."""
    found = sorting.found
    asks = bool(given["questions"])
    run_id = acting.take(tx, found, batch="", state="asking" if asks else "done")
    if run_id is None:
        return
    filing = Filing(tx=tx, principal=finding.owner(found.account.owner_id))
    draft = None if asks else acting.act(filing, found, sorting.hits, run_id=run_id, quiet=False)
    filing.close()
    if draft is not None:
        given = {**given, "draft": {"rule": draft.rule_id, "instructions": draft.instructions}}
    if asks or draft is not None:
        begin(tx, found.account.owner_id, MAIL, given, title=f"Rules: {found.message.subject[:100]}")


async def learn_habits(workspace: Workspace) -> None:
    """Read what people have done since the last run."""
    while await workspace.store.read_small(habits.is_behind):
        await workspace.store.write(habits.note)


CONSUMER: Final[Consumer[Workspace]] = Consumer(
    name="mail-rules",
    types=frozenset({MAIL_RECEIVED}),
    summary="Sorts mail by rules as it comes.",
    handle=follow,
)
