"""Reads address lists (RFC 5322 section 3.4) as people and programs really write them.

Understands groups, comments, quoted names, routes and encoded words, and handles missing brackets, missing quotes and
trailing junk sensibly. One pass over the text: if the end of a pair was not found once, it is not searched for again.
Never raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.formats.mime.model import MAX_ADDRESS_CHARS, MAX_ADDRESSES, MAX_NAME_CHARS, Mailbox, Problems
from svc.formats.mime.words import find_words, header_line
from svc.formats.text import clean_line, clean_token, cut

_WORD: Final = re.compile(r'[^\s"()<>,;:]+')
_WHITE: Final = re.compile(r"\s+")
_QUOTED: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ANGLED: Final = re.compile(r"<+([^<>]*)>+")
_UNCLOSED_ANGLE: Final = re.compile(r"<+([^<>,;\s]*)")
_PARENTHESIS: Final = re.compile(r"[()]")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_AROUND_MARKS: Final = re.compile(r"\s*(@)\s*|\s+(\.)\s+")
_WORD_IN_BRACKETS: Final = re.compile(r'(?:"[^"]*"|\S)+')
_BETWEEN_ADDRESSES: Final = re.compile(r'[\s<>"(),;:]+')
_AS_IT_IS: Final = r"[a-z0-9][a-z0-9._+-]{0,98}@[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?"
_PLAIN: Final = re.compile(
    # The common form: letters and digits, perhaps in quotes, and an address in brackets; or an address alone.
    rf"(?:(\"?)([a-z0-9](?:[a-z0-9 _.-]{{0,98}}[a-z0-9])?)\1 {{0,4}})?<({_AS_IT_IS})>|({_AS_IT_IS})",
    re.ASCII | re.IGNORECASE,
)


def parse_addresses(texts: Iterable[str], *, problems: Problems) -> tuple[Mailbox, ...]:
    """The mailboxes of all fields of one kind, in order. Empty groups and empty items give none."""
    found: list[Mailbox] = []
    for text in texts:
        plain = _plain_addresses(text)
        if plain and len(found) + len(plain) <= MAX_ADDRESSES:
            found += plain
            continue
        scanner = _Scanner(text, problems, room=MAX_ADDRESSES - len(found))
        found += scanner.mailboxes()
        if scanner.overflowed:
            problems.add(f"addresses cut after {MAX_ADDRESSES}")
            break
    return tuple(found)


def _plain_addresses(text: str) -> list[Mailbox]:
    """The mailboxes of a field that can be read in only one way and so needs no scanner; empty for any other field."""
    found: list[Mailbox] = []
    for piece in text.split(","):
        match = _PLAIN.fullmatch(piece.strip())
        if match is None:
            return []
        _, name, angled, bare = match.groups()
        found.append(Mailbox(name=" ".join((name or "").split()), address=angled or bare))
    return found


def is_address(text: str) -> bool:
    """Whether mail could be sent there: it has something on both sides of an at sign."""
    local, _, domain = text.rpartition("@")
    return bool(local and domain)


def sender_among(mailboxes: Sequence[Mailbox]) -> Mailbox | None:
    """The author by a From field: the first mailbox with an address. Entries before it without an address are parts of
    a name, cut off by a comma or an extra bracket. If no mailbox has an address, the first one unchanged."""
    pieces: list[str] = []
    for one in mailboxes:
        if is_address(one.address):
            name = ", ".join(piece for piece in (*pieces, one.name) if piece)
            return Mailbox(name=cut(name, limit=MAX_NAME_CHARS), address=one.address)
        pieces.append(one.name or one.address)
    return mailboxes[0] if mailboxes else None


@dataclass
class _Item:
    """One mailbox while it is read. ``words`` and those ``after`` the address: as written; quoted ones without
    quotes."""

    words: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    address: str | None = None


_EMPTY: Final = _Item()


class _Scanner:
    def __init__(self, text: str, problems: Problems, *, room: int) -> None:
        self.overflowed = False
        self._text = text
        self._problems = problems
        self._room = room
        self._item = _Item()
        self._found: list[Mailbox] = []
        self._position = 0
        self._touching = False  # no white space since the last word
        self._hopeless: set[str] = set()  # opening marks whose end was not found
        # An encoded word is one word, even with commas and blanks inside, as some senders write it.
        self._encoded = {word.start: word.end for word in find_words(text)}

    def mailboxes(self) -> list[Mailbox]:
        while self._position < len(self._text) and not self.overflowed:
            self._step()
        self._flush()
        return self._found

    def _step(self) -> None:
        text, at = self._text, self._position
        mark = text[at]
        if at in self._encoded:
            self._add_word(text[at : self._encoded[at]], end=self._encoded[at])
        elif white := _WHITE.match(text, at):
            self._position, self._touching = white.end(), False
        elif mark in ",;":
            self._flush()
            self._position += 1
        elif mark == "<":
            self._take_angle()
        elif mark == '"':
            self._take_quoted()
        elif mark == "(":
            self._take_comment()
        elif mark == ":":
            self._take_colon()
        elif word := _WORD.match(text, at):
            self._add_word(word[0], end=word.end())
        else:
            self._position += 1  # a stray ")" or ">"

    def _add_word(self, word: str, *, end: int) -> None:
        words = self._item.words if self._item.address is None else self._item.after
        if words and self._touching and ("@" in word or "@" in words[-1]):
            words[-1] += word
        else:
            words.append(word)
        self._position, self._touching = end, True

    def _take_angle(self) -> None:
        match = _ANGLED.match(self._text, self._position) or _UNCLOSED_ANGLE.match(self._text, self._position)
        assert match is not None  # the second pattern matches any "<"
        if self._item.address is not None:  # "Ann <a@b> Bo <c@d>", without a comma in between
            following, self._item.after = self._item.after, []
            self._flush()
            self._item.words = following
        self._item.address = match[1]
        self._position = match.end()

    def _take_quoted(self) -> None:
        match = None if '"' in self._hopeless else _QUOTED.match(self._text, self._position)
        if match is None:
            self._hopeless.add('"')
            self._position += 1
            return
        if self._text.startswith("@", match.end()):
            self._add_word(match[0], end=match.end())  # a quoted local part keeps its quotes
            return
        self._add_word(_ESCAPED.sub(r"\1", match[1]), end=match.end())
        self._touching = False

    def _take_comment(self) -> None:
        end = -1 if "(" in self._hopeless else self._comment_end()
        if end < 0:
            self._hopeless.add("(")
            self._position += 1
            return
        self._item.comments.append(_ESCAPED.sub(r"\1", self._text[self._position + 1 : end - 1]))
        self._position, self._touching = end, False

    def _comment_end(self) -> int:
        """The position after the parenthesis that closes this one; -1 if there is none."""
        depth = 0
        for match in _PARENTHESIS.finditer(self._text, self._position):
            if self._text[match.start() - 1] == "\\" and match.start() > self._position:
                continue
            depth += 1 if match[0] == "(" else -1
            if depth == 0:
                return match.end()
        return -1

    def _take_colon(self) -> None:
        """A group's name ends here (also ``mailto`` or a stray ``Re``); inside an address, the colon is part of it."""
        item = self._item
        if item.words and "@" in item.words[-1]:
            item.words[-1] += ":" if self._touching else ""
        elif item.address is None:
            item.words.clear()
            item.comments.clear()
        self._position += 1

    def _flush(self) -> None:
        item = self._item
        if item == _EMPTY:
            return
        self._item = _Item()
        mailbox = self._mailbox(item)
        if mailbox is None:
            return
        if len(self._found) >= self._room:
            self.overflowed = True
        else:
            self._found.append(mailbox)

    def _mailbox(self, item: _Item) -> Mailbox | None:
        words, address = item.words, item.address
        if address is None:
            address, words = _bare_address(words)
        else:
            address, besides = _angled_address(address)
            words = [*words, *besides]
        name = self._decoded(" ".join(words or item.after)) or self._decoded(" ".join(item.comments))
        address = _clean_address(address)
        if not is_address(address):
            address, name = self._elsewhere(item, address=address, name=name)
        if len(address) > MAX_ADDRESS_CHARS:
            self._problems.add(f"address longer than {MAX_ADDRESS_CHARS} characters")
            address = ""
        return Mailbox(name=cut(name, limit=MAX_NAME_CHARS), address=address) if name or address else None

    def _elsewhere(self, item: _Item, *, address: str, name: str) -> tuple[str, str]:
        """An address in the wrong place: in the name (all of it was one encoded word), after the brackets, in a
        comment. The text in the address's place was then part of the name."""
        for place in (name, self._decoded(" ".join(item.after)), self._decoded(" ".join(item.comments))):
            if inner := _address_within(place):
                rest = clean_line(name.replace(inner, "").replace("<>", "")).strip(" \"'")
                return _clean_address(inner), " ".join(piece for piece in (address, rest) if piece and piece != inner)
        return address, name

    def _decoded(self, text: str) -> str:
        return header_line(text, problems=self._problems)


