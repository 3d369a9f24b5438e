"""What is decided about plugins: plain functions over a transaction. Only admins come here (``procedures.py``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from svc.plugins import queries
from svc.plugins.specs import BadSpec, pinned
from svc.store import EVERYONE, Tx

TOPIC: Final = "plugins"
CHANGED: Final = "plugins.changed"
PINNED: Final = "plugins.pinned"
MAX_AGREED: Final = 1_000
"""Rights that one plugin keeps a yes for; those of the newest are kept."""


def set_on(tx: Tx, *, name: str, on: bool) -> None:
    tx.run(
        """
        insert into plugins (name, is_on, agreed) values (:name, :is_on, '[]')
        on conflict (name) do update set is_on = excluded.is_on
        """,
        name=name,
        is_on=int(on),
    )
    tell(tx)


def agree(tx: Tx, *, name: str, rights: Iterable[str]) -> None:
    """An admin says yes to these rights; what was agreed before stays so."""
    before = queries.decided(tx).get(name, queries.UNDECIDED).agreed
    new = set(rights)
    agreed = [*sorted(new), *sorted(before - new)][:MAX_AGREED]
    tx.run(
        """
        insert into plugins (name, is_on, agreed) values (:name, 1, :agreed)
        on conflict (name) do update set agreed = excluded.agreed
        """,
        name=name,
        agreed=msgspec.json.encode(agreed).decode(),
    )
    tell(tx)


def problem_of(text: str) -> str | None:
    """What is wrong with the text of a ``plugins.json``, in one sentence."""
    try:
        pinned(text)
    except BadSpec as fault:
        return str(fault)
    return None


def pin(tx: Tx, text: str | None) -> str | None:
    """Keep what the repository's ``plugins.json`` says, for whoever follows a repository; ``None``: it has none.

    A bad one is not kept: the last good one holds on. What is wrong is returned, in one sentence.
    """
    problem = None
    kept = text
    before = queries.pin(tx)
    try:
        if text is not None:
            pinned(text)
    except BadSpec as fault:
        problem, kept = f"plugins.json: {fault}", before.text
    if before != queries.Pin(text=kept, problem=problem):
        tx.run(
            """
            insert into plugin_pins (id, text, problem) values (1, :text, :problem)
            on conflict (id) do update set text = excluded.text, problem = excluded.problem
            """,
            text=kept,
            problem=problem,
        )
        tx.emit(topic=TOPIC, kind=PINNED, id="pin", audience=None)
    return problem


def tell(tx: Tx) -> None:
    """Whoever shows what plugins bring asks again."""
    tx.emit(topic=TOPIC, kind=CHANGED, id="plugins", audience=EVERYONE)
