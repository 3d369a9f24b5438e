"""``mail.search`` through the whole service: what is found, in which order, and with which passage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service

NOA = "Noa Brandt <noa@example.org>"


async def arrive(service: Service, subject: str, *, address: str = MIA, **more: object) -> str:
    """A mail arrives and is synced. Returns its thread's id."""
    (thread_id,) = await service.synced(subject, address=address, **{"from": NOA, "text": "Hi.", **more})
    return thread_id


async def search(service: Service, query: str, **more: object) -> Any:
    return await service.query("mail.search", query=query, **more)


async def subjects(service: Service, query: str, **more: object) -> list[str]:
    return [thread["subject"] for thread in (await search(service, query, **more))["threads"]]


def shown(thread: Any) -> str:
    """The passage, with what is marked in brackets."""
    return "".join(f"[{piece['text']}]" if piece["hit"] else piece["text"] for piece in thread["match"]["snippet"])


async def test_mail_is_found_by_its_subject_people_body_and_file_names(service: Service) -> None:
    file = {"filename": "Quartalsbericht.pdf", "mime": "application/pdf", "text": "x"}
    await arrive(service, "Harbour plans", text="The cranes arrive in spring.", attachments=[file])
    await arrive(service, "Something else")
    for query in ("harbour", "cranes", "noa brandt", "noa@example.org", "quartalsbericht", "Quartalsbericht.pdf"):
        assert "Harbour plans" in await subjects(service, query), query
    assert await subjects(service, "cranes") == ["Harbour plans"]
    assert await subjects(service, "quartalsbericht") == ["Harbour plans"]
    assert await subjects(service, "nothing-of-the-sort") == []


async def test_a_found_thread_shows_the_passage_and_names_the_message(service: Service) -> None:
    thread_id = await arrive(service, "Plans", text="First a line.\n\nThen the  cranes\nof the harbour, at last.")
    (found,) = (await search(service, "cranes"))["threads"]
    assert found["id"] == thread_id
    assert shown(found) == "First a line. Then the [cranes] of the harbour, at last."
    opened = await service.query("mail.thread", id=thread_id)
    assert [message["id"] for message in opened["messages"]] == [found["match"]["messageId"]]


async def test_all_words_must_be_there_and_a_phrase_in_its_order(service: Service) -> None:
    await arrive(service, "One", text="the old harbour")
    await arrive(service, "Two", text="the harbour, old and grey")
    assert await subjects(service, "old harbour") == ["Two", "One"]
    assert await subjects(service, '"old harbour"') == ["One"]
    assert await subjects(service, "old harbour grey") == ["Two"]
    assert await subjects(service, "old -grey") == ["One"]
    assert await subjects(service, "grey OR nothing old") == ["Two"]


async def test_letters_are_found_by_those_that_people_type_for_them(service: Service) -> None:
    await arrive(service, "Fra Sørensen", text="Møde i Århus om smørrebrød, straße, æbler")
    for query in (
        "sorensen",
        "Sørensen",
        "SORENSEN",
        "mode",
        "arhus",
        "smorrebrod",
        "strasse",
        "aebler",
        "æbler",
        "sor",
    ):
        assert await subjects(service, query) == ["Fra Sørensen"], query
    (found,) = (await search(service, "aebler"))["threads"]
    assert shown(found) == "Møde i Århus om smørrebrød, straße, [æbler]"


SIGNS = (
    "C++ and C#",
    "plan C",
    "the .NET",
    "the net of x.net",
    "costs $50",
    "50% more",
    "$500",
    "AT&T",
    "at t",
    "is #123",
)


