"""The seam to mail providers knows no provider: it goes only by what each is able to do."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from svc.fakes.mail.provider import FakeProvider
from svc.mail.accounts import actions as account_actions
from svc.mail.labelling import inbox_actions as thread_actions
from svc.mail.providers import seam
from svc.mail.providers.seam import Capabilities, Refused
from svc.mail.providers.table import Providers
from tests.support.mailbox import MIA, MailSync

MAIL = Path(__file__).parent.parent.parent / "svc" / "mail"
LIST = MAIL / "providers" / "kinds.py"
NEUTRAL = sorted({*MAIL.glob("providers/*.py"), *MAIL.glob("sync/*.py"), *MAIL.glob("accounts/*.py")} - {LIST})


@pytest.mark.parametrize("path", NEUTRAL, ids=lambda path: str(path.relative_to(MAIL)))
def test_neither_the_seam_nor_sync_knows_a_provider(path: Path) -> None:
    text = path.read_text()
    assert not [word for word in ("gmail", "google", "history_id") if word in text.casefold()]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "type"}:
            assert "provider" not in ast.unparse(node.args[0]).casefold(), ast.unparse(node)


def test_no_fault_of_the_seam_knows_the_protocol_of_a_provider() -> None:
    faults = [one for one in vars(seam).values() if isinstance(one, type) and issubclass(one, seam.ProviderFault)]
    said = "".join(map(inspect.getsource, faults))
    assert not re.findall(r"HTTP|IMAP|SMTP|\bstatus\b|\b[1-5](?:\d\d|xx)\b", said)


async def test_an_account_may_be_of_any_provider_and_sleeps_until_that_is_there(mail_sync: MailSync) -> None:
    account_id = await mail_sync.store.write(
        account_actions.connect, mail_sync.principal, address="mia@elsewhere.example", provider="elsewhere"
    )
    account = await mail_sync.account(account_id)
    assert account.provider == "elsewhere"
    assert account.provider not in Providers()


FRUGAL = Capabilities(
    labels=False, colors=False, server_threads=True, bulk_min=2, bulk_max=3, max_message_bytes=35 << 20
)
COLOURLESS = replace(FRUGAL, labels=True)


@dataclass(frozen=True, kw_only=True)
class Frugal(FakeProvider):
    """Takes three messages a call at most, and no labels of one's own; notes how many each call changes."""

    capabilities: Capabilities = FRUGAL
    asked: list[int] = field(default_factory=list)

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        self.asked.append(1)
        await super().modify(message_id, add=add, remove=remove)

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        self.asked.append(len(message_ids))
        await super().modify_many(message_ids, add=add, remove=remove)


async def test_as_many_messages_go_at_once_as_the_provider_takes(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced(*(f"Mail {number}" for number in range(7)))
    thread_ids = [str(row[0]) for row in await mail_sync.rows("select id from mail_threads")]
    await mail_sync.store.write(thread_actions.archive, mail_sync.principal, thread_ids=thread_ids)
    provider = Frugal(world=mail_sync.fake_mail, address=MIA)
    await mail_sync.loop_of(account_id, provider).sync_now()
    assert provider.asked == [3, 3, 1]
    assert await mail_sync.pending() == []


async def test_where_a_provider_has_no_labels_of_ones_own_none_is_made(mail_sync: MailSync) -> None:
    sync = mail_sync.sync_of(await mail_sync.synced("Hello"), Frugal(world=mail_sync.fake_mail, address=MIA))
    with pytest.raises(Refused, match="no labels"):
        await sync.make_label("Boats", color=None)
    assert not [label for label in await mail_sync.fake_mail.provider(MIA).labels() if label.name == "Boats"]


async def test_where_labels_have_no_colours_none_is_sent(mail_sync: MailSync) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Plain(FakeProvider):
        capabilities: Capabilities = COLOURLESS

    label = await mail_sync.sync_of(
        await mail_sync.synced("Hello"), Plain(world=mail_sync.fake_mail, address=MIA)
    ).make_label("Boats", color="#ff0000")
    assert label.color is None
