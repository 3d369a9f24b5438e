"""The demo's mailbox beside one's own mail: each person's own, once, without a provider, and gone when it is erased."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.demo.mail import mailboxes
from svc.tryout.feature import ACCOUNT_NAME
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service
from tests.virtual_time import hours_pass


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as opened:
        yield opened


@pytest.mark.thorough
async def test_the_demo_comes_once_with_its_labels_and_all_its_mail(service: Service, clock: MockClock) -> None:
    first, *_ = mailboxes(service.workspace.clock.now(), authority="demo.example")
    account_id = (await service.mutate("demo.tryOut"))["accountId"]
    await hours_pass(clock, 1)  # asked again later, its mails would have other dates
    assert (await service.mutate("demo.tryOut"))["accountId"] == account_id
    (account,) = await service.query("mail.accounts")
    assert (account["address"], account["provider"], account["state"]) == (ACCOUNT_NAME, "local", "caught-up")
    assert account["messages"] == len({message.raw for message in first.messages})
    labels = {(one["name"], one["color"]) for one in await service.query("mail.labels")}
    assert {(one.name, one.color) for one in first.labels} <= labels
    threads = (await service.query("mail.threads", section="inbox"))["threads"]
    assert any(one["unread"] for one in threads)
    assert all(one["inInbox"] for one in threads)


@pytest.mark.thorough
async def test_each_person_has_a_demo_of_their_own_and_lets_go_of_it(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    invite = (await mia.mutate("auth.createInvite"))["code"]
    jonas = await sign_in(service, "jonas@example.org", invite=invite)
    hers = (await mia.mutate("demo.tryOut"))["accountId"]
    his = (await jonas.mutate("demo.tryOut"))["accountId"]
    assert hers != his
    assert [one["id"] for one in await mia.query("mail.accounts")] == [hers]
    await mia.mutate("mail.disconnect", accountId=hers, erase=True)
    assert await mia.query("mail.accounts") == []
    assert [one["id"] for one in await jonas.query("mail.accounts")] == [his]


async def test_its_mails_are_composed_beside_the_loop(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every other request waits for it."""
    threads: list[threading.Thread] = []

    def noted(*args: Any, **named: Any) -> Any:
        threads.append(threading.current_thread())
        return mailboxes(*args, **named)

    monkeypatch.setattr("svc.demo.mail.mailboxes", noted)
    await service.mutate("demo.tryOut")
    assert threads
    assert threading.current_thread() not in threads