async def test_signs_at_a_word_count(service: Service) -> None:
    expected: dict[str, set[str]] = {
        "C++": {"C++ and C#"},
        "c#": {"C++ and C#"},
        "C": {"C++ and C#", "plan C"},
        "plan -C++": {"plan C"},
        "C -C++": {"plan C"},
        ".NET": {"the .NET"},
        "net": {"the .NET", "the net of x.net"},
        "$50": {"costs $50"},
        "50%": {"50% more"},
        "50": {"costs $50", "50% more"},
        "AT&T": {"AT&T"},
        "#123": {"is #123"},
        "C++ OR AT&T": {"C++ and C#", "AT&T"},
        '"costs $50"': {"costs $50"},
        "subject:C++": set(),
        "body:C++": {"C++ and C#"},
        "(C++)": {"C++ and C#"},
        "noa@example.org": {*SIGNS},
        "noa@example": {*SIGNS},
        "noa#example": set(),
    }
    for number, text in enumerate(SIGNS):
        await arrive(service, f"Mail {number}", text=text)
    found = {
        query: {SIGNS[int(subject.removeprefix("Mail "))] for subject in await subjects(service, query)}
        for query in expected
    }
    assert found == expected


async def test_only_the_last_word_may_be_unfinished(service: Service) -> None:
    await arrive(service, "Budget meeting")
    assert await subjects(service, "budget mee") == ["Budget meeting"]
    assert await subjects(service, "bud meeting") == []
    assert await subjects(service, "budget mee ") == []


async def test_two_letters_may_go_on_in_subject_and_people(service: Service) -> None:
    await arrive(service, "Budget meeting", text="The harbour is large.")
    assert await subjects(service, "budget me") == ["Budget meeting"]
    assert await subjects(service, "subject:me") == ["Budget meeting"]
    assert await subjects(service, "bu") == await subjects(service, "noa bu") == ["Budget meeting"]
    assert await subjects(service, "no") == ["Budget meeting"]
    for query in ("la", "body:la", "me ", '"me"', "b", "me budget"):  # in texts they would name half of all mail
        assert await subjects(service, query) == [], query
    assert await subjects(service, "budget -me") == ["Budget meeting"]


async def test_a_hit_in_subject_or_people_comes_before_one_in_the_body(service: Service) -> None:
    await arrive(service, "The harbour")
    await arrive(service, "Newer", text="About the harbour.")
    await arrive(service, "Harbour, again")
    await arrive(service, "Newest", text="harbour harbour harbour")
    assert await subjects(service, "harbour") == ["Harbour, again", "The harbour", "Newest", "Newer"]


async def test_a_thread_is_found_once_however_many_of_its_messages_are(service: Service) -> None:
    for text in ("harbour one", "harbour two", "harbour three"):
        await arrive(service, "Talk", text=text, threadKey="k")
    (found,) = (await search(service, "harbour"))["threads"]
    assert found["messageCount"] == 3
    assert shown(found) == "[harbour] three"


async def test_each_operator_finds_what_it_says(service: Service) -> None:
    expected: dict[str, list[str]] = {
        "from:noa": ["Plain"],
        "from:ann@x.org": ["Other"],
        "from:x.org": ["Other"],
        'from:"Ann Smith"': ["Other"],
        "-from:noa": ["Other"],
        "to:mia": ["Other", "Plain"],
        "to:me": ["Other", "Plain"],
        "to:ann": [],
        "subject:plain": ["Plain"],
        "subject:word": [],
        "has:attachment": ["Other"],
        "-has:attachment": ["Plain"],
        "filename:notes": ["Other"],
        "is:unread": ["Other"],
        "is:read": ["Plain"],
        "is:starred": ["Plain"],
        "in:inbox": ["Other"],
        "in:skipped": ["Plain"],
        "in:archive": ["Plain"],
        "in:sent": [],
        "label:starred": ["Plain"],
        "label:inbox OR label:starred": ["Other", "Plain"],
        "word -subject:plain": ["Other"],
        "from:noa OR from:ann": ["Other", "Plain"],
        "in:anywhere": ["Other", "Plain"],
    }
    await arrive(service, "Plain", text="a word", labels=["STARRED"])
    file = {"filename": "notes.txt", "mime": "text/plain", "text": "x"}
    await arrive(service, "Other", text="a word", **{"from": "Ann Smith <ann@x.org>"}, attachments=[file])
    assert {query: await subjects(service, query) for query in expected} == expected


