"""``gitops.conflict`` and ``gitops.resolve``: shows the two texts of a page in conflict, and takes a person's
choice."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.gitops import conflicts
from svc.gitops.conflicts import Keep
from svc.gitops.service import Gitops
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.protocol.rows import Wire
from svc.store import ReadTx
from svc.workspace import RequestContext


class ConflictInput(Wire, frozen=True):
    path: str


class ResolveInput(Wire, frozen=True):
    """``text`` is required for the choice to keep a text: it is the body of the page."""

    path: str
    keep: Keep
    text: str | None = None


class ThereOut(Wire, frozen=True):
    title: str
    body: str


class ContestedOut(Wire, frozen=True):
    """``there`` is null if the file was deleted. For the text here, call ``pages.get``."""

    path: str
    file: str
    reason: str
    at: str
    there: ThereOut | None
    can_resolve: bool


async def conflict(context: RequestContext, wanted: ConflictInput) -> ContestedOut:
    return await context.workspace.store.read(_conflict, context.principal, wanted.path)


async def resolve(context: RequestContext, wanted: ResolveInput) -> Nothing:
    workspace = context.workspace
    await workspace.store.write(
        conflicts.resolve, context.principal, path=wanted.path, keep=wanted.keep, text=wanted.text
    )
    follower = workspace.service(Gitops).follower
    if follower is not None:
        follower.wake.call()
    return NOTHING


def _conflict(tx: ReadTx, principal: Principal, path: str) -> ContestedOut:
    found, page = conflicts.found(tx, principal, path=path)
    return ContestedOut(
        path=found.path,
        file=found.file,
        reason=found.reason,
        at=rfc3339(found.at),
        there=None if found.there is None else ThereOut(title=found.there.title, body=found.there.body),
        can_resolve=page.can_write,
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="gitops.conflict",
        kind="query",
        access="authenticated",
        input=ConflictInput,
        output=ContestedOut,
        call=conflict,
        summary="What the repository has for a page that was changed here and there.",
    ),
    Procedure(
        name="gitops.resolve",
        kind="mutation",
        access="authenticated",
        input=ResolveInput,
        output=Nothing,
        call=resolve,
        summary="Choose between the page here and the file there, or give a text of one's own.",
    ),
)
