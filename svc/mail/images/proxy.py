"""Fetches a remote picture for a person: a few at a time, and it returns nothing but a picture.

The sender learns that a server asked, but not who the reader is, where they are or which browser they use. Every
refusal has a sentence that the person sees in the picture's place.
"""

from __future__ import annotations

import re
from typing import Final

from svc.errors import Refusal
from svc.mail.images.picture import Picture, kind_of
from svc.nursery import Turns
from svc.principal import Principal
from svc.protocol.pinned import PinnedAnswer, PinnedEgress, PinnedFault

DEADLINE_S: Final = 5.0
"""Fetching one remote picture. Beyond: 504 `gateway_timeout`."""
MAX_BYTES: Final = 10 * 1024 * 1024
"""One remote picture. Beyond: 413 `too_large`."""
MAX_AT_A_TIME: Final = 16
"""Remote pictures fetched at a time, for all people together. Each may be held in memory whole. Beyond: the others wait
for their turn."""
MAX_AT_A_TIME_EACH: Final = 6
"""Remote pictures fetched at a time for one person. Beyond: the others wait for their turn."""
MAX_ASKED_EACH: Final = 64
"""Remote pictures that one person fetches or waits for. Beyond: 429 `rate_limited` with `Retry-After`."""
RETRY_AFTER_S: Final = 5

ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/bmp,image/x-icon"
_HTTP: Final = re.compile(r"\Ahttp://([^/?#\\:]*)(?::80)?(?=[/?#\\]|\Z)", re.IGNORECASE)
_CODES: Final = {"timeout": "gateway_timeout", "too_large": "too_large"}


class ImageProxy:
    def __init__(self, egress: PinnedEgress) -> None:
        self.egress = egress
        self._turns = Turns(at_a_time=MAX_AT_A_TIME, each=MAX_AT_A_TIME_EACH)

    async def fetch(self, principal: Principal, url: str) -> Picture:
        """The picture at ``url``. Raises a :class:`Refusal` (413, 415, 429, 502 or 504) where it can't be had."""
        who = principal.user_id or principal.device_id
        if self._turns.asked(who) >= MAX_ASKED_EACH:
            retry = {"retry-after": str(RETRY_AFTER_S)}
            raise Refusal("Too many images are being loaded at once.", code="rate_limited", headers=retry)
        async with self._turns.turn(who):
            try:
                answer = await self.egress.get(
                    over_tls(url), accept=ACCEPT, deadline_s=DEADLINE_S, limit_bytes=MAX_BYTES
                )
            except PinnedFault as fault:
                code = _CODES.get(fault.kind, "bad_gateway")
                raise Refusal(f"The image was not loaded: {fault.detail}.", code=code) from None
        return _picture(answer)


def over_tls(url: str) -> str:
    """The same address with https. An address with http is fetched over TLS, or not at all."""
    return _HTTP.sub(r"https://\1", url, count=1)


def _picture(answer: PinnedAnswer) -> Picture:
    if answer.status != 200:
        raise Refusal(f"The image was not loaded: its server answered {answer.status}.", code="bad_gateway")
    declared = (answer.headers.get("content-type") or "").partition(";")[0].strip().lower()
    kind = kind_of(answer.body) if declared.startswith("image/") else None
    if kind is None:
        raise Refusal("The image was not loaded: it is no picture that is shown.", code="unsupported_media_type")
    return Picture(mime=kind, data=answer.body)
