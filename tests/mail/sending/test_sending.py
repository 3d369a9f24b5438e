"""Sending, as a person and the provider see it: undo, schedule, retry, doubt, and what is refused before anything."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, VirtualClock
from svc.mail.model import message_id_of
from svc.mail.sync.fetch import Fetched, Fetcher
from tests.mail.sending.mailer import TO, Mailer, at, mailer_of
from tests.support.service import MIA, RpcError, Service
from tests.surface.every_row import MEMBER
from tests.virtual_time import hours_pass

BEN = "ben@example.org"


# The straight way


async def test_a_mail_is_held_ten_seconds_and_then_sent_once(mailer: Mailer, wall: VirtualClock) -> None:
    answer = await mailer.send()
    assert answer == {
        "outgoingId": answer["outgoingId"],
        "state": "held",
        "messageId": None,
        "sendAt": at(wall, 10 * SECOND_MS),
    }
    await trio.sleep(9.5)
    assert (await mailer.state(answer["outgoingId"]), mailer.accepted()) == ("held", [])
    await trio.sleep(1.5)
    assert await mailer.state(answer["outgoingId"]) == "sent"
    (mail,) = mailer.accepted()
    assert [(one.name, one.address) for one in mail.to] == [("Noa", "noa@example.org")]
    assert (mail.subject, mail.text.strip(), mail.outgoing_mark) == ("Hello", "Hi.", answer["outgoingId"])
    await trio.sleep(300)
    assert len(mailer.accepted()) == 1


async def test_without_a_pause_the_answer_says_what_came_of_it(hasty: Mailer) -> None:
    answer = await hasty.send()
    assert answer["state"] == "sent"
    assert answer["sendAt"] is None
    (thread,) = [
        row
        for row in (await hasty.service.query("mail.threads", section="skipped"))["threads"]
        if row["subject"] == "Hello"
    ]
    shown = await hasty.service.query("mail.thread", id=thread["id"])
    assert [message["id"] for message in shown["messages"]] == [answer["messageId"]]


async def test_our_own_copy_is_stored_with_it_and_the_poll_that_meets_it_changes_nothing(hasty: Mailer) -> None:
    answer = await hasty.send()
    before = await hasty.service.dump()
    await hasty.sync()
    after = await hasty.service.dump()
    for table in ("mail_messages", "mail_threads", "events", "mail_outgoing"):
        assert after[table] == before[table]
    received = await hasty.service.query("events.recent", type="mail-received")
    (own,) = [row["payload"] for row in received if row["payload"]["messageId"] == answer["messageId"]]
    assert (own["own"], own["backfill"]) == (True, False)
    (sent,) = await hasty.service.query("events.recent", type="mail-sent")
    assert sent["deviceId"] == "dev_local"
    assert (sent["payload"]["outgoingId"], sent["payload"]["messageId"]) == (
        answer["outgoingId"],
        answer["messageId"],
    )


async def test_a_poll_that_meets_it_before_the_answer_came_settles_it_as_well(mailer: Mailer) -> None:
    """The answer is lost, the mailbox is read at once: one row, one event."""
    await mailer.fault("lost-answer")
    answer = await mailer.send()
    row = await mailer.until(answer["outgoingId"], "sent")
    assert row["attempts"] == 1
    assert len(mailer.accepted()) == 1
    assert len(await mailer.service.query("events.recent", type="mail-sent")) == 1
    assert await mailer.problems() == []


async def test_the_clients_hear_of_every_state(hasty: Mailer) -> None:
    socket = await hasty.service.live("tasks")
    answer = await hasty.send()
    frames = [frame for frame in await socket.hear_all() if frame["type"] == "event"]
    assert {(frame["topic"], frame["kind"], frame["id"]) for frame in frames} == {
        ("tasks", "task.changed", answer["outgoingId"])
    }
    assert [frame["payload"]["outgoing"]["state"] for frame in frames] == ["scheduled", "transmitting", "sent"]
    await socket.leave()


async def test_a_mail_whose_own_copy_finds_no_room_is_sent_all_the_same(
    hasty: Mailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: Fetcher, messages: object) -> Fetched:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(Fetcher, "prepare", full)
        answer = await hasty.send()
        assert (answer["state"], answer["messageId"]) == ("sent", None)
    await hasty.sync()
    assert len(hasty.accepted()) == 1
    assert await hasty.problems() == []


async def test_a_copy_among_the_sent_mail_is_known_by_our_mark_alone(hasty: Mailer) -> None:
    await hasty.fault("cut")
    answer = await hasty.send()
    assert answer["state"] == "uncertain"
    raw = f"From: {MIA}\r\nTo: {TO}\r\nSubject: Hello\r\nX-Svc-Outgoing: {answer['outgoingId']}\r\n\r\nHi."
    await hasty.fake_mail.inject(address=MIA, raw=raw.encode(), thread_key="copy", labels=frozenset({"SENT"}))
    await hasty.sync()
    assert await hasty.state(answer["outgoingId"]) == "sent"


async def test_a_copy_whose_message_id_a_server_has_replaced_is_known_by_the_one_it_was_sent_with(
    hasty: Mailer,
) -> None:
    await hasty.fault("cut")
    answer = await hasty.send()
    ((ours,),) = await hasty.service.rows("select message_id_header from mail_outgoing")
    raw = f"From: {MIA}\r\nTo: {TO}\r\nMessage-ID: <of@the.server>\r\nX-Microsoft-Original-Message-ID: <{ours}>\r\n"
    await hasty.fake_mail.inject(
        address=MIA, raw=f"{raw}\r\nHi.".encode(), thread_key="copy", labels=frozenset({"SENT"})
    )
    await hasty.sync()
    assert await hasty.state(answer["outgoingId"]) == "sent"


# Second thoughts and other times


async def test_a_held_mail_can_be_taken_back_and_is_a_draft_again(mailer: Mailer) -> None:
    answer = await mailer.send(subject="Too early", cc=[BEN])
    await mailer.service.mutate("mail.cancelSend", id=answer["outgoingId"])
    await trio.sleep(60)
    assert (await mailer.state(answer["outgoingId"]), mailer.accepted()) == ("cancelled", [])
    draft_id = (await mailer.service.query("mail.outgoingDraft", id=answer["outgoingId"]))["draftId"]
    draft = await mailer.service.query("mail.draft", id=draft_id)
    assert (draft["subject"], draft["cc"], draft["html"]) == ("Too early", [BEN], "<p>Hi.</p>")
    again = await mailer.send(subject="Now", draftId=draft_id)
    await mailer.until(again["outgoingId"], "sent")
    assert [mail.subject for mail in mailer.accepted()] == ["Now"]


async def test_what_has_left_can_not_be_taken_back(hasty: Mailer) -> None:
    answer = await hasty.send()
    for procedure in ("mail.cancelSend", "mail.retrySend"):
        with pytest.raises(RpcError) as refused:
            await hasty.service.mutate(procedure, id=answer["outgoingId"])
        assert refused.value.code == "CONFLICT"


async def test_a_scheduled_mail_goes_at_its_time(mailer: Mailer, clock: MockClock, wall: VirtualClock) -> None:
    later = at(wall, HOUR_MS)
    answer = await mailer.send(sendAt=later)
    assert (answer["state"], answer["sendAt"]) == ("scheduled", later)
    clock.jump(55 * 60)
    await trio.sleep(5 * 60 - 5)
    assert mailer.accepted() == []
    await trio.sleep(10)
    assert await mailer.state(answer["outgoingId"]) == "sent"


async def test_another_time_and_a_time_that_has_passed_is_now(
    mailer: Mailer, clock: MockClock, wall: VirtualClock
) -> None:
    first = await mailer.send(sendAt=at(wall, DAY_MS), subject="Moved")
    second = await mailer.send(sendAt=at(wall, DAY_MS), subject="Now after all")
    await mailer.service.mutate("mail.reschedule", id=first["outgoingId"], sendAt=at(wall, HOUR_MS))
    await mailer.service.mutate("mail.reschedule", id=second["outgoingId"], sendAt=at(wall, -HOUR_MS))
    await trio.sleep(5)
    assert [mail.subject for mail in mailer.accepted()] == ["Now after all"]
    await hours_pass(clock, 1)
    assert [mail.subject for mail in mailer.accepted()] == ["Now after all", "Moved"]


async def test_a_time_in_the_past_is_a_send_like_any_other(mailer: Mailer, wall: VirtualClock) -> None:
    assert (await mailer.send(sendAt=at(wall, -DAY_MS)))["state"] == "held"


async def test_the_same_draft_is_sent_once_however_often_it_is_said(mailer: Mailer) -> None:
    draft = await mailer.service.mutate(
        "mail.saveDraft", accountId=mailer.account_id, to=[TO], subject="Once", html="<p>Hi.</p>"
    )
    answers: list[dict[str, object]] = []

    async def say() -> None:
        answers.append(await mailer.send(subject="Once", draftId=draft["id"]))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(say)
    assert len({answer["outgoingId"] for answer in answers}) == 1
    await trio.sleep(60)
    assert (await mailer.send(subject="Once", draftId=draft["id"]))["state"] == "sent"
    assert len(mailer.accepted()) == 1
    assert await mailer.service.query("mail.drafts") == []
    with pytest.raises(RpcError) as late:  # a save that was under way
        await mailer.service.mutate(
            "mail.saveDraft", id=draft["id"], accountId=mailer.account_id, to=[TO], subject="Once", html=""
        )
    assert late.value.code == "CONFLICT"


# Trouble


@pytest.mark.parametrize("fault", [429, [401, 401]])
async def test_what_provably_did_not_leave_is_tried_again(mailer: Mailer, fault: object) -> None:
    for one in fault if isinstance(fault, list) else [fault]:
        await mailer.fault(one)
    answer = await mailer.send()
    row = await mailer.until(answer["outgoingId"], "scheduled")
    assert row["attempts"] == 1
    assert row["lastError"]
    assert row["nextAttemptAt"] is not None
    row = await mailer.until(answer["outgoingId"], "sent")
    assert (row["attempts"], row["lastError"]) == (2, None)
    assert len(mailer.accepted()) == 1


@pytest.mark.thorough
async def test_a_retry_comes_neither_sooner_than_its_pause_nor_after_a_clock_that_jumped_back(
    mailer: Mailer, wall: VirtualClock
) -> None:
    await mailer.fault(429, times=8)
    answer = await mailer.send()
    while (await mailer.outgoing(answer["outgoingId"]))["attempts"] < 8:  # noqa: ASYNC110  virtual time
        await trio.sleep(10)
    next_at = (await mailer.outgoing(answer["outgoingId"]))["nextAttemptAt"]
    assert next_at > at(wall, MINUTE_MS)
    await trio.sleep(45)
    assert (await mailer.outgoing(answer["outgoingId"]))["nextAttemptAt"] == next_at
    wall.offset_ms -= 2 * DAY_MS
    await trio.sleep(45)
    assert await mailer.state(answer["outgoingId"]) == "sent"


async def test_an_account_whose_grant_is_lost_while_sending_asks_to_be_connected_again(mailer: Mailer) -> None:
    await mailer.fault(401, times=2)
    answer = await mailer.send()
    await mailer.until(answer["outgoingId"], "scheduled")
    (account,) = await mailer.service.query("mail.accounts")
    assert account["state"] == "reconnect"


async def test_a_401_that_a_fresh_token_cures_is_no_trouble(hasty: Mailer) -> None:
    await hasty.fault(401)
    assert (await hasty.send())["state"] == "sent"


@pytest.mark.thorough
async def test_after_ten_tries_it_has_failed_and_a_word_sends_it_after_all(mailer: Mailer, clock: MockClock) -> None:
    await mailer.fault(429, times=10)
    answer = await mailer.send()
    await hours_pass(clock, 6)  # three of pauses, and up to a quarter more for each of the nine
    row = await mailer.outgoing(answer["outgoingId"])
    assert row["state"] == "failed"
    assert (row["attempts"], row["nextAttemptAt"], mailer.accepted()) == (10, None, [])
    (event,) = await mailer.service.query("events.recent", type="mail-send-failed")
    assert (event["payload"]["outgoingId"], event["deviceId"]) == (answer["outgoingId"], "dev_local")
    await mailer.service.mutate("mail.retrySend", id=answer["outgoingId"])
    row = await mailer.until(answer["outgoingId"], "sent")
    assert row["attempts"] == 1
    assert len(mailer.accepted()) == 1


@pytest.mark.parametrize("fault", [403, 404])
async def test_what_is_refused_has_failed_at_once_with_its_reason(hasty: Mailer, clock: MockClock, fault: int) -> None:
    await hasty.fault(fault)
    answer = await hasty.send()
    assert answer["state"] == "failed"
    row = await hasty.outgoing(answer["outgoingId"])
    assert (row["attempts"], row["nextAttemptAt"]) == (1, None)
    assert row["lastError"]
    await hours_pass(clock, 1)
    assert (await hasty.state(answer["outgoingId"]), hasty.accepted()) == ("failed", [])


@pytest.mark.parametrize(("fault", "kept"), [(403, True), (404, False)])
async def test_a_refused_reply_is_sent_into_its_thread_later_unless_the_thread_is_gone(
    hasty: Mailer, fault: int, kept: bool
) -> None:
    (thread,) = await hasty.service.synced("Plans", address=MIA)
    await hasty.fault(fault)
    answer = await hasty.send(subject="Re: Plans", replyTo=thread)
    await hasty.service.mutate("mail.retrySend", id=answer["outgoingId"])
    await hasty.until(answer["outgoingId"], "sent")
    box = hasty.fake_mail.mailbox(MIA)
    threads = [message.thread_id for message in box.messages.values()]
    assert (len(set(threads)) < len(threads)) == kept


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [500, "timeout", "cut"])
async def test_what_nobody_knows_the_end_of_is_uncertain_and_never_sent_again_by_itself(
    hasty: Mailer, clock: MockClock, fault: object
) -> None:
    await hasty.fault(fault)
    answer = await hasty.send()
    assert answer["state"] == "uncertain"
    await hours_pass(clock, 3)
    assert (await hasty.state(answer["outgoingId"]), hasty.accepted()) == ("uncertain", [])
    await hasty.service.mutate("mail.retrySend", id=answer["outgoingId"])
    await hasty.until(answer["outgoingId"], "sent")
    assert len(hasty.accepted()) == 1


async def test_an_uncertain_mail_that_turns_up_among_sent_mail_is_sent(hasty: Mailer) -> None:
    await hasty.fault("lost-answer")
    await hasty.fault(500, operation="history", times=3)  # and the mailbox can't be read either
    answer = await hasty.send()
    assert answer["state"] == "uncertain"
    row = await hasty.until(answer["outgoingId"], "sent")
    assert row["messageId"] == message_id_of(hasty.account_id, hasty.fake_mail.mailbox(MIA).sent[0].provider_message_id)
    assert len(hasty.accepted()) == 1


async def test_the_word_to_send_again_is_not_followed_where_the_mailbox_says_that_it_was_sent(
    hasty: Mailer, clock: MockClock
) -> None:
    await hasty.fault("lost-answer")
    await hasty.fault(500, operation="history", times=1)
    answer = await hasty.send()
    assert answer["state"] == "uncertain"
    await hasty.service.mutate("mail.retrySend", id=answer["outgoingId"])
    assert await hasty.state(answer["outgoingId"]) == "sent"
    await hours_pass(clock, 1)
    assert len(hasty.accepted()) == 1


async def test_once_in_doubt_it_is_never_said_not_to_have_been_sent(hasty: Mailer, wall: VirtualClock) -> None:
    await hasty.fault("cut")
    answer = await hasty.send()
    await hasty.fault(429)
    await hasty.service.mutate("mail.retrySend", id=answer["outgoingId"])
    await hasty.until(answer["outgoingId"], "scheduled")
    await trio.sleep(1)
    await hasty.service.mutate("mail.cancelSend", id=answer["outgoingId"])
    assert await hasty.state(answer["outgoingId"]) == "uncertain"
    await hasty.fault(403)
    await hasty.service.mutate("mail.retrySend", id=answer["outgoingId"])
    await trio.sleep(5)
    assert await hasty.state(answer["outgoingId"]) == "uncertain"
    assert await hasty.problems() == []


async def test_a_failed_mail_can_be_put_away_as_a_draft_or_for_good(hasty: Mailer) -> None:
    await hasty.fault(403, times=2)
    first, second = await hasty.send(subject="Keep"), await hasty.send(subject="Away")
    socket = await hasty.service.live("tasks")
    kept = await hasty.service.mutate("mail.dismissOutgoing", id=first["outgoingId"], draft=True)
    gone = await hasty.service.mutate("mail.dismissOutgoing", id=second["outgoingId"])
    assert (await hasty.service.query("mail.draft", id=kept["draftId"]))["subject"] == "Keep"
    assert gone == {"draftId": None}
    assert await hasty.service.query("mail.outgoing") == []
    told = {frame["id"]: frame["payload"] for frame in await socket.hear_all() if frame["type"] == "event"}
    assert [told[one["outgoingId"]] for one in (first, second)] == [{"outgoing": None}, {"outgoing": None}]
    await socket.leave()
    with pytest.raises(RpcError):
        await hasty.service.mutate("mail.retrySend", id=first["outgoingId"])
    assert await hasty.problems() == []


async def test_undo_takes_a_held_mail_back_too(mailer: Mailer) -> None:
    answer = await mailer.send()
    undone = (await mailer.service.mutate("mail.undo"))["undone"]
    assert undone["what"] == "send"
    assert (await mailer.service.query("mail.draft", id=undone["draftId"]))["subject"] == "Hello"
    await trio.sleep(60)
    assert (await mailer.state(answer["outgoingId"]), mailer.accepted()) == ("cancelled", [])
    assert (await mailer.service.mutate("mail.undo"))["undone"] is None


@pytest.mark.thorough
async def test_of_a_disconnected_account_what_waits_has_failed_and_says_why(
    mailer: Mailer, clock: MockClock, wall: VirtualClock
) -> None:
    held = await mailer.send()
    scheduled = await mailer.send(sendAt=at(wall, HOUR_MS))
    await mailer.service.mutate("mail.disconnect", accountId=mailer.account_id)
    await hours_pass(clock, 2)
    for answer in (held, scheduled):
        row = await mailer.outgoing(answer["outgoingId"])
        assert row["state"] == "failed"
        assert row["lastError"]
    assert mailer.accepted() == []
    with pytest.raises(RpcError) as refused:
        await mailer.service.mutate("mail.retrySend", id=held["outgoingId"])
    assert refused.value.code == "CONFLICT"


async def test_what_waits_for_an_account_that_went_another_way_fails_and_says_so(
    mailer: Mailer, wall: VirtualClock
) -> None:
    scheduled = await mailer.send(sendAt=at(wall, HOUR_MS))
    gone = "update mail_accounts set state = 'disconnected' where id = :id"
    await mailer.service.workspace.store.write(lambda tx: tx.run(gone, id=mailer.account_id))
    await trio.sleep(31)
    row = await mailer.outgoing(scheduled["outgoingId"])
    assert (row["state"], "no longer connected" in row["lastError"]) == ("failed", True)


async def test_what_is_done_with_is_shown_for_a_day_and_kept_for_thirty(hasty: Mailer, wall: VirtualClock) -> None:
    await hasty.send()
    assert len(await hasty.service.query("mail.outgoing")) == 1
    wall.offset_ms += DAY_MS + HOUR_MS
    assert await hasty.service.query("mail.outgoing") == []
    wall.offset_ms += 30 * DAY_MS
    await trio.sleep(31)
    assert await hasty.service.rows("select id from mail_outgoing") == []
    assert await hasty.problems() == []


async def test_what_was_put_away_for_good_is_forgotten_after_thirty_days_with_its_files(
    hasty: Mailer, wall: VirtualClock
) -> None:
    fields = {"content-type": "text/plain", "x-svc-filename": "a.txt"}
    file = (await hasty.service.ask("POST", "/files", b"content", fields=fields)).json
    await hasty.fault(403)
    answer = await hasty.send(attachments=[file["id"]])
    await hasty.service.mutate("mail.dismissOutgoing", id=answer["outgoingId"])
    wall.offset_ms += 31 * DAY_MS
    await trio.sleep(31)
    assert await hasty.service.rows("select id from mail_outgoing") == []
    assert await hasty.service.rows("select id from files where origin like 'outgoing:%'") == []
    assert await hasty.problems() == []


# What is refused before anything happens


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"to": ["nobody"]}, "BAD_REQUEST"),
        ({"to": ["a@x.example\r\nBcc: b@x.example"]}, "BAD_REQUEST"),
        ({"to": [], "cc": [], "bcc": []}, "BAD_REQUEST"),
        ({"to": [f"p{number}@x.example" for number in range(501)]}, "BAD_REQUEST"),
        ({"to": ["a@x.example"], "replyTo": "thr_none"}, "NOT_FOUND"),
        ({"to": ["a@x.example"], "attachments": ["fil_none"]}, "NOT_FOUND"),
        ({"to": ["a@x.example"], "draftId": "drf_none"}, "NOT_FOUND"),
        ({"to": ["a@x.example"], "quote": {"messageId": "msg_none", "kind": "reply"}}, "NOT_FOUND"),
        ({"to": ["a@x.example"], "sendAt": "tomorrow"}, "BAD_REQUEST"),
        ({"to": ["a@x.example"], "sendAt": "2027-01-01T08:00:00"}, "BAD_REQUEST"),
        ({"to": ["a@x.example"], "accountId": "acc_none"}, "NOT_FOUND"),
    ],
)
async def test_what_can_not_be_sent_is_refused_when_it_is_said(
    mailer: Mailer, wanted: dict[str, object], code: str
) -> None:
    before = await mailer.service.dump()
    base = {"accountId": mailer.account_id, "subject": "x", "html": ""}
    with pytest.raises(RpcError) as refused:
        await mailer.service.mutate("mail.send", **{**base, **wanted})
    assert refused.value.code == code
    assert await mailer.service.dump() == before


async def test_an_account_whose_owner_is_another_can_not_be_sent_from(service: Service) -> None:
    """The matrix of every resource holds the rest; here is the one that would be worst."""
    mailer = await mailer_of(service)
    await service.workspace.store.write(
        lambda tx: tx.run("update mail_accounts set owner_id = 'usr_other' where id = :id", id=mailer.account_id)
    )
    wanted = {"accountId": mailer.account_id, "to": [TO], "subject": "x", "html": ""}
    reply = await service.ask_as(MEMBER, "mail.send", wanted)
    assert reply.status == 404
