"""Reads and changes a person's preferences."""

from __future__ import annotations

from typing import Final

import msgspec

from svc.errors import Invalid
from svc.preferences.model import Changes, Preferences
from svc.principal import Principal
from svc.store import ReadTx, Tx

TOPIC: Final = "preferences"
_NOBODY: Final = ""
"""The owner of preferences until the instance is claimed: everybody shares them."""


def preferences_of(tx: ReadTx, principal: Principal) -> Preferences:
    kept = tx.value("select wanted from preferences where user_id = :user_id", user_id=_owner(principal))
    return Preferences() if kept is None else msgspec.json.decode(str(kept), type=Preferences)


def change(tx: Tx, principal: Principal, *, changes: Changes) -> Preferences:
    """Applies the changes to the stored preferences. The person's other browsers are notified."""
    wanted = msgspec.structs.replace(preferences_of(tx, principal), **_named(changes))
    tx.run(
        """
        insert into preferences (user_id, wanted, updated_at) values (:user_id, :wanted, :now)
        on conflict (user_id) do update set wanted = excluded.wanted, updated_at = excluded.updated_at
        """,
        user_id=_owner(principal),
        wanted=msgspec.json.encode(wanted).decode(),
        now=tx.now,
    )
    tx.emit(
        topic=TOPIC,
        kind="preferences.changed",
        id="preferences",
        audience=principal.user_id,
        device_id=principal.device_id,
    )
    return wanted


def bring_back(tx: Tx, *, user_id: str | None, wanted: object) -> None:
    """Restores a person's preferences from an export. Raises :class:`Invalid` if ``wanted`` is not valid."""
    try:
        kept = msgspec.convert(wanted, Preferences)
    except msgspec.ValidationError as error:
        raise Invalid(f"These are no preferences: {error}.") from None
    tx.run(
        """
        insert into preferences (user_id, wanted, updated_at) values (:user_id, :wanted, :now)
        on conflict (user_id) do update set wanted = excluded.wanted, updated_at = excluded.updated_at
        """,
        user_id=user_id or _NOBODY,
        wanted=msgspec.json.encode(kept).decode(),
        now=tx.now,
    )


def hand_over(tx: Tx, user_id: str) -> None:
    """Preferences from the time before there were users become the first admin's."""
    tx.run("update preferences set user_id = :user_id where user_id = :nobody", user_id=user_id, nobody=_NOBODY)


def _named(changes: Changes) -> dict[str, object]:
    named = {name: getattr(changes, name) for name in changes.__struct_fields__}
    return {name: value for name, value in named.items() if value is not None}


def _owner(principal: Principal) -> str:
    return principal.user_id or _NOBODY
