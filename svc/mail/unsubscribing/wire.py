"""The inputs and outputs of the procedures of unsubscribing."""

from __future__ import annotations

from svc.mail.unsubscribing.actions import Outcome
from svc.mail.unsubscribing.offers import Method
from svc.mail.wire import Id
from svc.protocol.rows import Wire


class UnsubscribeInput(Wire, frozen=True):
    """``method``: the one that was shown. Where it would be another one now, nothing is done."""

    message_id: Id
    method: Method | None = None


class UnsubscribeOut(Wire, frozen=True):
    """``url``: of a page for the person to open; with the other methods nothing is left to do. ``outgoing_id``: of the
    mail that unsubscribes, which can be held back like any other."""

    method: Method
    url: str | None
    outgoing_id: str | None


class UnsubscribeOfferInput(Wire, frozen=True):
    message_id: Id


class UnsubscribeOfferOut(Wire, frozen=True):
    """``target``: the host or address that would get the request."""

    method: Method
    target: str


class UnsubscribedOut(Wire, frozen=True):
    method: Method
    target: str
    outcome: Outcome
    detail: str | None
    at: str


class RememberedOut(Wire, frozen=True):
    unsubscribed: UnsubscribedOut | None
