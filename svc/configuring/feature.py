"""The rows of configuration in pages."""

from __future__ import annotations

from svc.configuring.from_plugins import brought_to
from svc.configuring.reading import Configuration
from svc.feature import Feature
from svc.protocol import Nothing, Procedure, Wire
from svc.workspace import RequestContext, Workspace


class ProblemOut(Wire, frozen=True):
    """``line`` counts from 1, in the page's text. ``in_force``: an earlier version of the page still holds."""

    path: str
    line: int
    reason: str
    in_force: bool


async def problems(context: RequestContext, wanted: Nothing) -> list[ProblemOut]:
    found = await context.workspace.store.read(context.workspace.service(Configuration).problems, context.principal)
    return [ProblemOut(path=one.path, line=one.line, reason=one.reason, in_force=one.in_force) for one in found]


def _build(workspace: Workspace) -> None:
    workspace.provide(Configuration(brought=brought_to(workspace)))


FEATURE = Feature(
    name="configuring",
    summary="Pages as configuration: read, checked, and in force while they are whole.",
    procedures=(
        Procedure(
            name="config.problems",
            kind="query",
            access="authenticated",
            input=Nothing,
            output=list[ProblemOut],
            call=problems,
            summary="What is wrong with the caller's pages that are configuration, with the line.",
        ),
    ),
    build=_build,
)
