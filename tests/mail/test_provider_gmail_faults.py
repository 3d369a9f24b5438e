"""What an answer of Gmail means: the table of faults, answers that make no sense, and what may have happened."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.mail.providers.seam import (
    GrantLost,
    HistoryExpired,
    LostAnswer,
    MessageGone,
    ProviderFault,
    Refused,
    ThreadGone,
    Throttled,
    Unreachable,
)
from svc.protocol.egress import EgressFault
from tests.mail.gmail_wire import CALLS, READS, WRITES, Mailbox, raw_message
from tests.mail.scripted_http import Answer, answer, google_error, no_answer
from tests.support.each import named


@pytest.mark.parametrize(
    ("said", "fault", "word"),
    [
        (google_error(403, reason="rateLimitExceeded"), Throttled, "quota"),
        (google_error(403, reason="userRateLimitExceeded"), Throttled, "quota"),
        (google_error(403, reason="dailyLimitExceeded"), Throttled, "quota"),
        (google_error(429), Throttled, "quota"),
        (answer(b"<html>", status=429), Throttled, "quota"),
        (
            answer(
                {"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"reason": "RATE_LIMIT_EXCEEDED"}]}}, status=429
            ),
            Throttled,
            "quota",
        ),
        (google_error(403, reason="insufficientPermissions"), GrantLost, "granted"),
        (
            answer(
                {"error": {"status": "PERMISSION_DENIED", "details": [{"reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}},
                status=403,
            ),
            GrantLost,
            "granted",
        ),
        (google_error(403, reason="accessNotConfigured"), Unreachable, "switched off"),
        (
            answer(
                {"error": {"status": "PERMISSION_DENIED", "details": [{"@type": "x", "reason": "SERVICE_DISABLED"}]}},
                status=403,
            ),
            Unreachable,
            "switched off",
        ),
        (google_error(403, reason="domainPolicy"), Unreachable, "administrator"),
        (google_error(400, reason="failedPrecondition", message="Mail service not enabled"), Unreachable, "mailbox"),
        (google_error(403, reason="forbidden"), Refused, "403"),
        (google_error(400, reason="invalidArgument"), Refused, "invalidArgument"),
        (google_error(400, reason="S3CRET <b>"), Refused, "400"),
        (google_error(409, reason="aborted"), Refused, "409"),
        (answer(b"<html>proxy says no</html>", status=403), Unreachable, "between"),
        (answer(b"<html>not here</html>", status=404), Unreachable, "between"),
        (answer(b"", status=302, location="https://portal.example.org"), Unreachable, "between"),
        (google_error(408), Unreachable, "waiting"),
        (google_error(500), Unreachable, "500"),
        (answer(b"Bad Gateway", status=502), Unreachable, "502"),
        (answer(b"", status=503), Unreachable, "503"),
        (no_answer(may_have_happened=False), Unreachable, "reached"),
    ],
)
async def test_an_answer_means_what_the_table_says(
    said: Answer, fault: type[ProviderFault], word: str, wall: VirtualClock
) -> None:
    for name, call in CALLS.items():
        mailbox = Mailbox(wall)
        with named(name), pytest.raises(fault) as caught:
            await call(mailbox.will_answer(said))
        assert word in caught.value.detail, name
        assert "S3CRET" not in caught.value.detail, name
        assert len(mailbox.http.asked) == 1, name


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("get", MessageGone),
        ("modify", MessageGone),
        ("history", HistoryExpired),
        ("list", Refused),
        ("send", ThreadGone),
    ],
)
async def test_what_a_404_means_depends_on_what_was_asked_for(
    name: str, fault: type[ProviderFault], mailbox: Mailbox
) -> None:
    with pytest.raises(fault):
        await CALLS[name](mailbox.will_answer(google_error(404, reason="notFound")))


NONSENSE = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"<html>Welcome to Hotel WiFi</html>",
    b'{"id": 7, "historyId": 7, "emailAddress": [], "messages": 7, "labels": {}, "sendAs": 7}',
    b'{"id": "", "threadId": "", "historyId": "", "emailAddress": "", "messages": [{}], "labels": [{}], "name": 1,'
    b' "sendAs": [{"displayName": 1}]}',
    b"\xff\xfe\x00",
    b"{" * 5_000,
    b'{"id": "m1", "threadId": "t1", "histo',
]


@pytest.mark.parametrize("body", NONSENSE)
async def test_of_an_answer_that_makes_no_sense_nothing_is_used(body: bytes, wall: VirtualClock) -> None:
    for name, call in READS.items():
        with named(name), pytest.raises(Unreachable) as caught:
            await call(Mailbox(wall).will_answer(answer(body)))
        assert not caught.value.may_have_happened, name


@pytest.mark.parametrize("body", NONSENSE)
async def test_a_change_whose_answer_makes_no_sense_may_have_happened(body: bytes, wall: VirtualClock) -> None:
    for name, call in WRITES.items():
        if name == "modify_many" and not body:
            continue  # that is how it is answered
        with named(name), pytest.raises(LostAnswer) as caught:
            await call(Mailbox(wall).will_answer(answer(body)))
        assert caught.value.may_have_happened, name


@pytest.mark.parametrize("name", ["get", "modify"])
async def test_an_answer_about_another_message_is_none(name: str, mailbox: Mailbox) -> None:
    with pytest.raises(Unreachable):
        await CALLS[name](mailbox.will_answer(raw_message(id="m2")))


@pytest.mark.parametrize("said", [no_answer(may_have_happened=True), answer(b"", status=500), answer(b"", status=302)])
async def test_only_a_change_can_have_happened_unseen(said: Answer, wall: VirtualClock) -> None:
    for name, call in CALLS.items():
        with named(name), pytest.raises(Unreachable) as caught:
            await call(Mailbox(wall).will_answer(said))
        assert caught.value.may_have_happened is (name in WRITES), name


@pytest.mark.parametrize(
    "said",
    [
        no_answer(may_have_happened=False),
        EgressFault("tls", "certificate expired", may_have_happened=False),
        google_error(408),
        google_error(429),
        google_error(403, reason="userRateLimitExceeded"),
        google_error(400),
        answer(b"<html>", status=403),
    ],
)
async def test_what_provably_did_not_happen_is_not_called_uncertain(said: Answer, wall: VirtualClock) -> None:
    for name, call in WRITES.items():
        with named(name), pytest.raises(ProviderFault) as caught:
            await call(Mailbox(wall).will_answer(said))
        assert not caught.value.may_have_happened, name


PAGE = msgspec.json.encode(
    {
        "history": [{"id": "8", "labelsAdded": [{"message": {"id": "a", "threadId": "t"}, "labelIds": ["X"]}]}],
        "historyId": "9",
    }
)


async def test_a_page_cut_at_any_byte_is_discarded_whole(mailbox: Mailbox) -> None:
    for length in range(len(PAGE)):
        with named(length), pytest.raises(Unreachable):
            await mailbox.will_answer(answer(PAGE[:length])).history(since="7")


# Anything at all


@given(status=st.integers(100, 599), body=st.binary(max_size=200) | st.sampled_from([PAGE, *NONSENSE]))
async def test_whatever_is_answered_a_call_returns_a_record_or_raises_a_provider_fault(
    status: int, body: bytes
) -> None:
    for call in CALLS.values():
        mailbox = Mailbox(VirtualClock())
        mailbox.http.otherwise = answer(body, status=status)
        with suppress(ProviderFault):
            await call(mailbox.provider)
