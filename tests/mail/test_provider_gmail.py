from __future__ import annotations

import base64
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.connections import RETRY_AFTER_MAX_S, retry_after_s
from svc.mail.providers.gmail.palette import PALETTE, nearest_color, text_color_on
from svc.mail.providers.gmail.provider import (
    HISTORY_FIELDS,
    LABELS_FIELDS,
    LIST_FIELDS,
    MESSAGE_FIELDS,
    SENDERS_FIELDS,
)
from svc.mail.providers.gmail.quota import COST_UNITS, QuotaLimiter
from svc.mail.providers.seam import (
    GrantLost,
    HistoryChange,
    HistoryPage,
    ListPage,
    LostAnswer,
    MessageRef,
    Profile,
    ProviderFault,
    ProviderLabel,
    Refused,
    SentMessage,
    Throttled,
)
from svc.protocol.egress import EgressFault, EgressResponse
from svc.protocol.messages import Headers
from tests.mail.gmail_wire import (
    BASE,
    CALLS,
    RAW,
    READS,
    USER,
    WRITES,
    Mailbox,
    b64url,
    raw_message,
)
from tests.mail.scripted_http import Answer, answer, google_error
from tests.support.each import named

# What is asked, and what comes of the answer


async def test_a_profile_names_the_mailbox_and_its_place_in_history(mailbox: Mailbox) -> None:
    said = {"emailAddress": "alice@acme.test", "messagesTotal": 5, "threadsTotal": 2, "historyId": "1" * 21}
    profile = await mailbox.will_answer(answer(said)).profile()
    assert profile == Profile(address="alice@acme.test", cursor="1" * 21, messages_total=5)
    (asked,) = mailbox.http.asked
    assert asked.url == f"{BASE}{USER}/profile"
    assert asked.headers["authorization"] == "Bearer S3CRET-1"


async def test_a_list_has_everything_spam_and_trash_included(mailbox: Mailbox) -> None:
    said = {"messages": [{"id": "b", "threadId": "t"}, {"id": "a", "threadId": "t"}], "nextPageToken": "p&2"}
    page = await mailbox.will_answer(answer(said)).list_messages()
    refs = (MessageRef(id="b", thread_id="t"), MessageRef(id="a", thread_id="t"))
    assert page == ListPage(messages=refs, next_page_token="p&2")
    assert mailbox.http.asked[0].query == {
        "includeSpamTrash": ["true"],
        "maxResults": ["100"],
        "fields": [LIST_FIELDS],
    }


async def test_a_list_goes_on_where_it_stopped_and_asks_for_no_more_than_a_page_may_hold(mailbox: Mailbox) -> None:
    page = await mailbox.will_answer(answer({"resultSizeEstimate": 0})).list_messages(
        label="Label_1", page_token="p&2", limit=9_999
    )
    assert page == ListPage(messages=(), next_page_token=None)
    query = mailbox.http.asked[0].query
    assert (query["labelIds"], query["pageToken"], query["maxResults"]) == (["Label_1"], ["p&2"], ["500"])


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 300])
async def test_a_message_comes_byte_for_byte_with_or_without_padding(
    padded: bool, length: int, mailbox: Mailbox
) -> None:
    content = bytes((255 - n) % 256 for n in range(length))
    message = await mailbox.will_answer(raw_message(raw=b64url(content, padded=padded))).get("m1")
    assert message.raw == content
    assert (message.id, message.thread_id, message.received_at) == ("m1", "t1", 1_736_499_600_000)
    assert message.labels == frozenset({"INBOX", "UNREAD"})
    assert mailbox.http.asked[0].query == {"format": ["raw"], "fields": [MESSAGE_FIELDS]}


async def test_a_message_without_labels_and_date_is_a_message(mailbox: Mailbox) -> None:
    message = await mailbox.will_answer(raw_message(labelIds=None, internalDate=None)).get("m1")
    assert (message.labels, message.received_at) == (frozenset(), None)


