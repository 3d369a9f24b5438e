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
GUIDING: Final = (FOLDER, "agents", "mcp", "memory")
"""Folders whose pages tell svc and its agents what to do. No rule writes there: a stranger writes a mail's subject. A
test compares this list with the existing kinds."""

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
class Wild:
    """Only ``*`` is special. The parts between the stars are looked for from left to right, each once. So the time
    grows with the text and not with the number of ways to split it: a stranger chooses the subject of a mail.
    """

    first: str
    middle: tuple[str, ...]
    last: str

    @classmethod
    def of(cls, said: str) -> Wild:
        """``said`` has a ``*``."""
        first, *middle, last = re.split(r"\*+", said)
        return cls(first, tuple(middle), last)

    def matches(self, text: str) -> bool:
        """Whether it is the whole text."""
        at, end = len(self.first), len(text) - len(self.last)
        if at > end or not text.startswith(self.first) or not text.endswith(self.last):
            return False
        for part in self.middle:
            found = text.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True


@dataclass(frozen=True)
class Addresses:
    """``ann@example.com``; ``example.com`` or ``@example.com`` for all at that domain; ``*`` for any characters."""

    said: str

    @cached_property
    def _wild(self) -> Wild | None:
        return Wild.of(self.said.lower()) if "*" in self.said else None

    def matches(self, address: str) -> bool:
        """``address`` is bare and in lower case."""
        if self._wild is not None:
            return self._wild.matches(address)
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
    def _wild(self) -> Wild | None:
        return Wild.of(self.said.casefold()) if "*" in self.said else None

    def matches(self, text: str) -> bool:
        """``text`` is case folded."""
        return self._folded in text if self._wild is None else self._wild.matches(text)

    @cached_property
    def _folded(self) -> str:
        return self.said.casefold()


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
