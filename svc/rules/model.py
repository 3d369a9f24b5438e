"""A rule as its page defines it, and a mail as a rule sees it. All are frozen; none knows SQL or the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

FOLDER: Final = "mail-rules"
MAX_ACTIONS: Final = 20
"""Actions of one rule. Beyond: the page is broken."""
MAX_PATTERNS: Final = 200
"""Values of one condition. Beyond: the page is broken."""
MAX_ASK_CHARS: Final = 1_000
"""The question of a rule. Beyond: the page is broken."""
MAX_DRAFT_CHARS: Final = 4_000
"""A rule's instructions for a reply. Beyond: the page is broken."""
LAST_ORDER: Final = 100_000

What = Literal["archive", "star", "mark-read", "label", "file", "draft", "task", "stop"]
PLAIN: Final[tuple[What, ...]] = ("archive", "star", "mark-read", "stop")
VALUED: Final[tuple[What, ...]] = ("label", "file", "draft", "task")


@dataclass(frozen=True)
class Action:
    """``value``: the label's name, the page's path, the instructions for the reply, or the task's title."""

    what: What
    value: str = ""

    @property
    def words(self) -> str:
        return f"{self.what}: {self.value}" if self.value and self.what != "draft" else self.what


@dataclass(frozen=True)
class Addresses:
    """``ann@example.com``; ``example.com`` or ``@example.com`` for all at that domain; ``*`` for any characters."""

    said: str

    @cached_property
    def _regex(self) -> re.Pattern[str] | None:
        return _wild(self.said.lower()) if "*" in self.said else None

    def matches(self, address: str) -> bool:
        """``address`` is bare and in lower case."""
        if self._regex is not None:
            return self._regex.fullmatch(address) is not None
        whole, end = self._plain
        return address.endswith(end) if end else address == whole

    @cached_property
    def _plain(self) -> tuple[str, str]:
        """A whole address and an empty text, or an empty text and the ending of the addresses."""
        said = self.said.lower()
        if "@" in said and not said.startswith("@"):
            return said, ""
        return "", said if said.startswith("@") else f"@{said}"


@dataclass(frozen=True)
class Words:
    """A text that occurs anywhere; with ``*``, a pattern for the whole text. Case does not matter."""

    said: str

    @cached_property
    def _regex(self) -> re.Pattern[str] | None:
        return _wild(self.said.casefold()) if "*" in self.said else None

    def matches(self, text: str) -> bool:
        """``text`` is case folded."""
        return self._folded in text if self._regex is None else self._regex.fullmatch(text) is not None

    @cached_property
    def _folded(self) -> str:
        return self.said.casefold()


def _wild(said: str) -> re.Pattern[str]:
    """Only ``*`` is special, and several in a row count as one, so that matching is never slow."""
    return re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", said)), re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class When:
    """All given conditions must hold; each with any of its values. A rule needs a condition."""

    sender: tuple[Addresses, ...] = ()
    to: tuple[Addresses, ...] = ()
    subject: tuple[Words, ...] = ()
    has: tuple[str, ...] = ()
    list: tuple[Words, ...] = ()
    label: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rule:
    """``account``: the address of the account that it is for. ``except_``: senders that it ignores."""

    enabled: bool
    order: int
    account: str | None
    when: When
    ask: str | None
    then: tuple[Action, ...]
    except_: tuple[Addresses, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Mail:
    """The mail as a rule sees it. Addresses are in lower case, texts case folded. ``text`` is the body; ``None``: it
    was not read, because no rule that could match needs it.
    """

    account: str
    sender: str
    to: frozenset[str]
    subject: str
    has_attachment: bool
    is_bulk: bool
    list_id: str
    labels: frozenset[str]
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Match:
    """``because``: the reason, in words for a person. ``wants_text``: it matches if the body has its words."""

    because: str
    wants_text: bool = field(default=False)
