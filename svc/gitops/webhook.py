"""``POST /gitops/webhook``: a forge reports a push, and the follower looks.

The body only proves that the sender knows the secret; what is new is always found by looking at the remote. So a replay
is harmless, and a burst causes one look.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import msgspec
import trio

from svc.capabilities import Door
from svc.errors import Forbidden
from svc.protocol import Headers, Request, Response, Route, Says, Wire, json_response
from svc.store import SecretUnreadable
from svc.workspace import RequestContext

if TYPE_CHECKING:
    from svc.gitops.following import Follower

SECRET: Final = "gitops.webhook.secret"  # noqa: S105  the name of a capability
MAX_BODY_BYTES: Final = 1024 * 1024
"""The body of a push that a forge reports. Beyond: 413 `too_large`."""
REMEMBERED_S: Final = 30.0
"""How long the secret is cached while it stays the same. Strangers may call: acquiring it for each call would let each
of them write into the audit."""

SIGNATURES: Final = ("x-hub-signature-256", "x-gitea-signature", "x-forgejo-signature")
TOKENS: Final = ("x-forge-token", "x-gitlab-token")
_REFUSED: Final = "The webhook's signature is wrong or missing, or no secret is set."
_BRANCH: Final = "refs/heads/"


class Queued(Wire, frozen=True):
    """Whether the push is of a branch that is followed."""

    queued: bool


class _Push(msgspec.Struct):
    """The fields of a push that GitHub, Gitea and GitLab have in common."""

    ref: str | None = None


@dataclass(kw_only=True)
class Webhook:
    """``follower`` is ``None`` if no repository is followed."""

    door: Door
    follower: Follower | None
    branches: frozenset[str]
    _secret: bytes | None = field(default=None, repr=False)
    _edition: str | None = None
    _known_until: float = field(default=-1.0)

    async def take(self, request: Request) -> bool:
        """Whether the push concerns us. Raises :class:`Forbidden`, `TooLarge`."""
        body = await request.read(MAX_BODY_BYTES)
        if not any(request.headers.get(name) for name in (*SIGNATURES, *TOKENS)):
            raise Forbidden(_REFUSED)
        secret = await self._known_secret()
        if not secret or not is_signed(request.headers, body, secret):
            raise Forbidden(_REFUSED)
        if not self._is_meant(body, request.headers.get("content-type") or ""):
            return False
        if self.follower is not None:
            self.follower.wake.call()
        return True

    async def _known_secret(self) -> bytes | None:
        edition = await self.door.edition(SECRET)
        if edition != self._edition or trio.current_time() >= self._known_until:
            self._edition = edition
            try:
                self._secret = await self.door.acquire(SECRET, purpose="webhook")
            except SecretUnreadable:
                self._secret = None
            self._known_until = trio.current_time() + REMEMBERED_S
        return self._secret

    def _is_meant(self, body: bytes, kind: str) -> bool:
        """Whether it is a push to a followed branch. A body that names no branch counts as one."""
        if kind.startswith("application/x-www-form-urlencoded"):
            body = (parse_qs(body.decode("utf-8", "replace"), max_num_fields=20).get("payload") or [""])[0].encode()
        try:
            ref = msgspec.json.decode(body, type=_Push).ref
        except (msgspec.DecodeError, ValueError):
            return True
        return ref is None or ref.removeprefix(_BRANCH) in self.branches


def is_signed(headers: Headers, body: bytes, secret: bytes) -> bool:
    """One correct signature is enough: some forges send two. Each is compared in constant time."""
    expected = hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
    found = False
    for name in SIGNATURES:
        if given := headers.get(name):
            found |= hmac.compare_digest(given.removeprefix("sha256=").strip().lower().encode("latin-1"), expected)
    for name in TOKENS:
        if given := headers.get(name):
            found |= hmac.compare_digest(given.encode("latin-1"), secret)
    return found


async def _take(context: RequestContext, request: Request) -> Response:
    queued = await context.workspace.service(Webhook).take(request)
    return json_response(Queued(queued=queued), status=202)


ROUTES: Final = (
    Route(
        method="POST",
        path="/gitops/webhook",
        access="public",
        handle=_take,
        csrf_exempt=True,
        summary="A forge tells of a push: signed with the webhook's secret.",
        says=Says(body="application/json", answers={202: Queued}),
    ),
)
