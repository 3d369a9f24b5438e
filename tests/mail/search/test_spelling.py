"""A search that finds next to nothing offers the correct spelling, from the searcher's own mail."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from svc.mail.search import procedures
from svc.mail.search.find import LIMITS
from svc.mail.search.spelling import slips
from svc.mail.search.wire import SearchInput
from tests.support.mailbox import MailSync, mail, user
from tests.support.service import Service


async def offered(service: Service, query: str, **more: object) -> str | None:
    answer: dict[str, str | None] = await service.query("mail.search", query=query, **more)
    return answer["didYouMean"]


async def test_a_slip_is_told_by_what_is_near(service: Service) -> None:
    meant = {
        "harbuor": "harbour",  # two changed about
        "harbou ": "harbour",  # one missing
        "harbbour": "harbour",  # one too many
        "harpour": "harbour",  # one wrong
        "garbour": "harbour",  # the first one
        "harbr ": None,  # two are missing of too short a word
        "quaterly": "quarterly",
        "quaterley": "quarterly",  # two slips
        "Harbuor": "Harbour",
        "harbuor plans": "harbour plans",
        "harbuor plnas": "harbour plans",
        "subject:harbuor": "subject:harbour",
        "from:sorenson": "from:sørensen",
        "munhcen": "münchen",
        "harbuor in:inbox": "harbour in:inbox",
        "harbuor in:sent": None,  # it finds nothing there either
        '"harbuor"': None,  # as it is written
        "-harbuor in:sent": None,
        "harbour": None,
        "harb": None,
        "harbour lentils": None,  # each of them is right
        "hrb": None,
        "h4rbour": None,
        "xylophone": None,
        "harbor": "harbour",
    }
    await service.synced("Harbour plans", text="The quarterly figures of München", **{"from": "Bo Sørensen <bo@x.org>"})
    await service.synced("Lentils", text="for lunch")
    assert {typed: await offered(service, typed) for typed in meant} == meant


async def test_the_offer_finds_what_was_meant(service: Service) -> None:
    await service.synced("Harbour plans")
    meant = await offered(service, "harbuor")
    found = await service.query("mail.search", query=meant)
    assert [thread["subject"] for thread in found["threads"]] == ["Harbour plans"]
    assert found["didYouMean"] is None


async def test_of_several_the_word_of_most_messages_is_meant(service: Service) -> None:
    for text in ("harbour", "harbour", "harbours", "barbour"):
        await service.synced("Mail", text=text)
    assert await offered(service, "arbour ") == "harbour"


async def test_a_word_that_few_have_is_right_unless_many_have_another(service: Service) -> None:
    await service.synced("Typed", text="the harbuor")
    await service.synced("One", text="harbour")
    assert await offered(service, "harbuor ") is None
    for number in range(10):
        await service.synced(f"Mail {number}", text="harbour")
    assert await offered(service, "harbuor ") == "harbour"


async def test_no_word_of_anybody_elses_mail_is_told(mail_sync: MailSync) -> None:
    await mail_sync.inject(raw=mail("Harbour"), address="one@example.org")
    await mail_sync.inject(raw=mail("Quay"), address="two@example.org")
    for name in ("one", "two"):
        mail_sync.principal = user(f"usr_{name}")
        account_id = await mail_sync.connect(f"{name}@example.org")
        await mail_sync.sync_of(account_id, address=f"{name}@example.org").step()
    await mail_sync.indexer().catch_up()

    async def offer(query: str) -> str | None:
        wanted = SearchInput(query=query)
        return (
            await mail_sync.store.read(procedures.answer, mail_sync.principal, wanted=wanted, limits=LIMITS)
        ).did_you_mean

    assert await offer("harbuor") is None
    mail_sync.principal = user("usr_one")
    assert await offer("harbuor") == "harbour"


@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_slips_are_a_distance_but_for_letters_moved_twice(one: str, other: str, third: str) -> None:
    assert (slips(one, other) == 0) == (one == other)
    assert slips(one, other) == slips(other, one)
    assert abs(len(one) - len(other)) <= slips(one, other) <= max(len(one), len(other))
    assert slips(one + third, other + third) <= slips(one, other)


def test_slips_are_counted() -> None:
    assert [slips("harbour", other) for other in ("harbour", "harbuor", "harbor", "harbourr", "habor")] == [
        0,
        1,
        1,
        1,
        2,
    ]
