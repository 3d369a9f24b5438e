"""The rows that connections contribute: which credentials they may acquire."""

from __future__ import annotations

from svc.connections.checks import CHECKS
from svc.connections.grants import ACTOR
from svc.feature import Feature

FEATURE = Feature(
    name=ACTOR,
    summary="Grants at outside services: consent, tokens, their renewal and their end.",
    checks=CHECKS,
    uses=("idp.oauth", "idp.oauth.*", "mail.imap.*"),
)