@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\ud83d\\ud83d", "caf\\u00e9 \\ud83d and on"])
async def test_half_a_character_in_an_answer_costs_no_more_than_itself(half: str, mailbox: Mailbox) -> None:
    """Google cuts a snippet, or a name, without looking where."""
    whole = raw_message(snippet="HALF", labelIds=["INBOX", "HALF"]).body
    message = await mailbox.will_answer(answer(whole.replace(b"HALF", half.encode()))).get("m1")
    assert message.raw == RAW
    (label,) = message.labels - {"INBOX"}
    assert label.encode("utf-8")  # no half a character is left: no database would take it
    assert "\\ud" not in label


async def test_only_what_is_used_is_asked_for(mailbox: Mailbox) -> None:
    for name in ("list", "get", "history", "labels", "addresses"):
        with suppress(ProviderFault):
            await READS[name](mailbox.will_answer(answer({})))
    asked = [one.query["fields"][0] for one in mailbox.http.asked]
    assert asked == [LIST_FIELDS, MESSAGE_FIELDS, HISTORY_FIELDS, LABELS_FIELDS, SENDERS_FIELDS]
    assert not any("snippet" in one or "payload" in one for one in asked)


@pytest.mark.parametrize("raw", [None, "", "%%%%", "AAA*", "A", "é"])
async def test_a_message_whose_content_is_broken_is_refused_alone(raw: str | None, mailbox: Mailbox) -> None:
    """Whole and well-formed, so asking again would not help: it must not stop the others."""
    with pytest.raises(Refused):
        await mailbox.will_answer(raw_message(raw=raw)).get("m1")


async def test_a_message_too_large_to_take_in_is_refused_alone(mailbox: Mailbox) -> None:
    with pytest.raises(Refused, match="larger than"):
        await mailbox.will_answer(EgressFault("too_large", "over the limit", may_have_happened=True)).get("m1")


async def test_ids_can_not_reach_another_path(mailbox: Mailbox) -> None:
    await mailbox.will_answer(raw_message(id="../x?y#z")).get("../x?y#z")
    assert mailbox.http.asked[0].url.startswith(f"{BASE}{USER}/messages/..%2Fx%3Fy%23z?format=raw&fields=")


async def test_history_tells_all_kinds_of_changes_in_the_order_of_its_records(mailbox: Mailbox) -> None:
    def ref(name: str) -> dict[str, object]:
        return {"id": name, "threadId": "t", "labelIds": ["INBOX"]}

    said = {
        "history": [
            {"id": "8", "messages": [ref("a")], "messagesAdded": [{"message": ref("a")}]},
            {"id": "9", "labelsAdded": [{"message": ref("a"), "labelIds": ["X", "Y"]}]},
            {"id": "10", "messages": [ref("z")]},
            {"id": "11", "labelsRemoved": [{"message": ref("b"), "labelIds": ["UNREAD"]}]},
            {"id": "12", "messagesDeleted": [{"message": ref("a")}], "messagesAdded": [{"message": ref("c")}]},
        ],
        "nextPageToken": "2",
        "historyId": "999999999999999999999",
    }
    page = await mailbox.will_answer(answer(said)).history(since="7", page_token="1")

    def change(kind: str, message: str, *labels: str) -> HistoryChange:
        return HistoryChange(kind=kind, message_id=message, thread_id="t", labels=frozenset(labels))  # type: ignore[arg-type]

    assert page == HistoryPage(
        changes=(
            change("added", "a"),
            change("labels-added", "a", "X", "Y"),
            change("labels-removed", "b", "UNREAD"),
            change("added", "c"),
            change("deleted", "a"),
        ),
        next_page_token="2",
        cursor="999999999999999999999",
    )
    assert mailbox.http.asked[0].query == {
        "startHistoryId": ["7"],
        "pageToken": ["1"],
        "maxResults": ["500"],
        "historyTypes": ["messageAdded", "messageDeleted", "labelAdded", "labelRemoved"],
        "fields": [HISTORY_FIELDS],
    }


