"""A wire between two programs, for tests: it can be cut, and mended.

with wire(port) as line:
    line.port                # speak to this instead
    line.cut()               # what is open breaks off, and nobody answers any more
    line.mend()
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

PIECE: Final = 64 * 1024
DEADLINE_S: Final = 60.0
LOOK_S: Final = 0.05


@dataclass(kw_only=True)
class Wire:
    """``slow_s``: so long each piece takes that is sent to the far end. ``narrow_bytes``: who sends more
    to it by one connection, from when it is set on, sends no more until it is wider."""

    far: int
    place: socket.socket
    is_cut: bool = False
    slow_s: float = 0.0
    narrow_bytes: int | None = None
    _open: set[socket.socket] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.place.getsockname()[1])

    def cut(self) -> None:
        self.is_cut = True
        for one in tuple(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def turn_to(self, far: int) -> None:
        """New connections go to that port."""
        self.cut()
        self.far = far
        self.mend()

    def serve(self) -> None:
        while True:
            try:
                near, _ = self.place.accept()
            except OSError:  # the test is over
                return
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.far), timeout=DEADLINE_S)
            except OSError:
                near.close()
                continue
            self._open |= {near, far}
            for source, sink, slow in ((near, far, True), (far, near, False)):
                self._start(self._carry, source, sink, slow)

    def begin(self) -> None:
        self._start(self.serve)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _carry(self, source: socket.socket, sink: socket.socket, slow: bool) -> None:
        with suppress(OSError):
            carried = 0
            while piece := source.recv(PIECE):
                carried = 0 if self.narrow_bytes is None else carried + len(piece)
                while slow and self.narrow_bytes is not None and carried > self.narrow_bytes and not self.is_cut:
                    self._ended.wait(LOOK_S)
                if slow and self.slow_s:
                    self._ended.wait(self.slow_s)
                sink.sendall(piece)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            if one not in self._open:  # the other direction has ended, too
                one.close()
            self._open.discard(one)

    def end(self) -> None:
        self._ended.set()
        self.is_cut = True
        with suppress(OSError):
            self.place.shutdown(socket.SHUT_RDWR)  # who waits for the next one wakes up
        self.place.close()
        self._threads[0].join(DEADLINE_S)
        self.cut()
        for thread in self._threads:
            thread.join(DEADLINE_S)


@contextmanager
def wire(far: int) -> Iterator[Wire]:
    """To that port of this machine."""
    line = Wire(far=far, place=socket.create_server(("127.0.0.1", 0)))
    line.begin()
    try:
        yield line
    finally:
        line.end()
