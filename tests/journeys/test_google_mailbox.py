"""The main job on real input: a Google-like mailbox of real mail is connected by OAuth, synced, changed on both sides.

The emulator and the service are processes of their own; the mail is a public corpus; nothing is written by hand.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.journeys.harness import ServiceProcess, until
from tests.mail import corpus
from tests.peers.cache import needs_emulator
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google

pytestmark = [
    pytest.mark.journey,
    pytest.mark.peer,
    needs_emulator,
    pytest.mark.skipif(not corpus.is_present(), reason=corpus.ABSENT),
]

ADDRESS = "mia@acme.test"
MAILS = 500
SYNC_DEADLINE_S = 120.0
POLL_DEADLINE_S = 45.0  # one poll interval and what it takes
FAST = "1000000"  # quota: the emulator has none, and the gate has its own tests


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(tmp_path) as process:
        yield process


@pytest.fixture
def mailbox(service: ServiceProcess) -> Iterator[Google]:
    """A mailbox of 500 real mails, spread over labels as a person's is."""
    callback = f"{service.base}/oauth/mail/callback"
    with google(users=[ADDRESS], redirect_uris=[callback]) as peer:
        project = peer.create_label(ADDRESS, "Projects/Mural")
        kinds = (["INBOX", "UNREAD"], ["INBOX"], [project], ["INBOX", "STARRED", project], ["SPAM"])
        for number, path in enumerate(_mails()):
            peer.insert(ADDRESS, path.read_bytes(), labels=kinds[number % len(kinds)])
        yield peer


def test_a_mailbox_of_real_mail_is_connected_synced_and_mirrored(service: ServiceProcess, mailbox: Google) -> None:
    _start(service, mailbox)
    _connect(service, mailbox)
    _until_caught_up(service)
    assert _stored(service) == _at_provider(mailbox)
    assert service.query("mail.accounts")[0]["messages"] == MAILS

    _change_at_provider_and_see_it_here(service, mailbox)
    _change_here_and_see_it_at_provider(service, mailbox)

    assert service.stop() == 0
    assert service.command("fsck", "--deep").stdout == "ok\n"
    assert CLIENT_SECRET not in service.log()


def test_a_backfill_killed_at_random_moments_ends_in_the_same_state(service: ServiceProcess, mailbox: Google) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    _start(service, mailbox)
    _connect(service, mailbox)
    kills = 0
    for _ in range(3):
        reached = chance.randrange(50, 450)
        until(
            lambda reached=reached: _progress(service) >= reached or _is_caught_up(service), deadline_s=SYNC_DEADLINE_S
        )
        kills += not _is_caught_up(service)
        service.kill()
        assert service.command("fsck").stdout == "ok\n"
        _start(service, mailbox)
    _until_caught_up(service)
    assert kills > 0
    assert _stored(service) == _at_provider(mailbox)
    announced = service.rows("select count(*) from events where type = 'mail-received'")
    assert announced == [(MAILS,)]
    assert service.stop() == 0
    assert service.command("fsck", "--deep").stdout == "ok\n"


def test_an_account_whose_grant_is_revoked_asks_to_be_connected_again_and_recovers(
    service: ServiceProcess, mailbox: Google
) -> None:
    _start(service, mailbox)
    _connect(service, mailbox)
    _until_caught_up(service)
    mailbox.revoke_grants()
    until(lambda: _account(service)["state"] == "reconnect", deadline_s=POLL_DEADLINE_S, tell=service.log)
    assert _account(service)["problem"]
    assert service.request("GET", "/readyz").status == 200
    _connect(service, mailbox)
    until(lambda: _account(service)["state"] == "caught-up", deadline_s=POLL_DEADLINE_S, tell=service.log)
    assert _account(service)["problem"] is None
    assert service.stop() == 0


def _start(service: ServiceProcess, mailbox: Google) -> None:
    service.start(
        SVC_IDP_ISSUER=mailbox.base,
        SVC_MAIL_API_URL=mailbox.base,
        IDP_CLIENT_ID=CLIENT_ID,
        IDP_CLIENT_SECRET=CLIENT_SECRET,
        SVC_MAIL_QUOTA_PER_MINUTE=FAST,
    )


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
    until(lambda: _stored(service) == expected, deadline_s=POLL_DEADLINE_S, tell=service.log)
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
        deadline_s=POLL_DEADLINE_S,
        tell=service.log,
    )
    until(lambda: _account(service)["pending"] == 0, deadline_s=POLL_DEADLINE_S, tell=service.log)


def _mails() -> list[Path]:
    everything = corpus.every_path()
    return list(everything[:: len(everything) // MAILS][:MAILS])


def _account(service: ServiceProcess) -> dict[str, object]:
    (account,) = service.query("mail.accounts")
    return dict(account)


def _progress(service: ServiceProcess) -> int:
    return int(service.rows("select coalesce(sum(messages), 0) from mail_accounts")[0][0])


def _is_caught_up(service: ServiceProcess) -> bool:
    return service.rows("select state from mail_accounts") == [("caught-up",)]


def _until_caught_up(service: ServiceProcess) -> None:
    until(lambda: _is_caught_up(service), deadline_s=SYNC_DEADLINE_S, tell=service.log)


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
