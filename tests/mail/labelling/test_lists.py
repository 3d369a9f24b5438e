"""Threads listed by label: in date order, page by page, over accounts; and kept true by whatever changes a message."""

from __future__ import annotations

import trio

from svc.mail.labelling import actions
from svc.mail.threads import queries as thread_queries
from tests.support.mailbox import MIA, MailSync, mail
from tests.support.service import MIA as SERVICE_MIA
from tests.support.service import RpcError, Service

NOA = "noa@example.org"


async def subjects(service: Service, **wanted: object) -> list[str]:
    return [thread["subject"] for thread in (await service.query("mail.threads", **wanted))["threads"]]


async def refusal(service: Service, **wanted: object) -> str:
    try:
        await service.query("mail.threads", **wanted)
    except RpcError as error:
        return error.code
    return "taken"


async def test_threads_are_listed_by_a_label_page_by_page_newest_first(service: Service) -> None:
    for number in range(7):
        await service.synced(f"Mail {number}", labels=["INBOX", "STARRED"] if number % 2 == 0 else ["STARRED"])
        await trio.sleep(60)
    await service.synced("Plain")
    (account,) = await service.query("mail.accounts")
    wanted = {"accountId": account["id"], "labelId": "STARRED", "limit": 3}
    seen, cursor = [], None
    while True:
        page = await service.query("mail.threads", **wanted, **({"cursor": cursor} if cursor else {}))
        seen += [thread["subject"] for thread in page["threads"]]
        if (cursor := page["nextCursor"]) is None:
            break
    assert seen == [f"Mail {number}" for number in reversed(range(7))]
    assert await subjects(service, accountId=account["id"], labelId="INBOX", limit=2) == ["Plain", "Mail 6"]


async def test_a_labels_name_lists_it_over_all_accounts_whatever_its_id_there(service: Service) -> None:
    for address, extra in ((SERVICE_MIA, 0), (NOA, 1)):
        (thread_id,) = await service.synced(f"Mail of {address}", address=address)
        ids = {one["address"]: one["id"] for one in await service.query("mail.accounts")}
        if extra:
            await service.mutate("mail.createLabel", accountId=ids[address], name="Another first")
        label = await service.mutate("mail.createLabel", accountId=ids[address], name="Clients/Harbour")
        await service.mutate("mail.setLabels", threadIds=[thread_id], add=[label["id"]])
        await trio.sleep(60)
    assert await subjects(service, labelName="clients/harbour") == [f"Mail of {NOA}", f"Mail of {SERVICE_MIA}"]
    assert await subjects(service, labelName="Clients/Harbour", accountId=ids[NOA]) == [f"Mail of {NOA}"]
    assert await subjects(service, labelName="Nobody's") == []


async def test_a_list_that_can_not_be_had_is_refused(service: Service) -> None:
    await service.synced("One")
    (account,) = await service.query("mail.accounts")
    assert await refusal(service) == "BAD_REQUEST"
    assert await refusal(service, labelId="STARRED") == "BAD_REQUEST"
    assert await refusal(service, labelId="STARRED", accountId="acc_none") == "NOT_FOUND"
    assert await refusal(service, labelId="Label_404", accountId=account["id"]) == "NOT_FOUND"
    assert await refusal(service, labelId="UNREAD", accountId=account["id"]) == "BAD_REQUEST"
    assert await refusal(service, labelName="x" * 226) == "BAD_REQUEST"


async def test_what_lies_in_the_trash_is_listed_there_and_under_no_other_label(service: Service) -> None:
    first, second = await service.synced("Kept", "Thrown away")
    (account,) = await service.query("mail.accounts")
    await service.mutate("mail.setLabels", threadIds=[first, second], add=["STARRED"])
    await service.mutate("mail.setLabels", threadIds=[second], add=["TRASH"], remove=["INBOX"])
    assert await subjects(service, accountId=account["id"], labelId="TRASH") == ["Thrown away"]
    assert await subjects(service, accountId=account["id"], labelId="STARRED") == ["Kept"]
    assert await subjects(service, section="inbox") == ["Kept"]


async def test_the_lists_follow_what_the_provider_tells(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one", "two", thread="t")
    sync = mail_sync.sync_of(account_id)
    await mail_sync.fake_mail.set_labels(address=MIA, message_id="fake-1", labels=frozenset({"STARRED"}))
    await sync.step()
    assert await listed(mail_sync) == [("STARRED", await at(mail_sync, "fake-2"))]
    await mail_sync.inject("three", thread="t")
    await sync.step()
    assert await listed(mail_sync) == [("STARRED", await at(mail_sync, "fake-3"))]
    for number in (1, 2, 3):
        await mail_sync.fake_mail.delete(address=MIA, message_id=f"fake-{number}")
    await sync.step()
    assert await listed(mail_sync) == []
    assert await mail_sync.problems() == []


async def test_one_mail_in_two_accounts_is_one_row_where_both_carry_the_label(mail_sync: MailSync) -> None:
    raw = mail("For both").replace(b"Subject:", b"Message-ID: <1@example.org>\r\nSubject:", 1)
    ids = {}
    for address in (MIA, NOA):
        await mail_sync.inject(address=address, raw=raw, labels=frozenset({"INBOX", "STARRED"}))
        ids[address] = await mail_sync.connect(address)
        await mail_sync.sync_of(ids[address], address=address).step()
    assert await mail_sync.rows("select count(*), sum(leads) from mail_threads where twins is not null") == [(2, 1)]

    async def starred(*account_ids: str) -> list[str]:
        label_ids = dict.fromkeys(account_ids, "STARRED")
        found = await mail_sync.store.read(thread_queries.threads_by_label, label_ids=label_ids, cursor=None, limit=50)
        return [row.id for row in found]

    ((leader,),) = await mail_sync.rows("select id from mail_threads where leads")
    ((other, of_other),) = await mail_sync.rows("select id, account_id from mail_threads where not leads")
    assert await starred(*ids.values()) == [leader]
    assert await starred(str(of_other)) == [other]
    star = frozenset({"STARRED"})
    await mail_sync.store.write(
        actions.set_labels, mail_sync.principal, thread_ids=[str(leader)], add=frozenset(), remove=star
    )
    assert await starred(*ids.values()) == [other]
    assert await mail_sync.problems() == []


async def test_a_page_of_a_label_is_one_walk_of_its_list(mail_sync: MailSync) -> None:
    await mail_sync.synced("one")
    plan = await mail_sync.rows(
        """
        explain query plan select t.id from mail_thread_labels l join mail_threads t on t.id = l.thread_id
        where l.account_id = 'a' and l.label_id = 'b' and t.visible > 0 and (l.last_message_at, l.thread_id) < (1, 'c')
        order by l.last_message_at desc, l.thread_id desc limit 50
        """
    )
    steps = [str(step[3]) for step in plan]
    assert "SEARCH l USING PRIMARY KEY" in steps[0]
    assert not any("TEMP B-TREE" in step for step in steps)


async def listed(mail_sync: MailSync) -> list[tuple[object, ...]]:
    return await mail_sync.rows("select label_id, last_message_at from mail_thread_labels order by 1, 2")


async def at(mail_sync: MailSync, provider_id: str) -> object:
    ((instant,),) = await mail_sync.rows(
        "select sent_at from mail_messages where provider_message_id = :id", id=provider_id
    )
    return instant
