"""The ``people.*`` procedures. They decide nothing: each passes its typed input to a query or an action."""

from __future__ import annotations

from svc.errors import NotFound
from svc.pages import NO_PAGE, page_path, readable_page
from svc.people import actions, queries, tidying, wire
from svc.people.actions import NOBODY
from svc.people.together import usually_with
from svc.people.wire import (
    AddressesInput,
    AddressInput,
    FiledInput,
    ListInput,
    PeopleOut,
    PersonOut,
    SetPageInput,
    StrangerOut,
    SuggestedInput,
    SuggestedOut,
    SuggestInput,
    SuggestionOut,
    TidiedOut,
    TogetherInput,
)
from svc.people.words import typed_words
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def suggest(context: RequestContext, wanted: SuggestInput) -> list[SuggestionOut]:
    return await context.workspace.store.read(_suggest, context.principal, wanted=wanted)


async def list_people(context: RequestContext, wanted: ListInput) -> PeopleOut:
    return await context.workspace.store.read(_list, context.principal, wanted=wanted)


async def together(context: RequestContext, wanted: TogetherInput) -> list[SuggestionOut]:
    return await context.workspace.store.read(_together, context.principal, wanted=wanted)


async def get(context: RequestContext, wanted: AddressInput) -> PersonOut:
    return await context.workspace.store.read(_get, context.principal, address=wanted.address)


async def filed(context: RequestContext, wanted: FiledInput) -> list[PersonOut]:
    return await context.workspace.store.read(_filed, context.principal, path=wanted.path)


async def set_page(context: RequestContext, wanted: SetPageInput) -> Nothing:
    await context.workspace.store.write(actions.set_page, context.principal, address=wanted.address, path=wanted.path)
    return NOTHING


async def suggested(context: RequestContext, wanted: SuggestedInput) -> SuggestedOut:
    return await context.workspace.store.read(_suggested, context.principal, limit=wanted.limit)


async def add(context: RequestContext, wanted: AddressInput) -> PersonOut:
    await context.workspace.store.write(actions.add, context.principal, address=wanted.address)
    return await get(context, wanted)


async def dismiss(context: RequestContext, wanted: AddressesInput) -> Nothing:
    await context.workspace.store.write(actions.dismiss, context.principal, addresses=wanted.addresses)
    return NOTHING


async def strangers(context: RequestContext, wanted: Nothing) -> list[StrangerOut]:
    return [wire.stranger(one) for one in await context.workspace.store.read(tidying.strangers, context.principal)]


async def tidy(context: RequestContext, wanted: AddressesInput) -> TidiedOut:
    removed = await context.workspace.store.write(tidying.tidy, context.principal, addresses=wanted.addresses)
    return TidiedOut(removed=removed)


def _suggested(tx: ReadTx, principal: Principal, *, limit: int) -> SuggestedOut:
    found = queries.suggested(tx, principal, limit=limit + 1)
    return SuggestedOut(people=tuple(wire.person_detail(one, None) for one in found[:limit]), more=len(found) > limit)


def _suggest(tx: ReadTx, principal: Principal, *, wanted: SuggestInput) -> list[SuggestionOut]:
    found = queries.suggestions(tx, principal, words=typed_words(wanted.text), limit=wanted.limit)
    pages = queries.pages_of(tx, principal, found)
    return [wire.suggestion(one, pages.get(one.id)) for one in found]


def _list(tx: ReadTx, principal: Principal, *, wanted: ListInput) -> PeopleOut:
    found = queries.suggestions(tx, principal, words=typed_words(wanted.text), limit=wanted.limit + 1)
    shown = found[: wanted.limit]
    pages = queries.pages_of(tx, principal, shown)
    return PeopleOut(
        people=tuple(wire.person_detail(one, pages.get(one.id)) for one in shown), more=len(found) > wanted.limit
    )


def _together(tx: ReadTx, principal: Principal, *, wanted: TogetherInput) -> list[SuggestionOut]:
    found = usually_with(tx, principal, addresses=wanted.addresses, limit=wanted.limit)
    pages = queries.pages_of(tx, principal, found)
    return [wire.suggestion(one, pages.get(one.id)) for one in found]


def _get(tx: ReadTx, principal: Principal, *, address: str) -> PersonOut:
    found = queries.own_people(tx, principal, address=address)
    if not found:
        raise NotFound(NOBODY)
    return wire.person_detail(found[0], queries.pages_of(tx, principal, found).get(found[0].id))


def _filed(tx: ReadTx, principal: Principal, *, path: str) -> list[PersonOut]:
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    found = queries.on_page(tx, principal, page_id=page.id)
    pages = queries.pages_of(tx, principal, found)
    return [wire.person_detail(one, pages.get(one.id)) for one in found]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="people.suggest",
        kind="query",
        access="authenticated",
        input=SuggestInput,
        output=list[SuggestionOut],
        call=suggest,
        summary="The caller's correspondents who match what was typed so far, the likeliest first.",
    ),
    Procedure(
        name="people.list",
        kind="query",
        access="authenticated",
        input=ListInput,
        output=PeopleOut,
        call=list_people,
        summary="The caller's correspondents, whom they write with most and lately first, also by a word.",
    ),
    Procedure(
        name="people.together",
        kind="query",
        access="authenticated",
        input=TogetherInput,
        output=list[SuggestionOut],
        call=together,
        summary="Whom the caller usually writes to together with each of these, the most often first.",
    ),
    Procedure(
        name="people.get",
        kind="query",
        access="authenticated",
        input=AddressInput,
        output=PersonOut,
        call=get,
        summary="One of the caller's correspondents, with the page they are filed under.",
    ),
    Procedure(
        name="people.filed",
        kind="query",
        access="authenticated",
        input=FiledInput,
        output=list[PersonOut],
        call=filed,
        summary="The caller's correspondents who are filed under a page.",
    ),
    Procedure(
        name="people.setPage",
        kind="mutation",
        access="authenticated",
        input=SetPageInput,
        output=Nothing,
        call=set_page,
        summary="File a correspondent under another page, or under none.",
    ),
    Procedure(
        name="people.suggested",
        kind="query",
        access="authenticated",
        input=SuggestedInput,
        output=SuggestedOut,
        call=suggested,
        summary="Who wrote to the caller and never got an answer: the people there might be, the likeliest first.",
    ),
    Procedure(
        name="people.add",
        kind="mutation",
        access="authenticated",
        input=AddressInput,
        output=PersonOut,
        call=add,
        summary="Make one of the people of somebody who is suggested, with a page.",
    ),
    Procedure(
        name="people.dismiss",
        kind="mutation",
        access="authenticated",
        input=AddressesInput,
        output=Nothing,
        call=dismiss,
        summary="Suggest these no more.",
    ),
    Procedure(
        name="people.strangers",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[StrangerOut],
        call=strangers,
        summary="Whose untouched pages `people.tidy` would take away: the caller never wrote to them.",
    ),
    Procedure(
        name="people.tidy",
        kind="mutation",
        access="authenticated",
        input=AddressesInput,
        output=TidiedOut,
        call=tidy,
        summary="Take the untouched pages of these strangers away; they are suggested from then on.",
    ),
)
