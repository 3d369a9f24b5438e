"""Front matter as lines: which part of a file a page shows as its body, and how one key is changed without the others.

Theory. A file may begin with a block between two lines ``---``. Writing such a block from its values would lose
comments, quotes and the spelling of dates, so that is never done. A block is a list of *entries*: each has the lines of
one key at the top level and the comments right above it. An edit replaces the lines of one entry. Keys that are fields
of a page (:data:`HIDDEN`) are left out of its body; all others are in it. :func:`with_body` joins both again: each
hidden entry comes after the same entry as before, as far as that still exists.

Texts here have LF line ends and no byte order mark; ``line_ends.py`` restores those of the file. Pure functions, linear
in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

HEAD: Final = ""
END: Final = "#"
HIDDEN: Final = frozenset({"title", "access", "grants", "tags", "id", "owner", "revision"})

_FENCE: Final = "---"
_KEY: Final = re.compile(
    r"""(?:"(?P<double>[^"\\\n]*)"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s#\-\]}"',\[{&*!|>%@`?:][^\n]*?))\s*:(?:\s|$)"""
)
_SCALAR: Final = r"""(?P<value>"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s"'\[{&*!|>#%@`][^\n#]*?)"""
_ONE_LINE: Final = re.compile(rf"(?P<head>[^:\n]+:[ \t]+){_SCALAR}(?P<tail>[ \t]+#[^\n]*)?[ \t]*\n?")
_PLAIN: Final = re.compile(r"[A-Za-z][\w ()/.,+&%;-]*[\w).]|[A-Za-z]", re.ASCII)
"""A value that needs no quotes in any YAML reader: it has no indicator, colon or comment inside."""
_MEANS_MORE: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"})


@dataclass(frozen=True)
class Entry:
    """``lines`` with their ends. ``key`` is :data:`HEAD` before the first key, :data:`END` for comments after the
    last."""

    key: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A file's front matter, and the text after it. ``entries`` is ``None`` if there is no front matter."""

    entries: tuple[Entry, ...] | None
    rest: str
    fences: tuple[str, str] = ("---\n", "---\n")

    def written(self, entries: Sequence[Entry]) -> str:
        """The file with these entries instead."""
        inside = "".join(line for entry in entries for line in entry.lines)
        end = self.fences[1] if self.fences[1].endswith("\n") or not self.rest else f"{self.fences[1]}\n"
        return f"{self.fences[0]}{inside}{end}{self.rest}"


def parse(text: str) -> Block:
    """A block counts only with both its fences, and only if its first line of content can be a key."""
    place = text.find("\n") + 1
    if text[: place or len(text)].rstrip("\n").rstrip(" \t") != _FENCE:
        return Block(None, text)
    first, lines = text[:place], []
    while 0 < place < len(text):
        start, place = place, text.find("\n", place) + 1
        line = text[start : place or len(text)]
        if line.rstrip() in {_FENCE, "..."}:
            break
        lines.append(line)
    else:
        return Block(None, text)
    entries = _entries(lines)
    if not any(entry.key not in {HEAD, END} for entry in entries) and any(map(_is_content, lines)):
        return Block(None, text)  # a thematic break, and a heading underlined further down
    return Block(tuple(entries), text[place:] if place else "", (first, line))


def shown(text: str) -> str:
    """The body of the page for this file."""
    block = parse(text)
    if block.entries is None:
        return block.rest
    hidden = _hidden(block.entries)
    if len(hidden) == len(block.entries):
        return block.rest.lstrip("\n")
    return block.written([entry for entry in block.entries if entry not in hidden])


def with_body(text: str, body: str) -> str:
    """The file with another body; an equal body gives the same file."""
    if body == shown(text):
        return text
    old, new = parse(text), parse(body)
    hidden = _hidden(old.entries or ())
    mine = [entry for entry in new.entries or () if entry.key not in HIDDEN]
    if not hidden and not mine:
        return f"{_FENCE}\n{_FENCE}\n{body}" if parse(body).entries is not None else body
    if new.entries is None:
        gap = old.rest[: len(old.rest) - len(old.rest.lstrip("\n"))] if old.entries is not None else "\n"
        new = Block(None, gap + body, old.fences)
    return new.written(_merged(old.entries or (), hidden, mine))


