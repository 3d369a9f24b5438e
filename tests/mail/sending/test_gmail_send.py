"""Sending by Gmail: large mails, a limiter that waits too long, and refusals in words."""

from __future__ import annotations

import pytest
import trio

from svc.formats import mime
from svc.mail.providers.gmail.call import SIMPLE_SEND_MAX_BYTES
from svc.mail.providers.gmail.provider import SEND_PATIENCE_S
from svc.mail.providers.gmail.quota import COST_UNITS, UNITS_PER_MINUTE, QuotaLimiter
from svc.mail.providers.seam import Refused, SentMessage, Throttled
from tests.mail.gmail_wire import Mailbox
from tests.mail.scripted_http import answer, google_error

LARGE = b"Subject: Large\r\n\r\n" + b"x" * SIMPLE_SEND_MAX_BYTES
SENT = answer({"id": "s1", "threadId": "t7", "labelIds": ["SENT"]})


async def test_a_large_mail_is_uploaded_as_it_is(mailbox: Mailbox) -> None:
    sent = await mailbox.will_answer(SENT).send(LARGE)
    assert sent == SentMessage(id="s1", thread_id="t7", labels=frozenset({"SENT"}))
    (asked,) = mailbox.http.asked
    assert asked.path == "/upload/gmail/v1/users/alice%2Bx%40acme.test/messages/send"
    assert asked.query["uploadType"] == ["media"]
    assert (asked.headers["content-type"], asked.body) == ("message/rfc822", LARGE)


async def test_a_large_reply_says_its_thread_beside_the_mail(mailbox: Mailbox) -> None:
    await mailbox.will_answer(SENT).send(LARGE, thread_id="t7")
    (asked,) = mailbox.http.asked
    assert asked.query["uploadType"] == ["multipart"]
    whole = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode() + (asked.body or b"")
    assert b'{"threadId":"t7"}' in whole[:1_000]
    parsed = mime.parse_message(whole)
    assert [one.content for one in parsed.attachments if one.mime == "message/rfc822"] == [LARGE]


async def test_a_gate_that_stays_shut_is_told_before_anything_leaves(mailbox: Mailbox) -> None:
    mailbox.quota = QuotaLimiter(units_per_minute=UNITS_PER_MINUTE)
    mailbox.quota.pause(3_600)
    began_s = trio.current_time()
    with pytest.raises(Throttled) as caught:
        await mailbox.provider.send(LARGE)
    assert not caught.value.may_have_happened
    assert trio.current_time() - began_s == SEND_PATIENCE_S
    assert mailbox.http.asked == []
    assert mailbox.quota.used() < COST_UNITS["messages.send"]


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (google_error(413, message="Request Entity Too Large"), "larger than Gmail takes"),
        (answer(b"<html>413</html>", status=413), "larger than Gmail takes"),
        (google_error(400, reason="invalidArgument", message="Message too large"), "larger than Gmail takes"),
        (google_error(400, reason="invalidArgument", message="Invalid To header"), "address of one of the recipients"),
        (google_error(400, reason="invalidArgument", message="Recipient address required"), "recipients"),
        (google_error(400, reason="failedPrecondition", message="Precondition check failed."), "failedPrecondition"),
    ],
)
async def test_what_gmail_will_not_send_is_refused_in_words(mailbox: Mailbox, refusal: object, words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        await mailbox.will_answer(refusal).send(b"Subject: x\r\n\r\nx")  # type: ignore[arg-type]
    assert not caught.value.may_have_happened


async def test_the_end_of_a_sending_limit_is_waited_for(mailbox: Mailbox) -> None:
    limit = google_error(429, reason="userRateLimitExceeded", message="User-rate limit exceeded.", retry_after="300")
    with pytest.raises(Throttled) as caught:
        await mailbox.will_answer(limit).send(b"Subject: x\r\n\r\nx")
    assert caught.value.retry_after_s == 300
