"""The declaration of an MCP server: a page below ``mcp/``, or an entry of ``SVC_MCP_SERVERS``.

A page has ``command`` (with ``args`` and ``env``) or ``url`` (with ``headers``). Each value of ``env`` and ``headers``
is a text or ``{capability: NAME}``. The ``launch``, to which a person agrees, is the digest of all of these.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from svc.broker import FromCapability, LocalServer, RemoteServer, SignIn
from svc.configuring import Fault, Fields, Kind
from svc.inert import inert

FOLDER: Final = "mcp"
MAX_ARGS: Final = 100
"""Arguments of a program that is an MCP server. Beyond: its page is broken."""
MAX_VALUES: Final = 50
"""Variables or headers of an MCP server. Beyond: its page is broken."""
MAX_FOLDERS: Final = 50
"""Folders that an MCP server may read, or write. Beyond: its page is broken."""
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_FIELDS: Final = frozenset({"command", "args", "env", "url", "headers", "folders"})
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_CAPABILITY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")

Value = str | FromCapability


@dataclass(frozen=True, kw_only=True)
class Folders:
    """The folders that a program may read, or read and write, beside the programs and libraries of the system. Absolute
    paths.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """``command``: the program and its arguments; empty for a server at a ``url``."""

    command: tuple[str, ...] = ()
    url: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    """The environment of the program, or the headers of each request."""
    folders: Folders = field(default_factory=Folders)

    @property
    def kind(self) -> Literal["stdio", "http"]:
        return "stdio" if self.command else "http"

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The names of the credentials in it."""
        return tuple(value.name for value in self.values.values() if isinstance(value, FromCapability))

    @property
    def target(self) -> str:
        """The program or the address, as text for a person, with nothing hidden."""
        return inert(self.url or " ".join(_shown(word) for word in self.command))

    @property
    def launch(self) -> str:
        said: list[object] = [
            list(self.command),
            self.url,
            [
                [name, value.name if isinstance(value, FromCapability) else value, isinstance(value, FromCapability)]
                for name, value in sorted(self.values.items())
            ],
        ]
        if self.folders != Folders():
            said.append([self.folders.read, self.folders.write])
        return hashlib.sha256(msgspec.json.encode(said)).hexdigest()

    @property
    def says_where(self) -> bool:
        """Whether the URL holds an IP address or names this machine. Any other name may lead elsewhere at each call."""
        host = urlsplit(self.url).hostname or ""
        try:
            ip_address(host)
        except ValueError:
            return host == "localhost"
        return True

    def server(
        self, *, by_admin: bool, may_be_inside: bool, sign_in: SignIn | None = None
    ) -> LocalServer | RemoteServer:
        if self.command:
            return LocalServer(env=self.values)
        return RemoteServer(
            url=self.url, headers=self.values, by_admin=by_admin, may_be_inside=may_be_inside, sign_in=sign_in
        )


def _shown(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word) else f"'{word}'"


def read(fields: Fields, text: str) -> Declaration:
    """Raises :class:`svc.configuring.Fault`."""
    fields.only(_FIELDS, of="an MCP server")
    command, url = fields.text("command"), fields.text("url")
    if (command is None) == (url is None):
        raise Fault("an MCP server has either command (a program) or url (an address)", fields.line)
    foreign = ("headers",) if command is not None else ("args", "env", "folders")
    for name in foreign:
        if name in fields.nodes:
            raise Fault(
                f"{name} is for servers with {'a url' if command is not None else 'a command'}", fields.line_of(name)
            )
    if command is not None:
        node = fields.nodes.get("args")
        args = () if node is not None and node.value == [] else fields.texts("args")
        if len(args) > MAX_ARGS:
            raise Fault(f"args has more than {MAX_ARGS} values", fields.line_of("args"))
        return Declaration(
            command=(command, *args),
            values=_values(fields, "env", VARIABLE),
            folders=_folders(fields.mapping("folders")),
        )
    assert url is not None, "one of them is there"
    problem = url_problem(url)
    if problem:
        raise Fault(problem, fields.line_of("url"))
    return Declaration(url=url, values=_values(fields, "headers", HEADER))


def url_problem(url: str) -> str:
    """Why the URL can't be the address of an MCP server; empty if it can."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"https", "http"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        whole = False
    if not whole or not url.isascii() or not url.isprintable() or " " in url:
        return "url is an https address, such as https://mcp.example.com/mcp"
    if parts.username or parts.password or parts.fragment:
        return "url holds no user, password or fragment: name a key among the headers, as {capability: NAME}"
    if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        return "url is https, or http on this machine only"
    return ""


def _folders(given: Fields) -> Folders:
    given.only({"read", "write"}, of="folders")
    found = {name: given.texts(name) for name in ("read", "write")}
    for name, paths in found.items():
        if len(paths) > MAX_FOLDERS:
            raise Fault(f"folders: {name} has more than {MAX_FOLDERS} values", given.line_of(name))
        for path in paths:
            if not path.startswith("/") or not path.isprintable() or ".." in path.split("/") or path.strip("/") == "":
                raise Fault(
                    f"folders: {path[:100]} is no whole path of a folder, such as /srv/notes", given.line_of(name)
                )
    return Folders(read=found["read"], write=found["write"])


def _values(fields: Fields, name: str, pattern: re.Pattern[str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    given = fields.mapping(name)
    if len(given.nodes) > MAX_VALUES:
        raise Fault(f"{name} has more than {MAX_VALUES} values", given.line)
    for key, node in given.nodes.items():
        if not pattern.fullmatch(key):
            raise Fault(f"{key[:100]!r} is no name that {name} may have", node.line)
        if isinstance(node.value, dict):
            inner = Fields(nodes=node.value, line=node.line)
            inner.only({"capability"}, of=f"{name}: {key}")
            capability = inner.text("capability") or ""
            if not _CAPABILITY.fullmatch(capability):
                raise Fault("capability is the name of a credential, such as mcp.notes", node.line)
            found[key] = FromCapability(capability)
        elif isinstance(node.value, str) and node.value.isprintable():
            found[key] = node.value
        else:
            raise Fault(f"{name}: {key} is a text on one line, or {{capability: NAME}}", node.line)
    return found


KIND: Final[Kind[Declaration]] = Kind(folder=FOLDER, read=read)
