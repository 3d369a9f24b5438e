"""The list of provider kinds: the only place in mail outside their own folders that names them. With the fakes on,
``svc/fakes/feature.py`` replaces those that reach outside (``Providers.replace_all``), and the list stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.mail.model import Account
from svc.mail.providers import local
from svc.mail.providers.gmail.kind import KIND
from svc.mail.providers.imap.kind import KIND as IMAP_KIND
from svc.mail.providers.kind import HereKind, Kind, OAuthKind, PasswordKind
from svc.mail.providers.outlook.kind import KIND as OUTLOOK_KIND

BY_OAUTH: Final[OAuthKind] = KIND
"""The kind that uses the identity provider and its OAuth client."""
ALL_BY_OAUTH: Final[tuple[OAuthKind, ...]] = (BY_OAUTH, OUTLOOK_KIND)
BY_PASSWORD: Final[PasswordKind] = IMAP_KIND
KEPT_HERE: Final = local.NAME
"""The provider name of accounts without a real provider: imports go to them, and they send nothing."""
ALL: Final[tuple[Kind, ...]] = (*ALL_BY_OAUTH, BY_PASSWORD, HereKind(name=KEPT_HERE))
_BY_NAME: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in ALL})


def kind_of(account: Account) -> Kind:
    """The kind of an account's provider. One that is not in the list, as the fake one, stands in for one by OAuth."""
    return _BY_NAME.get(account.provider, BY_OAUTH)
