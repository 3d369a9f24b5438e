"""Which elements are open in the document being written, and which of them a browser would close at the next start tag.

What the rebuild writes has to be read as it was written. The tree it comes from need not be such that any HTML says
it: an element that kept two others apart may be left out or renamed, and a table moves what stands wrong in it before
itself, into elements that may not hold it. So each start tag first closes what a parser would close on it, and what
stood open in between is opened again. Rules: https://html.spec.whatwg.org/multipage/parsing.html, "in body".

Each entry knows the nearest of the few elements that can be closed from inside, so that a start tag costs the same at
any depth. What is opened again is bounded too: it lay over one of those, and that one is gone for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

MAX_DEPTH: Final = 256
"""Elements open at once; what lies deeper stays, without its elements. Browsers themselves stop at 512."""
TABLE_DEPTH: Final = 4
"""A table is written only where its cells can be: without them, what they hold would move out of it."""

MAX_ALIKE: Final = 3


class Nearest(NamedTuple):
    """Where on the stack the nearest of each lies that a parser would find from here; ``_NONE`` if there is none."""

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
    """An element that has been written and may have to be written again. ``start``: its whole start tag."""

    name: str
    start: str
    is_open: bool = False
    nearest: Nearest = _NOWHERE


@dataclass(slots=True)
class Nesting:
    write: Callable[[str], None]
    _stack: list[Opened] = field(default_factory=list)
    _repeated: list[dict[str, int]] = field(default_factory=lambda: [{}])
    """For each cell that is open, and for what is around them: how many times each formatting element is open."""

    def may_hold(self, name: str) -> bool:
        """False: the element is left out, and what it holds stands in its place."""
        depth = len(self._stack)
        top = self._stack[-1].name if self._stack else ""
        parents = _PARENTS.get(name)
        if parents is not None or top in _TABLE_PARTS:
            return parents is not None and top in parents
        return depth + (TABLE_DEPTH if name == "table" else 1) <= MAX_DEPTH

    def leave_table(self) -> None:
        """Between its parts, a table holds nothing that shows: whoever writes such a thing ends it first."""
        while self._stack and self._stack[-1].name in _TABLE_PARTS:
            self._pop()

    def forgets(self, name: str, start: str) -> bool:
        """Parsers know three open formatting elements that are alike, and some mistake the end of a fourth."""
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
        """Nothing to do for one that had to make way."""
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
        """The place of one element that ``name`` closes, or ``_NONE``."""
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
"""Those that hold nothing but other parts. A parser has been seen to put more into a ``colgroup``."""

_BLOCKS: Final = """
    address article aside blockquote center dd div dl dt figcaption figure footer header hgroup hr li main nav ol p pre
    section table ul
"""
_CLOSES_P: Final = frozenset(_BLOCKS.split()) | _HEADINGS
_CLOSES: Final = _CLOSES_P | {"a", "nobr", "rp", "rt"}
_ENDS_LISTS: Final = (_CLOSES_P | _CELLS | _GROUPS | {"colgroup", "tr"}) - {"address", "div", "p"}
_SEEN: Final = _ENDS_LISTS | {"p", "a", "nobr", "ruby"}

_LEAVES_BLOCKS: Final = frozenset({"a", "nobr"})
"""The end of one of these takes no block with it; that of a paragraph or a list item does."""
_FORMATTING_NAMES: Final = "a b big code em font i nobr s small strike strong tt u"
_FORMATTING: Final = frozenset(_FORMATTING_NAMES.split())
_OTHER_INLINE: Final = "abbr acronym bdi cite del dfn ins kbd mark q samp span sub sup time var"
_INLINE: Final = _FORMATTING.union(_OTHER_INLINE.split())
