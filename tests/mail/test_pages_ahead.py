"""The pages of a full sync are read ahead, a few, and stored in their order. On virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
import trio

from svc.fakes.mail.provider import FakeProvider
from svc.mail.model import Incoming
from svc.mail.providers.seam import ListPage, RawMessage, Unreachable
from svc.mail.sync import pages
from tests.support.mailbox import MIA, MailSync

MAILS = 12
A_PAGE = 2
UNDER_WAY = 3
"""Pages: one is stored, one waits for that, one has been fetched."""


@dataclass(frozen=True, kw_only=True)
class Watched(FakeProvider):
    asked: list[str] = field(default_factory=list)
    breaks_after: int | None = None

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        if len(self.asked) == self.breaks_after:
            raise Unreachable("It went away.")
        return await super().list_messages(label=label, page_token=page_token, limit=limit)

    async def get(self, message_id: str) -> RawMessage:
        self.asked.append(message_id)
        return await super().get(message_id)


@pytest.fixture(autouse=True)
def _pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", A_PAGE)


async def mailbox(mail_sync: MailSync) -> str:
    for number in range(MAILS):
        await mail_sync.inject(f"Mail {number}")
        await trio.sleep(1)
    return await mail_sync.connect()


async def test_while_a_page_is_stored_two_more_are_on_their_way_and_no_third(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)
    asked: list[int] = []

    async def stored(_: str, __: Sequence[Incoming]) -> None:
        await trio.sleep(60)  # whatever may be asked for meanwhile has been
        asked.append(len(provider.asked))

    await replace(mail_sync.sync_of(account_id, provider), stored=stored).step()
    assert asked == [min(MAILS, A_PAGE * (UNDER_WAY + done)) for done in range(MAILS // A_PAGE)]
    assert await mail_sync.rows("select progress_done, messages from mail_accounts") == [(MAILS, MAILS)]


async def test_what_came_before_a_fault_is_stored_before_it_is_told(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync)
    with pytest.raises(Unreachable, match="went away"):
        await mail_sync.sync_of(
            account_id, Watched(world=mail_sync.fake_mail, address=MIA, breaks_after=3 * A_PAGE)
        ).step()
    assert await mail_sync.rows("select progress_done, messages from mail_accounts") == [(3 * A_PAGE, 3 * A_PAGE)]
    again = Watched(world=mail_sync.fake_mail, address=MIA)
    await mail_sync.sync_of(account_id, again).step()
    assert await mail_sync.rows("select messages from mail_accounts") == [(MAILS,)]
    assert len(again.asked) == MAILS - 3 * A_PAGE, "what is stored is not fetched twice"


async def test_a_page_that_can_not_be_stored_ends_all_that_was_read_ahead(mail_sync: MailSync) -> None:
    account_id = await mailbox(mail_sync)
    provider = Watched(world=mail_sync.fake_mail, address=MIA)

    async def fails(_: str, __: Sequence[Incoming]) -> None:
        raise RuntimeError("Nobody can be told.")

    with pytest.raises(RuntimeError, match="Nobody"):
        await replace(mail_sync.sync_of(account_id, provider), stored=fails).step()
    asked = len(provider.asked)
    await trio.sleep(60)
    assert len(provider.asked) == asked
    assert await mail_sync.rows("select messages from mail_accounts") == [(A_PAGE,)]
