"""Whether a rule matches a mail, and why; and the plan for a mail that several rules match. Pure.
Patterns with stars are in ``model``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from svc.rules.model import Action, Mail, Match, Rule, What, Words

R = TypeVar("R")

_ATTACHMENT: Final = "attachment"


def match(rule: Rule, mail: Mail) -> Match | None:
    """Why the rule matches; ``None`` if it does not. The question for the model is not part of this."""
    if rule.account is not None and rule.account != mail.account:
        return None
    when = rule.when
    for one in when.sender:  # for most mails most rules end here, so nothing is allocated before
        if one.matches(mail.sender):
            break
    else:
        if when.sender:
            return None
    if rule.except_ and any(one.matches(mail.sender) for one in rule.except_):
        return None
    because = [f"from {mail.sender or 'nobody'}"] if when.sender else []
    if when.to:
        found = next((to for to in sorted(mail.to) if any(one.matches(to) for one in when.to)), None)
        if found is None:
            return None
        because.append(f"to {found}")
    if when.subject:
        words = _first(when.subject, mail.subject)
        if words is None:
            return None
        because.append(f"subject has “{words.said}”")
    if when.has:
        if not mail.has_attachment:
            return None
        because.append("has an attachment")
    if when.list:
        if not (mail.list_id or mail.is_bulk) or _first(when.list, mail.list_id) is None:
            return None
        because.append(f"list {mail.list_id}" if mail.list_id else "sent to many")
    if when.label:
        label = next((one for one in when.label if one.casefold() in mail.labels), None)
        if label is None:
            return None
        because.append(f"label {label}")
    if when.words:
        wants_text = mail.text is None
        if not wants_text and not all(_stands(word, mail) for word in when.words):
            return None
        because.append(f"words {', '.join(when.words)}")
        return Match(because="; ".join(because), wants_text=wants_text)
    return Match(because="; ".join(because)) if because else None


def _first(patterns: Sequence[Words], text: str) -> Words | None:
    return next((one for one in patterns if one.matches(text)), None)


def _stands(word: str, mail: Mail) -> bool:
    wanted = word.casefold()
    return wanted in mail.subject or wanted in (mail.text or "")


@dataclass(frozen=True, kw_only=True)
class Hit(Generic[R]):
    """A rule that matches. ``rule`` identifies it in whatever way the caller uses. ``why_not``: why it does nothing."""

    rule: R
    actions: tuple[Action, ...]
    because: str
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What happens to one mail, with conflicts resolved. ``draft``: the position of the hit, and its instructions."""

    archive: bool = False
    star: bool = False
    mark_read: bool = False
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    draft: tuple[int, str] | None = None


def in_order(hits: Iterable[Hit[R]]) -> list[Hit[R]]:
    """The hits that count: up to the first with ``stop``, including that one."""
    counted: list[Hit[R]] = []
    for hit in hits:
        counted.append(hit)
        if any(action.what == "stop" for action in hit.actions):
            break
    return counted


def plan_of(hits: Sequence[Hit[R]], *, stays: bool) -> Plan:
    """Collects all actions first, and then decides: only the first draft; each label, page and task once.

    ``stays``: the mail stays in the inbox whatever a rule says, because its person has written in its thread.
    """
    drafts = [
        (place, action.value) for place, hit in enumerate(hits) for action in hit.actions if action.what == "draft"
    ]
    return Plan(
        archive=_any(hits, "archive") and not stays,
        star=_any(hits, "star"),
        mark_read=_any(hits, "mark-read"),
        labels=_values(hits, "label"),
        files=_values(hits, "file"),
        tasks=_values(hits, "task"),
        draft=drafts[0] if drafts else None,
    )


def _any(hits: Sequence[Hit[R]], what: What) -> bool:
    return any(action.what == what for hit in hits for action in hit.actions)


def _values(hits: Sequence[Hit[R]], what: What) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for hit in hits:
        for action in hit.actions:
            if action.what == what:
                found.setdefault(action.value.casefold(), action.value)
    return tuple(found.values())
