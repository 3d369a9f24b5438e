"""The procedures of notifications: a person's preferences, and the browsers that receive pushes."""

from __future__ import annotations

from svc import mail
from svc.errors import Conflict, Invalid, NotFound, Unavailable
from svc.notifications import actions, queries, wire
from svc.notifications.arriving import mail_news
from svc.notifications.delivering import Pusher
from svc.notifications.model import Browser, Preferences
from svc.notifications.wire import (
    ArrivedOut,
    BrowserInput,
    KeyOut,
    SetInput,
    SettingsOut,
    SubscribedOut,
    SubscribeInput,
)
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.protocol.pinned import PinnedFault, pinned_url
from svc.store import ReadTx, Tx
from svc.workspace import RequestContext


async def settings(context: RequestContext, wanted: Nothing) -> SettingsOut:
    return await context.workspace.store.read(_settings, context.principal)


async def key(context: RequestContext, wanted: Nothing) -> KeyOut:
    return KeyOut(public_key=await context.workspace.service(Pusher).vapid.public_key())


async def set_settings(context: RequestContext, wanted: SetInput) -> Nothing:
    await context.workspace.store.write(_set, context.principal, wanted=wanted)
    return Nothing()


async def subscribe(context: RequestContext, wanted: SubscribeInput) -> SubscribedOut:
    try:
        pinned_url(wanted.endpoint)
    except PinnedFault as fault:
        raise Invalid(f"This is no push service that can be reached: {fault.detail}.") from fault
    public_key, secret = wire.key_bytes(wanted.p256dh), wire.key_bytes(wanted.auth)
    actions.require_key(public_key, secret)
    browser_id = await context.workspace.store.write(
        actions.take_browser,
        user_id=_person(context.principal),
        device_id=context.principal.device_id,
        endpoint=wanted.endpoint,
        public_key=public_key,
        secret=secret,
    )
    return SubscribedOut(browser_id=browser_id)


async def unsubscribe(context: RequestContext, wanted: BrowserInput) -> Nothing:
    user_id = context.principal.user_id or ""
    if not await context.workspace.store.write(actions.forget_browser, browser_id=wanted.browser_id, user_id=user_id):
        raise NotFound("There is no such browser.")
    return Nothing()


async def test(context: RequestContext, wanted: BrowserInput) -> Nothing:
    """Sends a test push. Waits for the push service's answer, so that the person sees what is wrong."""
    browser = await context.workspace.store.read(_own_browser, context.principal, browser_id=wanted.browser_id)
    told = ArrivedOut(
        account_id="", thread_id="", message_id="", sender="svc", subject="Notifications work here.", snippet=""
    )
    try:
        answer = await context.workspace.service(Pusher).send(browser, payload=mail_news(told), topic="test")
    except PinnedFault as fault:
        raise Unavailable(f"The push service could not be reached: {fault.detail}.") from fault
    if not 200 <= answer.status < 300:
        raise Unavailable(f"The push service refused it ({answer.status}). Turn notifications off and on here.")
    return Nothing()


def _settings(tx: ReadTx, principal: Principal) -> SettingsOut:
    user_id = principal.user_id
    wanted = Preferences() if user_id is None else queries.preferences(tx, user_id)
    browsers = [] if user_id is None else queries.browsers_of(tx, user_id)
    return SettingsOut(
        account_ids=tuple(sorted(wanted.account_ids)),
        words=wanted.words,
        quiet=wire.quiet_out(wanted.quiet),
        browsers=tuple(
            wire.browser_out(one, host=pinned_url(one.endpoint).host, device_id=principal.device_id) for one in browsers
        ),
    )


def _set(tx: Tx, principal: Principal, *, wanted: SetInput) -> None:
    for account_id in wanted.account_ids:
        if mail.account_for(tx, principal, account_id=account_id, to="read") is None:
            raise NotFound("There is no such account.")
    preferences = Preferences(
        words=wanted.words, quiet=wire.quiet_of(wanted.quiet), account_ids=frozenset(wanted.account_ids)
    )
    actions.set_preferences(tx, user_id=_person(principal), wanted=preferences)


def _own_browser(tx: ReadTx, principal: Principal, *, browser_id: str) -> Browser:
    browser = queries.browser(tx, browser_id)
    if browser is None or browser.user_id != principal.user_id:
        raise NotFound("There is no such browser.")
    return browser


def _person(principal: Principal) -> str:
    if principal.user_id is None:
        raise Conflict("Sign in first: notifications are a person's own.")
    return principal.user_id


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="notifications.settings",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=SettingsOut,
        call=settings,
        summary="What the caller wants to hear of, and the browsers that take pushes for them.",
    ),
    Procedure(
        name="notifications.set",
        kind="mutation",
        access="authenticated",
        input=SetInput,
        output=Nothing,
        call=set_settings,
        summary="Set which accounts the caller hears of, in how many words, and their quiet hours.",
    ),
    Procedure(
        name="notifications.key",
        kind="mutation",
        access="authenticated",
        input=Nothing,
        output=KeyOut,
        call=key,
        summary="The key that browsers subscribe for, made at the first use.",
    ),
    Procedure(
        name="notifications.subscribe",
        kind="mutation",
        access="authenticated",
        input=SubscribeInput,
        output=SubscribedOut,
        call=subscribe,
        summary="Take pushes in this browser.",
    ),
    Procedure(
        name="notifications.unsubscribe",
        kind="mutation",
        access="authenticated",
        input=BrowserInput,
        output=Nothing,
        call=unsubscribe,
        summary="Push no more to a browser of the caller's.",
    ),
    Procedure(
        name="notifications.test",
        kind="mutation",
        access="authenticated",
        input=BrowserInput,
        output=Nothing,
        call=test,
        summary="Push a test to a browser of the caller's, and wait for what the push service says.",
    ),
)
