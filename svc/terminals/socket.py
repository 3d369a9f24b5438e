"""``/pty``: one socket shows one terminal (contract 11).

Binary frames are terminal bytes, both ways. Text frames are about the terminal: the client sends ``resize``, ``kill``
and, if it does not want to receive more than it can draw, ``drawn`` with the number of bytes that it has drawn since
``ready``; the service sends ``ready``, ``exit`` and, for an invalid frame, ``error``. The terminal goes on when the
socket ends.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
import trio

from svc.config import Config
from svc.errors import Forbidden, Invalid
from svc.nursery import open_task_group
from svc.protocol import Request, Socket
from svc.switches import TERMINALS, is_on
from svc.terminals.running_terminals import Asker, Terminals, outcome
from svc.terminals.shell import Size
from svc.terminals.terminal import Terminal, View
from svc.workspace import RequestContext

MAX_COLS: Final = 1_000
"""Characters in a line of a terminal. Beyond: 400, or an `error` frame."""
MAX_ROWS: Final = 1_000
"""Lines of a terminal. Beyond: 400, or an `error` frame."""
LAST_FRAME_S: Final = 3.0
"""The time for a dismissed socket to take its current frame. Beyond: it is closed, or cut where it takes nothing."""
USUAL: Final = Size(cols=80, rows=24)
_COMPLAINT_CHARS: Final = 500

_Cols = Annotated[int, msgspec.Meta(ge=1, le=MAX_COLS)]
_Rows = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]


class _Resize(msgspec.Struct, tag="resize", tag_field="type"):
    cols: _Cols
    rows: _Rows


class _Kill(msgspec.Struct, tag="kill", tag_field="type"):
    pass


class _Drawn(msgspec.Struct, tag="drawn", tag_field="type"):
    bytes: Annotated[int, msgspec.Meta(ge=0)]


_decode = msgspec.json.Decoder(_Resize | _Kill | _Drawn).decode


async def pty(context: RequestContext, request: Request, socket: Socket) -> None:
    """Serve one client until it goes, its terminal ends, or another one takes the terminal over."""
    must_be_on(context.workspace.config)
    query = request.query()
    size = _size_of(query)
    terminals = context.workspace.service(Terminals)
    asker = Asker(principal=context.principal, request_id=context.request_id, peer=request.peer)
    await socket.accept()  # from here on a refusal is a close code with a reason, which a browser can read
    if wanted := query.get("session"):
        terminal = terminals.find(asker.principal, wanted)
    else:
        terminal = await terminals.open(asker, size)
    view = terminal.show(asker.principal.device_id)
    try:
        terminal.resize(size)
        await socket.send(_frame(type="ready", session=terminal.id, replayed=terminal.tape.ends - view.place))
        shown = trio.Event()
        async with open_task_group() as nursery:
            nursery.start_soon(_show, socket, terminal, view, shown)
            nursery.start_soon(_dismiss, socket, view, shown)
            await _listen(socket, terminal, view)
            nursery.cancel_scope.cancel()
    finally:
        terminal.leave(view)


def must_be_on(config: Config) -> None:
    if not is_on(config, TERMINALS):
        raise Forbidden("This server has no terminals: it is a public one.")


async def _show(socket: Socket, terminal: Terminal, view: View, shown: trio.Event) -> None:
    while data := await terminal.next_output(view):
        await socket.send(data)
    shown.set()
    if view.dismissal is None:
        await socket.send(_exit(terminal))
        await socket.close()


async def _dismiss(socket: Socket, view: View, shown: trio.Event) -> None:
    """Closes the socket after the frame under way: in the middle of it no close frame is possible."""
    await view.dismissed.wait()
    with trio.move_on_after(LAST_FRAME_S):
        await shown.wait()
    if view.dismissal is not None:
        await socket.close(view.dismissal.code, view.dismissal.reason)


async def _listen(socket: Socket, terminal: Terminal, view: View) -> None:
    while (message := await socket.receive()) is not None:
        if view.dismissal is not None:
            continue  # it is about to be closed, with the reason
        if isinstance(message, bytes):
            await terminal.type(message)
            continue
        try:
            wanted = _decode(message)
        except (msgspec.DecodeError, RecursionError) as error:
            words = f"The frame is not one that this socket takes: {error}"
            await socket.send(_frame(type="error", code="invalid", message=words[:_COMPLAINT_CHARS]))
            continue
        match wanted:
            case _Resize():
                terminal.resize(Size(cols=wanted.cols, rows=wanted.rows))
            case _Kill():
                terminal.end("kill")
            case _Drawn():
                view.drew(wanted.bytes)


def _size_of(query: dict[str, str]) -> Size:
    cols = _number(query, "cols", usual=USUAL.cols, most=MAX_COLS)
    return Size(cols=cols, rows=_number(query, "rows", usual=USUAL.rows, most=MAX_ROWS))


def _number(query: dict[str, str], name: str, *, usual: int, most: int) -> int:
    value = query.get(name, "")
    if not value:
        return usual
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(most)) and 1 <= int(value) <= most):
        raise Invalid(f"{name} must be a whole number from 1 to {most}.")
    return int(value)


def _exit(terminal: Terminal) -> str:
    """The ``exit`` frame: with ``code``, or with ``signal`` if a signal ended the program."""
    found = outcome(terminal)
    return _frame(type="exit", **({"code": found["status"]} if "status" in found else found))


def _frame(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()
