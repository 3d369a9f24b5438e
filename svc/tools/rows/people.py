"""``people.*``: the people the owner writes with. Their names come from mail, so they are text from outside."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.people import own_people, pages_of, plain_address, suggestions, typed_words
from svc.principal import Principal
from svc.store import Tx
from svc.tools.model import Outcome, Tool, ToolInput
from svc.workspace import Workspace

OUTSIDE: Final = "names in mail"


class FindInput(ToolInput, frozen=True):
    text: Annotated[str, msgspec.Meta(max_length=1_000)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=50)] = 10


class GetInput(ToolInput, frozen=True):
    address: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


def _find(workspace: Workspace, tx: Tx, principal: Principal, wanted: FindInput) -> Outcome:
    found = suggestions(tx, principal, words=typed_words(wanted.text), limit=wanted.limit)
    people = [{"name": one.name, "address": one.address} for one in found]
    return Outcome(output={"people": people}, outside=OUTSIDE if people else None)


def _get(workspace: Workspace, tx: Tx, principal: Principal, wanted: GetInput) -> Outcome:
    found = own_people(tx, principal, address=plain_address(wanted.address))
    pages = pages_of(tx, principal, found)
    people = [
        {
            "name": one.name,
            "address": one.address,
            "page": pages[one.id].path if one.id in pages else None,
            "received": one.received,
            "sent": one.sent,
            "lastSeenAt": rfc3339(one.last_seen_at),
        }
        for one in found
    ]
    return Outcome(output={"people": people}, outside=OUTSIDE if people else None)


TOOLS: Final = (
    Tool(
        name="people.find",
        summary="Find people that the owner writes with, by name or address.",
        input=FindInput,
        level="mail",
        decide=_find,
    ),
    Tool(
        name="people.get",
        summary="Read what is known about the person with an address: name, page, amount of mail.",
        input=GetInput,
        level="mail",
        decide=_get,
    ),
)
