"""The steps of the ingest transaction, in order. Code that has to run when a message is stored has a row here."""

from __future__ import annotations

from typing import Final

from svc.mail.labelling import joining as labelling
from svc.mail.proposing import replies as proposed_replies
from svc.mail.search import following as search
from svc.mail.sending import elsewhere, settling
from svc.mail.sending import joining as sending
from svc.mail.sync import stored_files
from svc.mail.sync.received import record_received
from svc.mail.sync.steps import IngestStep, StoredMessage
from svc.mail.threads import correspondents
from svc.store import Tx


def meet_correspondents(tx: Tx, stored: StoredMessage) -> None:
    if stored.is_new:
        correspondents.meet(tx, stored.account, stored.message, labels=stored.labels)


INGEST_STEPS: Final[tuple[IngestStep, ...]] = (
    stored_files.add_attachments,
    meet_correspondents,
    record_received,
    proposed_replies.drop_answered,
    settling.settle_found,
    elsewhere.follow_found,
    search.follow_joined,
    labelling.follow_joined,
    sending.follow_joined,
)
