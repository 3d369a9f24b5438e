"""Finds the row that answers a method and a raw path.

Rows are compiled once into a tree of path segments. The path is split before it is decoded, so ``a%2Fb`` stays one
segment. A path that could be read as another one (``..``, an empty segment, a NUL, broken escapes) is refused and never
normalised. A literal segment wins over a parameter, a parameter over the rest.

Owns the tree and the ``Allow`` of a path. It never looks at headers, and decides no access.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Final, Generic, TypeVar
from urllib.parse import unquote, unquote_to_bytes

from svc.errors import Invalid, NotFound, Refusal
from svc.protocol.rows import Route, SocketRoute

C = TypeVar("C")

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NO_PARAMS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Match(Generic[C]):
    """A path that exists: its rows, and the values of its parameters."""

    routes: Mapping[str, Route[C]]  # by method; GET stands for HEAD too
    socket: SocketRoute[C] | None
    params: Mapping[str, str]

    @property
    def path(self) -> str:
        """The path as in the rows, with the names of its parameters."""
        return self.socket.path if self.socket is not None else next(iter(self.routes.values())).path

    @property
    def allow(self) -> str:
        """The value of ``Allow``."""
        if self.socket is not None:
            return "GET, OPTIONS"
        return ", ".join([*(method for method in _METHODS if method in self.routes), "OPTIONS"])

    def route(self, method: str) -> Route[C]:
        """The row for ``method``. Raises 405 with ``Allow``."""
        route = self.routes.get(method)
        if route is None:
            raise Refusal(f"{method} is not possible here.", code="method_not_allowed", headers={"allow": self.allow})
        return route


@dataclass(slots=True)
class _Node(Generic[C]):
    routes: dict[str, Route[C]] = field(default_factory=dict)
    socket: SocketRoute[C] | None = None
    names: tuple[str, ...] = ()
    literals: dict[str, _Node[C]] = field(default_factory=dict)
    parameter: _Node[C] | None = None
    rest: _Node[C] | None = None

    @property
    def answers(self) -> bool:
        return bool(self.routes) or self.socket is not None


class Router(Generic[C]):
    """All rows of the service. Raises ``ValueError`` when two of them answer the same request."""

    def __init__(
        self, routes: Iterable[Route[C]], sockets: Iterable[SocketRoute[C]] = (), *, never: Iterable[str] = ()
    ) -> None:
        """``never``: places where nothing is, however their paths are spelled: 404 also for an odd spelling."""
        self._never = tuple(never)
        self._routes = tuple(routes)
        self._sockets = tuple(sockets)
        self._root: _Node[C] = _Node()
        self._literal: dict[str, Match[C]] = {}
        for route in self._routes:
            self._add_route(route)
        for socket in self._sockets:
            self._add_socket(socket)
        for row in self.rows():
            if ":" not in row.path and "*" not in row.path:
                node = self._node(row.path)
                self._literal[row.path] = Match(node.routes, node.socket, _NO_PARAMS)

    def rows(self) -> tuple[Route[C] | SocketRoute[C], ...]:
        return (*self._routes, *self._sockets)

    def match(self, raw_path: str) -> Match[C]:
        """The match for a raw path (no query). Raises 404, or 400 for a path that could mean another one."""
        found = self._literal.get(raw_path)
        if found is not None:
            return found
        try:
            segments = split_path(raw_path)
        except Invalid:
            if self._never and f"{_plain(raw_path)}/".startswith(self._never):
                raise NotFound from None
            raise
        leaf = _walk(self._root, segments, 0)
        if leaf is None:
            raise NotFound
        node, values = leaf
        return Match(node.routes, node.socket, dict(zip(node.names, values, strict=True)))

    def beginning(self, raw_path: str) -> str:
        """The literal segments that rows begin with too: the part of an unknown path that a log may show."""
        node, known = self._root, ""
        for segment in raw_path.split("/")[1:]:
            if segment not in node.literals:
                break
            node, known = node.literals[segment], f"{known}/{segment}"
        return known

    def _add_route(self, route: Route[C]) -> None:
        node = self._node(route.path)
        methods = ("GET", "HEAD") if route.method == "GET" else (route.method,)
        if node.socket or any(method in node.routes for method in methods):
            raise ValueError(f"two rows answer {route.method} {route.path}")
        for method in methods:
            node.routes[method] = route

    def _add_socket(self, socket: SocketRoute[C]) -> None:
        node = self._node(socket.path)
        if node.answers:
            raise ValueError(f"two rows answer {socket.path}")
        node.socket = socket

    def _node(self, path: str) -> _Node[C]:
        """The tree's node for a row's path, created if it is new."""
        if not path.startswith("/"):
            raise ValueError(f"{path!r} does not begin with a slash")
        node, names = self._root, []
        segments = path.split("/")[1:]
        for position, segment in enumerate(segments):
            if segment.startswith("*") and position == len(segments) - 1:
                names.append(segment[1:])
                node.rest = node = node.rest or _Node()
            elif segment.startswith(":"):
                names.append(segment[1:])
                node.parameter = node = node.parameter or _Node()
            else:
                node = node.literals.setdefault(segment, _Node())
        if node.answers and node.names != tuple(names):
            raise ValueError(f"{path} names its parameters unlike another row of the same path")
        node.names = tuple(names)
        return node


def _plain(raw_path: str) -> str:
    """The place that an odd path may mean, in small letters. Some programs read a backslash as a slash."""
    path = unquote(raw_path).lower().replace("\\", "/")
    return normpath(f"/{path}").replace("//", "/", 1)


def split_path(raw_path: str) -> list[str]:
    """The decoded segments of a raw path; the last one is empty after a trailing slash."""
    if not raw_path.startswith("/"):
        raise NotFound  # the asterisk of OPTIONS
    if _BROKEN_ESCAPE.search(raw_path):
        raise Invalid("The path has a broken percent escape.")
    raw = raw_path.split("/")[1:]
    if "" in raw[:-1]:
        raise Invalid("The path has an empty segment.")
    return [_decode(segment) for segment in raw]


def _decode(raw: str) -> str:
    try:
        segment = unquote_to_bytes(raw).decode("utf-8") if "%" in raw else raw
    except UnicodeDecodeError as error:
        raise Invalid("The path is not UTF-8.") from error
    if segment in {".", ".."} or _CONTROL.search(segment):
        raise Invalid("The path has a segment that is not allowed.")
    return segment


def _walk(node: _Node[C], segments: list[str], position: int) -> tuple[_Node[C], list[str]] | None:
    """The first leaf that takes all segments, with the parameter values on the way to it."""
    if position == len(segments):
        return (node, []) if node.answers else None
    segment = segments[position]
    literal = node.literals.get(segment)
    if literal is not None and (found := _walk(literal, segments, position + 1)):
        return found
    if node.parameter is not None and segment and (found := _walk(node.parameter, segments, position + 1)):
        return found[0], [segment, *found[1]]
    rest = segments[position:]
    if node.rest is not None and not any("/" in segment for segment in rest):
        return node.rest, ["/".join(rest)]
    return None
