"""The outputs for the result of an origin check."""

from __future__ import annotations

from svc.formats.authentication import Authentication
from svc.formats.authentication.model import SignatureState, Verdict
from svc.protocol.rows import Wire


class ServerResultOut(Wire, frozen=True):
    """``method``: ``spf``, ``dkim`` or ``dmarc``. ``domain``: the domain of the result; empty: none was named."""

    method: str
    result: str
    domain: str


class DkimSignatureOut(Wire, frozen=True):
    """A DKIM signature, checked here."""

    domain: str
    state: SignatureState


class AuthenticationOut(Wire, frozen=True):
    """``summary``: a sentence for the reader. ``domain``: the domain that sent it, where this is verified.

    ``server``: the account's own server. ``results``: its results when the mail came."""

    verdict: Verdict
    summary: str
    domain: str | None
    server: str | None
    results: tuple[ServerResultOut, ...]
    signatures: tuple[DkimSignatureOut, ...]


def authentication_out(found: Authentication) -> AuthenticationOut:
    return AuthenticationOut(
        verdict=found.verdict,
        summary=found.summary,
        domain=found.domain if found.is_verified else None,
        server=found.server,
        results=tuple(
            ServerResultOut(method=one.method, result=one.result, domain=one.domain) for one in found.results
        ),
        signatures=tuple(DkimSignatureOut(domain=one.domain, state=one.state) for one in found.signatures),
    )
