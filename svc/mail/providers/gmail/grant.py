"""What we request from Google when a user connects a mailbox."""

from __future__ import annotations

from typing import Final

from svc.connections import google_terms

MAIL_SCOPE: Final = "https://www.googleapis.com/auth/gmail.modify"

GMAIL_TERMS: Final = google_terms(
    what="mail",
    scopes=(MAIL_SCOPE,),
    sufficient_scopes=frozenset({MAIL_SCOPE, "https://mail.google.com/"}),
    not_granted=(
        "Access to the mailbox was not granted: leave the box for reading, composing and sending mail ticked on "
        "Google's consent screen."
    ),
)
