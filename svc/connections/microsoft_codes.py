"""The meaning of Microsoft's codes (``AADSTS…``), in words for the person who connects a mailbox and for the owner of
this server.

The codes stand in the ``error_description`` of the token endpoint and of a callback, and in the pages of the consent
screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from svc.connections.model import Refusal

CODE: Final = re.compile(r"AADSTS(\d{4,9})")
_REGISTRATION: Final = "In the app registration (entra.microsoft.com, App registrations)"
_CREDENTIALS: Final = "Settings > Credentials, Microsoft mail"

_REDIRECT: Final = Refusal(
    cause="redirect-unknown",
    detail="Microsoft does not know this server's redirect URI",
    remedy=f"{_REGISTRATION} add it exactly, under Authentication, for the platform Web",
)
_CLIENT: Final = Refusal(
    cause="client-unknown",
    detail="Microsoft does not know the client id in this directory",
    remedy=f"Copy the Application (client) ID again, to {_CREDENTIALS}; for an app of one organisation, its Directory "
    "(tenant) ID, too",
)
_DIRECTORY: Final = Refusal(
    cause="wrong-directory",
    detail="The app registration is for one organisation alone, or the directory that is set does not exist",
    remedy=f"Set the Directory (tenant) ID under {_CREDENTIALS}, or let the app registration take accounts of any "
    "organisation and personal accounts",
)
_SECRET_MISSING: Final = Refusal(
    cause="secret-missing",
    detail="Microsoft wants a client secret for this app registration, and none is set",
    remedy=f"{_REGISTRATION} make one under Certificates & secrets, and set its value under {_CREDENTIALS}; or add the "
    "redirect URI for the platform Mobile and desktop applications, which has none",
)
_ADMIN: Final = Refusal(
    cause="admin-consent",
    detail="An administrator of the organisation has to consent first: its people may not let this app in themselves",
    remedy=f"{_REGISTRATION} choose API permissions, Grant admin consent; or have an administrator of the mailbox's "
    "organisation connect first",
)
_SCOPES: Final = Refusal(
    cause="client-rejected",
    detail="The app registration may not ask for IMAP.AccessAsUser.All and SMTP.Send",
    remedy=f"{_REGISTRATION} add both under API permissions, Microsoft Graph, Delegated permissions",
)
_KIND: Final = Refusal(
    cause="account-kind",
    detail="The app registration does not take accounts of this kind, or of this organisation",
    remedy=f"{_REGISTRATION} choose, under Authentication, accounts of any organisation and personal accounts",
)
_BLOCKED: Final = Refusal(
    cause="blocked",
    detail="A rule of the organisation does not let this person, or this app, in",
    remedy="Ask the organisation's administrator: it is a rule of conditional access, or the app has to be assigned to "
    "people under Enterprise applications",
)
_CODE: Final = Refusal(cause="code-rejected", detail="The sign-in was used already or took too long. Connect again.")

REFUSALS: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        "50011": _REDIRECT,
        "500113": _REDIRECT,
        "900971": _REDIRECT,
        "700016": _CLIENT,
        "900144": _CLIENT,
        "90013": _CLIENT,
        "90002": _DIRECTORY,
        "900023": _DIRECTORY,
        "50194": _DIRECTORY,
        "7000215": Refusal(
            cause="secret-wrong",
            detail="The client secret is wrong",
            remedy=f"Set the secret's Value under {_CREDENTIALS}, not its Secret ID; where the value is shown no more, "
            "make a new one under Certificates & secrets",
        ),
        "7000222": Refusal(
            cause="secret-expired",
            detail="The client secret has expired",
            remedy=f"{_REGISTRATION} make a new one under Certificates & secrets, and set its value under "
            f"{_CREDENTIALS}; accounts that asked to be connected again have to be",
        ),
        "7000218": _SECRET_MISSING,
        "700025": Refusal(
            cause="client-rejected",
            detail="The app registration is a public client there, and a secret is set here",
            remedy=f"Set the client under {_CREDENTIALS} again, without a secret; or add the redirect URI for the "
            "platform Web",
        ),
        "65001": _ADMIN,
        "90094": _ADMIN,
        "90095": _ADMIN,
        "90093": _ADMIN,
        "650053": _SCOPES,
        "650057": _SCOPES,
        "70011": _SCOPES,
        "50020": _KIND,
        "500200": _KIND,
        "500208": _KIND,
        "50105": _BLOCKED,
        "53000": _BLOCKED,
        "53003": _BLOCKED,
        "70008": _CODE,
        "54005": _CODE,
        "70000": _CODE,
        "9002313": _CODE,
    }
)

DECLINED: Final = "65004"
"""The person declined the consent."""

ENDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "700082": "Microsoft ended this account's access: it was not used for 90 days. Connect the account again.",
        "50076": "Microsoft wants a second factor for this account. Connect the account again.",
        "50079": "Microsoft wants a second factor for this account. Connect the account again.",
        "50078": "Microsoft wants the second factor of this account anew. Connect the account again.",
        "53003": "A rule of the organisation (conditional access) keeps this server out. Ask its administrator, then "
        "connect the account again.",
        "65001": "Consent to this app was taken back at Microsoft. Connect the account again.",
        "50173": "Microsoft ended this account's access: its password was changed, or its sessions were ended. Connect "
        "the account again.",
        "7000215": "The client secret of this server is wrong at Microsoft. Its owner has to set it anew; then connect "
        "the account again.",
        "7000222": "The client secret of this server at Microsoft has expired. Its owner has to set a new one; then "
        "connect the account again.",
        "700016": "Microsoft does not know this server's app any more. Its owner has to set it anew; then connect the "
        "account again.",
    }
)
"""Why a renewal was refused."""
