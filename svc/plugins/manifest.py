"""The manifest of a plugin: the value of ``svc`` in its ``package.json``.

Owns the format, its limits, and what a right is. The structs below define the format: they decode and check a manifest,
and ``docs/plugin-manifest.schema.json`` is made from them. A plugin is data and servers, never code in this process:
pages, palette entries, themes that set tokens, and MCP servers that it asks for. Pure.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

MAX_MANIFEST_BYTES: Final = 256 * 1024
MAX_PAGES: Final = 100
MAX_PALETTE: Final = 50
MAX_THEMES: Final = 20
MAX_SERVERS: Final = 20
MAX_TITLE_CHARS: Final = 80
MAX_CORNER_PX: Final = 32
MAX_CORNER_REM: Final = 2

Colour = Annotated[
    str,
    msgspec.Meta(
        pattern="^#([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$",
        description="A colour as #rgb, #rgba, #rrggbb or #rrggbbaa.",
    ),
]
Length = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(0|[0-9]{1,2}(\.[0-9]{1,4})?(px|rem))$",
        description=f"At most {MAX_CORNER_PX}px or {MAX_CORNER_REM}rem.",
    ),
]
ColourName = Literal[
    "paper",
    "surface",
    "raised",
    "sunken",
    "hover",
    "selected",
    "line",
    "line-strong",
    "ink",
    "ink-soft",
    "ink-quiet",
    "accent",
    "accent-strong",
    "on-accent",
    "accent-wash",
    "focus",
    "good",
    "busy",
    "waiting",
    "bad",
    "warning-wash",
    "warning-line",
    "warning-ink",
]
LengthName = Literal["radius", "radius-small"]
"""The tokens of the app (``static/ui/tokens.css``) that a theme may set."""

PageKind = Literal["note", "template", "rule", "agent"]
Slug = Annotated[str, msgspec.Meta(pattern="^[a-z0-9][a-z0-9-]{0,39}$")]
Title = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TITLE_CHARS)]
File = Annotated[
    str,
    msgspec.Meta(
        max_length=200,
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\.md$",
        description="A Markdown file of the package, by its path in it.",
    ),
]
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Name = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{1,100}$")]


class BadManifest(ValueError):
    """A manifest is wrong. The message says what, in one sentence."""


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An unknown field is an error, so that the author notices the mistake."""


class PageRow(_Strict, frozen=True):
    """A `note` is read in the app; a `template` is the start of a new page. A `rule` and an `agent` act for the
    admin who agreed to them.
    """

    kind: PageKind
    name: Slug
    title: Title
    file: File


class PaletteRow(_Strict, frozen=True):
    """A command that opens a page: a note of this plugin, by name, or a page of the workspace, by path."""

    title: Title
    note: Slug | None = None
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)] | None = None


class Pair(_Strict, frozen=True):
    """Colours of the light and dark themes."""

    light: Colour
    dark: Colour


class ThemeRow(_Strict, frozen=True):
    """Values for tokens of the app. A token that is left out keeps its value."""

    name: Slug
    title: Title
    colours: dict[ColourName, Colour | Pair] = {}
    lengths: dict[LengthName, Length] = {}


class FromCapability(_Strict, frozen=True):
    """The value is the credential of the workspace with that name."""

    capability: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9._-]{1,100}$")]


class McpRow(_Strict, frozen=True):
    """An MCP server: a program on the server (`command`), or one at an address (`url`)."""

    name: Slug
    command: Word | None = None
    args: Annotated[list[Word], msgspec.Meta(max_length=50)] = []
    env: Annotated[dict[Name, Word | FromCapability], msgspec.Meta(max_length=50)] = {}
    url: Word | None = None
    headers: Annotated[dict[Name, Word | FromCapability], msgspec.Meta(max_length=50)] = {}


class Manifest(_Strict, frozen=True):
    """All that a plugin adds."""

    title: Title
    about: Annotated[str, msgspec.Meta(max_length=300)] = ""
    pages: Annotated[tuple[PageRow, ...], msgspec.Meta(max_length=MAX_PAGES)] = ()
    palette: Annotated[tuple[PaletteRow, ...], msgspec.Meta(max_length=MAX_PALETTE)] = ()
    themes: Annotated[tuple[ThemeRow, ...], msgspec.Meta(max_length=MAX_THEMES)] = ()
    mcp: Annotated[tuple[McpRow, ...], msgspec.Meta(max_length=MAX_SERVERS)] = ()


@dataclass(frozen=True, kw_only=True)
class Right:
    """An action that a plugin may do only after an admin has agreed. ``id`` is a digest of all of it: another command,
    address or text is another right. ``text``: the whole rule or agent; it acts for the admin who agreed.
    """

    id: str
    words: str
    text: str | None = None


def manifest_of(value: object) -> Manifest:
    """Raises :class:`BadManifest`."""
    try:
        manifest = msgspec.convert(value, Manifest)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadManifest(f"Its manifest is not as it should be: {error}") from error
    fault = next(_faults(manifest), None)
    if fault is not None:
        raise BadManifest(f"Its manifest is not as it should be: {fault}")
    return manifest


