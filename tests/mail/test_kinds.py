"""What is so for all accounts of a kind of provider, and how the web app hears it."""

from __future__ import annotations

import pytest

from svc.mail.accounts import actions as account_actions
from svc.mail.accounts.wire import account_summary
from svc.mail.providers import local
from svc.mail.providers.kinds import ALL, ALL_BY_OAUTH, BY_PASSWORD, KEPT_HERE, kind_of
from tests.support.mailbox import MailSync

EXPECTED = {
    **{kind.name: (True, "oauth") for kind in ALL_BY_OAUTH},
    BY_PASSWORD.name: (True, "password"),
    KEPT_HERE: (False, None),
    "fake": (True, "oauth"),
}


@pytest.mark.parametrize("name", EXPECTED)
async def test_an_account_says_whether_it_sends_and_how_it_is_connected(name: str, mail_sync: MailSync) -> None:
    account_id = await mail_sync.store.write(
        account_actions.connect, mail_sync.principal, address="mia@elsewhere.example", provider=name
    )
    account = await mail_sync.account(account_id)
    told = await mail_sync.store.read(account_summary, account)
    assert (told.sends, told.sign_in) == (kind_of(account).sends, kind_of(account).sign_in) == EXPECTED[name]


def test_each_kind_is_looked_at() -> None:
    assert {kind.name for kind in ALL} == EXPECTED.keys() - {"fake"}


def test_what_a_kind_says_of_sending_is_what_its_mailbox_can_do() -> None:
    (here,) = [kind for kind in ALL if kind.name == KEPT_HERE]
    assert here.sends == (local.ABLE.max_message_bytes > 0)
