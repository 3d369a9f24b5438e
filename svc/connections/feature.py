"""The rows that connections contribute: their own OAuth clients, and which credentials they may acquire."""

from __future__ import annotations

from svc.connections.checks import CHECKS
from svc.connections.grants import ACTOR
from svc.connections.microsoft import CLIENT, CLIENT_ROW, SETTINGS
from svc.feature import Feature

FEATURE = Feature(
    name=ACTOR,
    summary="Grants at outside services: consent, tokens, their renewal and their end.",
    settings=SETTINGS,
    checks=CHECKS,
    capabilities=(CLIENT_ROW,),
    uses=("idp.oauth", "idp.oauth.*", "mail.imap.*", CLIENT),
)