def schema() -> dict[str, Any]:
    """The format as JSON Schema, for authors and their editors."""
    (found,), components = msgspec.json.schema_components([Manifest], ref_template="#/$defs/{name}")
    for component in components.values():
        component["description"] = " ".join(component["description"].split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The manifest of a plugin: `svc` in its package.json",
        **found,
        "$defs": components,
    }


def rights_of(manifest: Manifest, bodies: Mapping[str, str]) -> tuple[Right, ...]:
    """The rights of this manifest that need agreement. ``bodies``: the texts of its pages, by file."""
    servers = [_right(msgspec.json.encode(row), words) for row in manifest.mcp for words in _asked(row)]
    acting = [right_of(row, bodies[row.file]) for row in manifest.pages if row.kind in _ACTS]
    return (*servers, *acting)


def right_of(row: PageRow, body: str) -> Right:
    """The right of a rule or an agent to act as its text says."""
    content = f"{row.kind} {row.name}\0{body}".encode()
    return replace(_right(content, f"{_ACTS[row.kind]} “{row.title}”"), text=body)


_ACTS: Final[Mapping[str, str]] = {"rule": "Sort your mail by the rule", "agent": "Work for you as the agent"}
ACTING: Final = frozenset(_ACTS)
"""The kinds of pages that need an agreement."""


def _asked(row: McpRow) -> Iterator[str]:
    if row.command is not None:
        yield f"Run “{' '.join((row.command, *row.args))}” on the server, as the MCP server {row.name}"
    if row.url is not None:
        yield f"Reach {row.url}, as the MCP server {row.name}"
    for value in (*row.env.values(), *row.headers.values()):
        if isinstance(value, FromCapability):
            yield f"Be given the credential {value.capability}, for the MCP server {row.name}"


def _right(content: bytes, words: str) -> Right:
    return Right(id=hashlib.sha256(content + b"\0" + words.encode()).hexdigest(), words=words)


def _faults(manifest: Manifest) -> Iterator[str]:
    """Errors that the schema can't express."""
    yield from _texts(msgspec.to_builtins(manifest))
    for what, names in (
        ("pages", [row.name for row in manifest.pages]),
        ("themes", [row.name for row in manifest.themes]),
        ("mcp", [row.name for row in manifest.mcp]),
    ):
        yield from (f"`$.{what}` has {name!r} twice" for name in sorted(set(names)) if names.count(name) > 1)
    notes = {row.name for row in manifest.pages if row.kind == "note"}
    for place, entry in enumerate(manifest.palette):
        if (entry.note is None) == (entry.path is None):
            yield f"it opens either a `note` or a `path` - at `$.palette[{place}]`"
        if entry.note is not None and entry.note not in notes:
            yield f"there is no note {entry.note!r} - at `$.palette[{place}]`"
    for place, server in enumerate(manifest.mcp):
        yield from (f"{fault} - at `$.mcp[{place}]`" for fault in _server_faults(server))
    for place, theme in enumerate(manifest.themes):
        yield from (f"{fault} - at `$.themes[{place}]`" for fault in _theme_faults(theme))


def _texts(value: object) -> Iterator[str]:
    """Refuses any text with invisible or reordering characters: it could make a right look like another one."""
    if isinstance(value, str) and any(unicodedata.category(sign) in _UNSEEN for sign in value):
        yield f"{value!r} has characters that are not seen"
    if isinstance(value, Mapping):
        yield from _texts(list(value))
        yield from _texts(list(value.values()))
    if isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def _server_faults(row: McpRow) -> Iterator[str]:
    if (row.command is None) == (row.url is None):
        yield "it has either a `command` or a `url`"
    if row.url is not None:
        try:
            parts = urlsplit(row.url)
            valid = parts.scheme == "https" and bool(parts.hostname) and not parts.username and (parts.port or 1) > 0
        except ValueError:
            valid = False
        if not valid:
            yield "its `url` is not a plain https address"
        if row.env or row.args:
            yield "`args` and `env` belong to a `command`"
    elif row.headers:
        yield "`headers` belong to a `url`"


_COLOUR: Final = re.compile(r"#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def _theme_faults(row: ThemeRow) -> Iterator[str]:
    """Checks the values again, up to the last character: with a pattern that ends in ``$``, a line end may still
    follow.
    """
    if not row.colours and not row.lengths:
        yield "it sets nothing"
    for value in row.colours.values():
        colours = (value.light, value.dark) if isinstance(value, Pair) else (value,)
        yield from (f"{colour!r} is no colour" for colour in colours if not _COLOUR.fullmatch(colour))
    for length in row.lengths.values():
        number = re.fullmatch(r"([0-9.]+)(px|rem)|0", length)
        if number is None or (
            number[1] and float(number[1]) > (MAX_CORNER_PX if number[2] == "px" else MAX_CORNER_REM)
        ):
            yield f"{length!r} is no length from 0 to {MAX_CORNER_PX}px or {MAX_CORNER_REM}rem"
