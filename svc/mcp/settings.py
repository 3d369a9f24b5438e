"""The settings of the command: where it finds the service, and what opens it."""

from __future__ import annotations

from typing import Final

from svc.config import Setting, text

URL: Final[Setting[str]] = Setting(
    name="SVC_URL",
    parse=text,
    default="http://127.0.0.1:4780",
    type="URL",
    help="Where `svc mcp` and the SDK find the service.",
)
TOKEN: Final[Setting[str | None]] = Setting(
    name="SVC_TOKEN",
    parse=text,
    default=None,
    shown_default="unset",
    type="token",
    secret=True,
    help="The device token that `svc mcp` and the SDK bring. A claimed instance refuses them without.",
)
SETTINGS: Final = (URL, TOKEN)
