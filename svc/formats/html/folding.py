"""Finds the part of a parsed mail that repeats earlier mails or is its signature, by the markup of mail programs.

Class names and ids are removed by the sanitizer, so this looks at the tree before it. The tree is read as lines of text
and images. As for plain text (:mod:`svc.formats.quoted`), it is decided which lines are old, here also by the markup.
So only the end of a mail folds, in one piece, and never all of it. Time is linear in the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from justhtml import Element, Node, Text

from svc.formats.html.policy import DROPPED
from svc.formats.quoted import announced, folds_at, is_forward
from svc.formats.text import BLOCKS, clean_line

MAX_NODES: Final = 500_000
MAX_LINE_CHARS: Final = 400
TRACKER_PX: Final = 2

_IMAGE: Final = "\ufffc"
"""Stands for an image in its line: it is visible, but no word."""
_CLASSES: Final = frozenset(
    [
        "gmail_quote",
        "gmail_quote_container",
        "gmail_signature",
        "gmail_signature_prefix",
        "yahoo_quoted",
        "moz-cite-prefix",
        "moz-signature",
        "protonmail_quote",
        "protonmail_signature_block",
        "tutanota_quote",
        "zmail_extra",
        "front-blockquote",
    ]
)
_IDS: Final = frozenset(
    [
        "olk_src_body_section",
        "mail-editor-reference-message-container",
        "ms-outlook-mobile-reference-message",
        "signature",
        "ms-outlook-mobile-signature",
        "applemailsignature",
    ]
)
_REST_IDS: Final = frozenset({"divrplyfwdmsg", "zwchr", "appendonsend"})
"""An element with such an id precedes the old part: everything after it is old."""
_QUOTE_STYLE: Final = re.compile(r"border-left(?:-width|-style)?\s*:\s*(?!none|0)", re.IGNORECASE)
_SIDE: Final = re.compile(r"[0-9]{1,5}")

_REST: Final = -1


@dataclass
class _Leaf:
    node: Node | Text
    line: int
    region: int
    """The number of the outermost part around it that its program marks as old; 0 for none."""


@dataclass
class _Lines:
    leaves: list[_Leaf] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    breaks: bool = True
    """Whether the next text begins a new line."""

    def add(self, node: Node | Text, words: str, region: int) -> None:
        if self.breaks:
            self.lines.append("")
            self.breaks = False
        line = self.lines[-1]
        if len(line) < MAX_LINE_CHARS:
            self.lines[-1] = f"{line} {words}" if words.strip() else line
        self.leaves.append(_Leaf(node, len(self.lines) - 1, region))


def folded_nodes(root: Node) -> frozenset[int]:
    """The ``id`` of each topmost node that folds; these are siblings, or siblings of each other's parents."""
    found = _read(root)
    quoted = _quoted(found)
    lines = [" ".join(line.split())[:MAX_LINE_CHARS] for line in found.lines]
    at = folds_at(lines, quoted)
    if at is None:
        return frozenset()
    first = next((place for place, leaf in enumerate(found.leaves) if leaf.line >= at), None)
    return frozenset() if not first else _from_leaf(found.leaves[first].node, found.leaves[first - 1].node)


class _Out:
    """Marks the end of a block."""


_BLOCK_ENDS: Final = _Out()


def _read(root: Node) -> _Lines:
    found = _Lines()
    waiting: list[tuple[Node | Text | _Out, int]] = [(root, 0)]
    regions = nodes = 0
    rest = False
    signs = False
    while waiting and nodes < MAX_NODES:
        item, region = waiting.pop()
        nodes += 1
        if isinstance(item, _Out):
            found.breaks = True
        elif isinstance(item, Text):
            words = (item.data or "")[: 4 * MAX_LINE_CHARS]
            if clean_line(words):
                found.add(item, words, _REST if rest else region)
        elif isinstance(item, Element):
            name = item.name
            if name == "img":
                if _shows(item):
                    found.add(item, _IMAGE, _REST if rest else region)
                continue
            if item.namespace != "html" or name in DROPPED:
                continue
            if name == "br" or name in BLOCKS:
                found.breaks = True
                waiting.append((_BLOCK_ENDS, 0))
            rest = rest or _begins_rest(item)
            if not region and (signs or _is_old(item, found)):
                regions += 1
                region = regions
            signs = _id(item) == "linebreakatbeginningofsignature" or (signs and name == "br")
            waiting.extend((child, region) for child in reversed(item.children or ()))
        else:
            waiting.extend((child, region) for child in reversed(item.children or ()))
    return found


def _quoted(found: _Lines) -> list[bool]:
    """For each line, whether its program marks it as old. A part that begins like a forwarded mail does not count."""
    quoted = [True] * len(found.lines)
    seen: set[int] = set()
    forwards: set[int] = set()
    for leaf in found.leaves:
        if leaf.region not in seen and leaf.region:
            seen.add(leaf.region)
            if leaf.region != _REST and is_forward(found.lines[leaf.line].strip()):
                forwards.add(leaf.region)
        if not leaf.region or leaf.region in forwards:
            quoted[leaf.line] = False
    return [one or line.lstrip().startswith(">") for one, line in zip(quoted, found.lines, strict=True)]


def _is_old(element: Element, found: _Lines) -> bool:
    attributes = element.attrs or {}
    if not attributes and element.name != "blockquote":
        return False
    names = (attributes.get("class") or "")[:MAX_LINE_CHARS].lower().split()
    if not _CLASSES.isdisjoint(names) or any("yahoo_quoted" in name for name in names):
        return True
    if _id(element) in _IDS:
        return True
    if element.name != "blockquote":
        return False
    if (attributes.get("type") or "").lower() == "cite" or attributes.get("cite") is not None:
        return True
    if _QUOTE_STYLE.search((attributes.get("style") or "")[: 2 * MAX_LINE_CHARS]):
        return True
    before = [" ".join(line.split()) for line in found.lines[-3:]]
    return any(announced(before, at) == len(before) - at for at in range(len(before)))


def _begins_rest(element: Element) -> bool:
    attributes = element.attrs or {}
    return _id(element) in _REST_IDS or attributes.get("data-marker") == "__DIVIDER__"


def _id(element: Element) -> str:
    return ((element.attrs or {}).get("id") or "").lower() if element.attrs else ""


def _shows(image: Element) -> bool:
    """Whether an image is visible: one of a pixel or two is a tracking image."""
    attributes = image.attrs or {}
    sides = (_SIDE.match(attributes.get(name) or "") for name in ("width", "height"))
    return not any(side and int(side[0]) <= TRACKER_PX for side in sides)


def _from_leaf(first: Node | Text, last_own: Node | Text) -> frozenset[int]:
    """Everything from ``first`` to the end of the document, and the blanks before it."""
    own = set()
    node: Node | Text | None = last_own
    while node is not None:
        own.add(id(node))
        node = node.parent
    child: Node | Text = first
    while child.parent is not None and id(child.parent) not in own:
        child = child.parent
    marks: list[int] = [id(child)]
    is_lowest = True
    while (parent := child.parent) is not None:
        siblings = parent.children or []
        at = next(place for place, one in enumerate(siblings) if one is child)
        marks.extend(id(one) for one in siblings[at + 1 :])
        while is_lowest and at and id(siblings[at - 1]) not in own:
            at -= 1
            marks.append(id(siblings[at]))
        is_lowest = False
        child = parent
    return frozenset(marks)
