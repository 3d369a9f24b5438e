"""Compiles a query for SQLite: a full-text expression, bounds of ids, and conditions on the row.

Words reach the full-text parser only between double quotes, and quotes within them are doubled. Words use the index;
filters check its hits: a place, a state or a label of a thread is looked up for each hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from svc.clock import Millis
from svc.formats.words.text import MIN_NAMED_PREFIX_CHARS, phrase, simple, spellings
from svc.mail.model import DRAFT, SENT, SPAM, STARRED, TRASH
from svc.mail.search.matching import Mark, Matcher, ends_with_sign, has_signs, mark_of
from svc.mail.search.model import (
    COLUMNS,
    INFLECTED,
    NAMED,
    Before,
    Column,
    Filter,
    HasAttachment,
    HasLabel,
    InAccount,
    InPlace,
    InState,
    Place,
    Query,
    State,
    Term,
    Text,
)
from svc.store import Value, json_array

IDS_A_SECOND: Final = 4_096
MAX_ID: Final = 2**63 - 1
ME: Final = "me"

_ADDRESSES: Final = frozenset({"sender", "recipient", "cc", "bcc"})
_MESSAGE_CARRIES: Final = "instr(s.labels, '\"{label}\"') > 0"
_THREAD: Final = "exists (select 1 from mail_threads t where t.id = s.thread_id and {condition})"
_SNOOZED: Final = "exists (select 1 from mail_snoozes z where z.thread_id = s.thread_id)"
_SKIPPED: Final = _THREAD.format(condition="t.in_inbox = 0 and t.visible > 0")
_PLACES: Final[dict[Place, str]] = {
    "inbox": _THREAD.format(condition="t.in_inbox > 0"),
    "skipped": _SKIPPED,
    "archive": f"{_SKIPPED} and not {_MESSAGE_CARRIES.format(label=SENT)} and not {_SNOOZED}",
    "sent": _MESSAGE_CARRIES.format(label=SENT),
    "spam": _MESSAGE_CARRIES.format(label=SPAM),
    "trash": _MESSAGE_CARRIES.format(label=TRASH),
    "drafts": _MESSAGE_CARRIES.format(label=DRAFT),
    "snoozed": _SNOOZED,
    "anywhere": "1",
}
_STATES: Final[dict[State, str]] = {
    "unread": _THREAD.format(condition="t.unread > 0"),
    "read": _THREAD.format(condition="t.unread = 0"),
    "starred": _THREAD.format(condition=f"instr(t.labels, '\"{STARRED}\"') > 0"),
    "snoozed": _SNOOZED,
    "muted": "exists (select 1 from mail_mutes u where u.thread_id = s.thread_id)",
}
_NEVER: Final = "((0))"
_LEFT_OUT: Final = f"not {_PLACES['spam']} and not {_PLACES['trash']}"
_SHOWS_LEFT_OUT: Final[frozenset[Place]] = frozenset({"spam", "trash", "anywhere"})


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The accounts that are searched. ``alone``: there are no other accounts here, so the full-text expression needs no
    condition on the account."""

    addresses: Mapping[str, str]
    """Maps account id to address; only these accounts are searched."""
    labels: Mapping[str, Mapping[str, str]]
    """Maps account id to label id to the label's name."""
    alone: bool
    mine: tuple[str, ...]
    """The addresses that ``me`` stands for."""
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Maps typed words to their other forms in these accounts' mail."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """``match``, ``where`` and the bounds find messages; ``matcher`` decides the same as ``match`` for a given message.
    ``signs`` checks the hits of ``match`` if the words have signs, which the index does not have.
    """

    match: str
    matcher: Matcher
    named: str
    """The expression for the hits that have all free words in subject and people."""
    exactly: str
    """The expression for the hits that have the words as they were typed, whole and in no other form."""
    signs: Matcher | None
    low: int
    high: int
    where: str
    asks_threads: bool
    """Whether each hit's thread is looked up, which costs several times as much as the hit."""
    params: Mapping[str, Value]
    notices: tuple[str, ...]


def id_floor(at: Millis) -> int:
    """The lowest id of a message sent at ``at``."""
    return at // 1_000 * IDS_A_SECOND


def account_word(account_id: str) -> str:
    """An account's id as one word of the full-text index."""
    return account_id.replace("_", "")


Groups = Iterable[tuple[Term, ...]]


