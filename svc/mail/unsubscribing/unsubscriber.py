"""Unsubscribes: by the one-click request of RFC 8058, by a mail, or by giving the person the address of a page.

The request goes through the pinned egress (HTTPS, public addresses only, no cookies, no credentials, no redirects),
and only where :func:`offer_of` found that the sender's own signature covers it. It is not repeated after it succeeded,
because the result is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Final

from svc.errors import Conflict, NotFound, Refusal
from svc.mail.accounts import queries as account_queries
from svc.mail.authentication.checking import Authenticator
from svc.mail.model import SPAM, MessageRow, is_own
from svc.mail.sending import actions as sending_actions
from svc.mail.sending.answering import answering_address
from svc.mail.sending.model import Outgoing, SendRequest
from svc.mail.sending.tasks import Delivery
from svc.mail.threads import queries as thread_queries
from svc.mail.unsubscribing import actions
from svc.mail.unsubscribing.actions import Unsubscribed
from svc.mail.unsubscribing.offers import Method, Offer, offer_of
from svc.nursery import Turns
from svc.principal import Principal
from svc.protocol.pinned import PinnedEgress, PinnedFault
from svc.store import ReadTx, Store, Tx

DEADLINE_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 64 * 1024
BODY: Final = b"List-Unsubscribe=One-Click"
FORM: Final = "application/x-www-form-urlencoded"

NO_WAY: Final = "This mail names no way to unsubscribe."


@dataclass(frozen=True, kw_only=True)
class Done:
    """``outgoing``: the mail that unsubscribes, which can still be held back."""

    offer: Offer
    outgoing: Outgoing | None = None


class Unsubscriber:
    """``egress`` makes the requests to strangers' servers; tests pass their own."""

    def __init__(self, *, store: Store, authenticator: Authenticator, delivery: Delivery, egress: PinnedEgress) -> None:
        self.egress = egress
        self._store = store
        self._authenticator = authenticator
        self._delivery = delivery
        self._turns = Turns(at_a_time=4, each=1)

    async def remembered(self, principal: Principal, *, message_id: str) -> Unsubscribed | None:
        await self._store.read(_message, principal, message_id=message_id)
        return await self._store.read(actions.remembered, message_id=message_id)

    async def offer(self, principal: Principal, *, message_id: str) -> Offer:
        """The way that would be taken; looks up the keys of the signatures. Raises ``NotFound`` where there is none."""
        message = await self._store.read(_message, principal, message_id=message_id)
        found = await self._authenticator.check(message_id)
        domain = message.sender.address.rpartition("@")[2]
        offer = None if found is None or found.verdict == "failed" else offer_of(found, domain=domain)
        if offer is None:
            raise NotFound(NO_WAY)
        return offer

    async def take(self, principal: Principal, *, message_id: str, method: Method | None) -> Done:
        """Unsubscribe. ``method``: the one that the person was shown. Raises :class:`Refusal` where it fails."""
        async with self._turns.turn(principal.user_id or principal.device_id):
            await self._store.read(_may_act, principal, message_id=message_id)
            offer = await self.offer(principal, message_id=message_id)
            if method is not None and method != offer.method:
                raise Conflict("There is another way to unsubscribe now. Look at it first.")
            before = await self._store.read(actions.remembered, message_id=message_id)
            if before is not None and before.outcome in {"done", "sent"} and before.method == offer.method:
                return Done(offer=offer)
            if offer.method == "mailto":
                return Done(offer=offer, outgoing=await self._write(principal, message_id, offer))
            if offer.method == "one-click":
                await self._post(message_id, offer)
            else:
                await self._store.write(actions.remember, message_id=message_id, offer=offer, outcome="opened")
            return Done(offer=offer)

    async def _post(self, message_id: str, offer: Offer) -> None:
        assert offer.url is not None
        try:
            answer = await self.egress.request(
                "POST",
                offer.url,
                headers={"content-type": FORM},
                body=BODY,
                deadline_s=DEADLINE_S,
                limit_bytes=MAX_ANSWER_BYTES,
            )
            fault = None if 200 <= answer.status < 300 else f"its server answered {answer.status}"
        except PinnedFault as caught:
            # An answer that is too long is still an answer: the request was accepted.
            fault = None if caught.kind == "too_large" else caught.detail
        outcome: actions.Outcome = "done" if fault is None else "failed"
        await self._store.write(actions.remember, message_id=message_id, offer=offer, outcome=outcome, detail=fault)
        if fault is not None:
            raise Refusal(f"{offer.target} did not take it: {fault}.", code="bad_gateway")

    async def _write(self, principal: Principal, message_id: str, offer: Offer) -> Outgoing:
        row = await self._store.write(
            _send, principal, message_id=message_id, offer=offer, hold_ms=self._delivery.hold_ms
        )
        self._delivery.look()
        return row


def _message(tx: ReadTx, principal: Principal, *, message_id: str) -> MessageRow:
    """A message that somebody else sent. Not one in spam: its sender would learn that somebody reads it."""
    message = thread_queries.message_for(tx, principal, message_id=message_id)
    if message is None:
        raise NotFound("There is no such message.")
    if SPAM in message.labels or is_own(frozenset(message.labels)):
        raise NotFound(NO_WAY)
    return message


def _may_act(tx: ReadTx, principal: Principal, *, message_id: str) -> None:
    """Raises :class:`Forbidden` for a principal who may only read the account."""
    message = _message(tx, principal, message_id=message_id)
    if account_queries.account_for(tx, principal, account_id=message.account_id, to="act") is None:
        raise NotFound("There is no such message.")


def _send(tx: Tx, principal: Principal, *, message_id: str, offer: Offer, hold_ms: int) -> Outgoing:
    message = _message(tx, principal, message_id=message_id)
    account = account_queries.account_for(tx, principal, account_id=message.account_id, to="act")
    if account is None:
        raise NotFound("There is no such message.")
    request = SendRequest(
        account_id=account.id,
        to=(offer.target,),
        cc=(),
        bcc=(),
        subject=offer.subject,
        html=f"<p>{escape(offer.body)}</p>",
        attachments=(),
        thread_id=None,
        quote=None,
        from_address=answering_address(account, message),
    )
    row = sending_actions.accept(tx, principal, request=request, send_at=None, draft_id=None, hold_ms=hold_ms)
    actions.remember(tx, message_id=message_id, offer=offer, outcome="sent", outgoing_id=row.id)
    return row