async def test_a_quiet_mailbox_has_an_empty_history(mailbox: Mailbox) -> None:
    page = await mailbox.will_answer(answer({"historyId": "8"})).history(since="7")
    assert page == HistoryPage(changes=(), next_page_token=None, cursor="8")


async def test_a_change_of_labels_is_sent_as_it_is(mailbox: Mailbox) -> None:
    provider = mailbox.will_answer(answer({"id": "m1"}))
    await provider.modify("m1", add=frozenset({"B", "A"}), remove=frozenset({"UNREAD"}))
    (asked,) = mailbox.http.asked
    assert (asked.method, asked.path) == ("POST", f"{USER}/messages/m1/modify")
    assert asked.json == {"addLabelIds": ["A", "B"], "removeLabelIds": ["UNREAD"]}
    assert asked.headers["content-type"] == "application/json"


async def test_a_change_of_nothing_asks_nobody(mailbox: Mailbox) -> None:
    await mailbox.provider.modify("m1", add=frozenset(), remove=frozenset())
    assert mailbox.http.asked == []


@pytest.mark.parametrize("done", [answer(b"", status=204), answer(b"", status=200), answer({})])
async def test_the_same_change_of_many_messages_is_one_call(done: EgressResponse, mailbox: Mailbox) -> None:
    provider = mailbox.will_answer(done)
    await provider.modify_many(["m2", "m1"], add=frozenset({"B", "A"}), remove=frozenset({"INBOX"}))
    (asked,) = mailbox.http.asked
    assert (asked.method, asked.path) == ("POST", f"{USER}/messages/batchModify")
    assert asked.json == {"ids": ["m2", "m1"], "addLabelIds": ["A", "B"], "removeLabelIds": ["INBOX"]}
    assert mailbox.quota.used() == 50


async def test_a_page_that_somebody_else_answers_with_is_no_word_of_gmails(mailbox: Mailbox) -> None:
    provider = mailbox.will_answer(answer(b"<html>Please sign in to this network</html>"))
    with pytest.raises(LostAnswer):
        await provider.modify_many(["m1"], add=frozenset({"A"}), remove=frozenset())


async def test_a_change_of_many_that_names_no_message_or_no_label_asks_nobody(mailbox: Mailbox) -> None:
    await mailbox.provider.modify_many([], add=frozenset({"A"}), remove=frozenset())
    await mailbox.provider.modify_many(["m1"], add=frozenset(), remove=frozenset())
    assert mailbox.http.asked == []


async def test_labels_come_with_their_colours(mailbox: Mailbox) -> None:
    said = {
        "labels": [
            {"id": "INBOX", "name": "INBOX", "type": "system"},
            {
                "id": "L1",
                "name": "Ops",
                "type": "user",
                "color": {"textColor": "#111111", "backgroundColor": "#ddeeff"},
            },
            {"id": "L2", "name": "Plain", "type": "user", "color": {}},
        ]
    }
    assert await mailbox.will_answer(answer(said)).labels() == (
        ProviderLabel(id="INBOX", name="INBOX", system=True),
        ProviderLabel(id="L1", name="Ops", system=False, color="#ddeeff"),
        ProviderLabel(id="L2", name="Plain", system=False),
    )


async def test_the_addresses_are_those_that_gmail_sends_from_with_what_it_has_confirmed(mailbox: Mailbox) -> None:
    said = [
        {"sendAsEmail": "alice@example.org", "displayName": "Alice", "isPrimary": True},
        {"sendAsEmail": "hello@example.org", "displayName": "Acme", "isDefault": True},
        {"sendAsEmail": "a@else.example", "displayName": "", "verificationStatus": "accepted"},
        {"sendAsEmail": "b@else.example", "verificationStatus": "pending"},
        {"sendAsEmail": "c@else.example", "verificationStatus": "verificationStatusUnspecified"},
    ]
    told = await mailbox.will_answer(answer({"sendAs": said})).addresses()
    assert [(one.address, one.name, one.own, one.default, one.confirmed) for one in told] == [
        ("alice@example.org", "Alice", True, False, True),
        ("hello@example.org", "Acme", False, True, True),
        ("a@else.example", "", False, False, True),
        ("b@else.example", "", False, False, False),
        ("c@else.example", "", False, False, False),
    ]
    (asked,) = mailbox.http.asked
    assert (asked.method, asked.path) == ("GET", f"{USER}/settings/sendAs")


