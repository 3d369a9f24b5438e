"""``kill -9`` at every step of a send, against the fake and against Google: the provider sees a mail at most once.

Each round a process is told to die at the next step of a mail that it sends. The one after it finds what is true: sent,
still to be sent, or unknown, and then the mailbox knows. The person who clicked once and saw nothing clicks again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.journeys.harness import ServiceProcess, until
from tests.journeys.test_google_mailbox import FAST, _connect, _start
from tests.peers.cache import needs_emulator
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.service import MIA

pytestmark = pytest.mark.journey

GOOGLES: Final = "mia@acme.test"
SETTLE_DEADLINE_S: Final = 60.0
MIN_STEPS: Final = 8


@dataclass(frozen=True, kw_only=True)
class Killing:
    """One home, killed again and again. ``accepted`` is how many mails the provider has taken from it."""

    service: ServiceProcess
    start: Callable[[], None]
    accepted: Callable[[], int]
    sync: Callable[[], None]

    def run(self) -> int:
        """Die at each step in turn, until a send gets through. How many steps it took."""
        order = self.service.directory / "order"
        self.service.program = ("-m", "tests.journeys.dying", str(order))
        self.start()
        for step in count(1):
            before = self.accepted()
            order.write_text(str(step))
            draft_id, died = self._send(f"Step {step}")
            order.unlink()
            assert self.accepted() <= before + 1, step
            if not died:
                assert self.accepted() == before + 1
                assert self.service.stop() == 0
                return step - 1
            self.start()
            self._settle(draft_id, f"Step {step}", before=before)
        raise AssertionError("unreachable")

    def _send(self, subject: str) -> tuple[str, bool]:
        """Write a mail and send it. The draft's id, and whether the process died of it."""
        draft = self.service.mutate("mail.saveDraft", **self._mail(subject))
        try:
            self._say(draft["id"], subject)
        except (OSError, HTTPException):
            self.service.wait()
            return draft["id"], True
        return draft["id"], False

    def _settle(self, draft_id: str, subject: str, *, before: int) -> None:
        """What the next process says of it is true, and a person who clicks again gets it sent once."""
        outgoing_id = self._say(draft_id, subject)["outgoingId"]
        self._until(outgoing_id, "sent", "uncertain")  # the answer doesn't wait for a slow provider
        said = self._state(outgoing_id)
        here = self.accepted() - before
        assert here <= 1, subject
        if said == "sent":
            assert here == 1, subject
        self.sync()
        state = self._state(outgoing_id)
        assert state == ("sent" if here else "uncertain"), subject
        if state == "uncertain":
            self.service.mutate("mail.retrySend", id=outgoing_id)
            self._until(outgoing_id, "sent")
        assert self.accepted() == before + 1, subject

    def _say(self, draft_id: str, subject: str) -> dict[str, str]:
        answer: dict[str, str] = self.service.mutate("mail.send", draftId=draft_id, **self._mail(subject))
        return answer

    def _mail(self, subject: str) -> dict[str, object]:
        (account,) = self.service.query("mail.accounts")
        return {
            "accountId": account["id"],
            "to": ["noa@example.org"],
            "subject": subject,
            "html": "<p>Once, and only once.</p>",
        }

    def _until(self, outgoing_id: str, *states: str) -> None:
        until(lambda: self._state(outgoing_id) in states, deadline_s=SETTLE_DEADLINE_S, tell=self.service.log)

    def _state(self, outgoing_id: str) -> str:
        (row,) = [row for row in self.service.query("mail.outgoing") if row["id"] == outgoing_id]
        return str(row["state"])


def test_at_every_step_against_the_fake(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path) as service:
        service.start(PROVIDERS="fake")
        service.mutate("fake.mail.inject", **{"address": MIA, "from": "noa@example.org", "subject": "Welcome"})
        service.mutate("fake.mail.syncNow", address=MIA)
        service.kill()
        killing = Killing(
            service=service,
            start=lambda: service.start(PROVIDERS="fake", SVC_UNDO_SEND_SECONDS="0"),
            accepted=lambda: len(_journal(service)),
            sync=lambda: service.mutate("fake.mail.syncNow", address=MIA),
        )
        assert killing.run() > MIN_STEPS
        assert service.command("fsck", "--deep").stdout == "ok\n"


def _journal(service: ServiceProcess) -> list[str]:
    """What the fake mailbox accepted, as its journal says, whoever is alive to be asked."""
    lines = (service.home / "spool" / "fake.jsonl").read_text().splitlines()
    return [line for line in lines if '"op":"send"' in line]


@pytest.mark.peer
@needs_emulator
def test_at_every_step_against_google(tmp_path: Path) -> None:
    with (
        ServiceProcess(tmp_path) as service,
        google(users=[GOOGLES], redirect_uris=[f"{service.base}/oauth/mail/callback"]) as peer,
    ):
        _start(service, peer)
        _connect(service, peer)
        until(lambda: _caught_up(service), deadline_s=SETTLE_DEADLINE_S, tell=service.log)
        service.kill()
        killing = Killing(
            service=service,
            start=lambda: _start_hasty(service, peer),
            accepted=lambda: len(peer.message_ids(GOOGLES)),
            sync=lambda: _polled(service),
        )
        assert killing.run() > MIN_STEPS
        assert service.command("fsck", "--deep").stdout == "ok\n"


def _start_hasty(service: ServiceProcess, peer: Google) -> None:
    service.start(
        SVC_IDP_ISSUER=peer.base,
        SVC_MAIL_API_URL=peer.base,
        IDP_CLIENT_ID=CLIENT_ID,
        IDP_CLIENT_SECRET=CLIENT_SECRET,
        SVC_MAIL_QUOTA_PER_MINUTE=FAST,
        SVC_UNDO_SEND_SECONDS="0",
    )


def _caught_up(service: ServiceProcess) -> bool:
    return service.rows("select state from mail_accounts") == [("caught-up",)]


def _polled(service: ServiceProcess) -> None:
    """Until the mailbox was read by the process that runs now, which it does first of all."""
    began = service.events("http.listening")[-1]["at"]

    def newer() -> bool:
        (account,) = service.query("mail.accounts")
        return bool((account["lastSyncedAt"] or "") > began)

    until(newer, deadline_s=SETTLE_DEADLINE_S, tell=service.log)
