"""Labels by name, over several accounts at once: one call, one step, taken back as one."""

from __future__ import annotations

from typing import Any

import pytest

from svc.fakes.mail.provider import FakeWorld
from tests.support.service import MIA, RpcError, Service

NOA = "noa@example.org"


@pytest.fixture
async def two(service: Service) -> tuple[Service, list[str]]:
    """Two accounts, each with a thread and a label of the same name under an id of its own."""
    fake_mail = service.workspace.service(FakeWorld)
    await service.synced("Mia's", address=MIA)
    await service.synced("Noa's", address=NOA)
    await fake_mail.create_label(NOA, "Another")
    for address in (MIA, NOA):
        await fake_mail.create_label(address, "Travel")
        await service.mutate("fake.mail.syncNow", address=address)
    accounts = await service.query("mail.accounts")
    for account in accounts:
        await service.mutate("mail.createLabel", accountId=account["id"], name="Travel")
    threads = (await service.query("mail.threads", section="inbox"))["threads"]
    return service, [thread["id"] for thread in threads]


async def worn(service: Service) -> dict[str, list[tuple[str, str]]]:
    """The labels of people, by subject."""
    threads: list[dict[str, Any]] = (await service.query("mail.threads", section="inbox"))["threads"]
    return {
        thread["subject"]: [(one["id"], one["name"]) for one in thread["labels"] if one["id"].startswith("Label_")]
        for thread in threads
    }


NOBODY: dict[str, list[tuple[str, str]]] = {"Mia's": [], "Noa's": []}


async def test_a_name_is_found_in_each_account_and_one_undo_takes_it_back(two: tuple[Service, list[str]]) -> None:
    service, thread_ids = two
    await service.mutate("mail.setLabels", threadIds=thread_ids, addNames=["travel"])
    found = await worn(service)
    assert [[name for _, name in labels] for labels in found.values()] == [["Travel"], ["Travel"]]
    assert len({label_id for labels in found.values() for label_id, _ in labels}) == 2
    undone = (await service.mutate("mail.undo"))["undone"]
    assert sorted(undone["threadIds"]) == sorted(thread_ids)
    assert await worn(service) == NOBODY
    assert (await service.mutate("mail.undo"))["undone"] is None


async def test_a_name_is_taken_away_wherever_it_is_and_missed_nowhere(two: tuple[Service, list[str]]) -> None:
    service, thread_ids = two
    await service.mutate("mail.setLabels", threadIds=thread_ids, addNames=["Travel"])
    await service.mutate("mail.setLabels", threadIds=thread_ids, removeNames=["Travel", "Another", "Never"])
    assert await worn(service) == NOBODY


async def test_two_calls_of_one_step_are_taken_back_as_one(two: tuple[Service, list[str]]) -> None:
    service, thread_ids = two
    for thread_id in thread_ids:
        await service.mutate("mail.setLabels", threadIds=[thread_id], addNames=["Travel"], group="one-step")
    for thread_id in thread_ids:
        await service.mutate("mail.archive", threadIds=[thread_id], group="another")
    assert [step["what"] for step in await service.query("mail.undoable")] == ["archive", "labels"]
    undone = (await service.mutate("mail.undo"))["undone"]
    assert (undone["what"], sorted(undone["threadIds"])) == ("archive", sorted(thread_ids))
    assert all((await worn(service)).values())
    await service.mutate("mail.undo")
    assert await worn(service) == NOBODY


@pytest.mark.parametrize(
    "wanted",
    [
        {"addNames": ["Another"]},  # Mia's account has none
        {"addNames": ["Never"]},
        {"addNames": ["Spam"]},  # a label of the provider's own goes by its id
        {"addNames": ["SENT"]},
        {"addNames": ["Travel"], "removeNames": ["TRAVEL"]},
        {"addNames": [""]},
        {"addNames": ["Travel"], "group": ""},
    ],
)
async def test_what_can_not_be_on_all_is_put_on_none(two: tuple[Service, list[str]], wanted: dict[str, Any]) -> None:
    service, thread_ids = two
    with pytest.raises(RpcError) as refused:
        await service.mutate("mail.setLabels", threadIds=thread_ids, **wanted)
    assert refused.value.code == "BAD_REQUEST"
    assert await worn(service) == NOBODY