@pytest.mark.parametrize("said", [{}, {"sendAs": []}])
async def test_who_tells_no_addresses_tells_none(said: dict[str, object], mailbox: Mailbox) -> None:
    assert await mailbox.will_answer(answer(said)).addresses() == ()


async def test_a_new_label_comes_back_with_its_id(mailbox: Mailbox) -> None:
    label = await mailbox.will_answer(answer({"id": "L9", "name": "Öps/1"})).create_label("Öps/1")
    assert label == ProviderLabel(id="L9", name="Öps/1", system=False)
    assert mailbox.http.asked[0].json == {
        "name": "Öps/1",
        "labelListVisibility": "labelShow",
        "messageListVisibility": "show",
    }


async def test_a_new_label_gets_the_nearest_colour_that_gmail_has_and_text_that_can_be_read_on_it(
    mailbox: Mailbox,
) -> None:
    said = {"id": "L9", "name": "Ops", "color": {"backgroundColor": "#16a766", "textColor": "#ffffff"}}
    label = await mailbox.will_answer(answer(said)).create_label("Ops", color="#17A868")
    assert label.color == "#16a766"
    body = mailbox.http.asked[0].json
    assert isinstance(body, dict)
    assert body["color"] == {"backgroundColor": "#16a766", "textColor": "#ffffff"}


@given(st.integers(min_value=0, max_value=0xFFFFFF))
def test_any_colour_has_a_nearest_one_in_the_palette_and_a_colour_of_the_palette_is_its_own(value: int) -> None:
    assert nearest_color(f"#{value:06X}") in PALETTE
    assert text_color_on(f"#{value:06x}") in {"#000000", "#ffffff"}
    own = PALETTE[value % len(PALETTE)]
    assert nearest_color(own) == own


@pytest.mark.parametrize("thread_id", [None, "t7"])
async def test_a_mail_is_sent_byte_for_byte_into_its_thread(thread_id: str | None, mailbox: Mailbox) -> None:
    provider = mailbox.will_answer(answer({"id": "s1", "threadId": "t7", "labelIds": ["SENT"]}))
    sent = await provider.send(RAW, thread_id=thread_id)
    assert sent == SentMessage(id="s1", thread_id="t7", labels=frozenset({"SENT"}))
    body = mailbox.http.asked[0].json
    assert isinstance(body, dict)
    assert base64.urlsafe_b64decode(body["raw"]) == RAW
    assert body.get("threadId") == thread_id


# The grant


async def test_a_401_is_cured_by_one_fresh_token(mailbox: Mailbox) -> None:
    await mailbox.will_answer(google_error(401), answer({"historyId": "8"})).history(since="7")
    assert [asked.headers["authorization"] for asked in mailbox.http.asked] == ["Bearer S3CRET-1", "Bearer S3CRET-2"]
    assert mailbox.tokens.refreshes == 1


async def test_a_second_401_means_the_grant_is_lost_and_nobody_asks_a_third_time(wall: VirtualClock) -> None:
    for name, call in CALLS.items():
        mailbox = Mailbox(wall)
        with named(name), pytest.raises(GrantLost):
            await call(mailbox.will_answer(google_error(401), google_error(401)))
        assert mailbox.tokens.refreshes == 1, name
        assert len(mailbox.http.asked) == 2, name


async def test_a_refused_renewal_is_the_calls_own_fault(mailbox: Mailbox) -> None:
    mailbox.tokens.lost = True
    with pytest.raises(GrantLost, match="revoked"):
        await mailbox.will_answer(google_error(401)).profile()
    assert len(mailbox.http.asked) == 1


# The quota


