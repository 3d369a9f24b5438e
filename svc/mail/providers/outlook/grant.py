"""What we request from Microsoft when a user connects a mailbox."""

from __future__ import annotations

from typing import Final

from svc.connections import microsoft_terms

READ_SCOPE: Final = "https://outlook.office.com/IMAP.AccessAsUser.All"
SEND_SCOPE: Final = "https://outlook.office.com/SMTP.Send"

TERMS: Final = microsoft_terms(
    what="mail",
    scopes=(READ_SCOPE, SEND_SCOPE),
    sufficient_scopes=frozenset({READ_SCOPE, READ_SCOPE.replace("office.com", "office365.com")}),
    not_granted="Access to the mailbox was not granted (IMAP.AccessAsUser.All). Consent to all that is asked for.",
)
