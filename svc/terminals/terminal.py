"""One terminal: a shell, its newest output, and the one socket that shows it now.

Theory. Output is read only as far as the socket that shows it has kept up. So a fast program waits for a slow browser
as it would for a slow line, and memory holds no more than the tape. A socket that takes nothing is closed by its own
deadlines; then the program waits for no socket. A browser also reports how much it has drawn (:meth:`View.drew`): bytes
that it has received but not drawn fill its memory, and would delay the visible effect of ^C.

Owns the shell and the tape. It knows sockets and people only by name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

import trio

from svc.clock import Millis
from svc.nursery import Wake
from svc.terminals.shell import Size
from svc.terminals.tape import Tape

READ_BYTES: Final = 64 * 1024
"""Output read at once, and held until the browser has kept up. Beyond: it stays in the system, the program waits."""
FRAME_BYTES: Final = 32 * 1024
"""Output in one frame. Beyond: the rest comes with the next."""
UNDRAWN_BYTES: Final = 128 * 1024
"""Output sent to a browser that reports what it draws, and not drawn yet. Beyond: it waits, and so does the program."""
STUCK_S: Final = 20.0
"""How long a browser that reports what it draws may draw nothing new. Beyond: its socket is closed with 1013."""
TYPED_BYTES: Final = 1024 * 1024
"""Input that the program has not read yet. Beyond: nothing more is read from the socket."""
_TYPED_AT_ONCE: Final = 4 * 1024
LAST_WORDS_S: Final = 15.0
"""The time for reading and showing the last output of a program. Beyond: it is left unread."""

TAKEN_OVER: Final = 4409
"""The close code of a socket when another one now shows its terminal."""
TOO_SLOW: Final = 1013


class Program(Protocol):
    """The interface that a terminal needs of a shell: see :class:`svc.terminals.shell.Shell`."""

    async def read(self, at_most: int) -> bytes: ...
    async def write(self, data: bytes) -> None: ...
    async def wait(self) -> int: ...
    async def end(self) -> None: ...
    async def close(self) -> None: ...
    def resize(self, size: Size) -> None: ...
    def redraw(self) -> None: ...
    def foreground(self) -> str | None: ...


Why = Literal["exit", "kill", "idle", "drain", "role"]


@dataclass(frozen=True, kw_only=True)
class Dismissal:
    """Why a socket is closed."""

    code: int
    reason: str


@dataclass(kw_only=True, eq=False)
class View:
    """The part of a terminal's output that one socket shows: from ``began``, up to ``place``."""

    device_id: str
    began: int
    place: int
    dismissal: Dismissal | None = None
    dismissed: trio.Event = field(default_factory=trio.Event)
    changed: Wake = field(default_factory=Wake)
    moved_at: float = field(default_factory=trio.current_time)
    """When bytes were last sent to it, or it last reported drawn bytes."""
    _drawn: int | None = None

    def drew(self, amount: int) -> None:
        """Notes how much the browser has drawn since the beginning. From the first report on it is never sent far more
        than it has drawn."""
        drawn = min(self.place, self.began + amount)
        if self._drawn is None or drawn > self._drawn:
            self._drawn, self.moved_at = drawn, trio.current_time()
            self.changed.call()

    def sent(self, amount: int) -> None:
        self.place += amount
        self.moved_at = trio.current_time()

    @property
    def may_be_sent(self) -> int:
        ahead = 0 if self._drawn is None else self.place - self._drawn
        return min(FRAME_BYTES, max(0, UNDRAWN_BYTES - ahead))


