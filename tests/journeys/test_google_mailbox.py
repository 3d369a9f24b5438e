"""The main job on real input: a Google-like mailbox of real mail is connected by OAuth, synced, changed on both sides.

The emulator and the service are processes of their own; the mail is a public corpus; nothing is written by hand.
When a backfill is killed is chosen anew in each run. A failure says its seed, and ``SVC_TEST_SEED=<seed>`` chooses the
same again.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.formats.mime import corpus
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.peers.needs import CORPUS, EMULATOR, needs
from tests.sizes import GMAIL_DRAFT_KILLS, GMAIL_HOMES, GMAIL_MAILS, HANGS_S, KILLS_A_HOME
from tests.support.process import ServiceProcess, until

pytestmark = [
    pytest.mark.journey,
    pytest.mark.peer,
    needs(EMULATOR, CORPUS),
]

ADDRESS = "mia@acme.test"
SYNC_DEADLINE_S = HANGS_S
POLL_DEADLINE_S = HANGS_S
FEW_MAILS = 5
LONGEST_LIFE_STEPS = GMAIL_MAILS
"""A backfill takes many steps a mail, so that all lives together do not get to its end."""
STEPS_OF_A_DRAFT = 60
FAST = "1000000"  # quota: the emulator has none, and the limiter has its own tests


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        yield process


@pytest.fixture
def mailbox(service: ServiceProcess) -> Iterator[Google]:
    """A mailbox of real mails, spread over labels as a person's is."""
    with _mailbox_of(service, GMAIL_MAILS) as peer:
        yield peer


@pytest.fixture
def small_mailbox(service: ServiceProcess) -> Iterator[Google]:
    with _mailbox_of(service, FEW_MAILS) as peer:
        yield peer


@contextmanager
def _mailbox_of(service: ServiceProcess, mails: int) -> Iterator[Google]:
    callback = f"{service.base}/oauth/mail/callback"
    with google(users=[ADDRESS], redirect_uris=[callback]) as peer:
        project = peer.create_label(ADDRESS, "Projects/Mural")
        kinds = (["INBOX", "UNREAD"], ["INBOX"], [project], ["INBOX", "STARRED", project], ["SPAM"])
        for number, path in enumerate(_mails(mails)):
            peer.insert(ADDRESS, path.read_bytes(), labels=kinds[number % len(kinds)])
        yield peer


def test_a_mailbox_of_real_mail_is_connected_synced_and_mirrored(service: ServiceProcess, mailbox: Google) -> None:
    _start(service, mailbox)
    _connect(service, mailbox)
    _until_caught_up(service)
    assert _stored(service) == _at_provider(mailbox)
    assert service.query("mail.accounts")[0]["messages"] == GMAIL_MAILS

    _change_at_provider_and_see_it_here(service, mailbox)
    _change_here_and_see_it_at_provider(service, mailbox)

    assert service.stop() == 0
    assert service.command("fsck", "--deep").stdout == "ok\n"
    assert CLIENT_SECRET not in service.log()


@pytest.mark.parametrize("home", range(GMAIL_HOMES))
def test_a_backfill_killed_at_random_moments_ends_in_the_same_state(
    service: ServiceProcess, mailbox: Google, chance: random.Random, home: int
) -> None:
    _start(service, mailbox)
    _connect(service, mailbox)
    service.kill()
    for _ in range(KILLS_A_HOME):
        order = service.die_at(chance.randint(1, LONGEST_LIFE_STEPS), of="mail:")
        service.spawn(**_settings(mailbox))
        assert service.wait() == -signal.SIGKILL, service.log()
        assert not _is_caught_up(service), "it died after the backfill: the test tests nothing"
        assert service.command("fsck").stdout == "ok\n"
    order.unlink()
    _start(service, mailbox)
    _until_caught_up(service)
    assert _stored(service) == _at_provider(mailbox)
    announced = service.rows("select count(*) from events where type = 'mail-received'")
    assert announced == [(GMAIL_MAILS,)]
    assert service.stop() == 0
    assert service.command("fsck", "--deep").stdout == "ok\n"


def test_an_account_whose_grant_is_revoked_asks_to_be_connected_again_and_recovers(
    service: ServiceProcess, small_mailbox: Google
) -> None:
    _start(service, small_mailbox)
    _connect(service, small_mailbox)
    _until_caught_up(service)
    small_mailbox.revoke_grants()
    _until_state(service, "reconnect")
    assert _account(service)["problem"]
    assert service.request("GET", "/readyz").status == 200
    _connect(service, small_mailbox)
    _until_state(service, "caught-up")
    assert _account(service)["problem"] is None
    assert service.stop() == 0


