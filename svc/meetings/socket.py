"""``/meetings/audio``: the recorder's side of a meeting.

    ?format=pcm16|opus&rate=16000&title=      a new meeting
    ?meeting=<id>                             back to one after a lost connection

Binary frames are sound; ``stop`` ends it. The service sends ``ready`` with the meeting and the amount of sound it has,
``kept`` whenever more is synced to the disk, recognised text as ``partial`` and ``final``, and at last ``done``. A
recorder that reconnects continues from ``received``: bytes of ``pcm16``, packets of Opus.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from svc.errors import Invalid
from svc.identity import CLOSE_SIGNED_OUT, until_revoked
from svc.meetings.live import LiveMeeting, Meetings, encoded
from svc.meetings.model import DEFAULT_RATE, MAX_RATE, MAX_TITLE_CHARS, MIN_RATE, meeting_title
from svc.nursery import open_task_group
from svc.protocol import Request, Socket, SocketClosed
from svc.workspace import RequestContext

_WHOLE_NUMBER = r"^[0-9]{1,6}$"


class _Wanted(msgspec.Struct):
    format: Literal["pcm16", "opus"] = "pcm16"
    rate: Annotated[str, msgspec.Meta(pattern=_WHOLE_NUMBER)] = str(DEFAULT_RATE)
    title: Annotated[str, msgspec.Meta(max_length=MAX_TITLE_CHARS)] = ""
    meeting: Annotated[str, msgspec.Meta(max_length=100)] = ""


class _Stop(msgspec.Struct):
    type: Literal["stop"]


_decode = msgspec.json.Decoder(_Stop).decode


async def audio(context: RequestContext, request: Request, socket: Socket) -> None:
    """Serve one recorder until its meeting is over or it disconnects."""
    wanted = _wanted(request)
    live = await (_resumed if wanted.meeting else _begun)(context, socket, wanted)
    replaced = live.attach(socket)
    try:
        if replaced is not None:
            await replaced.close(reason="The recorder is back on another connection.")
        await socket.send(
            encoded({"type": "ready", "meeting": live.meeting.id, "received": live.spool.extent.received})
        )
        async with open_task_group() as nursery:
            nursery.start_soon(_end_when_signed_out, context, live, socket)
            nursery.start_soon(_say_done, live, socket)
            await _listen(live, socket)
            nursery.cancel_scope.cancel()
    finally:
        live.detach(socket)


async def _begun(context: RequestContext, socket: Socket, wanted: _Wanted) -> LiveMeeting:
    """Begin a meeting, then accept the handshake."""
    rate = int(wanted.rate)
    if not MIN_RATE <= rate <= MAX_RATE:
        raise Invalid(f"rate is a whole number from {MIN_RATE} to {MAX_RATE}.")
    title = meeting_title(wanted.title)
    meetings = context.workspace.service(Meetings)
    live = await meetings.begin(context.principal, title=title, format=wanted.format, rate=rate)
    try:
        await socket.accept()
    except BaseException:
        live.abandon()
        raise
    return live


async def _resumed(context: RequestContext, socket: Socket, wanted: _Wanted) -> LiveMeeting:
    """Resume a meeting. Accept first: a browser sees the reason of a refusal only in a close code, never in an answer
    to the handshake."""
    await socket.accept()
    return context.workspace.service(Meetings).resumed(context.principal, wanted.meeting)


def _wanted(request: Request) -> _Wanted:
    try:
        return msgspec.convert(request.strict_query(), _Wanted)
    except msgspec.ValidationError as error:
        raise Invalid(f"This is no address of a meeting: {error}.") from error


async def _listen(live: LiveMeeting, socket: Socket) -> None:
    while (message := await socket.receive()) is not None:
        if isinstance(message, bytes):
            await live.take(socket, message)
            continue
        try:
            _decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            await socket.send(encoded({"type": "error", "code": "invalid", "message": "This socket takes stop only."}))
        else:
            await live.end()


async def _say_done(live: LiveMeeting, socket: Socket) -> None:
    await live.done.wait()
    outcome = live.outcome
    if outcome is None:
        await socket.close(1011, "The meeting could not be finished. It is tried again when the service starts.")
        return
    try:
        await socket.send(encoded({"type": "done", "fileId": outcome.file_id, "path": outcome.path}))
    except SocketClosed:
        return
    await socket.close()


async def _end_when_signed_out(context: RequestContext, live: LiveMeeting, socket: Socket) -> None:
    await until_revoked(context.workspace.store, context.principal)
    await live.end()
    await socket.close(CLOSE_SIGNED_OUT, "signed out")
