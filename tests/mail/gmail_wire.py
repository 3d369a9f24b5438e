"""A Gmail provider on a scripted wire, and each of its calls."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from svc.clock import VirtualClock
from svc.mail.providers.gmail.provider import (
    GmailProvider,
)
from svc.mail.providers.gmail.quota import QuotaLimiter
from svc.mail.providers.seam import (
    GrantLost,
    Provider,
)
from svc.protocol.egress import EgressResponse
from tests.mail.scripted_http import Answer, ScriptedHttp, answer

BASE = "https://gmail.example.org"
USER = "/gmail/v1/users/alice%2Bx%40acme.test"
RAW = b"From: eve@x.test\r\nSubject: hi\r\n\r\n\xff\xfe body?>\r\n"


@dataclass
class Tokens:
    """Numbered access tokens; ``lost`` when the grant is."""

    lost: bool = False
    number: int = 1
    refreshes: int = 0

    async def access_token(self) -> str:
        return f"S3CRET-{self.number}"

    async def refreshed(self, stale: str) -> str:
        self.refreshes += 1
        if self.lost:
            raise GrantLost("revoked")
        if stale == f"S3CRET-{self.number}":
            self.number += 1
        return f"S3CRET-{self.number}"


@dataclass
class Mailbox:
    """A provider on a scripted wire."""

    wall: VirtualClock
    http: ScriptedHttp = field(default_factory=ScriptedHttp)
    tokens: Tokens = field(default_factory=Tokens)
    quota: QuotaLimiter = field(default_factory=QuotaLimiter)

    @property
    def provider(self) -> Provider:
        return GmailProvider(
            address="alice+x@acme.test",
            base_url=BASE,
            http=self.http,
            tokens=self.tokens,
            quota=self.quota,
            clock=self.wall,
        )

    def will_answer(self, *answers: Answer) -> Provider:
        self.http.answers.extend(answers)
        return self.provider


RequestContext = Callable[[Provider], Awaitable[object]]

READS: dict[str, RequestContext] = {
    "profile": lambda provider: provider.profile(),
    "list": lambda provider: provider.list_messages(),
    "get": lambda provider: provider.get("m1"),
    "history": lambda provider: provider.history(since="7"),
    "labels": lambda provider: provider.labels(),
    "addresses": lambda provider: provider.addresses(),
}
WRITES: dict[str, RequestContext] = {
    "modify": lambda provider: provider.modify("m1", add=frozenset({"A"}), remove=frozenset()),
    "modify_many": lambda provider: provider.modify_many(["m1", "m2"], add=frozenset({"A"}), remove=frozenset()),
    "create_label": lambda provider: provider.create_label("Ops"),
    "send": lambda provider: provider.send(RAW),
}
CALLS = READS | WRITES


def b64url(data: bytes, *, padded: bool = True) -> str:
    text = base64.urlsafe_b64encode(data).decode()
    return text if padded else text.rstrip("=")


def raw_message(**changes: object) -> EgressResponse:
    message = {
        "id": "m1",
        "threadId": "t1",
        "labelIds": ["INBOX", "UNREAD"],
        "snippet": "ignored",
        "historyId": "123456789012345678901",
        "internalDate": "1736499600000",
        "raw": b64url(RAW),
    }
    return answer({name: value for name, value in (message | changes).items() if value is not None})
