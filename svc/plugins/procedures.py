"""The procedures of plugins. Only admins see and change the plugins; every user may use their content."""

from __future__ import annotations

from svc.errors import Conflict, NotFound
from svc.plugins import actions, queries
from svc.plugins.queries import UNDECIDED
from svc.plugins.service import Plugins, Standing
from svc.plugins.wire import (
    AgreeInput,
    OffersOut,
    PageInput,
    PageTextOut,
    PluginOut,
    SetInput,
    StatusOut,
    offers_out,
    page_out,
    plugin_out,
)
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def list_plugins(context: RequestContext, wanted: Nothing) -> list[PluginOut]:
    plugins = _plugins(context)
    decided = await context.workspace.store.read(queries.decided)
    return [plugin_out(plugins, one, decided.get(one.name, UNDECIDED)) for one in plugins.standings()]


async def set_on(context: RequestContext, wanted: SetInput) -> Nothing:
    _standing(context, wanted.name)
    await context.workspace.store.write(actions.set_on, name=wanted.name, on=wanted.on)
    return NOTHING


async def agree(context: RequestContext, wanted: AgreeInput) -> Nothing:
    """The agreement is for the rights that were shown. If the plugin has changed since, it is refused."""
    plugin = _standing(context, wanted.name).plugin
    there = {right.id: right for right in (plugin.rights if plugin else ())}
    if not set(wanted.rights) <= there.keys():
        raise Conflict("The plugin asks for something else by now. Look again.")
    await context.workspace.store.write(
        actions.agree,
        name=wanted.name,
        rights=wanted.rights,
        user_id=context.principal.user_id,
        acts=any(there[right_id].text is not None for right_id in wanted.rights),
    )
    return NOTHING


async def update(context: RequestContext, wanted: Nothing) -> Nothing:
    _plugins(context).renew()
    return NOTHING


async def status(context: RequestContext, wanted: Nothing) -> StatusOut:
    plugins = _plugins(context)
    pin = await context.workspace.store.read(queries.pin)
    return StatusOut(
        source=plugins.source,
        registry=plugins.installer.npm.registry,
        busy=plugins.is_busy,
        problem=pin.problem or plugins.problem,
    )


async def offers(context: RequestContext, wanted: Nothing) -> OffersOut:
    return offers_out(_plugins(context), await context.workspace.store.read(queries.decided))


async def page(context: RequestContext, wanted: PageInput) -> PageTextOut:
    decided = await context.workspace.store.read(queries.decided)
    plugin = next((one for one in _plugins(context).in_force(decided) if one.name == wanted.plugin), None)
    found = page_out(plugin, wanted.name) if plugin else None
    if found is None:
        raise NotFound("No plugin brings such a page.")
    return found


def _plugins(context: RequestContext) -> Plugins:
    return context.workspace.service(Plugins)


def _standing(context: RequestContext, name: str) -> Standing:
    found = next((one for one in _plugins(context).standings() if one.name == name), None)
    if found is None:
        raise NotFound("There is no such plugin.")
    return found


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="plugins.list",
        kind="query",
        access="admin",
        input=Nothing,
        output=list[PluginOut],
        call=list_plugins,
        summary="The plugins that are wanted or there: what each brings, what it may reach, and what is wrong with it.",
    ),
    Procedure(
        name="plugins.set",
        kind="mutation",
        access="admin",
        input=SetInput,
        output=Nothing,
        call=set_on,
        summary="Switch a plugin on or off.",
    ),
    Procedure(
        name="plugins.agree",
        kind="mutation",
        access="admin",
        input=AgreeInput,
        output=Nothing,
        call=agree,
        summary="Say yes to what a plugin asks for, as it was shown.",
    ),
    Procedure(
        name="plugins.update",
        kind="mutation",
        access="admin",
        input=Nothing,
        output=Nothing,
        call=update,
        summary="Choose the versions anew within their ranges, and try again what could not be installed.",
    ),
    Procedure(
        name="plugins.status",
        kind="query",
        access="admin",
        input=Nothing,
        output=StatusOut,
        call=status,
        summary="Whose list of plugins holds, and why the newest could not be installed.",
    ),
    Procedure(
        name="plugins.offers",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=OffersOut,
        call=offers,
        summary="What plugins bring to everybody: palette entries, themes, notes and templates.",
    ),
    Procedure(
        name="plugins.page",
        kind="query",
        access="authenticated",
        input=PageInput,
        output=PageTextOut,
        call=page,
        summary="The text of a page that a plugin brings.",
    ),
)
