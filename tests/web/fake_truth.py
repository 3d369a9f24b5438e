"""Holds the stand-in server to the product: what it is asked, answers and tells has the product's own types.

A field that the product does not send, one that the fake leaves out, a value of another type: each is a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec

from svc.app import FEATURES
from svc.mail.accounts.wire import AccountOut
from svc.mail.bulk.wire import BulkOut
from svc.mail.sending.wire import OutgoingOut
from svc.mail.threads.wire import ThreadOut
from svc.notifications.wire import ArrivedOut
from svc.protocol import Procedure
from svc.runs.states import RunState

IN_THE_NEWS: Final[dict[str, dict[str, Any]]] = {
    "thread.changed": {"accountId": str, "thread": ThreadOut},
    "thread.removed": {"accountId": str},
    "account.changed": {"account": AccountOut},
    "account.removed": {},
    "bulk.changed": {"step": BulkOut},
    "task.changed": {"outgoing": OutgoingOut | None},
    "run.changed": {"state": RunState, "workflow": str, "parentId": str | None},
    "preferences.changed": {},
    "approval.requested": {},
    "approval.decided": {},
    "mail.arrived": {one.encode_name: one.type for one in msgspec.structs.fields(ArrivedOut)},
}
"""What the payload of each kind of live update holds."""


@cache
def procedures() -> dict[str, Procedure[Any]]:
    return {row.name: row for feature in FEATURES for row in feature.procedures}


def lies_in_question(name: str, given: Any) -> list[str]:
    """What the product would refuse, or overlook, in what the app asks."""
    if name not in procedures():
        return [f"the product has no {name}"]
    try:
        told = _told(given, procedures()[name].input)
    except msgspec.ValidationError as error:
        return [f"{name} refuses: {error}"]
    return [f"{name} knows no {field}" for field in given if field not in told]


def lies_in_answer(name: str, answer: Any) -> list[str]:
    """What the product would not answer."""
    return [f"{name}: {lie}" for lie in _lies(answer, procedures()[name].output)] if name in procedures() else []


def lies_in_news(kind: str, payload: dict[str, Any]) -> list[str]:
    """What no live update of the product says."""
    types = IN_THE_NEWS.get(kind)
    if types is None or types.keys() != payload.keys():
        return [f"{kind} does not tell {sorted(payload)}"]
    return [f"{kind}: {lie}" for name, wanted in types.items() for lie in _lies(payload[name], wanted)]


def _lies(value: Any, wanted: Any) -> list[str]:
    try:
        return list(_differences(value, _told(value, wanted), "$"))
    except msgspec.ValidationError as error:
        return [str(error)]


def _told(value: Any, wanted: Any) -> Any:
    """What is left of a value once the product has read and written it."""
    return json.loads(msgspec.json.encode(msgspec.json.decode(json.dumps(value), type=wanted)))


def _differences(fake: Any, told: Any, at: str) -> Iterator[str]:
    if isinstance(fake, dict) and isinstance(told, dict):
        yield from (f"{at}.{name} is not in the product" for name in fake if name not in told)
        yield from (f"{at}.{name} is missing" for name in told if name not in fake)
        for name in (name for name in fake if name in told):
            yield from _differences(fake[name], told[name], f"{at}.{name}")
    elif isinstance(fake, list | tuple) and isinstance(told, list):
        for index, (mine, theirs) in enumerate(zip(fake, told, strict=True)):
            yield from _differences(mine, theirs, f"{at}[{index}]")
    elif fake != told:
        yield f"{at} is {fake!r}, not {told!r}"
