"""Web Push: who is notified of what, once, with how many words; and what becomes of a refused push."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
import trio
from joserfc import jwt
from joserfc.jwk import ECKey

from svc.clock import MINUTE_MS
from svc.notifications.arriving import FRESH_MS, tell_of
from svc.notifications.model import Quiet
from svc.principal import Principal
from svc.store import Event, Tx
from tests.notifications.conftest import ME, NotifiedPerson
from tests.notifications.push_service import HOST, Subscription
from tests.protocol.small_internet import answer
from tests.support.service import MIA


async def test_new_mail_is_pushed_encrypted_and_signed_and_a_repeat_of_its_event_tells_nothing(
    person: NotifiedPerson,
) -> None:
    await person.settle()
    await person.receive("Lunch?")
    ((fields, body),) = person.outside.pushes
    told = person.browser.read(body)
    assert (told["sender"], told["subject"], told["snippet"]) == ("noa@example.org", "Lunch?", "Hi.")
    assert told["accountId"] == person.account_id
    assert (fields[""], fields["content-encoding"], fields["ttl"]) == ("POST /1 HTTP/1.1", "aes128gcm", "14400")
    scheme, _, rest = fields["authorization"].partition(" ")
    token, key = (one.partition("=")[2] for one in rest.split(", "))
    public_key = (await person.ask("notifications.key"))["publicKey"]
    assert (scheme, key) == ("vapid", public_key)
    claims = jwt.decode(token, _verifier(public_key), algorithms=["ES256"]).claims
    assert (claims["aud"], claims["sub"]) == (f"https://{HOST}", f"mailto:{MIA}")
    left_s = claims["exp"] - person.service.workspace.clock.now() / 1_000
    assert 0 < left_s < 24 * 3_600
    rows = await person.service.rows(
        "select seq, at, type, payload, audience, device_id from events where type = 'mail-received' order by seq"
    )
    seq, at, type_, payload, audience, device_id = rows[-1]
    event = Event(seq=seq, at=at, type=type_, payload=payload, audience=audience, device_id=device_id)
    await person.service.workspace.store.write(tell_of, [event])
    await trio.sleep(40)
    assert len(person.outside.pushes) == 1


async def test_only_fresh_mail_of_the_inbox_is_told(person: NotifiedPerson) -> None:
    await person.settle()
    await person.receive("Archived by a filter", labels=("UNREAD",))
    await person.receive("Sent by me", labels=("SENT", "INBOX"))
    await person.receive("Spam", labels=("SPAM", "UNREAD"))
    await person.receive("Read already", labels=("INBOX",))
    await person.receive("New")
    assert person.read() == ["New"]
    payload = {
        "sender": "a@b",
        "subject": "Old",
        "snippet": "",
        "accountId": person.account_id,
        "messageId": "msg_1",
        "threadId": "thr_1",
        "own": False,
        "backfill": False,
        "inbox": True,
    }
    now = person.service.workspace.clock.now()
    for seq, (at, more) in enumerate(((now - FRESH_MS - 1, {}), (now, {"backfill": True}), (now, {"inbox": False}))):
        told = json.dumps({**payload, **more}).encode()
        event = Event(seq=seq, at=at, type="mail-received", payload=told, audience="usr_mia", device_id="x")
        assert await person.service.workspace.store.write(tell_of, [event]) is False


async def test_a_person_hears_in_their_words_of_their_accounts_outside_quiet_hours(person: NotifiedPerson) -> None:
    await person.settle(words="none")
    await person.receive("Secret")
    ((_, body),) = person.outside.pushes
    told = person.browser.read(body)
    assert (told["sender"], told["subject"], told["snippet"]) == ("", "", "")
    here = datetime.fromtimestamp(person.service.workspace.clock.now() / 1_000, UTC)
    minute = here.hour * 60 + here.minute
    quiet = {"timeZone": "UTC", "begin": (minute - 5) % 1440, "end": (minute + 5) % 1440}
    await person.settle(quiet=quiet)
    await person.receive("Quiet")
    await person.settle(accountIds=[])
    await person.receive("Not chosen")
    assert len(person.outside.pushes) == 1
    assert await person.ask("notifications.set", accountIds=["acc_other"], words="all", quiet=None) == "NOT_FOUND"
    bad = {"timeZone": "Mars/Olympus", "begin": 0, "end": 1}
    assert await person.ask("notifications.set", accountIds=[], words="all", quiet=bad) == "BAD_REQUEST"


async def test_a_member_hears_of_an_account_as_long_as_it_is_shared_with_them(person: NotifiedPerson) -> None:
    await person.service.workspace.store.write(_let_ben_in)
    ben = Principal(user_id="usr_ben", device_id="dev_ben", is_admin=False, via="session")
    wanted = {"accountIds": [person.account_id], "words": "all", "quiet": None}
    assert (await person.service.ask_as(ben, "notifications.set", wanted)).status == 404
    await person.ask("mail.shareAccount", accountId=person.account_id, userId="usr_ben", access="read")
    assert (await person.service.ask_as(ben, "notifications.set", wanted)).status == 200
    await person.receive("For both")
    assert await _told_to_ben(person) == ["For both"]
    await person.ask("mail.unshareAccount", accountId=person.account_id, userId="usr_ben")
    await person.receive("For the owner")
    assert await _told_to_ben(person) == []  # what was for them is gone with the share


async def _told_to_ben(person: NotifiedPerson) -> list[str]:
    told = await person.service.rows(
        "select payload from outbox where topic = 'notifications' and audience = 'usr_ben'"
    )
    return [json.loads(payload)["subject"] for (payload,) in told]


def _let_ben_in(tx: Tx) -> None:
    tx.run("insert into users (id, email, name, role, created_at) values ('usr_ben', 'b@x.y', 'Ben', 'member', 0)")
    tx.run(
        "insert into devices (id, user_id, kind, name, capabilities, created_at)"
        " values ('dev_ben', 'usr_ben', 'web', 'Ben', '{}', 0)"
    )


async def test_the_browser_that_is_open_is_told_live(person: NotifiedPerson) -> None:
    await person.settle()
    await person.receive("Live")
    rows = await person.service.rows("select kind, audience, payload from outbox where topic = 'notifications'")
    ((kind, audience, payload),) = rows
    assert (kind, audience, json.loads(payload)["subject"]) == ("mail.arrived", "usr_mia", "Live")


async def test_a_browser_that_is_gone_is_forgotten(person: NotifiedPerson) -> None:
    await person.settle()
    person.outside.replies = [answer(status="410 Gone")]
    await person.receive("One")
    assert await person.service.rows("select count(*) from push_browsers") == [(0,)]
    await person.receive("Two")
    assert len(person.outside.pushes) == 1


async def test_a_busy_push_service_is_asked_again_when_it_says(person: NotifiedPerson) -> None:
    await person.settle()
    person.outside.replies = [answer(b"", "Retry-After: 100", status="429 Busy"), answer(status="201 Created")]
    await person.receive("One")
    assert len(person.outside.pushes) == 1
    await trio.sleep(120)
    assert person.read() == ["One", "One"]
    await trio.sleep(600)
    assert len(person.outside.pushes) == 2


async def test_what_could_not_be_sent_for_long_or_was_read_meanwhile_is_let_go(person: NotifiedPerson) -> None:
    await person.settle()
    person.outside.names[HOST] = [[]]
    await person.receive("Late")
    await trio.sleep(11 * MINUTE_MS / 1_000)
    assert person.outside.pushes == []
    assert await person.service.rows("select state from push_queue") == [("done",)]


async def test_a_push_that_still_waits_when_quiet_hours_begin_is_let_go(person: NotifiedPerson) -> None:
    here = datetime.fromtimestamp(person.service.workspace.clock.now() / 1_000, UTC)
    begin = here.hour * 60 + here.minute + 2
    await person.settle(quiet={"timeZone": "UTC", "begin": begin % 1440, "end": (begin + 60) % 1440})
    person.outside.replies = [answer(b"", "Retry-After: 200", status="429 Busy"), answer(status="201 Created")]
    await person.receive("Before")
    assert await person.service.rows("select state from push_queue") == [("waiting",)]
    await trio.sleep(8 * MINUTE_MS / 1_000)
    assert len(person.outside.pushes) == 1
    assert await person.service.rows("select state from push_queue") == [("done",)]


async def test_a_push_service_keeps_no_push_into_the_quiet_hours(person: NotifiedPerson) -> None:
    here = datetime.fromtimestamp(person.service.workspace.clock.now() / 1_000, UTC)
    begin = here.hour * 60 + here.minute + 30
    await person.settle(quiet={"timeZone": "UTC", "begin": begin % 1440, "end": (begin + 60) % 1440})
    await person.receive("Before")
    ((fields, _),) = person.outside.pushes
    assert 28 * 60 < int(fields["ttl"]) <= 30 * 60


@pytest.mark.parametrize("how", ["not shared", "not chosen"])
async def test_a_push_that_still_waits_when_the_account_is_not_theirs_any_more_is_let_go(
    person: NotifiedPerson, how: str
) -> None:
    await person.settle()
    person.outside.replies = [answer(b"", "Retry-After: 200", status="429 Busy"), answer(status="201 Created")]
    await person.receive("Before")
    assert await person.service.rows("select state from push_queue") == [("waiting",)]
    if how == "not shared":
        await person.service.workspace.store.write(_give_away)
    else:
        await person.ask("notifications.set", accountIds=[], words="all", quiet=None)
    await trio.sleep(8 * MINUTE_MS / 1_000)
    assert len(person.outside.pushes) == 1
    assert await person.service.rows("select state from push_queue") == [("done",)]


def _give_away(tx: Tx) -> None:
    """The account belongs to another person now, like one that is no longer shared."""
    _let_ben_in(tx)
    tx.run("update mail_accounts set owner_id = 'usr_ben'")


async def test_no_push_without_its_session_and_none_that_was_begun_before(person: NotifiedPerson) -> None:
    await person.settle()
    await person.service.workspace.store.write(
        lambda tx: tx.run("update push_queue set state = 'sending'")  # as a process that died leaves it
    )
    await person.service.workspace.store.write(lambda tx: tx.run("update devices set revoked = 1"))
    await person.receive("Signed out")
    assert person.outside.pushes == []
    assert await person.service.rows("select count(*) from push_browsers") == [(0,)]


async def test_only_a_public_server_by_https_is_a_push_service(person: NotifiedPerson) -> None:
    for endpoint in ("http://push.example/1", "https://127.0.0.1/1", "https://push.example:8443/1", "file:///x"):
        assert await person.ask("notifications.subscribe", **{**person.browser.told, "endpoint": endpoint}) == (
            "BAD_REQUEST"
        )
    keys = {"p256dh": "AAAA", "auth": "AAAA"}
    assert await person.ask("notifications.subscribe", **{**person.browser.told, **keys}) == "BAD_REQUEST"
    person.outside.names[HOST] = [["10.0.0.7"]]
    await person.settle()
    await person.receive("Inside")
    assert person.outside.dialled == []
    (browser,) = (await person.ask("notifications.settings"))["browsers"]
    assert browser["problem"]


async def test_browsers_are_listed_tried_and_taken_away(person: NotifiedPerson) -> None:
    await person.settle()
    other = Subscription(number=2)
    second = (await person.ask("notifications.subscribe", **other.told))["browserId"]
    assert (await person.ask("notifications.subscribe", **other.told))["browserId"] == second
    listed = (await person.ask("notifications.settings"))["browsers"]
    assert [(one["service"], one["current"]) for one in listed] == [(HOST, True), (HOST, True)]
    assert await person.ask("notifications.test", browserId=second) == {}
    assert other.read(person.outside.pushes[-1][1])["subject"] == "Notifications work here."
    person.outside.replies = [answer(status="403 Forbidden")]
    assert await person.ask("notifications.test", browserId=second) == "SERVICE_UNAVAILABLE"
    assert await person.ask("notifications.unsubscribe", browserId=second) == {}
    assert await person.ask("notifications.unsubscribe", browserId=second) == "NOT_FOUND"
    assert ME.user_id == "usr_mia"


def test_quiet_hours_hold_in_their_zone_also_past_midnight() -> None:
    at = round(datetime(2026, 11, 23, 22, 30, tzinfo=UTC).timestamp() * 1_000)
    assert Quiet(time_zone="UTC", begin=22 * 60, end=7 * 60).holds_at(at)
    assert not Quiet(time_zone="UTC", begin=23 * 60, end=7 * 60).holds_at(at)
    assert Quiet(time_zone="Europe/Berlin", begin=23 * 60, end=7 * 60).holds_at(at)
    assert not Quiet(time_zone="UTC", begin=8 * 60, end=8 * 60).holds_at(at)


def test_quiet_hours_begin_at_their_minute_also_when_the_clocks_change() -> None:
    at = round(datetime(2026, 10, 24, 22, 30, tzinfo=UTC).timestamp() * 1_000)  # 00:30 in Berlin, an hour longer
    assert Quiet(time_zone="UTC", begin=23 * 60, end=7 * 60).begins_in_s(at) == 30 * 60
    assert Quiet(time_zone="UTC", begin=22 * 60, end=7 * 60).begins_in_s(at) == (23 * 60 + 30) * 60
    assert Quiet(time_zone="Europe/Berlin", begin=4 * 60, end=7 * 60).begins_in_s(at) == (4 * 60 + 30) * 60
    assert Quiet(time_zone="UTC", begin=8 * 60, end=8 * 60).begins_in_s(at) is None


def _verifier(public_key: str) -> ECKey:
    import base64

    point = base64.urlsafe_b64decode(public_key + "=")
    x, y = (base64.urlsafe_b64encode(one).decode().rstrip("=") for one in (point[1:33], point[33:]))
    return ECKey.import_key({"kty": "EC", "crv": "P-256", "x": x, "y": y})
