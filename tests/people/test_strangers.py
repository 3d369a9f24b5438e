"""Senders are only suggested; who gets an answer becomes one of the people; and older homes are corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.clock import VirtualClock
from tests.identity.people import sign_in
from tests.people.test_meeting import NOA, RUTH, connect, from_stranger, people, problems, row_title, sends
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, RpcError, Service, open_service
from tests.test_cli import svc

RUTH_AT = "ruth@harbour.example"


async def suggested(service: Service) -> list[str]:
    return [one["address"] for one in (await service.query("people.suggested"))["people"]]


async def paged(service: Service, *senders: str) -> None:
    """People who never got mail from here, with the pages that older versions made for all of them."""
    for sender in senders:
        await from_stranger(service, sender)
    for address in await suggested(service):
        await service.mutate("people.add", address=address)


async def test_who_only_writes_gets_no_page_and_is_suggested(service: Service) -> None:
    thread_id = await from_stranger(service)
    await from_stranger(service)
    await from_stranger(service, "Di <di@d.example>")
    assert await people(service) == {RUTH_AT: None, "di@d.example": None}
    assert await suggested(service) == [RUTH_AT, "di@d.example"]
    assert await row_title(service) is None
    assert (await service.query("mail.thread", id=thread_id))["filing"] is None
    assert [one["address"] for one in await service.query("people.suggest", text="ruth")] == [RUTH_AT]
    assert (await service.query("people.suggested", limit=1))["more"] is True
    assert await problems(service) == []


@pytest.mark.parametrize("is_dismissed", [False, True])
async def test_whom_i_answer_becomes_one_of_the_people_and_rows_hear_of_it(
    service: Service, is_dismissed: bool
) -> None:
    thread_id = await from_stranger(service)
    if is_dismissed:
        await service.mutate("people.dismiss", addresses=[RUTH_AT])
    live = await service.live("mail")
    await sends(service, RUTH_AT)
    assert await people(service) == {RUTH_AT: "crm/ruth-adeyemi"}
    assert await suggested(service) == []
    told = [one["payload"]["thread"]["sender"]["title"] for one in await live.hear_all() if one["id"] == thread_id]
    assert told == ["Ruth Adeyemi"]
    assert await problems(service) == []


async def test_whom_i_wrote_to_long_ago_is_one_of_the_people_though_their_mail_is_read_first(service: Service) -> None:
    await from_stranger(service)
    await sends(service, RUTH)
    await from_stranger(service)
    assert await people(service) == {RUTH_AT: "crm/ruth-adeyemi"}


async def test_a_suggestion_is_taken_or_dismissed(service: Service) -> None:
    thread_id = await from_stranger(service)
    await from_stranger(service, "Di <di@d.example>")
    added = await service.mutate("people.add", address="RUTH@harbour.example")
    assert added["page"]["path"] == "crm/ruth-adeyemi"
    await service.mutate("people.dismiss", addresses=["di@d.example", RUTH_AT])
    assert await suggested(service) == []
    await from_stranger(service, "Di <di@d.example>")
    assert await suggested(service) == []
    assert await people(service) == {RUTH_AT: "crm/ruth-adeyemi", "di@d.example": None}
    assert (await service.query("mail.thread", id=thread_id))["filing"]["title"] == "Ruth Adeyemi"
    await service.mutate("people.add", address=RUTH_AT)
    with pytest.raises(RpcError, match="no correspondent"):
        await service.mutate("people.add", address="nobody@d.example")
    assert await problems(service) == []


async def test_who_is_filed_by_hand_is_no_suggestion_any_more(service: Service) -> None:
    await from_stranger(service)
    await service.mutate("pages.save", path="clients", title="Clients", body="")
    await service.mutate("people.setPage", address=RUTH_AT, path="clients")
    assert await suggested(service) == []
    await sends(service, RUTH_AT)
    assert await people(service) == {RUTH_AT: "clients"}
    assert await problems(service) == []


async def test_a_thread_is_filed_under_the_first_of_its_people_past_strangers(service: Service) -> None:
    await sends(service, "Di <di@d.example>")
    await from_stranger(service, RUTH, threadKey="one")
    thread_id = await from_stranger(service, "Di <di@d.example>", threadKey="one")
    assert (await service.query("mail.thread", id=thread_id))["filing"]["title"] == "Di"


async def test_nobody_sees_or_answers_another_persons_suggestions(service: Service) -> None:
    mia = await sign_in(service, MIA)
    noa = await sign_in(service, NOA, invite=(await mia.mutate("auth.createInvite"))["code"])
    await connect(service, noa, NOA)
    await from_stranger(mia, address=NOA)
    assert (await mia.query("people.suggested"))["people"] == []
    with pytest.raises(RpcError, match="no correspondent"):
        await mia.mutate("people.add", address=RUTH_AT)
    await mia.mutate("people.dismiss", addresses=[RUTH_AT])
    assert [one["address"] for one in (await noa.query("people.suggested"))["people"]] == [RUTH_AT]
    await noa.mutate("people.add", address=RUTH_AT)
    assert await mia.query("people.strangers") == []
    assert await mia.mutate("people.tidy", addresses=[RUTH_AT]) == {"removed": 0}
    assert [one["address"] for one in await noa.query("people.strangers")] == [RUTH_AT]


@pytest.mark.thorough
async def test_tidying_shows_first_and_takes_only_untouched_pages_of_strangers(service: Service) -> None:
    names = ("Written", "Edited", "Titled", "Shared", "Moved", "Parent", "Linked", "Filed", "Plain", "Spare")
    await paged(service, *(f"{name} <{name.lower()}@x.example>" for name in names))
    await sends(service, "written@x.example")
    await service.mutate("pages.save", path="crm/edited", body="Likes tea.")
    await service.mutate("pages.save", path="crm/titled", title="Aunt T.", body="")
    grants = [{"to": "everyone", "level": "read"}]
    await service.mutate("pages.setAccess", path="crm/shared", access="explicit", grants=grants)
    await service.mutate("pages.move", path="crm/moved", to="clients/moved")
    await service.mutate("pages.save", path="crm/parent/notes", title="Notes", body="See [[crm/linked]].")
    await from_stranger(service, "Other <other@x.example>")
    await service.mutate("people.setPage", address="other@x.example", path="crm/filed")
    shown = await service.query("people.strangers")
    assert [one["page"]["path"] for one in shown] == ["crm/plain", "crm/spare"]
    assert (await people(service))["plain@x.example"] == "crm/plain", "to look changes nothing"
    wanted = ["plain@x.example", "edited@x.example", "written@x.example", "filed@x.example"]
    assert await service.mutate("people.tidy", addresses=wanted) == {"removed": 1}
    after = await people(service)
    assert after["plain@x.example"] is None
    assert [address for address, path in after.items() if path is None] == ["plain@x.example"]
    assert await suggested(service) == ["plain@x.example"]
    await service.mutate("people.add", address="plain@x.example")
    assert (await people(service))["plain@x.example"] == "crm/plain", "what was taken away comes back"
    assert await problems(service) == []


async def test_a_page_made_before_the_claim_under_an_older_name_is_tidied_too(service: Service) -> None:
    await paged(service, RUTH)
    await from_stranger(service, f"Dr. Ruth <{RUTH_AT}>")
    mia = await sign_in(service, MIA)
    assert [one["page"]["path"] for one in await mia.query("people.strangers")] == ["crm/ruth-adeyemi"]
    assert await mia.mutate("people.tidy", addresses=[RUTH_AT]) == {"removed": 1}
    assert await mia.query("pages.tree", path="crm") == []


@pytest.mark.thorough
async def test_the_command_lists_and_takes_away_only_when_told_to(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await paged(service, RUTH, "Di <di@d.example>")
        await sends(service, "di@d.example")
    settings = {"HOME": str(tmp_path), "SVC_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    line = "crm/ruth-adeyemi  ruth@harbour.example  Ruth Adeyemi\n"
    assert svc("people", "tidy", **settings).stdout == f"{line}1 to take away; nothing was changed\n"
    assert svc("people", "tidy", "--yes", **settings).stdout == f"{line}1 taken away\n"
    assert svc("people", "tidy", **settings).stdout == "0 to take away; nothing was changed\n"