def plan(query: Query, scope: Scope) -> Plan:
    low, high, rest = _bounds(query.groups)
    compiler = _Compiler(scope)
    texts = [group for group in rest if isinstance(group[0].what, Text)]
    wanted = [group for group in texts if not group[0].negated]
    left_out = [
        replace(term.what, exact=True)
        for group in texts
        if group[0].negated
        for term in group
        if isinstance(term.what, Text)
    ]
    conditions = [compiler.condition(group) for group in rest if not isinstance(group[0].what, Text)]
    if _NEVER in conditions:
        high = low - 1
    if not _asks_for_left_out(rest):
        conditions.append(f"({_LEFT_OUT})")
    matcher = compiler.matcher(wanted, left_out=left_out)
    exact = _Compiler(replace(scope, forms={}))
    params: dict[str, Value] = {"accounts": json_array(scope.addresses), **compiler.params}
    return Plan(
        match=compiler.match(wanted, left_out=left_out),
        matcher=matcher,
        named=compiler.match(_each(wanted, _named), left_out=left_out),
        exactly=exact.match(_each(wanted, _finished), left_out=left_out),
        signs=matcher.of_signs,
        low=low,
        high=high,
        where=" and ".join(["s.account_id in (select value from json_each(:accounts))", *conditions]),
        asks_threads=any("mail_threads" in condition for condition in conditions),
        params=params,
        notices=(*query.notices, *compiler.notices),
    )


def _each(groups: Groups, change: Callable[[Text], Text]) -> list[tuple[Term, ...]]:
    texts = [[term.what for term in group if isinstance(term.what, Text)] for group in groups]
    return [tuple(Term(what=change(text)) for text in group) for group in texts]


def _named(text: Text) -> Text:
    return replace(text, columns=NAMED) if text.columns == COLUMNS else text


def _finished(text: Text) -> Text:
    return replace(text, unfinished=False)


def _bounds(groups: Groups) -> tuple[int, int, list[tuple[Term, ...]]]:
    """The bounds of ids from the dates that all hits must meet, and the groups that are left."""
    low, high = 0, MAX_ID
    rest = []
    for group in groups:
        what = group[0].what
        if len(group) > 1 or not isinstance(what, Before):
            rest.append(group)
        elif group[0].negated:
            low = max(low, id_floor(what.at))
        else:
            high = min(high, id_floor(what.at) - 1)
    return low, high, rest


def _asks_for_left_out(groups: Groups) -> bool:
    return any(
        not term.negated
        and (
            (isinstance(term.what, InPlace) and term.what.place in _SHOWS_LEFT_OUT)
            or (isinstance(term.what, HasLabel) and term.what.name.upper() in {SPAM, TRASH})
        )
        for group in groups
        for term in group
    )


