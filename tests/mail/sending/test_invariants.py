"""What `svc fsck` says of outgoing mail: each damage is found, and what is whole is not complained about."""

from __future__ import annotations

import pytest

from tests.mail.sending.mailer import Mailer

DAMAGES = {
    "update mail_outgoing set next_at = 1": "has a date that its state does not allow",
    "update mail_outgoing set state = 'scheduled'": "has a date that its state does not allow, or lacks one",
    "update mail_outgoing set provider_message_id = null": "says of itself what can't be known",
    "update mail_outgoing set state = 'cancelled'": "says of itself what can't be known",
    "update mail_outgoing set state = 'uncertain', provider_message_id = null, raw_sha256 = null": "can't be known",
    "update mail_outgoing set state = 'failed', provider_message_id = null, doubt = 1": "can't be known",
    "update mail_outgoing set provider_message_id = 'same'": "two mails' copy",
    "delete from mail_outgoing": "belongs to a mail that is not there",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_each_damage_is_found(hasty: Mailer, damage: str) -> None:
    await hasty.send(subject="One")
    await hasty.send(subject="Two")
    store = hasty.service.workspace.store
    await store.write(
        lambda tx: tx.run(
            """
            insert into files (id, sha256, name, mime, size, origin, created_at)
            select 'fil_x', raw_sha256, 'a', 'text/plain', 1, 'outgoing:' || id, 1 from mail_outgoing limit 1
            """
        )
    )
    assert await hasty.problems() == []
    await store.write(lambda tx: tx.run(damage))
    assert any(DAMAGES[damage] in problem for problem in await hasty.problems())
