"""A wire between two programs, for tests: it can be cut, and mended.

with wire(port) as line:
    line.port                # speak to this instead
    line.cut()               # what is open breaks off, and nobody answers any more
    line.mend()
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

PIECE: Final = 64 * 1024
DEADLINE_S: Final = 60.0


@dataclass(kw_only=True)
class Wire:
    """``slow_s``: so long each piece takes that is sent to the far end."""

    far: int
    place: socket.socket
    is_cut: bool = False
    slow_s: float = 0.0
    _open: set[socket.socket] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)

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
                threading.Thread(target=self._carry, args=(source, sink, slow), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, slow: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE):
                if slow and self.slow_s:
                    self._ended.wait(self.slow_s)
                sink.sendall(piece)
        for one in (source, sink):
            self._open.discard(one)
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        self._ended.set()
        self.place.close()
        self.cut()


@contextmanager
def wire(far: int) -> Iterator[Wire]:
    """To that port of this machine."""
    line = Wire(far=far, place=socket.create_server(("127.0.0.1", 0)))
    threading.Thread(target=line.serve, daemon=True).start()
    try:
        yield line
    finally:
        line.end()
