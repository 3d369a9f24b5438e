"""The YAML of front matter as nodes, from libyaml's events; forbidden parts are refused before anything is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from svc.gitops.front_matter import Node, Refused, shown

MAX_DEPTH: Final = 8
MAX_NODES: Final = 2_000
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def tree_of(head: str) -> Node | None:
    """The YAML as nodes; ``None`` if it is empty. Raises :class:`Refused`."""
    events = _events(head)
    for event in events:
        if isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            continue
        if isinstance(event, yaml.StreamEndEvent):
            return None
        node = _node(event, events, depth=1)
        for after in events:
            if isinstance(after, yaml.DocumentStartEvent):
                raise Refused("the front matter holds more than one document", _line(after))
        return None if node.value == "" else node
    return None


def _events(head: str) -> Iterator[yaml.Event]:
    count = 0
    try:
        parser = _LOADER(head)
        while (event := parser.get_event()) is not None:
            count += 1
            if count > MAX_NODES:
                raise Refused("the front matter has too many parts", _line(event))
            if isinstance(event, yaml.NodeEvent):
                _must_be_plain(event)
            yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or "it can't be read"
        raise Refused(f"the front matter is no YAML: {reason}", mark.line + 2 if mark else 1) from error
    except yaml.YAMLError as error:
        raise Refused("the front matter is no YAML: it holds a character that may not be there", 1) from error


def _must_be_plain(event: yaml.NodeEvent) -> None:
    if isinstance(event, yaml.AliasEvent):
        raise Refused("an alias (*name) has no place in front matter", _line(event))
    if event.anchor is not None:
        raise Refused("an anchor (&name) has no place in front matter", _line(event))
    if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
        raise Refused("a tag (!name) has no place in front matter", _line(event))


def _node(event: yaml.Event, events: Iterator[yaml.Event], *, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise Refused("the front matter is nested too deeply", _line(event))
    line = _line(event)
    if isinstance(event, yaml.ScalarEvent):
        return Node(str(event.value), line)
    if isinstance(event, yaml.SequenceStartEvent):
        items: list[Node] = []
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            items.append(_node(inner, events, depth=depth + 1))
        return Node(items, line)
    keys: dict[str, Node] = {}
    while not isinstance(inner := next(events), yaml.MappingEndEvent):
        if not isinstance(inner, yaml.ScalarEvent):
            raise Refused("a key must be a plain text", _line(inner))
        key = str(inner.value)
        if key in keys:
            raise Refused(f"the key {shown(key)} is said twice", _line(inner))
        keys[key] = _node(next(events), events, depth=depth + 1)
    return Node(keys, line)


def _line(event: yaml.Event) -> int:
    """The line in the file: YAML counts from 0, and begins after the fence."""
    return int(event.start_mark.line) + 2 if event.start_mark is not None else 1
