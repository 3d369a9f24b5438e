"""The list of provider kinds: the only place outside their own folders that names them."""

from __future__ import annotations

from typing import Final

from svc.mail.providers import local
from svc.mail.providers.gmail.kind import KIND
from svc.mail.providers.imap.kind import KIND as IMAP_KIND
from svc.mail.providers.kind import OAuthKind, PasswordKind
from svc.mail.providers.outlook.kind import KIND as OUTLOOK_KIND

BY_OAUTH: Final[OAuthKind] = KIND
"""The kind that uses the identity provider and its OAuth client."""
ALL_BY_OAUTH: Final[tuple[OAuthKind, ...]] = (BY_OAUTH, OUTLOOK_KIND)
BY_PASSWORD: Final[PasswordKind] = IMAP_KIND
KEPT_HERE: Final = local.NAME
"""The provider name of accounts without a real provider: imports go to them, and they send nothing."""
