"""Inputs and outputs of the procedures of pictures: the senders whose pictures are shown without asking."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.clock import rfc3339
from svc.formats.mime.model import MAX_ADDRESS_CHARS
from svc.mail.images.queries import TrustedSender
from svc.protocol.rows import Wire


class TrustSenderInput(Wire, frozen=True):
    address: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ADDRESS_CHARS)]
    trusted: bool


class TrustedSenderOut(Wire, frozen=True):
    address: str
    since: str


def trusted_sender(sender: TrustedSender) -> TrustedSenderOut:
    return TrustedSenderOut(address=sender.address, since=rfc3339(sender.since))
