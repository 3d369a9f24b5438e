"""The plugins of this boot: which are wanted, which are installed, what they add, and what is wrong with each.

Owns the content read from the set in force, and the work to bring that set in line with the wanted plugins. Who may see
or change plugins is decided in other modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from svc.backoff import Retries
from svc.nursery import Wake
from svc.plugins import actions, queries
from svc.plugins.installing import Installer, NotInstalled, read_lock
from svc.plugins.manifest import Manifest, McpRow, PageKind, right_of, rights_of
from svc.plugins.npm import Npm
from svc.plugins.queries import UNDECIDED, Decided
from svc.plugins.reading import Plugin, read_plugin
from svc.plugins.sets import FOLDER, InstalledSet, Record, Sets
from svc.plugins.settings import PLUGINS, REGISTRY
from svc.plugins.specs import BadSpec, Spec, pinned, spec_of
from svc.switches import STDIO_MCP, is_on
from svc.workspace import Workspace

Source = Literal["none", "environment", "repository"]
RETRIES: Final = Retries(first_s=60, cap_s=3_600)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One plugin: as wanted (``None``: no longer wanted), as installed, and what is wrong with either."""

    name: str
    wanted: Spec | None
    plugin: Plugin | None
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Acting:
    """A rule or an agent of a plugin, and the admin for whom it acts (``None`` while the instance is unclaimed).
    ``digest``: of its text, with all that it was agreed to with.
    """

    plugin: str
    name: str
    title: str
    body: str
    digest: str
    owner_id: str | None


