"""A rule's page: reads the rule from its front matter, and writes the page for people who do not write YAML.

---
enabled: true
order: 10
when:
  from: example.com
  subject: invoice
ask: Is this an invoice that is to be paid?
then:
  - label: Invoices
  - archive
---
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from svc.configuring import Fault, Fields, Kind
from svc.errors import Invalid
from svc.pages import page_path
from svc.rules.model import (
    FOLDER,
    GUIDING,
    LAST_ORDER,
    MAX_ACTIONS,
    MAX_ASK_CHARS,
    MAX_DRAFT_CHARS,
    MAX_PATTERNS,
    PLAIN,
    VALUED,
    Action,
    Addresses,
    Rule,
    When,
    Words,
)

T = TypeVar("T")

DEFAULT_ORDER: Final = 100
_FIELDS: Final = frozenset({"enabled", "order", "account", "when", "ask", "then", "except"})
_WHEN: Final = frozenset({"from", "to", "subject", "has", "list", "label", "words"})


def read(fields: Fields, text: str) -> Rule:
    """Raises :class:`svc.configuring.Fault`."""
    fields.only(_FIELDS, of="a rule")
    when = _when(fields.mapping("when"), line=fields.line_of("when"))
    ask = fields.text("ask")
    if ask is not None and len(ask) > MAX_ASK_CHARS:
        raise Fault(f"ask has more than {MAX_ASK_CHARS} characters", fields.line_of("ask"))
    return Rule(
        enabled=fields.switch("enabled", default=True),
        order=fields.number("order", default=DEFAULT_ORDER, least=-LAST_ORDER, most=LAST_ORDER),
        account=(fields.text("account") or "").lower() or None,
        when=when,
        ask=ask,
        then=_then(fields),
        except_=_patterns(fields, "except", Addresses),
    )


KIND: Final[Kind[Rule]] = Kind(folder=FOLDER, read=read, in_plugins="rule", own_word=True)


def _when(fields: Fields, *, line: int) -> When:
    fields.only(_WHEN, of="when")
    if not fields.nodes:
        raise Fault("there is no condition: name one; * as the sender (from) is for every mail", line)
    has = fields.texts("has")
    if any(one.lower() != "attachment" for one in has):
        raise Fault("has knows one word: attachment", fields.line_of("has"))
    return When(
        sender=_patterns(fields, "from", Addresses),
        to=_patterns(fields, "to", Addresses),
        subject=_patterns(fields, "subject", Words),
        has=("attachment",) if has else (),
        list=_patterns(fields, "list", Words),
        label=_few(fields, "label", fields.texts("label")),
        words=_few(fields, "words", fields.texts("words")),
    )


def _patterns(fields: Fields, name: str, kind: type[T]) -> tuple[T, ...]:
    return tuple(kind(one) for one in _few(fields, name, fields.texts(name)))  # type: ignore[call-arg]


def _few(fields: Fields, name: str, said: tuple[str, ...]) -> tuple[str, ...]:
    if len(said) > MAX_PATTERNS:
        raise Fault(f"{name} has more than {MAX_PATTERNS} values", fields.line_of(name))
    return said


def _then(fields: Fields) -> tuple[Action, ...]:
    node = fields.nodes.get("then")
    if node is None or not isinstance(node.value, list) or not node.value:
        raise Fault("then is a list of what is done", fields.line_of("then"))
    if len(node.value) > MAX_ACTIONS:
        raise Fault(f"then has more than {MAX_ACTIONS} actions", node.line)
    return tuple(_action(item.value, item.line) for item in node.value)


def _action(said: object, line: int) -> Action:
    if isinstance(said, str):
        if said in PLAIN:
            return Action(said)
        raise Fault(f"there is no action {said[:60]!r}; there are {', '.join((*PLAIN, *VALUED))}", line)
    if isinstance(said, dict) and len(said) == 1:
        what, node = next(iter(said.items()))
        value = getattr(node, "value", None)
        if what in VALUED:
            if not isinstance(value, str) or not value.strip():
                raise Fault(f"{what} needs a text", line)
            return checked(Action(what, value.strip()), line)
    raise Fault(f"an action is one of {', '.join(PLAIN)}, or {{{', '.join(VALUED)}: …}}", line)


def checked(action: Action, line: int) -> Action:
    """Raises :class:`Fault` if the action can't be done with its value."""
    most = MAX_DRAFT_CHARS if action.what == "draft" else 200
    if len(action.value) > most or (action.what != "draft" and not action.value.isprintable()):
        raise Fault(f"{action.what} is a text of at most {most} characters on one line", line)
    if action.what == "file":
        try:
            top = page_path(action.value).partition("/")[0]
        except Invalid as refusal:
            raise Fault(f"file: {refusal.detail}", line) from None
        if top in GUIDING:
            raise Fault(f"file: pages under {top}/ tell svc and its agents what to do; file the mail elsewhere", line)
    return action


def written(rule: Rule, text: str = "") -> str:
    """The page of a rule. :func:`read` turns it into the same rule again."""
    lines = ["---", f"enabled: {'true' if rule.enabled else 'false'}", f"order: {rule.order}"]
    if rule.account is not None:
        lines.append(f"account: {_quoted(rule.account)}")
    lines.append("when:")
    conditions = (
        ("from", _said(rule.when.sender)),
        ("to", _said(rule.when.to)),
        ("subject", _said(rule.when.subject)),
        ("has", rule.when.has),
        ("list", _said(rule.when.list)),
        ("label", rule.when.label),
        ("words", rule.when.words),
    )
    lines += [f"  {name}: {_listed(values)}" for name, values in conditions if values]
    if rule.ask is not None:
        lines.append(f"ask: {_quoted(rule.ask)}")
    lines.append("then:")
    lines += [f"  - {one.what}" + (f": {_quoted(one.value)}" if one.value else "") for one in rule.then]
    if rule.except_:
        lines.append(f"except: {_listed(_said(rule.except_))}")
    return "\n".join([*lines, "---", *([text.strip(), ""] if text.strip() else [""])])


def mark_of(rule: Rule) -> str:
    """The same as long as the rule matches the same mail and does the same with it. Its order does not count, nor what
    a person may say meanwhile of a sender (``except``).
    """
    text = written(replace(rule, enabled=True, order=0, except_=()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _said(patterns: Iterable[Addresses | Words]) -> tuple[str, ...]:
    return tuple(one.said for one in patterns)


def _listed(values: tuple[str, ...]) -> str:
    return _quoted(values[0]) if len(values) == 1 else f"[{', '.join(map(_quoted, values))}]"


def _quoted(text: str) -> str:
    """In double quotes, YAML writes a text as JSON does."""
    return json.dumps(text, ensure_ascii=False)
