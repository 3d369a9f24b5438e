"""The procedures of preferences. Each person reads and changes only their own."""

from __future__ import annotations

from svc.preferences import actions
from svc.preferences.model import Changes, Preferences
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext


async def get(context: RequestContext, wanted: Nothing) -> Preferences:
    return await context.workspace.store.read(actions.preferences_of, context.principal)


async def change(context: RequestContext, wanted: Changes) -> Preferences:
    return await context.workspace.store.write(actions.change, context.principal, changes=wanted)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="preferences.get",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=Preferences,
        call=get,
        summary="How the caller wants the app to be: dates, start page, keys.",
    ),
    Procedure(
        name="preferences.set",
        kind="mutation",
        access="authenticated",
        input=Changes,
        output=Preferences,
        call=change,
        summary="Change the caller's preferences; what is not named stays.",
    ),
)
