"""A call of the API as a value, so that a table can list what different people try."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote

from tests.identity.people import Person
from tests.support.http import Reply


@dataclass(frozen=True)
class Ask:
    method: str
    target: str
    body: object = None

    async def by(self, person: Person) -> Reply:
        return await person.ask(self.method, self.target, self.body)


def query(procedure: str, **wanted: object) -> Ask:
    return Ask("GET", f"/trpc/{procedure}?input={quote(json.dumps(wanted))}")


def mutation(procedure: str, **wanted: object) -> Ask:
    return Ask("POST", f"/trpc/{procedure}", wanted)
