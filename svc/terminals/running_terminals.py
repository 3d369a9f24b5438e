"""All terminals of this service: who owns which, how many are allowed, and the nursery in which they run.

Theory. Terminals outlive the sockets that show them, so they run in a subsystem of their own; when it drains, they end
first with HUP and then with KILL. Access is decided when a socket opens, so this module follows events about people: a
revoked device loses its sockets, and a person whose role changes also loses their terminals.

Owns the list of terminals. The log records that they began and ended, not what happens in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from signal import Signals
from typing import Final

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.errors import Conflict, NotFound, Unavailable
from svc.identity import CLOSE_SIGNED_OUT, IDENTITY_TOPIC
from svc.ids import new_id
from svc.log import Log
from svc.nursery import Child, ThreadPool
from svc.principal import Principal
from svc.store import OutboxRow, Overflowed, Store
from svc.terminals.environment import environment_of
from svc.terminals.settings import IDLE_S, SHELL
from svc.terminals.shell import GRACE_S, KILLED_WITHIN_S, Shell, Size
from svc.terminals.terminal import TOO_SLOW, Terminal, Why
from svc.workspace import Workspace

MAX_TERMINALS: Final = 32
"""Terminals of one service, of all admins together. Beyond: another one is refused in words, and those go on."""
TOPIC: Final = "terminals"
CLAIMED: Final = "claimed"
"""The event of the transaction that claims the instance: what had no owner becomes the first admin's."""
DRAIN_S: Final = GRACE_S + KILLED_WITHIN_S + 1.0
_SIGNALS: Final = {one.value: one.name for one in Signals}


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asked for a terminal and from where, for the log."""

    principal: Principal
    request_id: str
    peer: str


@dataclass(kw_only=True)
class Terminals:
    """The terminals of the service. ``shell`` is the program that each of them starts, in ``directory``."""

    store: Store
    clock: Clock
    threads: ThreadPool
    log: Log
    shell: Path
    environ: dict[str, str] = field(repr=False)
    directory: Path
    idle_s: float
    _open: dict[str, Terminal] = field(default_factory=dict)
    _child: Child | None = None

    @classmethod
    def of(cls, workspace: Workspace) -> Terminals:
        shell = workspace.config[SHELL]
        environ = workspace.config.environ
        home = Path(environ.get("HOME") or "/")
        return cls(
            store=workspace.store,
            clock=workspace.clock,
            threads=workspace.threads,
            log=workspace.log,
            shell=shell,
            environ=environment_of(environ, shell=shell),
            directory=home if home.is_dir() else Path("/"),
            idle_s=float(workspace.config[IDLE_S]),
        )

    # Whose they are

    def running(self) -> list[Terminal]:
        """The running terminals, the oldest first."""
        return [one for one in self._open.values() if one.shell is not None]

    def program_of(self, terminal: Terminal) -> str:
        """The program in its foreground, or else its shell."""
        return (terminal.shell.foreground() if terminal.shell else None) or self.shell.name

    def is_of(self, principal: Principal, terminal: Terminal) -> bool:
        return terminal.owner == principal.user_id

    def find(self, principal: Principal, terminal_id: str) -> Terminal:
        """A running terminal of this person. Another person's terminal is reported as missing, like one that never
        existed."""
        terminal = self._open.get(terminal_id)
        if terminal is None or terminal.over.is_set() or not self.is_of(principal, terminal):
            raise _missing()
        return terminal

    def kill(self, asker: Asker, terminal_id: str) -> None:
        """Ends a terminal, also another admin's."""
        terminal = self._open.get(terminal_id)
        if terminal is None:
            raise _missing()
        self._note("terminal.killed", terminal, asker)
        terminal.end("kill")

    def ends_at(self, terminal: Terminal) -> Millis | None:
        """When the terminal ends by itself, if no client comes back to it."""
        if terminal.view is not None:
            return None
        left_s = max(0.0, terminal.idle_from + self.idle_s - trio.current_time())
        return self.clock.now() + int(left_s * SECOND_MS)

    async def open(self, asker: Asker, size: Size) -> Terminal:
        """Opens a new terminal. Raises a refusal if none can be opened."""
        child = self._child
        if child is None or child.draining:
            raise Unavailable("The service is shutting down, or its terminals are starting.")
        if len(self._open) >= MAX_TERMINALS:
            raise Conflict(f"{MAX_TERMINALS} terminals are open. End one of them first.")
        terminal = Terminal(id=new_id("trm"), owner=asker.principal.user_id, size=size, opened_at=self.clock.now())
        self._open[terminal.id] = terminal
        try:
            shell = await self._start(size)
            if child.draining or self._child is not child:
                await shell.close()
                raise Unavailable("The service is shutting down.")
        except BaseException:
            del self._open[terminal.id]
            raise
        child.work.start_soon(partial(self._keep, child, terminal, shell))
        self._note("terminal.opened", terminal, asker, pid=shell.pid)
        return terminal

    async def _start(self, size: Size) -> Shell:
        try:
            return await Shell.start(
                self.shell, environ=self.environ, directory=self.directory, size=size, threads=self.threads
            )
        except OSError as error:
            self.log.error("terminal.not_started", error)
            raise Unavailable("This machine has no terminal or no process left to give.") from error

    # Their life

    async def run(self, child: Child) -> None:
        """Runs until the service drains. Terminals that are then open end with it."""
        self._child = child
        child.started()
        try:
            await self._follow()
        finally:
            self._child = None

    async def _keep(self, child: Child, terminal: Terminal, shell: Shell) -> None:
        """Runs one terminal. Its failure does not affect the others."""
        began = trio.current_time()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_end_on_drain, child, terminal)
                await terminal.live(shell, idle_s=self.idle_s)
                nursery.cancel_scope.cancel()
        except* Exception as group:
            self.log.error("terminal.failed", group, terminal=terminal.id)
        finally:
            del self._open[terminal.id]
            self.log.info(
                "terminal.ended",
                terminal=terminal.id,
                owner=terminal.owner,
                why=terminal.why or "cut",
                **outcome(terminal),
                seconds=round(trio.current_time() - began),
            )

    async def _follow(self) -> None:
        while True:
            with self.store.outbox.subscribe() as subscription:
                try:
                    while True:
                        for row in await subscription.receive():
                            self._hear(row)
                except Overflowed:  # a missed event may have been a revocation
                    for terminal in self._open.values():
                        terminal.dismiss(TOO_SLOW, "Connect again.")

    def _hear(self, row: OutboxRow) -> None:
        if row.topic == TOPIC and row.kind == CLAIMED:
            self._adopt(row.id)
        elif row.topic == IDENTITY_TOPIC and row.kind == "role.changed":
            self._end_all_of(row.id, "role")
        elif row.topic == IDENTITY_TOPIC:
            for terminal in self._open.values():
                if terminal.view is not None and terminal.view.device_id == row.id:
                    terminal.dismiss(CLOSE_SIGNED_OUT, "signed out")

    def _adopt(self, user_id: str) -> None:
        for terminal in self._open.values():
            if terminal.owner is None:
                terminal.owner = user_id
                terminal.dismiss(CLOSE_SIGNED_OUT, "signed out")

    def _end_all_of(self, user_id: str, why: Why) -> None:
        for terminal in self._open.values():
            if terminal.owner == user_id:
                terminal.dismiss(CLOSE_SIGNED_OUT, "signed out")
                terminal.end(why)

    def _note(self, event: str, terminal: Terminal, asker: Asker, **more: object) -> None:
        """Logs an event of a terminal: that a person had one, but never its input or output."""
        principal = asker.principal
        self.log.info(
            event,
            terminal=terminal.id,
            owner=terminal.owner,
            user=principal.user_id,
            device=principal.device_id,
            via=principal.via,
            peer=asker.peer,
            request_id=asker.request_id,
            **more,
        )


def _missing() -> NotFound:
    return NotFound("There is no such terminal. It may have ended.")


def outcome(terminal: Terminal) -> dict[str, object]:
    """How its program ended: with an exit status, or by a signal."""
    status = terminal.status
    if status is None:
        return {}
    return {"status": status} if status >= 0 else {"signal": _SIGNALS.get(-status, str(-status))}


async def _end_on_drain(child: Child, terminal: Terminal) -> None:
    await child.wait_draining()
    terminal.end("drain")
