"""What a person prefers. Every default is "as the browser does it", or as the app comes."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from svc.protocol import Wire

MAX_COMMANDS: Final = 200
"""How many commands may have keys of one's own: more than there are."""
MAX_KEYS: Final = 4
"""Of one command."""

Hours = Literal["auto", "12", "24"]
DateOrder = Literal["auto", "day", "month", "year"]
"""Which part of a date stands first."""
WeekStart = Literal["auto", "monday", "saturday", "sunday"]
StartPage = Literal["inbox", "account", "tasks", "pages", "last"]
Language = Annotated[str, msgspec.Meta(max_length=35, pattern=r"^(?:[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)?$")]
"""A language tag (BCP 47); empty: the browser's."""
Keys = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Command = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
CommandKeys = Annotated[
    dict[Command, Annotated[tuple[Keys, ...], msgspec.Meta(max_length=MAX_KEYS)]],
    msgspec.Meta(max_length=MAX_COMMANDS),
]
"""By command (its place, and the key that it comes with), the keys that it has instead; none: it has lost them."""
AccountId = Annotated[str, msgspec.Meta(max_length=200)]


class Preferences(Wire, frozen=True):
    """``start_account``: which account's inbox it is, where the start page is ``account``."""

    language: Language = ""
    hours: Hours = "auto"
    date_order: DateOrder = "auto"
    week_start: WeekStart = "auto"
    start_page: StartPage = "inbox"
    start_account: AccountId = ""
    keys: CommandKeys = {}


class Changes(Wire, frozen=True, omit_defaults=True):
    """What is not named stays."""

    language: Language | None = None
    hours: Hours | None = None
    date_order: DateOrder | None = None
    week_start: WeekStart | None = None
    start_page: StartPage | None = None
    start_account: AccountId | None = None
    keys: CommandKeys | None = None
