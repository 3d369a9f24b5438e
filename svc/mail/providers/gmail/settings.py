"""The settings for Gmail: the address of its API, and how much of its quota an account may use."""

from __future__ import annotations

from svc.config import Setting, http_url, whole_number

MAIL_API_URL: Setting[str] = Setting(
    name="SVC_MAIL_API_URL",
    parse=http_url,
    default="https://gmail.googleapis.com",
    type="URL",
    help="Base URL of the Gmail REST API v1.",
)
MAIL_QUOTA: Setting[int] = Setting(
    name="SVC_MAIL_QUOTA_PER_MINUTE",
    parse=whole_number(100, 1_000_000),
    default=6_000,
    type="whole number",
    unit="quota units a minute and account",
    help="What the provider grants one account. 6,000 is what a new Gmail project gets; reading a message costs 20.",
)

SETTINGS = (MAIL_API_URL, MAIL_QUOTA)
