"""The rebuild: strangers' HTML is parsed with the HTML5 algorithm, and a new document is written from the allow-list.

Owns the walk over the parsed tree (iterative, bounded in nodes, depth and output) and the writing of every tag. It
never copies markup: names come from the policy, values from its checks, text is escaped. Head, comments, doctype and
foreign content are never entered. :mod:`svc.formats.html.nesting` keeps the nesting such that the output is read as
written, so a second rebuild changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

from justhtml import Element, JustHTML, Node, Text

from svc.formats.html.address import image_address, link_address
from svc.formats.html.css import clean_style
from svc.formats.html.escaping import LINK_ATTRIBUTES, escape_attribute, escape_text, printable
from svc.formats.html.links import MAX_WARNINGS, Link
from svc.formats.html.model import FOLD, CleanHtml
from svc.formats.html.nesting import Nesting, Opened
from svc.formats.html.policy import ATTRIBUTES, BODY_COLORS, DROPPED, RENAMED, VOID, body_color

MAX_NODES: Final = 500_000
MAX_OUTPUT_CHARS: Final = 4 * 1024 * 1024
MAX_REMOTE_IMAGES: Final = 1_000

_REMOTE_SET: Final = re.compile(r"\s*+(?:https?:)?//", re.IGNORECASE)

Attributes = dict[str, str | None]


class _End(NamedTuple):
    """The end of an element; it is written after the element's children."""

    element: Opened
    link: Link | None = None


def parsed(html: str) -> Node:
    """Parse as the frame will: without scripts, and not in the quirks mode that a missing doctype causes."""
    return JustHTML("<!doctype html>" + html, sanitize=False, scripting_enabled=False).root


