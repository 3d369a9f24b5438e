"""The wire types of rules, for an editor that shows and saves them without YAML."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.protocol import Wire
from svc.rules.acting import Act
from svc.rules.finding import InForce
from svc.rules.habits import Habit
from svc.rules.model import (
    LAST_ORDER,
    MAX_ACTIONS,
    MAX_ASK_CHARS,
    MAX_DRAFT_CHARS,
    MAX_PATTERNS,
    PLAIN,
    Action,
    Addresses,
    Rule,
    When,
    Words,
)

Value = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Values = Annotated[tuple[Value, ...], msgspec.Meta(max_length=MAX_PATTERNS)]
Path = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class WhenIO(Wire, frozen=True):
    from_: Values = msgspec.field(name="from", default=())
    to: Values = ()
    subject: Values = ()
    has: Values = ()
    list: Values = ()
    label: Values = ()
    words: Values = ()


class ActionIO(Wire, frozen=True):
    what: Literal["archive", "star", "mark-read", "label", "file", "draft", "task", "stop"]
    value: Annotated[str, msgspec.Meta(max_length=MAX_DRAFT_CHARS)] = ""


class RuleIO(Wire, frozen=True):
    """One rule, without YAML. ``account``: an address; without it, the rule is for all of the owner's accounts."""

    enabled: bool
    order: Annotated[int, msgspec.Meta(ge=-LAST_ORDER, le=LAST_ORDER)]
    when: WhenIO
    then: Annotated[tuple[ActionIO, ...], msgspec.Meta(min_length=1, max_length=MAX_ACTIONS)]
    account: str | None = None
    ask: Annotated[str, msgspec.Meta(max_length=MAX_ASK_CHARS)] | None = None
    except_: Values = msgspec.field(name="except", default=())

    def rule(self) -> Rule:
        if any((one.what in PLAIN) == bool(one.value.strip()) for one in self.then):
            raise Invalid("A label, a page, a task and a draft need their text; the other actions have none.")
        return Rule(
            enabled=self.enabled,
            order=self.order,
            account=(self.account or "").strip().lower() or None,
            when=When(
                sender=tuple(map(Addresses, _said(self.when.from_))),
                to=tuple(map(Addresses, _said(self.when.to))),
                subject=tuple(map(Words, _said(self.when.subject))),
                has=_said(self.when.has),
                list=tuple(map(Words, _said(self.when.list))),
                label=_said(self.when.label),
                words=_said(self.when.words),
            ),
            ask=(self.ask or "").strip() or None,
            then=tuple(Action(one.what, one.value.strip()) for one in self.then),
            except_=tuple(map(Addresses, _said(self.except_))),
        )


def _said(values: Values) -> tuple[str, ...]:
    return tuple(one.strip() for one in values if one.strip())


class RuleOut(Wire, frozen=True):
    """``problem``: what is wrong with the current version of its page; then the last valid version is shown.
    ``plugin``: the package that brings it, where it is no page. ``is_held``: its page holds text of others, so it does
    nothing until its owner says so (`pages.setTrusted`).
    """

    id: str
    path: str
    name: str
    title: str
    rule: RuleIO
    problem: str
    plugin: str | None
    is_held: bool


class SaveRuleInput(Wire, frozen=True):
    """Without ``path`` a new rule is made; its path is derived from its title."""

    title: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    rule: RuleIO
    path: Path | None = None


class SavedRuleOut(Wire, frozen=True):
    path: str


class TestInput(Wire, frozen=True):
    """A rule: by the path of its page, by the text of a page, or as the editor has it."""

    path: Path | None = None
    body: Annotated[str, msgspec.Meta(max_length=64 * 1024)] | None = None
    rule: RuleIO | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=2_000)] = 200


class SampleOut(Wire, frozen=True):
    thread_id: str
    sender: str
    subject: str
    because: str


class TestOut(Wire, frozen=True):
    """``matched``: threads. ``cost``: the most in dollars, if the rule asks the model; ``calls``: how often it asks."""

    checked: int
    matched: tuple[str, ...]
    cost: float
    calls: int
    samples: tuple[SampleOut, ...]


class SuggestionsInput(Wire, frozen=True):
    """``thread_id``: only suggestions for the sender of that thread."""

    thread_id: Value | None = None


class DismissInput(Wire, frozen=True):
    address: Value
    deed: Literal["archive", "star", "label"]
    value: Annotated[str, msgspec.Meta(max_length=500)] = ""


class SuggestionOut(DismissInput, frozen=True, kw_only=True):
    """``times``: the number of threads with that action. ``title``, ``rule``: for `rules.save`."""

    times: int
    title: str
    rule: RuleIO


class ThreadInput(Wire, frozen=True):
    thread_id: Value


class ActOut(Wire, frozen=True):
    """``problem``: why nothing was done: the model gave no answer."""

    rule: str
    at: str
    because: str
    did: tuple[str, ...]
    run_id: str
    undone: bool
    problem: str


class RunInput(Wire, frozen=True):
    run_id: Value


class RunOut(Wire, frozen=True):
    run_id: str


class ApplyInput(Wire, frozen=True):
    path: Path
    limit: Annotated[int, msgspec.Meta(ge=1, le=2_000)] = 1_000


class TeachInput(Wire, frozen=True):
    """From now on the rule at ``path`` ignores the sender of the thread."""

    path: Path
    thread_id: Value


class ReplyInput(Wire, frozen=True):
    id: Value


class ApproveInput(ReplyInput, frozen=True, kw_only=True):
    html: Annotated[str, msgspec.Meta(min_length=1, max_length=1024 * 1024)] | None = None


class ApprovedOut(Wire, frozen=True):
    outgoing_id: str


def rule_io(rule: Rule) -> RuleIO:
    when = rule.when
    return RuleIO(
        enabled=rule.enabled,
        order=rule.order,
        account=rule.account,
        when=WhenIO(
            from_=tuple(one.said for one in when.sender),
            to=tuple(one.said for one in when.to),
            subject=tuple(one.said for one in when.subject),
            has=when.has,
            list=tuple(one.said for one in when.list),
            label=when.label,
            words=when.words,
        ),
        ask=rule.ask,
        then=tuple(ActionIO(what=one.what, value=one.value) for one in rule.then),
        except_=tuple(one.said for one in rule.except_),
    )


def rule_out(page: InForce, *, problem: str) -> RuleOut:
    return RuleOut(
        id=page.page_id,
        path=page.path,
        name=page.name,
        title=page.title,
        rule=rule_io(page.value),
        problem=problem,
        plugin=page.plugin,
        is_held=page.is_held,
    )


def suggestion_out(habit: Habit) -> SuggestionOut:
    return SuggestionOut(
        address=habit.address,
        deed=habit.deed,
        value=habit.value,
        times=habit.times,
        title=habit.title,
        rule=rule_io(habit.rule),
    )


def act_out(act: Act) -> ActOut:
    return ActOut(
        rule=act.rule,
        at=rfc3339(act.at),
        because=act.because,
        did=act.did,
        run_id=act.run_id,
        undone=act.undone,
        problem=act.problem,
    )