async def test_spam_and_trash_are_left_out_unless_they_are_asked_for(service: Service) -> None:
    await arrive(service, "Offer", labels=["SPAM"])
    await arrive(service, "Old offer", labels=["TRASH"])
    await arrive(service, "Fair offer")
    assert await subjects(service, "offer") == ["Fair offer"]
    assert await subjects(service, "offer in:spam") == ["Offer"]
    assert await subjects(service, "offer in:trash") == ["Old offer"]
    assert await subjects(service, "offer in:anywhere") == ["Fair offer", "Old offer", "Offer"]
    assert await subjects(service, "offer -in:spam") == ["Fair offer"]


async def test_what_is_not_understood_is_searched_as_words_and_told(service: Service) -> None:
    await arrive(service, "Colour:red is in")
    answer = await search(service, "colour:red")
    assert [thread["subject"] for thread in answer["threads"]] == ["Colour:red is in"]
    assert answer["notices"] == ["Searched as words: colour:red"]
    assert (await search(service, "before:someday"))["notices"] == ["Searched as words: before:someday"]
    nowhere = await search(service, "in:anywhere label:nowhere")
    assert (nowhere["threads"], nowhere["notices"]) == ([], ['There is no label "nowhere".'])
    assert (await search(service, ""))["threads"] == []


async def test_a_cursor_goes_on_where_a_page_ended_also_while_mail_arrives(service: Service) -> None:
    threads = [await arrive(service, f"Harbour {number}") for number in range(7)]
    threads += [await arrive(service, f"Other {number}", text="harbour") for number in range(5)]
    found: list[str] = []
    cursor = None
    for _ in range(6):
        page = await search(service, "harbour", limit=2, **({"cursor": cursor} if cursor else {}))
        found += [thread["id"] for thread in page["threads"]]
        cursor = page["nextCursor"]
        await arrive(service, "Harbour, new")
    assert cursor is None
    assert found == [*reversed(threads[:7]), *reversed(threads[7:])]


async def test_a_cursor_of_another_search_is_refused(service: Service) -> None:
    for number in range(3):
        await arrive(service, f"Harbour {number}")
    cursor = (await search(service, "harbour", limit=1))["nextCursor"]
    for query, wrong in (("other", cursor), ("harbour", "x" * 40), ("harbour", "e30"), ("harbour", "é")):
        with pytest.raises(RpcError) as refused:
            await search(service, query, cursor=wrong)
        assert refused.value.status == 400


async def test_a_query_has_a_limit(service: Service) -> None:
    await arrive(service, "Hello")
    assert (await search(service, "hello " * 80))["notices"] == ["Only the first 32 terms are searched for."]
    with pytest.raises(RpcError) as refused:
        await search(service, "x" * 501)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("text", "query", "passage"),
    [
        ("Grüße aus München", "munchen", "Grüße aus [München]"),
        ("Gruesse aus Muenchen", "münchen", "Gruesse aus [Muenchen]"),
        ("明日の東京会議について", "東京会議", "明日の[東京会議]について"),
        ("我们明天开会讨论预算", "预算 明天", "我们[明天]开会讨论[预算]"),
        ("내일 회의가 있습니다", "회의", "내일 [회의]가 있습니다"),
        ("हिन्दी में मेल", "हिन्दी", "[हिन्दी] में मेल"),
        ("Party🎉tonight", "🎉", "Party[🎉]tonight"),
        ("write to ann.smith@x.org soon", "ann.smith@x.org", "write to [ann.smith@x.org] soon"),
        ("the meetings of May", "meet", "the [meetings] of May"),
    ],
)
async def test_the_passage_marks_words_of_any_script(service: Service, text: str, query: str, passage: str) -> None:
    await arrive(service, "Plain", text=text)
    (found,) = (await search(service, query))["threads"]
    assert shown(found) == passage


async def test_a_passage_is_text_and_never_html(service: Service) -> None:
    await arrive(service, "Plain", text="", html="<p>a &lt;img onerror=x&gt; <b>har</b>bour <script>evil</script></p>")
    (found,) = (await search(service, "harbour"))["threads"]
    assert shown(found) == "a <img onerror=x> [harbour]"
    assert await subjects(service, "evil") == []