@dataclass
class Rebuild:
    """Writes one document for the frame. ``formats/writing`` has its own variant for outgoing mail."""

    link_attributes: ClassVar[str] = LINK_ATTRIBUTES
    folds: AbstractSet[int] = frozenset()
    """The ``id`` of each node of the tree that folds: its output is marked with :data:`FOLD`."""
    output: list[str] = field(default_factory=list)
    size: int = 0
    blocked_images: int = 0
    remote_images: dict[str, int] = field(default_factory=dict)
    links: list[_End] = field(default_factory=list)
    """Links that are still open; one that was closed to make way for another element shows no more text."""
    warnings: dict[str, None] = field(default_factory=dict)
    nesting: Nesting = field(init=False)
    _folding: set[int] = field(default_factory=set)
    """Nodes that fold because they are inside a folding element that has no output of its own."""

    def __post_init__(self) -> None:
        self.nesting = Nesting(self.write)

    def run(self, root: Node) -> CleanHtml:
        waiting: list[Node | Text | _End] = [root]
        nodes = 0
        while waiting and nodes < MAX_NODES and self.size < MAX_OUTPUT_CHARS:
            item = waiting.pop()
            if isinstance(item, _End):
                self._close(item)
                continue
            nodes += 1
            mark = self._mark(item)
            if isinstance(item, Text):
                self._text(printable(item.data or ""), mark)
            elif end := self._enter(item, mark):
                if end is not _NOTHING:
                    waiting.append(end)
                elif mark:
                    self._folding.update(map(id, item.children or ()))
                waiting.extend(reversed(item.children or ()))
        truncated = bool(waiting)
        for item in reversed(waiting):
            if isinstance(item, _End):
                self._close(item)
        return CleanHtml(
            html="".join(self.output).strip(),
            blocked_images=self.blocked_images,
            remote_images=tuple(self.remote_images),
            truncated=truncated,
            warnings=tuple(self.warnings),
        )

    def _mark(self, node: Node | Text) -> str:
        return FOLD if self.folds and (id(node) in self.folds or id(node) in self._folding) else ""

    def _text(self, text: str, mark: str = "") -> None:
        if text.strip(" \t\n"):
            self.nesting.leave_table()
        if text.startswith("\n") and self.output and self.output[-1].startswith("<pre"):
            self.write("\n")  # a parser drops the first line feed
        shown = escape_text(text)
        self.write(f"<span{mark}>{shown}</span>" if mark and text.strip(" \t\n") else shown)
        for element, link in self.links[-1:]:
            if link and element.is_open:
                link.show(text)

    def _enter(self, node: Node, mark: str = "") -> _End | None:
        """Write the output for ``node``. ``None``: its children are left out too; ``_NOTHING``: it has no end tag."""
        if not isinstance(node, Element):
            return _NOTHING if node.name in _ROOTS else None
        attributes: Attributes = node.attrs or {}
        if node.name == "input" and (attributes.get("type") or "").lower() == "image":
            self.nesting.leave_table()
            self.image(attributes, mark)
            return None
        if node.namespace != "html" or node.name in DROPPED:
            self._count_remote(attributes, ("poster", "background"))
            return None
        if node.name == "img":
            self.nesting.leave_table()
            self.image(attributes, mark)
            return None
        name = RENAMED.get(node.name, node.name)
        if name not in ATTRIBUTES or _stands_for_nothing(node) or not self.nesting.may_hold(name):
            self._count_remote(attributes, ("background",))
            return _NOTHING
        return self._element(name, node, attributes, mark)

    def _element(self, name: str, node: Element, attributes: Attributes, mark: str) -> _End:
        self._count_remote(attributes, ("background",))
        own = _body_style(attributes) if node.name == "body" else ""
        link = None
        before = after = ""
        if name == "a":
            address = link_address(attributes.get("href") or "")
            name = "a" if address else "span"
            if address:
                link, before, after = Link(address), f' href="{escape_attribute(address)}"', self.link_attributes
        start = f"<{name}{before}{self.attributes(name, attributes, style_before=own)}{after}{mark}>"
        if self.nesting.forgets(name, start):
            return _NOTHING
        if name in VOID:
            self.nesting.make_way(name)
            self.write(start)
            return _NOTHING
        end = _End(Opened(name, start), link)
        self.nesting.open(end.element)
        if link:
            self.links.append(end)
        return end

    def image(self, attributes: Attributes, mark: str = "") -> None:
        """A remote image becomes a placeholder with an index; any other image becomes its alternative text."""
        address = image_address(attributes.get("src") or "")
        if address is None:
            before = self.blocked_images
            self._count_remote(attributes, ("src", "srcset", "lowsrc", "data-src"))
            if self.blocked_images == before:
                words = escape_text(printable((ATTRIBUTES["img"]["alt"](attributes.get("alt") or "")) or ""))
                self.write(f"<span{mark}>{words}</span>" if mark and words else words)
            return
        self.blocked_images += 1
        index = self.remote_images.get(address)
        if index is None:
            if len(self.remote_images) >= MAX_REMOTE_IMAGES:
                return
            index = self.remote_images[address] = len(self.remote_images)
        self.write(f'<img data-remote="{index}"{self.attributes("img", attributes)}{mark}>')

    def attributes(self, name: str, attributes: Attributes, *, style_before: str = "") -> str:
        written: list[str] = []
        for attribute, check in ATTRIBUTES[name].items():
            if attribute in attributes:
                value = check(printable(attributes[attribute] or ""))
                if value is not None:
                    written.append(f' {attribute}="{escape_attribute(value)}"')
        style = style_before
        if own := attributes.get("style"):
            clean = clean_style(own)
            self.blocked_images += clean.blocked_images
            style = ";".join(filter(None, (style, clean.text)))
        if style:
            written.append(f' style="{escape_attribute(style)}"')
        return "".join(written)

    def _count_remote(self, attributes: Attributes, names: tuple[str, ...]) -> None:
        """Count one blocked image if any of these attributes would have loaded one."""
        if attributes and any(_REMOTE_SET.match(attributes.get(name) or "") for name in names):
            self.blocked_images += 1

    def _close(self, end: _End) -> None:
        self.nesting.close(end.element)
        if end.link:
            self.links.pop()
            warning = end.link.warning()
            if warning and len(self.warnings) < MAX_WARNINGS:
                self.warnings[warning] = None

    def write(self, text: str) -> None:
        if not text:
            return
        self.output.append(text)
        self.size += len(text)


_NOTHING: Final = _End(Opened("", ""))
_ROOTS: Final = frozenset({"#document", "#document-fragment"})


def _stands_for_nothing(node: Element) -> bool:
    """Whether no element is written for it: a body without a style of its own, or a form between table rows, which is
    empty and would break them."""
    if node.name == "body":
        return not any(node.attrs.get(name) for name in ("style", "dir", "lang", *BODY_COLORS)) if node.attrs else True
    return node.name == "form" and not node.children


def _body_style(attributes: Attributes) -> str:
    colors = ((style, body_color(attributes.get(name) or "")) for name, style in BODY_COLORS.items())
    return clean_style(";".join(f"{style}:{color}" for style, color in colors if color)).text
