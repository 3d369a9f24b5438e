"""``kill -9`` at the steps of a send, against the fake and against Google: the provider sees a mail at most once.

A process is told to die at a step of a mail that it sends, the next one at a later step, until one gets through: at
every step under ``SVC_SOAK=1``, else at each third, from one of the first three by chance. The one after it finds what
is true: sent, still to be sent, or unknown, and then the mailbox knows. The person who clicked once and saw nothing
clicks again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.journeys.test_google_mailbox import FAST, _connect, _start
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.peers.needs import EMULATOR, needs
from tests.sizes import HANGS_S, SENDING_ROUNDS, SENDING_STRIDE
from tests.support.process import ServiceProcess, until
from tests.support.service import MIA

pytestmark = [pytest.mark.journey, pytest.mark.share(2)]

GOOGLES: Final = "mia@acme.test"
SETTLE_DEADLINE_S: Final = HANGS_S
MIN_STEPS: Final = 8
DELIVERS: Final = "sending "
"""How the name of a delivering task begins."""


@dataclass(frozen=True, kw_only=True)
class Killing:
    """One home, killed again and again. ``accepted`` is how many mails the provider has taken from it."""

    service: ServiceProcess
    start: Callable[[], None]
    accepted: Callable[[], int]
    sync: Callable[[], None]
    died_with: set[int] = field(default_factory=set)
    """Of the mail under way, how many the provider had taken by each death: none or one."""

    def run(self, chance: random.Random) -> int:
        """Die at one step after another, until a send gets through. At which step none died any more."""
        first = chance.randint(1, SENDING_STRIDE)
        for step in count(first, SENDING_STRIDE):
            before = self.accepted()
            order = self.service.die_at(step, of=DELIVERS)
            if step == first:
                self.start()
            draft_id, died = self._send(f"Step {step}")
            order.unlink()
            assert self.accepted() <= before + 1, step
            if not died:
                assert self.accepted() == before + 1
                assert self.service.stop() == 0
                return step
            self.died_with.add(self.accepted() - before)
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
        until(
            lambda: self._state(outgoing_id) in states,
            what=f"the mail to be {' or '.join(states)}",
            deadline_s=SETTLE_DEADLINE_S,
            tell=self.service.log,
        )

    def _state(self, outgoing_id: str) -> str:
        (row,) = [row for row in self.service.query("mail.outgoing") if row["id"] == outgoing_id]
        return str(row["state"])


def test_killed_at_steps_of_a_send_against_the_fake(tmp_path: Path, chance: random.Random) -> None:
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
        for _ in range(SENDING_ROUNDS):
            assert killing.run(chance) > MIN_STEPS
        assert killing.died_with == {0, 1}
        assert service.command("fsck", "--deep").stdout == "ok\n"


def _journal(service: ServiceProcess) -> list[str]:
    """What the fake mailbox accepted, by its journal, since the process may be dead."""
    lines = (service.home / "spool" / "fake.jsonl").read_text().splitlines()
    return [line for line in lines if '"op":"send"' in line]


@pytest.mark.peer
@needs(EMULATOR)
@pytest.mark.parametrize("number", range(SENDING_ROUNDS))
def test_killed_at_steps_of_a_send_against_google(tmp_path: Path, chance: random.Random, number: int) -> None:
    """Each round has an emulator of its own: after some thousand requests it serves a token no more."""
    with (
        ServiceProcess(tmp_path) as service,
        google(users=[GOOGLES], redirect_uris=[f"{service.base}/oauth/mail/callback"]) as peer,
    ):
        _start(service, peer)
        _connect(service, peer)
        until(
            lambda: _caught_up(service),
            what="the account to catch up",
            deadline_s=SETTLE_DEADLINE_S,
            tell=service.log,
        )
        service.kill()
        killing = Killing(
            service=service,
            start=lambda: _start_hasty(service, peer),
            accepted=lambda: len(peer.message_ids(GOOGLES)),
            sync=lambda: _polled(service),
        )
        assert killing.run(chance) > MIN_STEPS
        assert killing.died_with == {0, 1}
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
    """Until the mailbox was read by the process that runs now. Its first poll may have begun too early to count."""
    began = service.query("health.ping")["time"]
    (account,) = service.query("mail.accounts")
    service.mutate("mail.retryFailures", accountId=account["id"])  # the app: Check now

    def newer() -> bool:
        (account,) = service.query("mail.accounts")
        return bool((account["lastSyncedAt"] or "") > began)

    until(newer, what="a poll by the process that runs now", deadline_s=SETTLE_DEADLINE_S, tell=service.log)