def _bare_address(words: list[str]) -> tuple[str, list[str]]:
    """Of words without brackets: the address (the last with an at sign, or else a single word), and the other words."""
    if any("@" in (word[:1], word[-1:]) for word in words) and not any(map(is_address, words)):
        words = _AROUND_MARKS.sub(r"\1\2", " ".join(words)).split(" ")
    for index in range(len(words) - 1, -1, -1):
        if "@" in words[index] and not words[index].startswith("=?"):
            return words[index], words[:index] + words[index + 1 :]
    if len(words) == 1 and not words[0].startswith("=?") and " " not in words[0]:
        return words[0], []
    return "", words


def _angled_address(text: str) -> tuple[str, list[str]]:
    """Of the text in brackets: the address, and any other words there, as in ``<PayPal a@b.example>``."""
    words = _WORD_IN_BRACKETS.findall(text)
    whole = next((word for word in words if is_address(word)), None)
    if whole is None:
        return text, []
    words.remove(whole)
    return whole, [word.strip('"') for word in words]


def _address_within(name: str) -> str:
    if "@" not in name:
        return ""
    return next((word for word in _BETWEEN_ADDRESSES.split(name) if "@" in word[1:-1]), "")


def _clean_address(address: str) -> str:
    address = (clean_line(address) if '"' in address else clean_token(address)).strip("<>")  # quoted: any sign
    if address.startswith("@"):
        address = address.rpartition(":")[2]  # a source route, RFC 5322 section 4.4
    address = address.removeprefix("mailto:").removeprefix("smtp:").strip("'`").rstrip(".")
    if address.startswith("[") and address.endswith("]"):
        address = address[1:-1]
    if address.endswith((":", ";")):  # a group without its name, or without members
        inner = address.rstrip(":;")
        address = next((one for one in (inner.rpartition(":")[2], inner) if is_address(one)), "")
    return "" if ":;" in address else address
