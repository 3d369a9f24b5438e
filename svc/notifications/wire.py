"""Notifications on the wire."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.mail import Id
from svc.notifications.model import DAY_MINUTES, Browser, Quiet, Words
from svc.protocol.rows import Wire

MAX_ENDPOINT_CHARS: Final = 2_048
MAX_ZONE_CHARS: Final = 64
MAX_ACCOUNTS: Final = 500

Minute = Annotated[int, msgspec.Meta(ge=0, lt=DAY_MINUTES)]
_Key = Annotated[str, msgspec.Meta(max_length=200)]


class QuietInput(Wire, frozen=True):
    """Quiet hours from ``begin`` to ``end``, in minutes of the day in ``time_zone``. They go past midnight if ``end``
    is earlier than ``begin``."""

    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ZONE_CHARS)]
    begin: Minute
    end: Minute


class SetInput(Wire, frozen=True):
    account_ids: Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_ACCOUNTS)]
    words: Words
    quiet: QuietInput | None


class SubscribeInput(Wire, frozen=True):
    """The fields of ``PushSubscription.toJSON``: base64url."""

    endpoint: Annotated[str, msgspec.Meta(max_length=MAX_ENDPOINT_CHARS)]
    p256dh: _Key
    auth: _Key


class BrowserInput(Wire, frozen=True):
    browser_id: Id


class SubscribedOut(Wire, frozen=True):
    browser_id: str


class QuietOut(Wire, frozen=True):
    time_zone: str
    begin: int
    end: int


class BrowserOut(Wire, frozen=True):
    """``service``: the host of the push service, which shows the browser's maker. ``current``: the browser of this
    session."""

    id: str
    service: str
    since: str
    current: bool
    problem: str | None


class KeyOut(Wire, frozen=True):
    """The key that a browser subscribes with: ``applicationServerKey``, base64url."""

    public_key: str


class SettingsOut(Wire, frozen=True):
    account_ids: tuple[str, ...]
    words: Words
    quiet: QuietOut | None
    browsers: tuple[BrowserOut, ...]


class ArrivedOut(Wire, frozen=True):
    """A new mail, as a notification shows it. Fields that the person does not want to see are empty."""

    account_id: str
    thread_id: str
    message_id: str
    sender: str
    subject: str
    snippet: str


def quiet_of(given: QuietInput | None) -> Quiet | None:
    """Reads quiet hours. Raises :class:`Invalid` for an unknown time zone."""
    if given is None:
        return None
    quiet = Quiet(time_zone=given.time_zone, begin=given.begin, end=given.end)
    try:
        quiet.holds_at(0)
    except (ValueError, OSError, KeyError) as error:
        raise Invalid("That time zone is not known here.") from error
    return quiet


def key_bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error) as error:
        raise Invalid("These are not the keys of a push subscription.") from error


def quiet_out(quiet: Quiet | None) -> QuietOut | None:
    return None if quiet is None else QuietOut(time_zone=quiet.time_zone, begin=quiet.begin, end=quiet.end)


def browser_out(browser: Browser, *, host: str, device_id: str) -> BrowserOut:
    return BrowserOut(
        id=browser.id,
        service=host,
        since=rfc3339(browser.created_at),
        current=browser.device_id == device_id,
        problem=browser.problem,
    )
