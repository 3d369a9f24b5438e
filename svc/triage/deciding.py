"""The kind of a mail, by plain rules. Pure: the same facts always give the same kind.

The order: what a person said of the sender, an invitation, a receipt, mail to many recipients, mail that no person
sent, and then mail from one person to another. Only for the last the rules are not always sure.
"""

from __future__ import annotations

import re
from typing import Final

from svc.triage.model import Decision, Facts, Kind

MANY: Final = 8
"""Recipients of a mail that still counts as addressed to its reader. Beyond: nobody in particular is asked for an
answer.
"""
_RECEIPT: Final = re.compile(
    r"\b(?:receipt|invoice|order (?:confirmation|no|number|#)|your (?:order|payment|purchase|booking|subscription)"
    r"|payment (?:received|confirmation)|has (?:been )?shipped|rechnung|bestell(?:ung|best)\w*|quittung|zahlung\w*"
    r"|auftragsbest\w*|facture|votre commande|reçu|factura|pedido|recibo|fattura|ricevuta|ordine|kvitto|faktura)\b"
)
_BILLING: Final = re.compile(
    r"^(?:billing|invoices?|orders?|payments?|receipts?|accounts?|rechnung(?:en)?|shop|sales)\b"
)
_ROBOT: Final = re.compile(
    r"^(?:no[-_.]?reply|do[-_.]?not[-_.]?reply|mailer-daemon|postmaster|bounces?|notifications?|alerts?|robot)\b"
)


def decide(facts: Facts, *, learned: Kind | None = None) -> Decision:
    """``learned``: what a person said of this sender."""
    if learned is not None:
        return Decision(kind=learned, because=f"you said so of {facts.sender}", by="person")
    robot = bool(_ROBOT.match(facts.sender))
    if facts.has_invitation:
        return Decision(kind="calendar", because="it has an invitation")
    if _RECEIPT.search(facts.subject) and (robot or facts.is_bulk or _BILLING.match(facts.sender)):
        return Decision(kind="receipt", because="a shop or a service sent it, and its subject speaks of an order")
    if facts.is_bulk:
        return Decision(kind="reading", because="it went to many")
    if robot or not facts.sender:
        return Decision(kind="other", because="no person sent it")
    if not facts.to_me or facts.recipients > MANY:
        return Decision(kind="other", because="it is not to you alone", sure=False)
    if "?" in facts.subject or "?" in facts.snippet:
        return Decision(kind="reply", because="a person asks you something", sure=False)
    if facts.written_to:
        return Decision(kind="reply", because="somebody you write with sent it to you", sure=False)
    return Decision(kind="other", because="a stranger sent it, and asks nothing", sure=False)
