"""Compositions for tests: everything a message needs, each part to be replaced."""

from __future__ import annotations

from typing import Any

from svc.formats.person import Person
from svc.formats.writing import Composed

ANN = Person(name="Ann Smith", address="ann@x.example")
BOB = Person(name="Bob", address="bob@y.example")


def composed(**changes: Any) -> Composed:
    usual: dict[str, Any] = {
        "outgoing_id": "out_1",
        "message_id": "out_1.abc@x.example",
        "date": 1_795_290_000_000,
        "sender": ANN,
        "to": (BOB,),
        "subject": "Lunch?",
        "html": "<p>Today at <b>one</b>?</p>",
        "text": "Today at one?",
    }
    return Composed(**usual | changes)
