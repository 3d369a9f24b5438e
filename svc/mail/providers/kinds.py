"""The kinds of provider that accounts can be connected at: the one place outside its folder that names one."""

from __future__ import annotations

from typing import Final

from svc.mail.providers.gmail.kind import KIND
from svc.mail.providers.kind import OAuthKind

BY_OAUTH: Final[OAuthKind] = KIND