def with_key(text: str, key: str, lines: Sequence[str] | None) -> str:
    """The file with the entry of one key replaced, appended as the last one, or (``None``) removed."""
    block = parse(text)
    if block.entries is None:
        return text if lines is None else with_body(f"---\n{''.join(lines)}---\n\n", text)
    found = next((entry for entry in block.entries if entry.key == key), None)
    if found is None:
        end = [entry for entry in block.entries if entry.key == END]
        before = [entry for entry in block.entries if entry.key != END]
        return text if lines is None else block.written([*before, Entry(key, tuple(lines)), *end])
    comments = tuple(line for line in found.lines if line.lstrip().startswith("#"))[: _comments_above(found)]
    kept = Entry(key, (*comments, *(lines or ())))
    entries = [kept if entry is found else entry for entry in block.entries]
    entries = [entry for entry in entries if entry.lines]
    return block.written(entries) if entries else block.rest.lstrip("\n")


def with_value(text: str, key: str, value: str) -> str:
    """The file with a key of one line set to a string. Its style of quotes and its comment stay."""
    found = next((entry for entry in parse(text).entries or () if entry.key == key), None)
    line = f"{key}: {quoted(value)}\n"
    if found is not None and len(found.lines) - _comments_above(found) == 1:
        match = _ONE_LINE.fullmatch(found.lines[-1])
        if match is not None:
            line = f"{match['head']}{quoted(value, like=match['value'])}{match['tail'] or ''}\n"
    return with_key(text, key, [line])


def quoted(value: str, *, like: str = "") -> str:
    """A YAML scalar that reads as this string, in double quotes if it would otherwise read as something else."""
    if like.startswith("'") and "\n" not in value and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if not like.startswith('"') and _PLAIN.fullmatch(value) and value.lower() not in _MEANS_MORE:
        return value
    return json.dumps(value, ensure_ascii=False)


def _entries(lines: Sequence[str]) -> list[Entry]:
    """Lines that begin no key belong to the entry above; comments right above a key belong to that key."""
    found: list[tuple[str, list[str]]] = []
    above: list[str] = []  # comments that wait for the key below them
    for line in lines:
        match = _KEY.match(line)
        if match is not None:
            key = next(group for group in match.groups() if group is not None).strip()
            found.append((key, [*above, line]))
            above = []
        elif line.startswith("#"):
            above.append(line)
        else:
            if not found:
                found.append((HEAD, []))
            found[-1][1].extend([*above, line])
            above = []
    if above:
        found.append((END, above))
    return [Entry(key, tuple(lines)) for key, lines in found]


def _hidden(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that the body leaves out: all of them, if the others are only comments."""
    hidden = [entry for entry in entries if entry.key in HIDDEN]
    is_all = all(entry.key in HIDDEN | {HEAD, END} for entry in entries)
    return list(entries) if is_all else hidden


def _merged(old: Sequence[Entry], hidden: Sequence[Entry], mine: Sequence[Entry]) -> list[Entry]:
    """``mine`` in their order, and each ``hidden`` entry of ``old`` after the entry it followed, if that still
    exists."""
    behind: dict[str, list[Entry]] = {}
    keys = {entry.key for entry in mine} - {END}
    last = HEAD
    for entry in old:
        if entry in hidden:
            behind.setdefault(END if entry.key == END else last, []).append(entry)
        elif entry.key in keys:
            last = entry.key
    head = [entry for entry in mine if entry.key == HEAD]
    merged = [*head, *behind.pop(HEAD, [])]
    for entry in mine:
        if entry.key not in {HEAD, END}:
            merged += [entry, *behind.pop(entry.key, [])]
    return [*merged, *behind.pop(END, []), *(entry for entry in mine if entry.key == END)]


def _comments_above(entry: Entry) -> int:
    count = 0
    while count < len(entry.lines) and entry.lines[count].startswith("#"):
        count += 1
    return count


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")
