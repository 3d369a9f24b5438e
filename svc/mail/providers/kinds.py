"""The kinds of provider that accounts can be connected at: the one place outside their folders that names them."""

from __future__ import annotations

from typing import Final

from svc.mail.providers import local
from svc.mail.providers.gmail.kind import KIND
from svc.mail.providers.imap.kind import KIND as IMAP_KIND
from svc.mail.providers.kind import OAuthKind, PasswordKind
from svc.mail.providers.outlook.kind import KIND as OUTLOOK_KIND

BY_OAUTH: Final[OAuthKind] = KIND
"""At the identity provider, with its client."""
ALL_BY_OAUTH: Final[tuple[OAuthKind, ...]] = (BY_OAUTH, OUTLOOK_KIND)
BY_PASSWORD: Final[PasswordKind] = IMAP_KIND
KEPT_HERE: Final = local.NAME
"""Of accounts that no provider stands behind: imports go to them, and nothing is sent from them."""
