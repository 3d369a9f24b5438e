"""Whom a mail is known to come from: on arrival, on reading, and what of it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from svc.fakes.authority import AUTHORITY
from svc.mail.authentication.keys import NoAnswer
from svc.mail.model import message_id_of
from tests.support.mailbox import MailSync, mail
from tests.support.signing import key_of, name_of, signed

NAME = name_of("example.org")


class Records:
    """A DNS that counts what it is asked."""

    def __init__(self, published: dict[str, bytes] | None = None) -> None:
        self.published = published or {}
        self.asked: list[str] = []
        self.is_away = False

    async def text(self, name: str) -> tuple[bytes | None, int]:
        self.asked.append(name)
        if self.is_away:
            raise NoAnswer
        return self.published.get(name), 3_600_000


@pytest.fixture
def records(mail_sync: MailSync) -> Records:
    found = Records({NAME: key_of()[1]})
    mail_sync.records = found  # type: ignore[assignment]
    return found


async def origin(mail_sync: MailSync, raw: bytes) -> Any:
    """Of a message that lay in the mailbox before, read now."""
    provider_id = await mail_sync.inject(raw=raw)
    account_id = await mail_sync.synced()
    del account_id
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=await mail_sync.thread_id_of(provider_id))
    return detail.messages[0]


def said(text: str, raw: bytes, server: str = AUTHORITY) -> bytes:
    return f"Authentication-Results: {server}; {text}\r\n".encode() + raw


@pytest.mark.thorough
async def test_a_signature_is_checked_where_the_server_said_nothing(mail_sync: MailSync, records: Records) -> None:
    message = await origin(mail_sync, signed(mail()))
    assert message.authentication.verdict == "verified"
    assert message.authentication.summary == "Signed by example.org"
    assert records.asked == [NAME]


@pytest.mark.thorough
async def test_nobody_is_asked_on_reading_where_the_server_has_answered(mail_sync: MailSync, records: Records) -> None:
    message = await origin(mail_sync, said("dmarc=pass header.from=example.org", signed(mail())))
    assert (message.authentication.verdict, message.authentication.server) == ("verified", AUTHORITY)
    assert records.asked == []
    message_id = message.id
    found = await mail_sync.authenticator.check(message_id)
    assert found is not None
    assert [one.state for one in found.signatures] == ["valid"]
    assert records.asked == [NAME]
    assert await mail_sync.authenticator.check(message_id) == found
    assert records.asked == [NAME]


async def test_only_the_topmost_word_of_the_own_server_counts(mail_sync: MailSync, records: Records) -> None:
    forged = said("dmarc=pass header.from=example.org", mail(), server="mx.evil.test")
    message = await origin(mail_sync, forged)
    assert message.authentication.verdict == "unverified"
    under = said("dmarc=fail header.from=example.org", said("dmarc=pass header.from=example.org", mail()))
    message = await origin(mail_sync, under)
    assert message.authentication.verdict == "failed"
    assert any("somebody else may have written it" in words for words in message.warnings)


async def test_a_signature_of_somebody_else_is_told_and_proves_nothing(mail_sync: MailSync, records: Records) -> None:
    records.published[name_of("lists.test")] = key_of()[1]
    message = await origin(mail_sync, signed(mail(), "lists.test"))
    assert message.authentication.verdict == "unverified"
    assert message.authentication.summary == "Not verified: signed by lists.test, not by example.org"


async def test_a_key_that_nobody_answers_for_is_asked_for_again_later(mail_sync: MailSync, records: Records) -> None:
    records.is_away = True
    message = await origin(mail_sync, signed(mail()))
    assert message.authentication.verdict == "unknown"
    ((until,),) = await mail_sync.rows("select until from mail_authentication")
    assert until is not None
    records.is_away = False
    assert await mail_sync.rows("select * from mail_dkim_keys") == []
    await mail_sync.store.write(lambda tx: tx.run("update mail_authentication set until = :now", now=tx.now))
    found = await mail_sync.authenticator.check(message.id)
    assert found is not None
    assert found.is_verified
    assert await mail_sync.rows("select until from mail_authentication") == [(None,)]


async def test_what_is_known_goes_with_its_message(mail_sync: MailSync, records: Records) -> None:
    message = await origin(mail_sync, signed(mail()))
    assert len(await mail_sync.rows("select * from mail_authentication")) == 1
    await mail_sync.store.write(lambda tx: tx.run("delete from mail_messages where id = :id", id=message.id))
    assert await mail_sync.rows("select * from mail_authentication") == []


async def test_own_mail_is_not_looked_at(mail_sync: MailSync, records: Records) -> None:
    provider_id = await mail_sync.inject(raw=signed(mail()), labels=frozenset({"SENT"}))
    account_id = await mail_sync.synced()
    detail = await mail_sync.reader.thread(mail_sync.principal, thread_id=await mail_sync.thread_id_of(provider_id))
    assert detail.messages[0].authentication is None
    assert await mail_sync.authenticator.check(message_id_of(account_id, provider_id)) is None
    assert records.asked == []
