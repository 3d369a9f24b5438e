"""The feature rows of meetings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.capabilities import door_of
from svc.feature import Feature
from svc.meetings.actions import claim
from svc.meetings.live import Meetings
from svc.meetings.migrations import MIGRATIONS
from svc.meetings.model import TOPIC
from svc.meetings.procedures import PROCEDURES
from svc.meetings.recognisers.choice import Recognisers
from svc.meetings.settings import CAPABILITIES, SETTINGS, STT_SERVER, STT_VENDOR
from svc.meetings.socket import audio
from svc.nursery import Subsystem
from svc.protocol import SocketRoute
from svc.workspace import Workspace

NAME: Final = "meetings"


def _build(workspace: Workspace) -> None:
    recognisers = Recognisers(workspace=workspace, door=door_of(workspace, NAME))
    workspace.provide(recognisers)
    workspace.provide(Meetings(workspace, recognisers))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name=NAME, run=workspace.service(Meetings).run)]


FEATURE = Feature(
    name=NAME,
    summary="Meetings are recorded as they happen, and written down.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("meetings", "meeting_lines", "meeting_settings"),
    sockets=(
        SocketRoute(
            path="/meetings/audio", access="authenticated", handle=audio, summary="Records and writes down a meeting."
        ),
    ),
    procedures=PROCEDURES,
    topics=(TOPIC,),
    capabilities=CAPABILITIES,
    uses=(STT_VENDOR, STT_SERVER),
    claim=claim,
    build=_build,
    subsystems=_subsystems,
)