@dataclass(kw_only=True)
class Plugins:
    workspace: Workspace
    sets: Sets
    installer: Installer
    source: Source = "none"
    wanted: tuple[Spec, ...] = ()
    problem: str | None = None
    is_busy: bool = True
    """True until it is certain that the wanted plugins are installed: at boot, and after each request."""
    failures: int = 0
    wake: Wake = field(default_factory=Wake)
    _plugins: Mapping[str, Plugin] = field(default_factory=dict)
    _held: InstalledSet | None = None
    _renew: bool = False

    @classmethod
    def of(cls, workspace: Workspace) -> Plugins:
        sets = Sets(workspace.home.path / FOLDER)
        config, threads = workspace.config, workspace.threads
        npm = Npm(environ=config.environ, registry=config[REGISTRY], threads=threads)
        return cls(workspace=workspace, sets=sets, installer=Installer(sets=sets, npm=npm, threads=threads))

    # The set in force

    async def load(self) -> None:
        """Read the set in force. It serves from the first request on, whatever happens to a new one."""
        await self.workspace.threads.run(self.sets.clean_up)
        await self._look()
        self._hold(*await self.workspace.threads.run(self._read))

    def standings(self) -> Iterator[Standing]:
        """All plugins that are wanted or installed, by name."""
        wanted = {spec.name: spec for spec in self.wanted}
        made_for = self._held.record.wanted if self._held else ()
        for name in sorted({*wanted, *self._plugins}):
            spec, plugin = wanted.get(name), self._plugins.get(name)
            problem = plugin.problem if plugin else None
            if spec is None:
                problem = problem or "It is wanted no more, and goes once the others can be installed"
            elif str(spec) not in made_for:
                problem = self.problem or ("It is being installed" if self.is_busy else "It is not installed yet")
            yield Standing(name=name, wanted=spec, plugin=plugin, problem=problem)

    @property
    def are_known(self) -> bool:
        """Whether each wanted plugin is installed and can be read. Until then nobody knows what it brings."""
        held = [self._plugins.get(spec.name) for spec in self.wanted]
        return not self.is_busy and all(one is not None and one.manifest is not None for one in held)

    def in_force(self, decided: Mapping[str, Decided]) -> list[Plugin]:
        """The plugins that are valid and switched on."""
        return [
            one
            for name, one in sorted(self._plugins.items())
            if one.manifest is not None and decided.get(name, UNDECIDED).is_on
        ]

    def servers(self, decided: Mapping[str, Decided]) -> list[tuple[Plugin, McpRow]]:
        """The MCP servers that may be used: their plugin is on, their rights are agreed to, and this machine allows
        them.
        """
        return [
            (plugin, row)
            for plugin in self.in_force(decided)
            if plugin.manifest is not None
            for row in plugin.manifest.mcp
            if self.why_not(plugin, row, decided.get(plugin.name, UNDECIDED)) is None
        ]

    def brings(self, kind: PageKind) -> bool:
        """Whether any plugin that is installed has such a page."""
        manifests = [one.manifest for one in self._plugins.values() if one.manifest is not None]
        return any(row.kind == kind for one in manifests for row in one.pages)

    def acting(self, decided: Mapping[str, Decided], kind: PageKind) -> Iterator[Acting]:
        """The rules, or the agents, that an admin has agreed to as they are now."""
        for plugin in self.in_force(decided):
            made = decided.get(plugin.name, UNDECIDED)
            for row in plugin.manifest.pages if plugin.manifest is not None else ():
                if row.kind != kind:
                    continue
                body = plugin.bodies[row.file]
                right = right_of(row, body)
                if made.has_agreed(right):
                    yield Acting(
                        plugin=plugin.name,
                        name=row.name,
                        title=row.title,
                        body=body,
                        digest=right.id,
                        owner_id=made.actors[right.id],
                    )

    def why_not(self, plugin: Plugin, row: McpRow, decided: Decided) -> str | None:
        """Why this server of the plugin may not be used; ``None`` if it may."""
        if row.command is not None and not is_on(self.workspace.config, STDIO_MCP):
            return "A public cell starts no programs of others"
        alone = Manifest(title=plugin.name, mcp=(row,))
        if not {right.id for right in rights_of(alone, {})} <= decided.agreed:
            return "It waits for a yes"
        return None

    # Reconciling

    def renew(self) -> None:
        """Soon choose the newest versions within the ranges, whatever was chosen before, and try again what failed."""
        self._renew = self.is_busy = True
        self.wake.call()

    async def reconcile(self) -> float | None:
        """Install what is wanted. Returns the seconds after which to try again, if that may help."""
        self.is_busy = True
        renew, self._renew = self._renew, False
        try:
            return await self._make_so(renew=renew)
        finally:
            self.is_busy = self._renew  # a renewal may have been requested meanwhile

    async def _make_so(self, *, renew: bool) -> float | None:
        await self._look()
        record = Record(wanted=tuple(map(str, self.wanted)), registry=self.installer.npm.registry)
        if not self.wanted or (self._held is not None and self._held.record == record and not renew):
            await self._settle(clear=not self.wanted)
            return None
        try:
            await self.installer.install(self.wanted, lock=None if renew else await self._lock())
        except NotInstalled as fault:
            self.problem, self.failures = str(fault), self.failures + 1
            self.workspace.log.warning("plugins.not_installed", reason=str(fault))
            may_pass = fault.may_pass and (self._held is None or self._held.record != record)
            return RETRIES.pause_s(self.failures, self.workspace.rng) if may_pass else None
        else:
            self._hold(*await self.workspace.threads.run(self._read))
            self.problem, self.failures = None, 0
            self.workspace.log.info("plugins.installed", plugins=[str(spec) for spec in self.wanted])
            return None
        finally:
            await self._tell()

    async def _look(self) -> None:
        """Read what is wanted now: the repository's list, else the environment's."""
        pin = await self.workspace.store.read(queries.pin)
        listed = self.workspace.config[PLUGINS]
        if pin.text is not None:
            self.wanted, self.source = pinned(pin.text), "repository"
        else:
            self.wanted, self.source = listed, "environment" if listed else "none"

    async def _settle(self, *, clear: bool) -> None:
        """There is nothing to install."""
        self.problem, self.failures = None, 0
        if clear and self._held is not None:
            await self.workspace.threads.run(self.sets.clear)
            self._hold(None, {})
            await self._tell()

    async def _tell(self) -> None:
        """Tell clients that show plugins to reload them. It is sent last, so that they find the new plugins."""
        await self.workspace.store.write(actions.tell)

    async def _lock(self) -> bytes | None:
        """The versions chosen before, if they came from the same registry."""
        if self._held is None or self._held.record.registry != self.installer.npm.registry:
            return None
        return await self.workspace.threads.run(read_lock, self._held.path)

    def _read(self) -> tuple[InstalledSet | None, Mapping[str, Plugin]]:
        held = self.sets.current()
        if held is None:
            return None, {}
        try:
            names = [spec_of(text).name for text in held.record.wanted]
        except BadSpec:
            return None, {}  # damaged, so it is made again
        return held, {name: read_plugin(held.path, name) for name in names}

    def _hold(self, held: InstalledSet | None, plugins: Mapping[str, Plugin]) -> None:
        self._held, self._plugins = held, plugins
