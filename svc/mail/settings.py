"""Mail's own settings: the OAuth endpoints of the mail provider, for consent, tokens and revocation."""

from __future__ import annotations

from svc.config import Setting, http_url

MAIL_AUTH_URL: Setting[str | None] = Setting(
    name="SVC_MAIL_AUTH_URL",
    parse=http_url,
    default=None,
    shown_default="from the issuer's discovery document",
    type="URL",
    help="Authorization endpoint of the mail provider.",
)
MAIL_TOKEN_URL: Setting[str | None] = Setting(
    name="SVC_MAIL_TOKEN_URL",
    parse=http_url,
    default=None,
    shown_default="from the issuer's discovery document",
    type="URL",
    help="Token endpoint of the mail provider.",
)
MAIL_REVOKE_URL: Setting[str | None] = Setting(
    name="SVC_MAIL_REVOKE_URL",
    parse=http_url,
    default=None,
    shown_default="from the issuer's discovery document",
    type="URL",
    help="Revocation endpoint of the mail provider (RFC 7009): it is told when an account is disconnected.",
)
SETTINGS = (MAIL_AUTH_URL, MAIL_TOKEN_URL, MAIL_REVOKE_URL)