def test_a_draft_is_one_draft_here_and_at_gmail_however_often_the_service_is_killed(
    service: ServiceProcess, small_mailbox: Google, chance: random.Random
) -> None:
    """By ``kill -9`` at any step of telling Gmail of it; then another program goes on with it, and begins one."""
    service.hurry()
    _start(service, small_mailbox)
    _connect(service, small_mailbox)
    _until_caught_up(service)
    wanted = {"accountId": _account(service)["id"], "to": ["bob@else.test"], "html": "<p>So far</p>"}
    saved = service.mutate("mail.saveDraft", subject="Boats 0", **wanted)
    story = []
    for number in range(1, GMAIL_DRAFT_KILLS + 1):
        service.kill()
        order = service.die_at(chance.randint(1, STEPS_OF_A_DRAFT), of="drafts of")
        story.append(order.read_text())
        service.spawn(**_settings(small_mailbox))
        until(lambda: service.is_dead() or not _waits(service), what="the draft to be told", deadline_s=HANGS_S)
        order.unlink()
        service.kill()
        _start(service, small_mailbox)
        subject = f"Boats {number}"
        saved = service.mutate("mail.saveDraft", id=saved["id"], version=saved["version"], subject=subject, **wanted)
    _until_told(service, subject)
    assert _subjects(small_mailbox) == [subject], story
    assert len(_stored(service)) == FEW_MAILS

    ((draft_id, raw),) = small_mailbox.drafts(ADDRESS).items()
    edited = re.sub(rb"(?m)^(X-Svc-Outgoing|Message-ID|Date): .*\n", b"", raw).replace(b"Boats", b"Ships")
    small_mailbox.put_draft(ADDRESS, b"Date: Mon, 2 Jan 2040 10:00:00 +0000\r\n" + edited, draft_id=draft_id)
    _look(service)
    _until_told(service, f"Ships {GMAIL_DRAFT_KILLS}")
    draft = service.query("mail.draft", id=saved["id"])
    service.mutate("mail.saveDraft", id=saved["id"], version=draft["version"], subject="Rafts", **wanted)
    _until_told(service, "Rafts")
    assert _subjects(small_mailbox) == ["Rafts"], story

    small_mailbox.put_draft(ADDRESS, f"From: {ADDRESS}\r\nSubject: Begun\r\n\r\nSo far.\r\n".encode())
    _look(service)
    ((message_id,),) = service.rows("select id from mail_messages where subject = 'Begun'")
    taken = service.mutate("mail.takeUpDraft", messageId=message_id)["draftId"]
    version = service.query("mail.draft", id=taken)["version"]
    service.mutate("mail.saveDraft", id=taken, version=version, subject="Gone on", **wanted)
    _until_told(service, "Rafts", "Gone on")
    assert _subjects(small_mailbox) == ["Gone on", "Rafts"], story
    for one in (saved["id"], taken):
        service.mutate("mail.deleteDraft", id=one)
    until(lambda: not small_mailbox.has_drafts(ADDRESS), what="the copies to go", deadline_s=HANGS_S, tell=service.log)
    _look(service)
    assert set(_stored(service)) == set(small_mailbox.message_ids(ADDRESS))
    assert service.stop() == 0
    assert service.command("fsck", "--deep").stdout == "ok\n", story


def _subjects(mailbox: Google) -> list[str]:
    found = [re.search(rb"(?m)^Subject: (.*?)\r?$", raw) for raw in mailbox.drafts(ADDRESS).values()]
    return sorted(one[1].decode() for one in found if one is not None)


def _waits(service: ServiceProcess) -> bool:
    return bool(service.rows("select 1 from mail_draft_copies where next_at is not null"))


def _until_told(service: ServiceProcess, *subjects: str) -> None:
    """These are the drafts here, and Gmail has heard of them."""
    rows = sorted((subject,) for subject in subjects)
    until(
        lambda: sorted(service.rows("select subject from mail_drafts")) == rows and not _waits(service),
        what=f"{subjects} to be told",
        deadline_s=HANGS_S,
        tell=service.log,
    )


def _look(service: ServiceProcess) -> None:
    """The service reads the mailbox now; returns when it did."""
    service.mutate("mail.retryFailures", accountId=_account(service)["id"])