@dataclass
class _Compiler:
    scope: Scope
    params: dict[str, Value] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def match(self, groups: list[tuple[Term, ...]], *, left_out: Sequence[Text]) -> str:
        parts = [self._any(term.what for term in group if isinstance(term.what, Text)) for group in groups]
        if not parts or not self.scope.alone:
            accounts = " OR ".join(f'"{account_word(account_id)}"' for account_id in self.scope.addresses)
            parts.append(f"{{account}} : ({accounts})")
        without = self._any(text for text in left_out if not has_signs(text.words))  # those would exclude too much
        return f"({' AND '.join(parts)})" + (f" NOT {without}" if without else "")

    def matcher(self, groups: list[tuple[Term, ...]], *, left_out: Sequence[Text]) -> Matcher:
        return Matcher(
            wanted=tuple(
                tuple(mark for term in group if isinstance(term.what, Text) for mark in self._marks(term.what))
                for group in groups
            ),
            left_out=tuple(mark for text in left_out for mark in self._marks(text)),
        )

    def condition(self, group: tuple[Term, ...]) -> str:
        found = []
        for term in group:
            assert not isinstance(term.what, Text)
            condition = self._condition(term.what)
            found.append(f"not ({condition})" if term.negated else f"({condition})")
        return f"({' or '.join(found)})"

    def _any(self, texts: Iterable[Text]) -> str:
        found = [part for text in texts for part in self._parts(text)]
        return f"({' OR '.join(found)})" if found else ""

    def _parts(self, text: Text) -> Iterator[str]:
        """The expressions for the typed words in their columns, and for their prefixes and other forms if there are
        any."""
        found = [phrase(words, unfinished=_may_go_on(text)) for words in self._spellings(text)]
        yield _within(text.columns, [quoted(*one) for one in found if one is not None])
        if begun := self._begun(text):
            yield _within(_named_of(text), [quoted(one, True) for _, one in begun])
        if forms := self._forms(text):
            yield _within(_inflected(text), [quoted(simple(form), False) for form in forms])

    def _marks(self, text: Text) -> Iterator[Mark]:
        """The same as marks for the matcher."""
        found = [(words, phrase(words, unfinished=_may_go_on(text))) for words in self._spellings(text)]
        yield mark_of([(words, one[1]) for words, one in found if one is not None], text.columns)
        if begun := self._begun(text):
            yield mark_of([(words, True) for words, _ in begun], _named_of(text))
        if forms := self._forms(text):
            yield mark_of([(form, False) for form in forms], _inflected(text))

    def _begun(self, text: Text) -> list[tuple[str, str]]:
        """Spellings whose last word is too short for a prefix search anywhere, with their phrases: in subject and
        people it may still be a prefix."""
        if text.exact or not _may_go_on(text) or not _named_of(text):
            return []
        anywhere = {words: phrase(words, unfinished=True) for words in self._spellings(text)}
        return [
            (words, named[0])
            for words, one in anywhere.items()
            if one is not None and not one[1]
            if (named := phrase(words, unfinished=True, from_chars=MIN_NAMED_PREFIX_CHARS)) and named[1]
        ]

    def _forms(self, text: Text) -> tuple[str, ...]:
        return self.scope.forms.get(text.words, ()) if has_forms(text) else ()

    def _spellings(self, text: Text) -> tuple[str, ...]:
        if text.words.lower() == ME and _ADDRESSES.issuperset(text.columns):
            return self.scope.mine
        return spellings(text.words)

    def _condition(self, what: Filter) -> str:
        match what:
            case InPlace():
                return _PLACES[what.place]
            case InState():
                return _STATES[what.state]
            case HasAttachment():
                return "s.attachments > 0"
            case Before():
                return f"s.id < {self._param(id_floor(what.at))}"
            case HasLabel():
                return self._label(what.name)
            case InAccount():
                return self._account(what.name)

    def _label(self, name: str) -> str:
        carried = [
            f"(t.account_id = {self._param(account_id)} and instr(t.labels, {self._param(_in_json(label_id))}) > 0)"
            for account_id, names in self.scope.labels.items()
            for label_id, known in names.items()
            if label_id == name or _comparable(known) == _comparable(name)
        ]
        if not carried:
            self.notices.append(f'There is no label "{name}".')
            return "0"
        return _THREAD.format(condition=f"({' or '.join(carried)})")

    def _account(self, name: str) -> str:
        """The account with that address; else those whose address contains it."""
        wanted = name.casefold()
        known = {account_id: address.casefold() for account_id, address in self.scope.addresses.items()}
        found = [one for one, address in known.items() if address == wanted]
        found = found or [one for one, address in known.items() if wanted in address]
        if not found:
            self.notices.append(f'There is no account "{name}" among these.')
            return "0"
        return f"s.account_id in (select value from json_each({self._param(json_array(found))}))"

    def _param(self, value: Value) -> str:
        name = f"p{len(self.params)}"
        self.params[name] = value
        return f":{name}"


def has_forms(text: Text) -> bool:
    """Whether other forms of the words match, too: not for words in quotes, nor for names of people."""
    return not text.exact and bool(_inflected(text))


def _inflected(text: Text) -> tuple[Column, ...]:
    return tuple(column for column in text.columns if column in INFLECTED)


def _named_of(text: Text) -> tuple[Column, ...]:
    return tuple(column for column in text.columns if column in NAMED)


def _within(columns: Iterable[Column], phrases: Iterable[str]) -> str:
    return f"{{{' '.join(columns)}}} : ({' OR '.join(phrases)})"


def _may_go_on(text: Text) -> bool:
    return text.unfinished and not ends_with_sign(text.words)


def quoted(words: str, unfinished: bool) -> str:
    """A phrase quoted for the full-text parser, safe for any content."""
    doubled = words.replace('"', '""')
    return f'"{doubled}"' + (" *" if unfinished else "")


def _in_json(label_id: str) -> str:
    """The label id as it is written in a JSON array."""
    return msgspec.json.encode(label_id).decode()


def _comparable(name: str) -> str:
    """A label's name for comparison: ``label:next-week`` finds "Next week" without quotes."""
    return "-".join(name.casefold().replace("/", " ").replace("-", " ").replace("_", " ").split())
