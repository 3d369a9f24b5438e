"""Tracks the open elements of the document being written, and which of them a browser would close at the next start
tag.

The output must be read exactly as it was written. But the tree may have a shape that no HTML gives: an element between
two others may be left out or renamed, and a table moves misplaced content before itself, into elements that may not
hold it. So before each start tag the elements are closed that a parser would close there, and those that were open
inside them are opened again. Rules: https://html.spec.whatwg.org/multipage/parsing.html, "in body".

Each entry knows the nearest of the few elements that can be closed from inside, so that a start tag costs the same at
any depth. The number of elements opened again is bounded too: each lay above one of those few, which is then closed for
good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

MAX_DEPTH: Final = 256
"""Open elements at a time; content nested deeper stays, but without its elements. Browsers stop at 512."""
TABLE_DEPTH: Final = 4
"""Room that a table needs: it is written only if its cells can be written too. Otherwise their content would move out
of it."""

MAX_ALIKE: Final = 3


class Nearest(NamedTuple):
    """For each kind, the position on the stack of the nearest element that a parser would find from here; ``_NONE`` if
    there is none."""

    p: int
    a: int
    nobr: int
    ruby: int
    item: int
    """``li``"""
    term: int
    """``dt`` or ``dd``"""


_NONE: Final = -1
_NOWHERE: Final = Nearest(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE)


@dataclass(slots=True, eq=False)
class Opened:
    """An element that is written and may have to be written again. ``start``: its whole start tag."""

    name: str
    start: str
    is_open: bool = False
    nearest: Nearest = _NOWHERE


@dataclass(slots=True)
class Nesting:
    write: Callable[[str], None]
    _stack: list[Opened] = field(default_factory=list)
    _repeated: list[dict[str, int]] = field(default_factory=lambda: [{}])
    """For each open cell, and for the document around them: how many times each formatting element is open."""

    def may_hold(self, name: str) -> bool:
        """False: the element is left out, but its content stays."""
        depth = len(self._stack)
        top = self._stack[-1].name if self._stack else ""
        parents = _PARENTS.get(name)
        if parents is not None or top in _TABLE_PARTS:
            return parents is not None and top in parents
        return depth + (TABLE_DEPTH if name == "table" else 1) <= MAX_DEPTH

    def leave_table(self) -> None:
        """Between its parts, a table may hold nothing visible: so close it before visible content is written."""
        while self._stack and self._stack[-1].name in _TABLE_PARTS:
            self._pop()

    def forgets(self, name: str, start: str) -> bool:
        """Parsers remember only three equal open formatting elements, and some handle the end of a fourth wrongly."""
        return name in _FORMATTING and self._repeated[-1].get(start, 0) >= MAX_ALIKE

    def open(self, element: Opened) -> None:
        self.make_way(element.name)
        self.write(element.start)
        above = self._stack[-1].nearest if self._stack else _NOWHERE
        place = len(self._stack)
        element.nearest = _nearest(element.name, above, place) if element.name in _SEEN else above
        element.is_open = True
        self._stack.append(element)
        if element.name in _FORMATTING:
            alike = self._repeated[-1]
            alike[element.start] = alike.get(element.start, 0) + 1
        elif element.name in _CELLS:
            self._repeated.append({})

    def close(self, element: Opened) -> None:
        """Close the element, unless it was already closed to make way for another."""
        while element.is_open:
            self._pop()

    def make_way(self, name: str) -> None:
        """Close what a parser would close on the start tag ``name``."""
        if name not in _CLOSES:
            return
        while self._stack and (place := self._closed_by(name, self._stack[-1])) != _NONE:
            between = self._stack[place + 1 :]
            while len(self._stack) > place:
                self._pop()
            for element in between:
                if name in _LEAVES_BLOCKS or element.name in _INLINE:
                    self.open(element)

    def _closed_by(self, name: str, top: Opened) -> int:
        """The position of one element that ``name`` closes, or ``_NONE``."""
        nearest = top.nearest
        match name:
            case "a":
                return nearest.a
            case "nobr":
                return nearest.nobr
            case "rt" | "rp":
                closes_top = nearest.ruby != _NONE and top.name in _IMPLIED_ENDS
            case "li" if nearest.item != _NONE:
                return nearest.item
            case "dd" | "dt" if nearest.term != _NONE:
                return nearest.term
            case _ if nearest.p != _NONE:
                return nearest.p
            case _:
                closes_top = name in _HEADINGS and top.name in _HEADINGS
        return len(self._stack) - 1 if closes_top else _NONE

    def _pop(self) -> None:
        element = self._stack.pop()
        element.is_open = False
        self.write(f"</{element.name}>")
        if element.name in _FORMATTING:
            self._repeated[-1][element.start] -= 1
        elif element.name in _CELLS:
            self._repeated.pop()


def _nearest(name: str, above: Nearest, place: int) -> Nearest:
    if name in _CELLS:
        return _NOWHERE
    p, a, nobr, ruby, item, term = above
    if name in _ENDS_LISTS:
        item = term = _NONE
    match name:
        case "table":
            p = nobr = ruby = _NONE
        case "p":
            p = place
        case "a":
            a = place
        case "nobr":
            nobr = place
        case "ruby":
            ruby = place
        case "li":
            item = place
        case "dd" | "dt":
            term = place
    return Nearest(p, a, nobr, ruby, item, term)


_CELLS: Final = frozenset({"td", "th", "caption"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_IMPLIED_ENDS: Final = frozenset({"dd", "dt", "li", "p", "rp", "rt"})
_GROUPS: Final = frozenset({"tbody", "tfoot", "thead"})
_TABLE: Final = frozenset({"table"})
_PARENTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "caption": _TABLE,
        "col": frozenset({"colgroup"}),
        "colgroup": _TABLE,
        "tbody": _TABLE,
        "td": frozenset({"tr"}),
        "tfoot": _TABLE,
        "th": frozenset({"tr"}),
        "thead": _TABLE,
        "tr": _GROUPS,
    }
)
_TABLE_PARTS: Final = _GROUPS | {"colgroup", "table", "tr"}
"""Elements that hold only other parts of a table. One parser puts more into a ``colgroup``."""

_BLOCKS: Final = """
    address article aside blockquote center dd div dl dt figcaption figure footer header hgroup hr li main nav ol p pre
    section table ul
"""
_CLOSES_P: Final = frozenset(_BLOCKS.split()) | _HEADINGS
_CLOSES: Final = _CLOSES_P | {"a", "nobr", "rp", "rt"}
_ENDS_LISTS: Final = (_CLOSES_P | _CELLS | _GROUPS | {"colgroup", "tr"}) - {"address", "div", "p"}
_SEEN: Final = _ENDS_LISTS | {"p", "a", "nobr", "ruby"}

_LEAVES_BLOCKS: Final = frozenset({"a", "nobr"})
"""When one of these is closed, the blocks inside it are opened again. After a paragraph or a list item they are not."""
_FORMATTING_NAMES: Final = "a b big code em font i nobr s small strike strong tt u"
_FORMATTING: Final = frozenset(_FORMATTING_NAMES.split())
_OTHER_INLINE: Final = "abbr acronym bdi cite del dfn ins kbd mark q samp span sub sup time var"
_INLINE: Final = _FORMATTING.union(_OTHER_INLINE.split())
