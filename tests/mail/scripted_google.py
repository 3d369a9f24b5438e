"""A provider on the other side of the way out: consent is up to the test, the token endpoint and one mailbox are here.

It answers by what it is asked, as the real one does, and keeps what it was asked. Its tokens and codes are canaries:
words that occur nowhere else, so that a test can look for them where they must not be.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import trio

from svc.protocol.egress import EgressFault, EgressResponse
from tests.mail.scripted_http import Asked, answer

ISSUER: Final = "https://accounts.google.com"
CONSENT: Final = f"{ISSUER}/o/oauth2/v2/auth"
TOKEN: Final = "https://oauth2.example/token"
REVOKE: Final = "https://oauth2.example/revoke"
MAIL_SCOPE: Final = "https://www.googleapis.com/auth/gmail.modify"
CLIENT_ID: Final = "client-id.example"
CLIENT_SECRET: Final = "canary-client-secret"
CODE: Final = "canary-code"


@dataclass
class ScriptedGoogle:
    """``refusal`` is the token endpoint's answer instead of a grant, ``revocation`` what it says when a grant is given
    back, ``trouble`` the mailbox's answer to everything; ``cut`` makes all unreachable, ``silent`` lets them wait."""

    address: str = "mia@example.org"
    scope: str = f"openid email {MAIL_SCOPE}"
    refresh_token: str | None = "canary-refresh-token"
    challenge: str | None = None  # of the consent that was given: the code is only good for its verifier
    refusal: EgressResponse | None = None
    revocation: EgressResponse | None = None
    trouble: EgressResponse | None = None
    cut: bool = False
    silent: bool = False
    token_takes_s: float = 0
    asked: list[Asked] = field(default_factory=list)
    grants: int = 0
    senders: list[dict[str, object]] = field(default_factory=list)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        asked = Asked(method=method, url=url, headers=headers, body=body, at_s=trio.current_time())
        self.asked.append(asked)
        await trio.lowlevel.checkpoint()  # others may ask meanwhile
        if self.cut:
            raise EgressFault("connect", f"{method} nobody listens", may_have_happened=False)
        if self.silent:
            await trio.sleep(deadline_s)
            raise EgressFault("timeout", f"{method} nobody answers", may_have_happened=True)
        path = urlsplit(url).path
        if path == "/.well-known/openid-configuration":
            return answer(
                {
                    "issuer": ISSUER,
                    "authorization_endpoint": CONSENT,
                    "token_endpoint": TOKEN,
                    "revocation_endpoint": REVOKE,
                }
            )
        if url == REVOKE:
            return self.revocation or answer({})
        if url == TOKEN:
            await trio.sleep(self.token_takes_s)
            return self.refusal or self._tokens(asked.form)
        return self._mailbox(path.partition("/users/")[2].partition("/")[2], headers)

    def forms(self, grant_type: str) -> list[dict[str, str]]:
        """What the token endpoint was sent."""
        return [one.form for one in self.asked if one.url == TOKEN and one.form["grant_type"] == grant_type]

    def _tokens(self, form: Mapping[str, str]) -> EgressResponse:
        if form["grant_type"] == "authorization_code":
            verifier = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
            if form["code"] != CODE or challenge != self.challenge:
                return answer({"error": "invalid_grant"}, status=400)
        self.grants += 1
        tokens = {"access_token": f"canary-access-{self.grants}", "token_type": "Bearer", "expires_in": 3_600}
        if self.refresh_token is not None:
            tokens["refresh_token"] = self.refresh_token
        return answer({**tokens, "scope": self.scope})

    def _mailbox(self, resource: str, headers: Mapping[str, str]) -> EgressResponse:
        given = {name.lower(): value for name, value in headers.items()}.get("authorization", "")
        if not given.startswith("Bearer canary-access-"):
            return answer({"error": {"code": 401}}, status=401)
        if self.trouble is not None:
            return self.trouble
        return answer(
            {
                "profile": {"emailAddress": self.address, "historyId": "7", "messagesTotal": 0},
                "labels": {"labels": []},
                "settings/sendAs": {"sendAs": self.senders},
                "messages": {"resultSizeEstimate": 0},
                "history": {"historyId": "7"},
            }[resource]
        )
