"""The wire types of plugins: inputs and outputs of the ``plugins.*`` procedures, and the conversion of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from svc.plugins.manifest import ACTING, Manifest, McpRow, PageKind, PageRow, Pair, ThemeRow, right_of
from svc.plugins.queries import Decided
from svc.plugins.reading import Plugin
from svc.plugins.service import Plugins, Source, Standing
from svc.plugins.specs import MAX_NAME_CHARS
from svc.protocol import Wire

PackageName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
RightId = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
State = Literal["on", "off", "failed"]


# Inputs


class SetInput(Wire, frozen=True):
    name: PackageName
    on: bool


class AgreeInput(Wire, frozen=True):
    """``rights``: the ids of the rights that the admin has seen."""

    name: PackageName
    rights: Annotated[tuple[RightId, ...], msgspec.Meta(min_length=1, max_length=200)]


class PageInput(Wire, frozen=True):
    plugin: PackageName
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


# Outputs


class PageOut(Wire, frozen=True):
    """``why_not``: why a rule or an agent does not act."""

    kind: PageKind
    name: str
    title: str
    why_not: str | None = None


class ServerOut(Wire, frozen=True):
    """``target``: the program or the address. ``why_not``: why it may not be used."""

    name: str
    target: str
    why_not: str | None


class EntryOut(Wire, frozen=True):
    title: str


class ThemeOut(Wire, frozen=True):
    name: str
    title: str


class BringsOut(Wire, frozen=True):
    pages: tuple[PageOut, ...] = ()
    mcp: tuple[ServerOut, ...] = ()
    palette: tuple[EntryOut, ...] = ()
    themes: tuple[ThemeOut, ...] = ()


class RightOut(Wire, frozen=True):
    """``text``: the whole rule or agent that would act."""

    id: str
    words: str
    agreed: bool
    text: str | None


class PluginOut(Wire, frozen=True):
    """``wanted``: as in the list; ``None`` if it is no longer wanted. ``rights``: what needs an admin's agreement."""

    name: str
    version: str | None
    wanted: str | None
    state: State
    problem: str | None
    brings: BringsOut
    title: str
    about: str
    rights: tuple[RightOut, ...]


class StatusOut(Wire, frozen=True):
    """``source``: whose list is in force. ``registry``: empty for npm's default. ``busy``: a set is being made."""

    source: Source
    registry: str
    busy: bool
    problem: str | None


class CommandOut(Wire, frozen=True):
    """A palette entry: it opens the note ``note`` of the plugin, or the workspace's page at ``path``."""

    plugin: str
    title: str
    note: str | None
    path: str | None


class StyleOut(Wire, frozen=True):
    """A theme: names of the app's tokens with their CSS values."""

    plugin: str
    name: str
    title: str
    tokens: dict[str, str]


class TextOut(Wire, frozen=True):
    """A page of a plugin, without its text."""

    plugin: str
    plugin_title: str
    kind: PageKind
    name: str
    title: str


class OffersOut(Wire, frozen=True):
    """What the plugins that are switched on add for every user."""

    palette: tuple[CommandOut, ...]
    themes: tuple[StyleOut, ...]
    pages: tuple[TextOut, ...]


class PageTextOut(TextOut, frozen=True):
    body: str


# Records to the wire


def plugin_out(plugins: Plugins, standing: Standing, decided: Decided) -> PluginOut:
    plugin = standing.plugin
    manifest = plugin.manifest if plugin else None
    brings = manifest is not None and decided.is_on
    is_coming = plugin is None and plugins.is_busy
    return PluginOut(
        name=standing.name,
        version=plugin.version if plugin else None,
        wanted=standing.wanted.range if standing.wanted else None,
        state="on" if brings else "off" if not decided.is_on or is_coming else "failed",
        problem=standing.problem,
        brings=brings_out(plugins, plugin, manifest, decided) if plugin and manifest else BringsOut(),
        title=manifest.title if manifest else standing.name,
        about=manifest.about if manifest else "",
        rights=tuple(
            RightOut(id=right.id, words=right.words, agreed=decided.has_agreed(right), text=right.text)
            for right in (plugin.rights if plugin else ())
        ),
    )


def brings_out(plugins: Plugins, plugin: Plugin, manifest: Manifest, decided: Decided) -> BringsOut:
    return BringsOut(
        pages=tuple(
            PageOut(kind=row.kind, name=row.name, title=row.title, why_not=_why_not(plugin, row, decided))
            for row in manifest.pages
        ),
        mcp=tuple(
            ServerOut(name=row.name, target=_target(row), why_not=plugins.why_not(plugin, row, decided))
            for row in manifest.mcp
        ),
        palette=tuple(EntryOut(title=row.title) for row in manifest.palette),
        themes=tuple(ThemeOut(name=row.name, title=row.title) for row in manifest.themes),
    )


def _why_not(plugin: Plugin, row: PageRow, decided: Decided) -> str | None:
    acts = row.kind in ACTING
    return "It waits for a yes" if acts and not decided.has_agreed(right_of(row, plugin.bodies[row.file])) else None


def offers_out(plugins: Plugins, decided: Mapping[str, Decided]) -> OffersOut:
    brought = [(one, one.manifest) for one in plugins.in_force(decided) if one.manifest is not None]
    return OffersOut(
        palette=tuple(
            CommandOut(plugin=one.name, title=row.title, note=row.note, path=row.path)
            for one, manifest in brought
            for row in manifest.palette
        ),
        themes=tuple(
            StyleOut(plugin=one.name, name=row.name, title=row.title, tokens=tokens_of(row))
            for one, manifest in brought
            for row in manifest.themes
        ),
        pages=tuple(
            TextOut(plugin=one.name, plugin_title=manifest.title, kind=row.kind, name=row.name, title=row.title)
            for one, manifest in brought
            for row in manifest.pages
        ),
    )


def page_out(plugin: Plugin, name: str) -> PageTextOut | None:
    manifest = plugin.manifest
    row = next((row for row in manifest.pages if row.name == name), None) if manifest else None
    if manifest is None or row is None:
        return None
    return PageTextOut(
        plugin=plugin.name,
        plugin_title=manifest.title,
        kind=row.kind,
        name=row.name,
        title=row.title,
        body=plugin.bodies[row.file],
    )


def tokens_of(row: ThemeRow) -> dict[str, str]:
    lengths: dict[str, str] = dict(row.lengths.items())
    colours: dict[str, str] = {
        name: f"light-dark({value.light}, {value.dark})" if isinstance(value, Pair) else value
        for name, value in row.colours.items()
    }
    return colours | lengths


def _target(row: McpRow) -> str:
    return row.url if row.url is not None else " ".join((row.command or "", *row.args))
