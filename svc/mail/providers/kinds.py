"""The kinds of provider that accounts can be connected at: the one place outside their folders that names them."""

from __future__ import annotations

from typing import Final

from svc.mail.providers.gmail.kind import KIND
from svc.mail.providers.imap.kind import KIND as IMAP_KIND
from svc.mail.providers.kind import OAuthKind, PasswordKind

BY_OAUTH: Final[OAuthKind] = KIND
BY_PASSWORD: Final[PasswordKind] = IMAP_KIND
