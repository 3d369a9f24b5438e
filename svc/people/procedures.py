"""The ``people.*`` procedures. Each decides nothing: it hands typed input to a query or an action."""

from __future__ import annotations

from svc.errors import NotFound
from svc.pages import NO_PAGE, page_path, readable_page
from svc.people import actions, queries, wire
from svc.people.actions import NOBODY
from svc.people.wire import AddressInput, FiledInput, PersonOut, SetPageInput, SuggestInput, SuggestionOut
from svc.people.words import typed_words
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import Call


async def suggest(call: Call, wanted: SuggestInput) -> list[SuggestionOut]:
    return await call.workspace.store.read(_suggest, call.principal, wanted=wanted)


async def get(call: Call, wanted: AddressInput) -> PersonOut:
    return await call.workspace.store.read(_get, call.principal, address=wanted.address)


async def filed(call: Call, wanted: FiledInput) -> list[PersonOut]:
    return await call.workspace.store.read(_filed, call.principal, path=wanted.path)


async def set_page(call: Call, wanted: SetPageInput) -> Nothing:
    await call.workspace.store.write(actions.set_page, call.principal, address=wanted.address, path=wanted.path)
    return NOTHING


def _suggest(tx: ReadTx, principal: Principal, *, wanted: SuggestInput) -> list[SuggestionOut]:
    found = queries.suggestions(tx, principal, words=typed_words(wanted.text), limit=wanted.limit)
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


PROCEDURES: tuple[Procedure[Call], ...] = (
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
)
