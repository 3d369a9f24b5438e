"""The services outside, scripted: Google with its consent screen and its mailboxes, and a model vendor."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.protocol.egress import EgressFault, EgressResponse
from tests.mail.scripted_google import CONSENT, ISSUER, ScriptedGoogle
from tests.mail.scripted_http import Answer, answer

CLIENT_ID: Final = "123-abc.apps.googleusercontent.com"
DOCUMENT: Final = f"{ISSUER}/.well-known/openid-configuration"
MAIL_API: Final = "https://gmail.googleapis.com"
MODELS: Final = "https://api.anthropic.com/v1/models"
SIGN_IN: Final = answer(b"", status=302, location=f"{ISSUER}/v3/signin/identifier?opparams=x")


def refused_by_google(code: str, words: str) -> EgressResponse:
    """As Google tells it: a redirect to a page of its own, with a small message in base64."""
    message = b"\n" + bytes([len(code)]) + code.encode() + b"\x12" + bytes([len(words)]) + words.encode() + b" \x90\x03"
    encoded = base64.urlsafe_b64encode(message).decode().rstrip("=")
    return answer(b"", status=302, location=f"{ISSUER}/signin/oauth/error?authError={encoded}&client_id=x")


@dataclass
class Outside(ScriptedGoogle):
    """``consent`` is what the consent screen says; ``says`` goes before all else, by the address without its query."""

    consent: Answer = SIGN_IN
    says: dict[str, Answer] = field(default_factory=dict)

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
        said = self._said(url.partition("?")[0])
        if isinstance(said, EgressFault):
            raise said
        if said is not None:
            return said
        return await super().request(
            method, url, headers=headers, body=body, deadline_s=deadline_s, limit_bytes=limit_bytes
        )

    def _said(self, url: str) -> Answer | None:
        if url in self.says:
            return self.says[url]
        if url == CONSENT:
            return self.consent
        return answer(b"", status=404) if url == MAIL_API else None
