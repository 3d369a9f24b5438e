"""An address that becomes the account's own later: the mail that lay here before follows, and it is none of one's
people any more."""

from __future__ import annotations

import pytest
import trio

from svc.mail.threads import remarking
from tests.mail.sending.mailer import Mailer, mailer_of
from tests.mail.test_own_addresses import HELLO, OTHER, arrived
from tests.support.service import Service


async def to_me(service: Service) -> set[str]:
    found = await service.query("mail.threads", section="inbox", only="to-me")
    return {one["id"] for one in found["threads"]}


async def marked(service: Service) -> int:
    """All of it, by hand; how many steps it took."""
    store = service.workspace.store
    steps = 0
    while await store.read(remarking.due) is not None:
        await store.write(remarking.mark_some)
        steps += 1
        assert steps < 100
    return steps


async def old_mail(mailer: Mailer) -> tuple[str, str]:
    """A thread for the alias to be, and one for somebody else."""
    return await arrived(mailer, f"To: {HELLO}"), await arrived(mailer, f"To: {OTHER}")


async def test_older_mail_to_an_alias_that_is_added_is_to_me(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remarking, "AT_ONCE", 1)
    mailer = await mailer_of(service)
    mine, others = await old_mail(mailer)
    await marked(service)
    assert mine not in await to_me(service)
    await service.mutate("mail.setAddress", accountId=mailer.account_id, address=HELLO)
    assert await marked(service) >= 3
    assert mine in await to_me(service)
    assert others not in await to_me(service)
    assert await marked(service) == 0
    await service.mutate("mail.removeAddress", accountId=mailer.account_id, address=HELLO)
    await marked(service)
    assert mine not in await to_me(service)


async def test_addresses_that_change_on_the_way_begin_it_anew(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remarking, "AT_ONCE", 1)
    mailer = await mailer_of(service)
    mine, others = await old_mail(mailer)
    await marked(service)
    store = service.workspace.store
    await service.mutate("mail.setAddress", accountId=mailer.account_id, address=HELLO)
    for _ in range(2):
        await store.write(remarking.mark_some)
    await service.mutate("mail.setAddress", accountId=mailer.account_id, address=OTHER)
    await marked(service)
    assert {mine, others} <= await to_me(service)


async def test_the_service_does_it_by_itself(service: Service) -> None:
    mailer = await mailer_of(service)
    mine, _ = await old_mail(mailer)
    await service.mutate("mail.setAddress", accountId=mailer.account_id, address=HELLO)
    with trio.fail_after(600):
        while mine not in await to_me(service):  # noqa: ASYNC110  virtual time
            await trio.sleep(5)


async def test_an_own_address_is_none_of_ones_people_any_more(service: Service) -> None:
    mailer = await mailer_of(service)
    sent = await mailer.send(to=[HELLO, "noa@example.org"])
    await mailer.until(sent["outgoingId"], "sent")
    people = "select address from people order by address"
    assert {HELLO, "noa@example.org"} <= {str(one) for (one,) in await service.rows(people)}
    await service.mutate("mail.setAddress", accountId=mailer.account_id, address=HELLO)
    await marked(service)
    left = {str(one) for (one,) in await service.rows(people)}
    assert HELLO not in left
    assert "noa@example.org" in left
    words = await service.rows("select 1 from people_words where person_id not in (select id from people)")
    assert words == []
