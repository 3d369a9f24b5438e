"""Sends pushes to the push services of the browsers' makers.

Theory: a row says ``sending`` before its first byte leaves. It goes back to the queue only if certainly nothing was
accepted: no connection, 429, or a server error. So a push arrives at most once, and a push with an unknown result is
not repeated. A push that is older than some minutes by then, or that its person has no use for any more
(``queries.wanted_for_s``), is not sent at all; and no push service keeps it into their quiet hours.

A browser names its own endpoint, so requests go through the pinned egress: to public servers and by HTTPS only.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from svc.backoff import Retries
from svc.clock import MINUTE_MS, Millis
from svc.connections import retry_after_s
from svc.errors import Invalid
from svc.job import Job
from svc.notifications import actions, queries
from svc.notifications.encryption import encrypt
from svc.notifications.model import KEPT_THERE_S, Browser, Push
from svc.notifications.vapid import Vapid
from svc.nursery import open_task_group
from svc.protocol.pinned import PinnedAnswer, PinnedEgress, PinnedFault
from svc.workspace import Workspace

OLDEST_MS: Final = 10 * MINUTE_MS
"""A push that could not be sent within this time is dropped: a late notice of mail is useless."""

AT_A_TIME: Final = 8
DEADLINE_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 16 * 1024

_GONE: Final = frozenset({404, 410})
_BUSY: Final = 429
_RETRIES: Final = Retries(first_s=5.0, cap_s=120.0)
_NOTHING_SENT: Final = frozenset({"unreachable", "tls"})


@dataclass(kw_only=True)
class Pusher:
    """Sends pushes. Tests replace ``egress``."""

    egress: PinnedEgress
    vapid: Vapid

    async def send(self, browser: Browser, *, payload: bytes, topic: str, kept_s: int = KEPT_THERE_S) -> PinnedAnswer:
        """Sends one push. ``kept_s``: how long the push service keeps it for a browser that is off.

        Raises :class:`PinnedFault`, and :class:`Invalid` for invalid keys.
        """
        body = encrypt(payload, public_key=browser.public_key, secret=browser.secret)
        headers = {
            "authorization": await self.vapid.authorization(browser.endpoint, email=browser.email),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(kept_s),
            "urgency": "normal",
            "topic": _topic(topic),
        }
        return await self.egress.request(
            "POST",
            browser.endpoint,
            headers=headers,
            body=body,
            deadline_s=DEADLINE_S,
            limit_bytes=MAX_ANSWER_BYTES,
        )


async def deliver(workspace: Workspace) -> Millis | None:
    """Sends the pushes that are due, a few at a time. Returns the time when more are due."""
    store = workspace.store
    while pushes := await store.read_small(queries.due, limit=AT_A_TIME):
        async with open_task_group() as nursery:
            for push in pushes:
                nursery.start_soon(_deliver_one, workspace, push)
    if await store.read_small(queries.is_anything_old):
        await store.write(actions.prune)
    return await store.read_small(queries.next_at)


async def _deliver_one(workspace: Workspace, push: Push) -> None:
    store = workspace.store
    browser = await store.read(queries.browser, push.browser_id)
    kept_s = None if browser is None else await store.read(queries.wanted_for_s, browser.user_id, push)
    if browser is None or kept_s is None or workspace.clock.now() - push.created_at > OLDEST_MS:
        await store.write(actions.end, push)
        return
    if not await store.write(actions.begin, push):
        return
    try:
        answer = await workspace.service(Pusher).send(
            browser, payload=push.payload, topic=push.thread_id, kept_s=kept_s
        )
    except PinnedFault as fault:
        if fault.kind in _NOTHING_SENT:
            await _put_off(workspace, push, wait_s=None)
        else:
            await store.write(actions.end, push, problem=f"The push service: {fault.detail}.")
    except Invalid as refusal:
        await store.write(actions.end, push, problem=str(refusal))
    else:
        await _settle(workspace, push, answer)


async def _settle(workspace: Workspace, push: Push, answer: PinnedAnswer) -> None:
    store = workspace.store
    if answer.status in _GONE:
        await store.write(actions.forget_browser, browser_id=push.browser_id)
        workspace.log.info("notifications.browser_gone", status=answer.status)
    elif answer.status == _BUSY or answer.status >= 500:
        await _put_off(workspace, push, wait_s=retry_after_s(answer.headers, now=workspace.clock.now()))
    elif 200 <= answer.status < 300:
        await store.write(actions.end, push)
    else:
        workspace.log.warning("notifications.refused", status=answer.status)
        await store.write(actions.end, push, problem=f"The push service refused it ({answer.status}).")


async def _put_off(workspace: Workspace, push: Push, *, wait_s: float | None) -> None:
    pause_s = max(wait_s or 0.0, _RETRIES.pause_s(push.attempts + 1))
    next_at = workspace.clock.now() + round(pause_s * 1_000)
    await workspace.store.write(actions.put_off, push, next_at=next_at)


def _topic(thread_id: str) -> str:
    """The topic of a push: a later push of the thread replaces an earlier one that still waits at the push service (RFC
    8030, section 5.4)."""
    return base64.urlsafe_b64encode(hashlib.sha256(thread_id.encode()).digest()[:24]).decode()


JOB: Final[Job[Workspace]] = Job(
    name="notifications", summary="Sends what waits to be pushed to people's browsers.", run=deliver
)
