"""A person's preferences. Every default means "as the browser does it", or the app's own choice."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from svc.protocol import Wire

MAX_COMMANDS: Final = 200
"""How many commands may have custom keys: more than there are."""
MAX_KEYS: Final = 4
"""Custom keys of one command."""

Hours = Literal["auto", "12", "24"]
DateOrder = Literal["auto", "day", "month", "year"]
"""Which part of a date comes first."""
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
"""The custom keys of each command (its place, and its default key); an empty list: the command has no key."""
AccountId = Annotated[str, msgspec.Meta(max_length=200)]


class Preferences(Wire, frozen=True):
    """``start_account``: the account whose inbox opens, if the start page is ``account``."""

    language: Language = ""
    hours: Hours = "auto"
    date_order: DateOrder = "auto"
    week_start: WeekStart = "auto"
    start_page: StartPage = "inbox"
    start_account: AccountId = ""
    keys: CommandKeys = {}


class Changes(Wire, frozen=True, omit_defaults=True):
    """Changes to preferences. Fields that are not named stay unchanged."""

    language: Language | None = None
    hours: Hours | None = None
    date_order: DateOrder | None = None
    week_start: WeekStart | None = None
    start_page: StartPage | None = None
    start_account: AccountId | None = None
    keys: CommandKeys | None = None