async def test_html_is_searched_where_the_plain_version_says_little(service: Service) -> None:
    await arrive(service, "Letter", text="Your program shows no HTML.", html="<p>The cranes arrive.</p>")
    assert await subjects(service, "cranes") == ["Letter"]
    assert await subjects(service, "program") == ["Letter"]


async def test_a_far_hit_is_shown_from_a_little_before_it(service: Service) -> None:
    await arrive(service, "Plain", text="word " * 300 + "the harbour and the cranes " + "word " * 300)
    (found,) = (await search(service, "cranes harbour"))["threads"]
    passage = shown(found)
    assert passage.startswith("…word word")
    assert "word the [harbour] and the [cranes] word" in passage
    assert passage.endswith("word…")
    assert len(passage) < 260


async def test_one_account_is_searched_alone(service: Service) -> None:
    await arrive(service, "Harbour of one")
    await arrive(service, "Harbour of two", address="two@example.org")
    accounts = {one["address"]: one["id"] for one in await service.query("mail.accounts")}
    assert await subjects(service, "harbour") == ["Harbour of two", "Harbour of one"]
    assert await subjects(service, "harbour", accountId=accounts[MIA]) == ["Harbour of one"]
    with pytest.raises(RpcError) as refused:
        await search(service, "harbour", accountId="acc_none")
    assert refused.value.status == 404


async def test_days_begin_in_the_askers_time_zone(service: Service) -> None:
    await arrive(service, "Harbour")  # 2026-10-27T08:00Z
    assert await subjects(service, "harbour before:2026-10-27", timeZone="Pacific/Kiritimati") == []
    assert await subjects(service, "harbour after:2026-10-27") == ["Harbour"]
    assert await subjects(service, "harbour after:2026-10-27", timeZone="Pacific/Honolulu") == []
    wrong = await search(service, "harbour", timeZone="Nowhere/../etc")
    assert wrong["notices"] == ["Your time zone is not known here; days are those of UTC."]
    assert len(wrong["threads"]) == 1


async def test_a_search_can_be_of_one_account_by_its_address_or_a_part_of_it(service: Service) -> None:
    await arrive(service, "Harbour")
    for query in ("account:mia", f"account:{MIA}", "account:MIA harbour", "-account:mia OR account:mia"):
        assert await subjects(service, query) == ["Harbour"], query
    assert await subjects(service, "harbour -account:mia") == []
    nowhere = await search(service, "account:nowhere")
    assert (nowhere["threads"], nowhere["notices"]) == ([], ['There is no account "nowhere" among these.'])


async def test_labels_are_found_by_their_names_and_snoozed_threads_as_such(service: Service) -> None:
    thread_id = await arrive(service, "Harbour")
    await arrive(service, "Another")
    (account,) = await service.query("mail.accounts")
    label = await service.mutate("mail.createLabel", accountId=account["id"], name="Clients/Next week")
    await service.mutate("mail.setLabels", threadIds=[thread_id], add=[label["id"]])
    for query in ('label:"clients/next week"', "label:clients-next-week", f"label:{label['id']}"):
        assert await subjects(service, query) == ["Harbour"], query
    assert await subjects(service, 'in:anywhere -label:"Clients/Next week"') == ["Another"]
    await service.mutate("mail.snooze", threadIds=[thread_id], until="2026-11-01T08:00:00.000Z")
    assert await subjects(service, "in:snoozed") == ["Harbour"]
    assert await subjects(service, "is:snoozed harbour in:skipped") == ["Harbour"]
    assert await subjects(service, "in:archive") == []
    assert await subjects(service, "in:inbox") == ["Another"]


async def test_what_was_just_sent_is_found(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_UNDO_SEND_SECONDS="0") as service:
        await arrive(service, "Hello")
        (account,) = await service.query("mail.accounts")
        wanted = {"accountId": account["id"], "to": ["ann@x.org"], "subject": "Harbour", "html": "<p>the cranes</p>"}
        sent = await service.mutate("mail.send", **wanted)
        while sent["state"] != "sent":
            await trio.sleep(1)
            (sent,) = await service.query("mail.outgoing")
        assert await subjects(service, "in:sent cranes") == ["Harbour"]
        assert await subjects(service, "to:ann from:me") == ["Harbour"]
