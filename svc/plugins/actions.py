"""Decisions about plugins: plain functions over a transaction. Only admins may call them (``procedures.py``
checks it).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from svc.errors import Conflict
from svc.plugins import queries
from svc.plugins.specs import BadSpec, pinned
from svc.store import EVERYONE, Tx, json_array

TOPIC: Final = "plugins"
CHANGED: Final = "plugins.changed"
PINNED: Final = "plugins.pinned"
MAX_AGREED: Final = 1_000
"""Agreed rights that are kept per plugin. With more, those of the newest agreement are kept."""


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


def agree(tx: Tx, *, name: str, rights: Iterable[str], user_id: str | None, acts: bool) -> None:
    """An admin agrees to these rights. Rights agreed before stay agreed; what acts does so for this admin. ``acts``:
    one of these rights is to act, which needs a user once there is one.
    """
    if acts and user_id is None and tx.value("select 1 from users limit 1") is not None:
        raise Conflict("It would act for a person: sign in to say yes to it.")
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
    tx.run_many(
        """
        insert into plugin_actors (name, right_id, user_id) values (:name, :right_id, :user_id)
        on conflict (name, right_id) do update set user_id = excluded.user_id
        """,
        [{"name": name, "right_id": right_id, "user_id": user_id} for right_id in sorted(new)],
    )
    tx.run(
        "delete from plugin_actors where name = :name and right_id not in (select value from json_each(:agreed))",
        name=name,
        agreed=json_array(agreed),
    )
    tell(tx)


def hand_over(tx: Tx, user_id: str) -> None:
    """What was agreed to before the claim acts for the first admin."""
    tx.run("update plugin_actors set user_id = :user_id where user_id is null", user_id=user_id)


def problem_of(text: str) -> str | None:
    """What is wrong with the text of a ``plugins.json``, in one sentence."""
    try:
        pinned(text)
    except BadSpec as fault:
        return str(fault)
    return None


def pin(tx: Tx, text: str | None) -> str | None:
    """Store the text of the repository's ``plugins.json``, for the feature that follows a repository; ``None``: it has
    none.

    A bad text is not stored: the last good one stays in force. Returns what is wrong, in one sentence.
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
    """Tell clients that show the content of plugins to reload it."""
    tx.emit(topic=TOPIC, kind=CHANGED, id="plugins", audience=EVERYONE)