@dataclass(kw_only=True, eq=False)
class Terminal:
    """``owner`` is a user's id; ``None`` while there are no users. ``status`` is set once ``over`` is set."""

    id: str
    owner: str | None
    size: Size
    opened_at: Millis
    tape: Tape = field(default_factory=Tape)
    shell: Program | None = None
    view: View | None = None
    why: Why | None = None
    status: int | None = None
    over: trio.Event = field(default_factory=trio.Event)
    idle_from: float = math.inf
    """The time on trio's clock since which no socket has shown it."""
    _ending: trio.Event = field(default_factory=trio.Event)
    _read_on: Wake = field(default_factory=Wake)
    _seen: Wake = field(default_factory=Wake)
    _typed: bytearray = field(default_factory=bytearray)
    _typing: Wake = field(default_factory=Wake)
    _taken: Wake = field(default_factory=Wake)

    # For sockets

    def show(self, device_id: str) -> View:
        """Starts a view at the beginning of the kept output. The view that showed the terminal until now is
        dismissed."""
        self.dismiss(TAKEN_OVER, "This terminal is shown in another window now.")
        place = self.tape.start()
        self.view = View(device_id=device_id, began=place, place=place)
        if place > 0 and self.shell is not None:
            self.shell.redraw()  # the bytes that set up its screen may have been dropped
        self.idle_from = math.inf
        self._seen.call()
        return self.view

    def leave(self, view: View) -> None:
        """Ends the view. The terminal goes on without it for a while."""
        if self.view is view:
            self.view, self.idle_from = None, trio.current_time()
            self._seen.call()
            self._read_on.call()

    def dismiss(self, code: int, reason: str) -> None:
        """Dismisses the socket that shows it: it gets no more output, and its input is ignored."""
        if (view := self.view) is not None:
            view.dismissal = Dismissal(code=code, reason=reason)
            view.dismissed.set()
            view.changed.call()
            self.leave(view)

    async def next_output(self, view: View) -> bytes:
        """The next output for ``view``; empty once there will be no more, or the view was dismissed."""
        while view.dismissal is None:
            if data := self.tape.after(view.place, view.may_be_sent):
                view.sent(len(data))
                self._read_on.call()
                return data
            has_to_draw_first = view.place < self.tape.ends
            if self.over.is_set() and not has_to_draw_first:
                break
            left_s = view.moved_at + STUCK_S - trio.current_time() if has_to_draw_first else math.inf
            if left_s > 0:
                await view.changed.wait(at_most_s=left_s)
            else:
                self.dismiss(TOO_SLOW, "This window is too slow.")
        return b""

    async def type(self, data: bytes) -> None:
        """Types ``data``. Waits while the program has not read earlier input."""
        while len(self._typed) >= TYPED_BYTES and not self.over.is_set():
            await self._taken.wait()
        self._typed += data
        self._typing.call()

    def resize(self, size: Size) -> None:
        self.size = size
        if self.shell is not None:
            self.shell.resize(size)

    def end(self, why: Why) -> None:
        """Makes the terminal end soon. Only the first reason counts."""
        self.why = self.why or why
        self._ending.set()

    # Its own work

    async def live(self, shell: Program, *, idle_s: float) -> None:
        """Runs the terminal until none of its processes runs. If cancelled, it ends at once."""
        self.shell = shell
        if self.view is None:
            self.idle_from = trio.current_time()
        try:
            async with trio.open_nursery() as nursery:
                reads = trio.Event()
                nursery.start_soon(self._read, shell, reads)
                nursery.start_soon(self._write, shell)
                nursery.start_soon(self._watch, idle_s)
                nursery.start_soon(self._wait, shell)
                await self._ending.wait()
                await shell.end()
                self.status = await shell.wait()
                with trio.move_on_after(0 if self.why == "drain" else LAST_WORDS_S):
                    await reads.wait()
                nursery.cancel_scope.cancel()
        finally:
            await shell.close()
            self.over.set()
            self._taken.call()
            if self.view is not None:
                self.view.changed.call()

    async def _read(self, shell: Program, done: trio.Event) -> None:
        while data := await shell.read(READ_BYTES):
            while self.view is not None and self.tape.room(self.view.place) < len(data):
                await self._read_on.wait()
            self.tape.add(data)
            if self.view is not None:
                self.view.changed.call()
        done.set()

    async def _write(self, shell: Program) -> None:
        while True:
            while self._typed:
                piece = bytes(self._typed[:_TYPED_AT_ONCE])
                await shell.write(piece)
                del self._typed[: len(piece)]
                self._taken.call()
            await self._typing.wait()

    async def _watch(self, idle_s: float) -> None:
        """Ends the terminal if no client comes back to it."""
        while (left_s := self.idle_from + idle_s - trio.current_time()) > 0:
            await self._seen.wait(at_most_s=left_s)
        self.end("idle")

    async def _wait(self, shell: Program) -> None:
        self.status = await shell.wait()
        self.end("exit")
