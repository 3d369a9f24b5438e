"""Front matter: the few lines of YAML at the head of a page's file, read strictly.

Only the plain part of YAML is read: texts, lists and mappings. Aliases, anchors, tags, further documents, repeated keys
and anything deep or large are refused before anything is built, so no YAML bomb and no language-specific type gets
through. Every scalar is its literal text: ``title: 2024`` is "2024", and ``no`` is "no". libyaml (PyYAML) parses it
into events; the code here decides what they become.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.gitops.model import Access, Broken, FrontMatter, Level

MAX_BYTES: Final = 16 * 1024
MAX_TAGS: Final = 50
MAX_TAG_CHARS: Final = 100
MAX_ADDRESS_CHARS: Final = 254
MAX_GRANTS: Final = 200
EVERYONE: Final = "everyone"
FENCE: Final = "---"


class Refused(Exception):
    """``line`` counts from 1, in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.broken = Broken(reason=reason, line=line)


@dataclass(frozen=True)
class Node:
    """A scalar, list or mapping, and the line of the file where it begins."""

    value: str | list[Node] | dict[str, Node]
    line: int


def head_of(text: str) -> tuple[str, int]:
    """The YAML at the head of a file, without its fences, and the position of the rest; ``("", 0)`` if there is none.

    ``text`` has line ends of one character. Raises :class:`Refused`.
    """
    first, found, _ = text.partition("\n")
    if first.rstrip(" \t") != FENCE or not found:
        return "", 0
    start = place = len(first) + 1
    while place < len(text):
        end = text.find("\n", place)
        stop = len(text) if end < 0 else end
        if text[place:stop].rstrip(" \t") in {FENCE, "..."}:
            return text[start:place], min(stop + 1, len(text))
        if stop - start > MAX_BYTES:
            break
        place = stop + 1
    raise Refused(
        f"the front matter does not end: a line {FENCE} is missing, or it is longer than {MAX_BYTES} bytes", 1
    )


def front_matter(text: str) -> FrontMatter:
    """The values in the head of a file. Raises :class:`Refused`, with the line."""
    top = tree(head_of(text)[0])
    if top is None:
        return FrontMatter()
    if not isinstance(top.value, dict):
        raise Refused("the front matter is no mapping of keys to values", top.line)
    keys = top.value
    grants = _grants(keys.get("grants"))
    access = _access(keys.get("access"))
    if access == "inherited" and grants:
        raise Refused("grants are given with access: explicit only", keys["grants"].line)
    return FrontMatter(
        title=_text(keys.get("title"), "title"),
        access=access or ("explicit" if "grants" in keys else None),
        grants=grants,
        tags=_tags(keys.get("tags")),
        grants_line=keys["grants"].line if "grants" in keys else None,
    )


def tree(head: str) -> Node | None:
    """The YAML of a head as nodes; ``None`` if it is empty. Raises :class:`Refused`, with the line."""
    if len(head.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Refused(f"the front matter is longer than {MAX_BYTES} bytes", 1)
    from svc.gitops.front_matter_nodes import tree_of  # late: PyYAML is only loaded to read a file

    return tree_of(head)


def _text(node: Node | None, key: str) -> str | None:
    if node is None:
        return None
    if not isinstance(node.value, str):
        raise Refused(f"{key} must be a text", node.line)
    return node.value.strip() or None


def _access(node: Node | None) -> Access | None:
    said = _text(node, "access")
    if said is None:
        return None
    if said not in {"inherited", "explicit"}:
        assert node is not None, "it was said"
        raise Refused(f"access is inherited or explicit, not {shown(said)}", node.line)
    return cast(Access, said)


def _grants(node: Node | None) -> tuple[tuple[str, Level], ...]:
    if node is None or node.value == "":
        return ()
    if not isinstance(node.value, list):
        raise Refused("grants must be a list of {to: …, level: …}", node.line)
    if len(node.value) > MAX_GRANTS:
        raise Refused(f"a page has at most {MAX_GRANTS} grants", node.line)
    grants = [_grant(item) for item in node.value]
    seen: set[str] = set()
    for item, (to, _) in zip(node.value, grants, strict=True):
        if to in seen:
            raise Refused(f"{shown(to)} is granted twice", item.line)
        seen.add(to)
    return tuple(grants)


def _grant(node: Node) -> tuple[str, Level]:
    if not isinstance(node.value, dict) or set(node.value) != {"to", "level"}:
        raise Refused("a grant is {to: everyone or an address, level: read or write}", node.line)
    to, level = _text(node.value["to"], "to"), _text(node.value["level"], "level")
    if level not in {"read", "write"}:
        raise Refused("a grant's level is read or write", node.value["level"].line)
    if to is None or len(to) > MAX_ADDRESS_CHARS or not (to == EVERYONE or ("@" in to and to.isprintable())):
        raise Refused("a grant is to everyone, or to an address", node.value["to"].line)
    return to.lower(), cast(Level, level)


def _tags(node: Node | None) -> tuple[str, ...]:
    if node is None or node.value == "":
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    if len(items) > MAX_TAGS:
        raise Refused(f"a page has at most {MAX_TAGS} tags", node.line)
    tags = []
    for item in items:
        tag = _text(item, "a tag")
        if tag is None or len(tag) > MAX_TAG_CHARS or not tag.isprintable():
            raise Refused(f"a tag is a text of at most {MAX_TAG_CHARS} characters on one line", item.line)
        tags.append(tag)
    return tuple(dict.fromkeys(tags))


def shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
