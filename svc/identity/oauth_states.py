"""The one-time state of an OAuth round trip (RFC 6749, section 10.12; PKCE: RFC 7636).

Theory. A start makes two secrets: the ``state``, which travels through the provider, and a browser key, which stays in
a cookie of the browser that began. Only their digests are stored. The PKCE verifier is derived from both, so an
attacker who saw only the redirect can't redeem the code, and the database holds no secret. A callback deletes the row,
even if it then fails; a row lives ten minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import MINUTE_MS
from svc.errors import Forbidden
from svc.principal import Principal
from svc.store import Tx

STATE_LIFETIME_MS: Final = 10 * MINUTE_MS
MAX_OPEN_STATES: Final = 1_000
"""Round trips to a provider that are under way. A page that begins them in a loop can't fill the disk. Beyond: the
oldest ends."""

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, kw_only=True)
class OAuthState:
    """A started round trip: the values for the redirect and for the browser's cookie."""

    state: str
    browser_key: str
    hint: str
    payload: str = ""  # data that the feature which began it gets back at the end

    @property
    def verifier(self) -> str:
        """The PKCE verifier: 43 symbols, the minimum of RFC 7636."""
        return _b64(hmac.digest(self.browser_key.encode(), self.state.encode(), "sha256"))

    @property
    def challenge(self) -> str:
        return _b64(hashlib.sha256(self.verifier.encode()).digest())

    def __repr__(self) -> str:
        return "OAuthState(…)"


def begin_round_trip(
    tx: Tx, principal: Principal, *, purpose: str, hint: str, browser_key: str | None, payload: str = ""
) -> OAuthState:
    """Write the state row. ``browser_key`` is the cookie that the browser already has, if any: two tabs share it."""
    started = OAuthState(
        state=secrets.token_urlsafe(_SECRET_BYTES),
        browser_key=browser_key or secrets.token_urlsafe(_SECRET_BYTES),
        hint=hint,
        payload=payload,
    )
    tx.run("delete from oauth_states where expires_at <= :now", now=tx.now)
    tx.run(
        """
        delete from oauth_states where digest in (
            select digest from oauth_states order by created_at desc limit -1 offset :most
        )
        """,
        most=MAX_OPEN_STATES - 1,
    )
    tx.run(
        """
        insert into oauth_states (digest, purpose, browser_digest, hint, user_id, created_at, expires_at, payload)
        values (:digest, :purpose, :browser, :hint, :user_id, :now, :expires, :payload)
        """,
        digest=_digest(started.state),
        purpose=purpose,
        browser=_digest(started.browser_key),
        hint=hint,
        user_id=principal.user_id,
        now=tx.now,
        expires=tx.now + STATE_LIFETIME_MS,
        payload=payload,
    )
    return started


def end_round_trip(
    tx: Tx, principal: Principal, *, purpose: str, state: str, browser_key: str | None
) -> OAuthState | None:
    """Delete the state row and return it. ``None`` when it is missing, stale, used, or begun by another browser or for
    another user.

    The row is deleted in every case, so the caller must refuse after the commit, not inside the transaction.
    """
    row = tx.one(
        """
        select purpose, browser_digest, hint, user_id, expires_at, payload from oauth_states where digest = :digest
        """,
        digest=_digest(state),
    )
    tx.run("delete from oauth_states where digest = :digest", digest=_digest(state))
    if row is None or browser_key is None:
        return None
    began_here = hmac.compare_digest(cast(str, row[1]), _digest(browser_key))
    fresh = cast(int, row[4]) > tx.now
    if row[0] != purpose or not began_here or not fresh or row[3] != principal.user_id:
        return None
    return OAuthState(state=state, browser_key=browser_key, hint=cast(str, row[2]), payload=cast(str, row[5]))


ROUND_TRIP_REFUSED: Final = Forbidden(
    "This sign-in link was used already, is older than ten minutes or began in another browser."
)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
