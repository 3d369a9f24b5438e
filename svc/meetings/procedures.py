"""The procedures of meetings: the caller's own recordings, and for admins the choice of the recogniser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.config import BadValue, http_url
from svc.errors import Invalid, NotFound
from svc.files import readable_file
from svc.meetings import actions, queries, wire
from svc.meetings.actions import NO_MEETING
from svc.meetings.model import Meeting, RecogniserName, meeting_title
from svc.meetings.recognisers.choice import TITLES, Recognisers
from svc.meetings.recognisers.local import is_installed
from svc.meetings.settings import STT_VENDOR
from svc.meetings.wire import (
    ChooseInput,
    ListInput,
    MeetingInput,
    MeetingOut,
    MeetingsOut,
    OptionOut,
    RenameInput,
    SettingsOut,
    TranscriptOut,
)
from svc.pages import readable_titles
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext, Workspace

_ABOUT: Final[tuple[tuple[RecogniserName, str], ...]] = (
    ("none", "Meetings are recorded, and not written down."),
    (
        "vendor",
        "Deepgram, or whoever speaks its streaming API at SVC_STT_URL: as it is said, with speakers. The sound leaves "
        "this machine.",
    ),
    (
        "server",
        "Any server of the common transcription call (/v1/audio/transcriptions): OpenAI's, or one of your own, such as "
        "whisper.cpp, faster-whisper or vLLM. A few sentences at a time.",
    ),
    (
        "local",
        "On this machine, without a key: English only, and poor. It gives an idea of what was said, and often another "
        "one.",
    ),
)


async def list_meetings(context: RequestContext, wanted: ListInput) -> MeetingsOut:
    meetings, more = await context.workspace.store.read(
        _listed, context.principal, cursor=wire.decode_cursor(wanted.cursor), limit=wanted.limit
    )
    return MeetingsOut(
        meetings=tuple(meetings),
        next_cursor=more,
        recogniser=await context.workspace.service(Recognisers).title(),
    )


async def get(context: RequestContext, wanted: MeetingInput) -> TranscriptOut:
    return await context.workspace.store.read(_transcript, context.principal, meeting_id=wanted.id)


async def rename(context: RequestContext, wanted: RenameInput) -> Nothing:
    await context.workspace.store.write(
        actions.rename, context.principal, meeting_id=wanted.id, title=meeting_title(wanted.title)
    )
    return Nothing()


async def remove(context: RequestContext, wanted: MeetingInput) -> Nothing:
    await context.workspace.store.write(actions.remove, context.principal, meeting_id=wanted.id)
    return Nothing()


async def settings(context: RequestContext, wanted: Nothing) -> SettingsOut:
    workspace = context.workspace
    choice = await workspace.store.read(queries.choice)
    recognisers = workspace.service(Recognisers)
    return SettingsOut(
        recogniser=choice.recogniser,
        server_url=choice.server_url,
        model=choice.model,
        language=choice.language,
        options=tuple(
            [
                OptionOut(name=name, title=TITLES[name], about=about, missing=await _missing(workspace, name))
                for name, about in _ABOUT
            ]
        ),
        stand_in=recognisers.stand_in_title,
    )


async def choose(context: RequestContext, wanted: ChooseInput) -> Nothing:
    server_url = wanted.server_url.strip()
    if server_url or wanted.recogniser == "server":
        try:
            server_url = http_url(server_url)
        except BadValue as error:
            raise Invalid(f"The address of the server: {error}.") from error
    await context.workspace.store.write(actions.choose, wire.choice_of(wanted, server_url=server_url))
    return Nothing()


async def _missing(workspace: Workspace, name: RecogniserName) -> str:
    if name == "vendor":
        door = workspace.service(Recognisers).door
        has_key = await workspace.store.read(door.available, STT_VENDOR)
        return "" if has_key else "Set its key under Settings > Credentials first."
    if name == "local" and not await workspace.threads.run(is_installed):
        return "Install it first, where svc is installed: pip install 'svc[speech]'."
    return ""


def _listed(
    tx: ReadTx, principal: Principal, *, cursor: queries.Cursor | None, limit: int
) -> tuple[list[MeetingOut], str | None]:
    found = queries.meetings_of(tx, principal, cursor=cursor, limit=limit + 1)
    shown = found[:limit]
    return _out(tx, principal, shown), wire.encode_cursor(shown[-1]) if len(found) > limit else None


def _transcript(tx: ReadTx, principal: Principal, *, meeting_id: str) -> TranscriptOut:
    meeting = queries.own_meeting(tx, principal, meeting_id)
    if meeting is None:
        raise NotFound(NO_MEETING)
    (shown,) = _out(tx, principal, [meeting])
    return TranscriptOut(meeting=shown, lines=wire.lines_out(queries.lines_of(tx, meeting.id)))


def _out(tx: ReadTx, principal: Principal, meetings: Sequence[Meeting]) -> list[MeetingOut]:
    """Meetings for the answer. File and page belong to other features and may be deleted by now."""
    pages = readable_titles(tx, principal, [one.page_id for one in meetings if one.page_id is not None])
    return [
        wire.meeting_out(
            meeting,
            file_id=meeting.file_id
            if meeting.file_id and readable_file(tx, principal, file_id=meeting.file_id)
            else None,
            path=pages.get(meeting.page_id or "", (None, None))[0],
        )
        for meeting in meetings
    ]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="meetings.list",
        kind="query",
        access="authenticated",
        input=ListInput,
        output=MeetingsOut,
        call=list_meetings,
        summary="The caller's meetings, newest first, and who writes meetings down.",
    ),
    Procedure(
        name="meetings.get",
        kind="query",
        access="authenticated",
        input=MeetingInput,
        output=TranscriptOut,
        call=get,
        summary="One meeting of the caller's, with what was said.",
    ),
    Procedure(
        name="meetings.rename",
        kind="mutation",
        access="authenticated",
        input=RenameInput,
        output=Nothing,
        call=rename,
        summary="Give a meeting of the caller's another title; its page keeps its own once it is made.",
    ),
    Procedure(
        name="meetings.remove",
        kind="mutation",
        access="authenticated",
        input=MeetingInput,
        output=Nothing,
        call=remove,
        summary="Delete the recording and the transcript of a meeting of the caller's; its page stays.",
    ),
    Procedure(
        name="meetings.settings",
        kind="query",
        access="admin",
        input=Nothing,
        output=SettingsOut,
        call=settings,
        summary="Who writes meetings down, and who else could.",
    ),
    Procedure(
        name="meetings.choose",
        kind="mutation",
        access="admin",
        input=ChooseInput,
        output=Nothing,
        call=choose,
        summary="Choose who writes meetings down from the next one on.",
    ),
)
