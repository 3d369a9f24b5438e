"""Asks a provider's consent screen whether it accepts our client and our redirect URI.

The request is that of a browser in which nobody is signed in. A provider that accepts it shows its sign-in page; else
it says why: in an error page of status 4xx, in a redirect back to us (RFC 6749, section 4.1.2.1), or, like Google, in a
redirect to its own error page with the reason encoded in ``authError``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs, urlsplit

from svc.check import Finding, failed, ok, warning
from svc.protocol.egress import Egress, EgressFault, EgressResponse

DEADLINE_S: Final = 15.0
ANSWER_MAX_BYTES: Final = 1 << 20
SET_ANEW: Final = "set its id and secret under Settings > Credentials"

_PAGE_MAX_CHARS: Final = 64 * 1024
_WORDS_MAX_CHARS: Final = 200
_REASONS: Final = (
    ("redirect", re.compile(r"redirect[_ ]?ur[il]", re.IGNORECASE)),
    ("gone", re.compile(r"(deleted|disabled)_client", re.IGNORECASE)),
    ("type", re.compile(r"unauthorized_client|unsupported_response_type|invalid client type", re.IGNORECASE)),
    ("internal", re.compile(r"org_internal", re.IGNORECASE)),
    ("client", re.compile(r"invalid_client|client (was )?not found|unknown client", re.IGNORECASE)),
)
"""Tried in this order: an error about the redirect URI may also name the client."""


def _nothing(words: str) -> Finding | None:
    return None


async def probe_consent(
    egress: Egress, url: str, *, redirect_uri: str, told: Callable[[str], Finding | None] = _nothing
) -> Finding:
    """What the consent screen at ``url`` answers to a browser sent there with ``redirect_uri``.

    ``told``: the meaning of the answer's text where the provider has a code for each error; such a page may have status
    200.
    """
    try:
        answer = await egress.request(
            "GET", url, headers={"accept": "text/html"}, deadline_s=DEADLINE_S, limit_bytes=ANSWER_MAX_BYTES
        )
    except EgressFault as fault:
        return failed(f"The consent screen can't be reached: {fault.detail}", "See the reachability of the provider")
    known = told(f"{answer.headers.get('location') or ''} {answer.body.decode('utf-8', 'replace')}")
    if known is not None:
        return known
    said = _refusal(answer, redirect_uri=redirect_uri)
    if said is None:
        return ok(f"The consent screen knows the client and {redirect_uri}")
    for name, words in _REASONS:
        if words.search(said):
            return _named(name, redirect_uri)
    return failed(
        f"The consent screen refuses the request for {redirect_uri}: {_shortened(said)}",
        f"Compare the OAuth client at the provider with this server, and {SET_ANEW}",
    )


def _refusal(answer: EgressResponse, *, redirect_uri: str) -> str | None:
    """The text of a refusal; ``None`` if the answer is the sign-in page."""
    location = answer.headers.get("location") or ""
    if 300 <= answer.status < 400:
        query: Mapping[str, list[str]] = parse_qs(urlsplit(location).query)
        if "authError" in query:
            return _decoded(query["authError"][0])
        if location.startswith(redirect_uri) and "error" in query:
            return " ".join((*query["error"], *query.get("error_description", ())))
        return None
    page = answer.body.decode("utf-8", "replace")[:_PAGE_MAX_CHARS]
    if answer.status >= 400:
        return re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL) or f"status {answer.status}"
    return "redirect_uri_mismatch" if "redirect_uri_mismatch" in page else None


def _decoded(word: str) -> str:
    """The readable text of a base64 message, which has a code, words for people and a link in it."""
    try:
        data = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_")
    except (binascii.Error, ValueError):
        return word
    return re.sub(r"[^\x20-\x7e]+", " ", data.decode("utf-8", "replace"))


def _shortened(words: str) -> str:
    return " ".join(words.split())[:_WORDS_MAX_CHARS] or "it does not say why"


_CAUSES: Final[Mapping[str, Finding]] = MappingProxyType(
    {
        "gone": failed(
            "The OAuth client was deleted or disabled at the provider",
            f"Create a new OAuth client of the type Web application, and {SET_ANEW}",
        ),
        "type": failed(
            "The OAuth client is of the wrong type: it may not send people to a consent screen (unauthorized_client)",
            f"Create an OAuth client of the type Web application, and {SET_ANEW}",
        ),
        "client": failed(
            "The provider does not know the OAuth client (invalid_client)",
            f"Copy the client id from the provider's console again, and {SET_ANEW}",
        ),
        "internal": warning(
            "The OAuth app is internal: only people of the organisation that owns it can sign in",
            "To let others in, make it external at the provider's console",
        ),
    }
)


def _named(name: str, redirect_uri: str) -> Finding:
    if name != "redirect":
        return _CAUSES[name]
    return failed(
        f"The provider does not know the redirect URI {redirect_uri} (redirect_uri_mismatch)",
        f"Add exactly {redirect_uri} to the authorized redirect URIs of the OAuth client, or set SVC_PUBLIC_ORIGIN to "
        "the origin that is registered there",
    )
