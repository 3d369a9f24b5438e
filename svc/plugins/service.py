"""The plugins of this boot: which are wanted, which are there, what they bring, and why one is not as it should be.

Owns what was read of the set that holds, and the reconciling of that set with what is wanted. Who may see or change
what is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from svc.backoff import Retries
from svc.nursery import Wake
from svc.plugins import actions, queries
from svc.plugins.installing import Installer, NotInstalled, read_lock
from svc.plugins.manifest import Manifest, McpRow, rights_of
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
    """One plugin: as it is wanted (``None``: no more), as it is there, and what is wrong with either."""

    name: str
    wanted: Spec | None
    plugin: Plugin | None
    problem: str | None


@dataclass(kw_only=True)
class Plugins:
    workspace: Workspace
    sets: Sets
    installer: Installer
    source: Source = "none"
    wanted: tuple[Spec, ...] = ()
    problem: str | None = None
    is_busy: bool = True
    """Until it has been made sure, for the first time or anew, that what is wanted is there."""
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

    # What holds

    async def load(self) -> None:
        """Read the set that holds: it serves from the first request on, whatever becomes of a new one."""
        await self.workspace.threads.run(self.sets.sweep)
        await self._look()
        self._hold(*await self.workspace.threads.run(self._read))

    def standings(self) -> Iterator[Standing]:
        """All that are wanted or there, by name."""
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

    def in_force(self, decided: Mapping[str, Decided]) -> list[Plugin]:
        """Those that bring something now."""
        return [
            one
            for name, one in sorted(self._plugins.items())
            if one.manifest is not None and decided.get(name, UNDECIDED).is_on
        ]

    def servers(self, decided: Mapping[str, Decided]) -> list[tuple[Plugin, McpRow]]:
        """The MCP servers that may be used: of a plugin that is on, agreed to, and allowed on this machine."""
        return [
            (plugin, row)
            for plugin in self.in_force(decided)
            if plugin.manifest is not None
            for row in plugin.manifest.mcp
            if self.why_not(plugin, row, decided.get(plugin.name, UNDECIDED)) is None
        ]

    def why_not(self, plugin: Plugin, row: McpRow, decided: Decided) -> str | None:
        """Why this server of the plugin may not be used."""
        if row.command is not None and not is_on(self.workspace.config, STDIO_MCP):
            return "A public cell starts no programs of others"
        alone = Manifest(title=plugin.name, mcp=(row,))
        if not {right.id for right in rights_of(alone, {})} <= decided.agreed:
            return "It waits for a yes"
        return None

    # Reconciling

    def renew(self) -> None:
        """Soon: choose anew within the ranges, whatever was chosen before, and try again what failed."""
        self._renew = self.is_busy = True
        self.wake.call()

    async def reconcile(self) -> float | None:
        """Make what is there what is wanted. After how many seconds to look again, where that may help."""
        self.is_busy = True
        renew, self._renew = self._renew, False
        try:
            return await self._make_so(renew=renew)
        finally:
            self.is_busy = self._renew  # somebody may have asked meanwhile

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
        """What is wanted now: the repository's list, else the environment's."""
        pin = await self.workspace.store.read(queries.pin)
        listed = self.workspace.config[PLUGINS]
        if pin.text is not None:
            self.wanted, self.source = pinned(pin.text), "repository"
        else:
            self.wanted, self.source = listed, "environment" if listed else "none"

    async def _settle(self, *, clear: bool) -> None:
        """Nothing is to be installed."""
        self.problem, self.failures = None, 0
        if clear and self._held is not None:
            await self.workspace.threads.run(self.sets.clear)
            self._hold(None, {})
            await self._tell()

    async def _tell(self) -> None:
        """Whoever shows plugins asks again. Whoever hears of it finds the new ones there."""
        await self.workspace.store.write(actions.tell)

    async def _lock(self) -> bytes | None:
        """What was chosen before, if from the same registry."""
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
            return None, {}  # damaged: it is made again
        return held, {name: read_plugin(held.path, name) for name in names}

    def _hold(self, held: InstalledSet | None, plugins: Mapping[str, Plugin]) -> None:
        self._held, self._plugins = held, plugins
