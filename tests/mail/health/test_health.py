"""What a person can see of an account: counts, progress, failures, pending changes; and asking again."""

from __future__ import annotations

import pytest
import trio

from tests.support.service import MIA, RpcError, Service

NOA = "Noa <noa@example.org>"


async def health_of(service: Service, account_id: str) -> dict[str, object]:
    (found,) = await service.query("mail.health", accountId=account_id)
    return dict(found)


async def mia(service: Service) -> str:
    """An account with a mail in it, all caught up."""
    await service.synced("The first")
    await trio.sleep(60)  # what comes now is newer
    return str(next(one["id"] for one in await service.query("mail.accounts") if one["address"] == MIA))


async def test_what_the_provider_has_and_what_is_here_stand_side_by_side(service: Service) -> None:
    account_id = await mia(service)
    before = await health_of(service, account_id)
    assert before["provider"] == before["here"]
    await service.synced("One more")
    after = await health_of(service, account_id)
    assert after["provider"] == after["here"] == int(str(before["here"])) + 1
    assert (after["state"], after["problem"], after["cause"]) == ("caught-up", None, None)
    assert after["nextAttemptAt"] is not None
    assert after["quota"] is None  # the fake provider has none


async def test_a_mail_that_was_sent_is_counted_on_both_sides_at_once(service: Service) -> None:
    account_id = await mia(service)
    before = await health_of(service, account_id)
    wanted = {"accountId": account_id, "to": [NOA], "subject": "Hi", "html": "<p>Hi.</p>"}
    answer = await service.mutate("mail.send", **wanted)
    while (await service.query("mail.outgoing"))[0]["state"] != "sent":  # noqa: ASYNC110  as a client sees it
        await trio.sleep(0.1)
    after = await health_of(service, account_id)
    assert answer["state"] == "held"
    assert after["provider"] == after["here"] == int(str(before["here"])) + 1
    await service.mutate("fake.mail.syncNow", address=MIA)
    settled = await health_of(service, account_id)
    assert (settled["provider"], settled["here"]) == (after["provider"], after["here"])


async def test_a_message_that_fails_alone_is_listed_and_had_after_a_retry(service: Service) -> None:
    account_id = await mia(service)
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=403)
    await service.synced("Spoilt")
    (failure,) = await service.query("mail.failures", accountId=account_id)
    assert (failure["step"], failure["attempts"]) == ("fetch", 1)
    assert "refuses" in failure["reason"]
    assert (await health_of(service, account_id))["failed"] == 1

    await service.mutate("mail.retryFailures", accountId=account_id)
    assert await service.query("mail.failures", accountId=account_id) == []
    after = await health_of(service, account_id)
    assert (after["failed"], after["here"]) == (0, after["provider"])
    found = await service.query("mail.threads", section="inbox", accountId=account_id, limit=1)
    assert found["threads"][0]["subject"] == "Spoilt"


async def test_what_fails_again_stays_with_its_attempts_counted(service: Service) -> None:
    account_id = await mia(service)
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=403, times=2)
    await service.synced("Spoilt")
    await service.mutate("mail.retryFailures", accountId=account_id)
    (failure,) = await service.query("mail.failures", accountId=account_id)
    assert failure["attempts"] == 2


async def test_a_message_deleted_meanwhile_is_no_failure_any_more(service: Service) -> None:
    account_id = await mia(service)
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=403)
    await service.synced("Spoilt")
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=404)
    await service.mutate("mail.retryFailures", accountId=account_id)
    assert await service.query("mail.failures", accountId=account_id) == []


async def test_a_change_that_has_not_arrived_is_listed_until_it_has(service: Service) -> None:
    account_id = await mia(service)
    (thread_id,) = await service.synced("Archive me")
    await service.mutate("fake.mail.fault", address=MIA, operation="modify", fault=500, times=3)
    await service.mutate("mail.archive", threadIds=[thread_id])
    await trio.sleep(1)
    (change,) = await service.query("mail.pending", accountId=account_id)
    assert (change["threadId"], change["subject"]) == (thread_id, "Archive me")
    assert [label["name"] for label in change["remove"]] == ["Inbox"]
    assert change["add"] == []
    assert (change["attempts"], "500" in change["lastError"]) == (1, True)
    await trio.sleep(300)
    assert await service.query("mail.pending", accountId=account_id) == []


async def test_a_resync_brings_back_what_was_missed_and_says_how_far_it_is(service: Service) -> None:
    account_id = await mia(service)
    here = (await health_of(service, account_id))["here"]
    lost = "select id from mail_messages where account_id = :id limit 1"
    ((message_id,),) = await service.rows(lost, id=account_id)
    await service.workspace.store.write(
        lambda tx: tx.run("update mail_messages set labels = '[]', in_inbox = 0 where id = :id", id=message_id)
    )
    live = await service.live("accounts")
    await service.mutate("mail.resync", accountId=account_id)
    await trio.sleep(20)
    states = [frame["payload"]["account"]["state"] for frame in await live.hear_all() if frame["type"] == "event"]
    assert "backfilling" in states
    assert states[-1] == "caught-up"
    after = await health_of(service, account_id)
    assert (after["state"], after["here"], after["progress"]) == ("caught-up", here, None)
    ((labels,),) = await service.rows("select labels from mail_messages where id = :id", id=message_id)
    assert labels != "[]"
    await live.leave()


async def test_a_trouble_is_shown_with_the_time_of_the_next_attempt(service: Service) -> None:
    account_id = await mia(service)
    await service.mutate("fake.mail.fault", address=MIA, operation="history", fault=500, times=2)
    await service.mutate("fake.mail.syncNow", address=MIA)
    shown = await health_of(service, account_id)
    assert (shown["state"], shown["cause"]) == ("waiting", "other")
    assert "500" in str(shown["problem"])
    assert shown["nextAttemptAt"] is not None
    await service.mutate("mail.retryFailures", accountId=account_id)  # the second fault
    await service.mutate("mail.retryFailures", accountId=account_id)
    shown = await health_of(service, account_id)
    assert (shown["state"], shown["problem"], shown["cause"]) == ("caught-up", None, None)


async def test_an_account_of_somebody_else_is_not_there(service: Service) -> None:
    for procedure in ("mail.failures", "mail.pending", "mail.damage"):
        with pytest.raises(RpcError) as refused:
            await service.query(procedure, accountId="acc_none")
        assert refused.value.code == "NOT_FOUND"