async def test_every_call_pays_its_price(mailbox: Mailbox) -> None:
    prices = {
        "profile": "getProfile",
        "list": "messages.list",
        "get": "messages.get",
        "history": "history.list",
        "labels": "labels.list",
        "addresses": "settings.sendAs.list",
        "modify": "messages.modify",
        "modify_many": "messages.batchModify",
        "create_label": "labels.create",
        "send": "messages.send",
    }
    for name, call in CALLS.items():
        before = mailbox.quota.used()
        with pytest.raises(Refused):
            await call(mailbox.will_answer(google_error(400)))
        assert mailbox.quota.used() - before == COST_UNITS[prices[name]]


async def test_what_a_person_waits_for_goes_ahead_of_the_backfill(mailbox: Mailbox) -> None:
    mailbox.quota = QuotaLimiter(units_per_minute=1_000)
    mailbox.http.otherwise = raw_message()
    begin_s = trio.current_time()
    for _ in range(45):
        await mailbox.provider.get("m1")
    await WRITES["modify"](mailbox.provider)
    assert trio.current_time() == begin_s
    await mailbox.provider.get("m1")
    assert trio.current_time() - begin_s >= 59


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        (google_error(429, retry_after="7"), 7.0),
        (google_error(403, reason="rateLimitExceeded", retry_after="7"), 7.0),
        (google_error(429, retry_after="99999999999999999999"), RETRY_AFTER_MAX_S),
        (google_error(429, retry_after="-7"), None),
        (google_error(429, retry_after="soon"), None),
        (google_error(429), None),
        (google_error(429, message="User-rate limit exceeded.  Retry after 2026-10-27T08:02:00.000Z"), 120.0),
        (google_error(429, message="Retry after 2026-99-99T08:02:00Z"), None),
        (google_error(429, message="Retry after 2027-10-27T08:02:00Z"), RETRY_AFTER_MAX_S),
    ],
)
async def test_the_providers_own_word_on_when_to_come_back_is_passed_on(
    said: Answer, wait_s: float | None, mailbox: Mailbox
) -> None:
    mailbox.wall.now()  # the epoch of the virtual wall clock is its first look
    with pytest.raises(Throttled) as caught:
        await mailbox.will_answer(said).profile()
    assert caught.value.retry_after_s == (None if wait_s is None else pytest.approx(wait_s, abs=0.01))


@pytest.mark.parametrize("status", [429, 503])
async def test_the_accounts_other_calls_wait_too(status: int, mailbox: Mailbox) -> None:
    begin_s = trio.current_time()
    with pytest.raises(ProviderFault):
        await mailbox.will_answer(google_error(status, retry_after="90")).profile()
    await WRITES["modify"](mailbox.will_answer(answer({"id": "m1"})))
    assert trio.current_time() - begin_s == pytest.approx(90)


async def test_a_call_takes_its_token_after_the_wait_so_that_it_is_still_good(mailbox: Mailbox) -> None:
    mailbox.quota.pause(900)

    async def renew() -> None:
        await trio.sleep(600)
        mailbox.tokens.number = 2

    async with trio.open_nursery() as nursery:
        nursery.start_soon(renew)
        await WRITES["modify"](mailbox.will_answer(answer({"id": "m1"})))
    assert mailbox.http.asked[0].headers["authorization"] == "Bearer S3CRET-2"


async def test_a_date_to_come_back_at_is_read_as_well(wall: VirtualClock) -> None:
    moment = datetime.fromtimestamp(wall.now() // 1000 + 60, tz=UTC)
    headers = Headers([("retry-after", format_datetime(moment, usegmt=True))])
    assert retry_after_s(headers, now=wall.now()) == pytest.approx(60)
    assert retry_after_s(headers, now=wall.now() + 3_600_000) == 0


@given(value=st.text(max_size=60))
def test_no_retry_after_is_too_strange(value: str) -> None:
    wait_s = retry_after_s(Headers([("retry-after", value)]), now=0)
    assert wait_s is None or 0 <= wait_s <= RETRY_AFTER_MAX_S
