"""The fields of front matter, with the lines on which they stand, and the messages for invalid ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from svc.configuring.faults import Fault
from svc.gitops import FrontMatterNode, FrontMatterRefused, front_matter_head, front_matter_tree

MAX_BODY_CHARS: Final = 64 * 1024
"""The text of a page that is configuration. Beyond: it is broken."""


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The keys of one mapping. ``line``: the line where the mapping begins."""

    nodes: dict[str, FrontMatterNode]
    line: int

    def only(self, names: Collection[str], *, of: str) -> None:
        """Raises :class:`Fault` for a key that is not in ``names``: it may be a typing mistake."""
        for name, node in self.nodes.items():
            if name not in names:
                known = ", ".join(sorted(names))
                raise Fault(f"{of} has no field {name}; there are {known}", node.line)

    def text(self, name: str, default: str | None = None) -> str | None:
        """A text on any number of lines. An empty text is refused."""
        node = self.nodes.get(name)
        if node is None:
            return default
        if not isinstance(node.value, str):
            raise Fault(f"{name} must be a text", node.line)
        if not node.value.strip():
            raise Fault(f"{name} is empty: leave it out, or say what it is", node.line)
        return node.value.strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """A text, or a list of texts; empty where the field is missing."""
        node = self.nodes.get(name)
        if node is None:
            return ()
        items = node.value if isinstance(node.value, list) else [node]
        if not items:
            raise Fault(f"{name} is empty: leave it out, or say what it is", node.line)
        return tuple(_text_of(one, name) for one in items)

    def switch(self, name: str, *, default: bool) -> bool:
        node = self.nodes.get(name)
        if node is None:
            return default
        words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
        if not isinstance(node.value, str) or node.value.lower() not in words:
            raise Fault(f"{name} is true or false", node.line)
        return words[node.value.lower()]

    def number(self, name: str, *, default: int, least: int, most: int) -> int:
        node = self.nodes.get(name)
        if node is None:
            return default
        said = node.value if isinstance(node.value, str) else ""
        if not said.lstrip("-").isdecimal() or len(said) > 12 or not least <= int(said) <= most:
            raise Fault(f"{name} is a whole number from {least} to {most}", node.line)
        return int(said)

    def mapping(self, name: str) -> Fields:
        """The fields of a mapping; empty where the field is missing."""
        node = self.nodes.get(name)
        if node is None or node.value == "":
            return Fields(nodes={}, line=self.line if node is None else node.line)
        if not isinstance(node.value, dict):
            raise Fault(f"{name} must be a mapping of fields to values", node.line)
        return Fields(nodes=node.value, line=node.line)

    def line_of(self, name: str) -> int:
        node = self.nodes.get(name)
        return self.line if node is None else node.line


def _text_of(node: FrontMatterNode, name: str) -> str:
    if not isinstance(node.value, str) or not node.value.strip():
        raise Fault(f"{name} must be a text, or a list of texts that are not empty", node.line)
    return node.value.strip()


def split(body: str) -> tuple[Fields, str]:
    """The front matter at the head of a page's text, and the text below it. Raises :class:`Fault`."""
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_BODY_CHARS:
        raise Fault(f"it has more than {MAX_BODY_CHARS} characters")
    try:
        head, rest = front_matter_head(text)
        top = front_matter_tree(head)
    except FrontMatterRefused as refused:
        raise Fault(refused.broken.reason, refused.broken.line or 1) from None
    if top is None:
        return Fields(nodes={}, line=1), text[rest:]
    if not isinstance(top.value, dict):
        raise Fault("the front matter is no mapping of keys to values", top.line)
    return Fields(nodes=top.value, line=top.line), text[rest:]