def _start(service: ServiceProcess, mailbox: Google) -> None:
    service.start(**_settings(mailbox))


def _settings(mailbox: Google) -> dict[str, str]:
    return {
        "SVC_IDP_ISSUER": mailbox.base,
        "SVC_MAIL_API_URL": mailbox.base,
        "IDP_CLIENT_ID": CLIENT_ID,
        "IDP_CLIENT_SECRET": CLIENT_SECRET,
        "SVC_MAIL_QUOTA_PER_MINUTE": FAST,
    }


def _connect(service: ServiceProcess, mailbox: Google) -> None:
    """As a browser would: start, consent, and back with the cookie that the start gave."""
    begun = service.request("GET", f"/oauth/mail/start?email={ADDRESS}")
    assert begun.status == 302
    location, cookie = begun.header("location"), begun.header("set-cookie")
    assert location
    assert cookie
    back = urlsplit(mailbox.authorize(location, ADDRESS))
    ended = service.request("GET", f"{back.path}?{back.query}", headers={"cookie": cookie.partition(";")[0]})
    assert (ended.status, ended.header("location")) == (302, "/")


def _change_at_provider_and_see_it_here(service: ServiceProcess, mailbox: Google) -> None:
    relabelled, deleted, *_ = mailbox.message_ids(ADDRESS)
    mailbox.modify(ADDRESS, relabelled, add=["STARRED"], remove=["INBOX", "UNREAD"])
    mailbox.delete(ADDRESS, deleted)
    added = mailbox.insert(ADDRESS, b"From: Noa <noa@acme.test>\r\nSubject: Just now\r\n\r\nHello.\r\n")
    expected = _at_provider(mailbox)  # asked once: the emulator, too, has a rate limit
    assert added in expected
    until(
        lambda: _stored(service) == expected,
        what="the changes at Google to be stored here",
        deadline_s=POLL_DEADLINE_S,
        tell=service.log,
    )
    newest = service.query("mail.threads", section="inbox")["threads"][0]
    assert (newest["subject"], newest["unread"]) == ("Just now", True)


def _change_here_and_see_it_at_provider(service: ServiceProcess, mailbox: Google) -> None:
    thread = service.query("mail.threads", section="inbox")["threads"][0]
    (message,) = service.rows("select provider_message_id from mail_messages where thread_id = ?", thread["id"])[0]
    service.mutate("mail.open", threadId=thread["id"])
    service.mutate("mail.archive", threadIds=[thread["id"]])
    assert thread["id"] not in {row["id"] for row in service.query("mail.threads", section="inbox")["threads"]}
    until(
        lambda: not mailbox.labels_of(ADDRESS, message) & {"INBOX", "UNREAD"},
        what="Google to hear that the message was read and archived",
        deadline_s=POLL_DEADLINE_S,
        tell=service.log,
    )
    until(
        lambda: _account(service)["pending"] == 0,
        what="no change to be pending",
        deadline_s=POLL_DEADLINE_S,
        tell=service.log,
    )


def _mails(number: int) -> list[Path]:
    everything = corpus.every_path()
    return list(everything[:: len(everything) // number][:number])


def _account(service: ServiceProcess) -> dict[str, object]:
    (account,) = service.query("mail.accounts")
    return dict(account)


def _is_caught_up(service: ServiceProcess) -> bool:
    return service.rows("select state from mail_accounts") == [("caught-up",)]


def _until_caught_up(service: ServiceProcess) -> None:
    until(lambda: _is_caught_up(service), what="the account to catch up", deadline_s=SYNC_DEADLINE_S, tell=service.log)


def _until_state(service: ServiceProcess, state: str) -> None:
    until(
        lambda: _account(service)["state"] == state,
        what=f"the account to be {state}",
        deadline_s=POLL_DEADLINE_S,
        tell=service.log,
    )


def _stored(service: ServiceProcess) -> dict[str, frozenset[str]]:
    rows = service.rows(
        """
        select provider_message_id, (select group_concat(value) from json_each(labels)) from mail_messages
        """
    )
    assert len(rows) == len({row[0] for row in rows}), "a message is stored once"
    return {message: frozenset((labels or "").split(",")) - {""} for message, labels in rows}


def _at_provider(mailbox: Google) -> dict[str, frozenset[str]]:
    return {message: frozenset(mailbox.labels_of(ADDRESS, message)) for message in mailbox.message_ids(ADDRESS)}
