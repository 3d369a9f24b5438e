"""An account's labels: made by hand, found where they exist, renamed and deleted at the provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from svc.clock import DAY_MS
from svc.errors import Invalid
from svc.fakes.mail.provider import FakeProvider
from svc.mail.labelling import actions
from svc.mail.providers.seam import LostAnswer, ProviderLabel
from svc.mail.sync import account_sync, label_catalog
from svc.mail.threads import queries as thread_queries
from svc.principal import UNCLAIMED
from tests.support.mailbox import MIA, MailSync
from tests.support.service import RpcError, Service

NONE: frozenset[str] = frozenset()


async def labelled(mail_sync: MailSync, *subjects: str) -> tuple[str, str]:
    """A mailbox whose every thread carries a label that somebody made. Returns the ids of the account and the label."""
    account_id = await mail_sync.synced(*subjects)
    label = await mail_sync.sync_of(account_id).make_label("Clients", color="#16a766")
    await set_label(mail_sync, label.id, *(f"fake-{number}" for number in range(1, len(subjects) + 1)))
    return account_id, label.id


async def set_label(mail_sync: MailSync, label_id: str, *provider_ids: str, remove: bool = False) -> None:
    thread_ids = [await mail_sync.thread_id_of(provider_id) for provider_id in provider_ids]
    wanted = frozenset({label_id})
    add, drop = (NONE, wanted) if remove else (wanted, NONE)
    await mail_sync.store.write(actions.set_labels, mail_sync.principal, thread_ids=thread_ids, add=add, remove=drop)


async def known(mail_sync: MailSync, account_id: str) -> dict[str, str]:
    labels = await mail_sync.store.read(thread_queries.labels, account_id)
    return {label.id: label.name for label in labels.values() if not label.system}


async def test_a_label_deleted_at_the_provider_vanishes_here_with_all_its_chips(mail_sync: MailSync) -> None:
    account_id, label_id = await labelled(mail_sync, "one", "two")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await mail_sync.fake_mail.delete_label(address=MIA, label_id=label_id)
    before = mail_sync.store.outbox.head()
    await trio.sleep(account_sync.LABELS_EVERY_MS / 1_000)
    await loop.sync_now()
    assert await known(mail_sync, account_id) == {}
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD"}
    assert [row.kind for row in await mail_sync.news(after=before)].count("thread.changed") == 2
    with pytest.raises(Invalid, match="no such label"):
        await set_label(mail_sync, label_id, "fake-1")
    assert (await mail_sync.problems(), await mail_sync.failures()) == ([], [])


async def test_a_label_that_is_gone_is_taken_from_its_threads_a_few_at_a_time_and_over_a_crash(
    mail_sync: MailSync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_catalog, "FORGET_BATCH", 1)
    account_id, label_id = await labelled(mail_sync, "one", "two", "three")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await mail_sync.fake_mail.delete_label(address=MIA, label_id=label_id)
    listed = await mail_sync.fake_mail.provider(MIA).labels()
    assert await mail_sync.store.write(label_catalog.store_labels, account_id=account_id, labels=listed) == 1
    assert await mail_sync.store.write(label_catalog.forget_gone, account_id=account_id)
    assert len(await mail_sync.rows("select thread_id from mail_thread_labels")) == 2  # and then the power went
    assert await mail_sync.problems() == []
    assert await mail_sync.loop_of(account_id).sync.refresh_labels()
    assert await mail_sync.rows("select thread_id from mail_thread_labels") == []
    assert await mail_sync.rows("select label_id from mail_labels where gone or label_id = :id", id=label_id) == []
    assert await mail_sync.problems() == []


async def test_what_was_on_its_way_to_a_label_that_is_gone_is_told_and_the_rest_of_it_goes(mail_sync: MailSync) -> None:
    account_id, label_id = await labelled(mail_sync, "one", "two")
    loop = mail_sync.loop_of(account_id)
    await loop.sync_now()
    await set_label(mail_sync, label_id, "fake-2", remove=True)
    thread_id = await mail_sync.thread_id_of("fake-1")
    await set_label(mail_sync, label_id, "fake-1", remove=True)
    await loop.sync_now()
    await mail_sync.store.write(
        actions.set_labels,
        mail_sync.principal,
        thread_ids=[thread_id],
        add=frozenset({label_id, "STARRED"}),
        remove=NONE,
    )
    await mail_sync.fake_mail.delete_label(address=MIA, label_id=label_id)
    await loop.sync_now()
    assert await mail_sync.pending() == []
    assert await mail_sync.failures() == [("fake-1", "change", "The label Clients no longer exists at the provider.")]
    assert await mail_sync.labels_here(account_id, "fake-1") == {"INBOX", "UNREAD", "STARRED"}
    assert await mail_sync.labels_at_provider("fake-1") == {"INBOX", "UNREAD", "STARRED"}
    assert await known(mail_sync, account_id) == {}


async def test_a_label_renamed_and_recoloured_at_the_provider_is_shown_so(mail_sync: MailSync) -> None:
    account_id, label_id = await labelled(mail_sync, "one")
    box = mail_sync.fake_mail.mailbox(MIA)
    box.labels[label_id] = ProviderLabel(id=label_id, name="Customers", system=False, color="#cc3a21")
    await trio.sleep(account_sync.LABELS_EVERY_MS / 1_000)
    await mail_sync.loop_of(account_id).sync_now()
    label = (await mail_sync.store.read(thread_queries.labels, account_id))[label_id]
    assert (label.name, label.color) == ("Customers", "#cc3a21")


async def test_a_list_that_can_not_be_whole_takes_no_label_away(mail_sync: MailSync) -> None:
    account_id, label_id = await labelled(mail_sync, "one")
    for listed in ([], [ProviderLabel(id="STARRED", name="STARRED", system=True)]):
        assert await mail_sync.store.write(label_catalog.store_labels, account_id=account_id, labels=listed) == 0
    assert label_id in await known(mail_sync, account_id)


async def test_the_labels_are_asked_for_now_and_then_also_after_the_clock_jumped(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    asked: list[float] = []

    class Counted(FakeProvider):
        async def labels(self) -> tuple[ProviderLabel, ...]:
            asked.append(trio.current_time())
            return await super().labels()

    async with mail_sync.running(mail_sync.loop_of(account_id, Counted(world=mail_sync.fake_mail, address=MIA))):
        await trio.sleep(3_600)
        assert 5 <= len(asked) <= 7
        mail_sync.clock.offset_ms -= DAY_MS  # type: ignore[attr-defined]
        await trio.sleep(60)
    assert 6 <= len(asked) <= 8


# Making one


async def test_a_label_made_while_the_list_is_on_its_way_is_not_taken_for_gone(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")
    listed = trio.Event()

    @dataclass(frozen=True, kw_only=True)
    class Slow(FakeProvider):
        async def labels(self) -> tuple[ProviderLabel, ...]:
            found = await super().labels()
            listed.set()
            await trio.sleep(5)
            return found

    loop = mail_sync.loop_of(account_id, Slow(world=mail_sync.fake_mail, address=MIA))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.sync.refresh_labels)
        await listed.wait()
        made = await loop.sync.make_label("Clients", color=None)
        await set_label(mail_sync, made.id, "fake-1")
    assert made.id in await known(mail_sync, account_id)
    assert made.id in (await mail_sync.labels_here(account_id, "fake-1") or ())


async def test_a_label_whose_making_was_never_answered_is_found_by_its_name(mail_sync: MailSync) -> None:
    account_id = await mail_sync.synced("one")

    @dataclass(frozen=True, kw_only=True)
    class Cut(FakeProvider):
        names: list[str] = field(default_factory=list)

        async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
            self.names.append(name)
            await super().create_label(name, color=color)
            raise LostAnswer("The connection was cut before the provider answered.")

    provider = Cut(world=mail_sync.fake_mail, address=MIA)
    label = await mail_sync.sync_of(account_id, provider).make_label("Clients", color=None)
    again = await mail_sync.sync_of(account_id, provider).make_label("clients", color=None)
    assert label.name == "Clients"
    assert again == label
    assert await known(mail_sync, account_id) == {label.id: "Clients"}


async def test_a_label_is_made_once_shown_everywhere_and_set(service: Service) -> None:
    (thread_id,) = await service.synced("One")
    (account,) = await service.query("mail.accounts")
    made = await service.mutate(
        "mail.createLabel", accountId=account["id"], name=" Clients / Harbour ", color="#16A766"
    )
    assert made["name"] == "Clients/Harbour"
    again = await service.mutate("mail.createLabel", accountId=account["id"], name="clients/harbour")
    assert again == made
    labels = await service.query("mail.labels", accountId=account["id"])
    assert labels == await service.query("mail.labels")
    assert labels[-1] == {
        "accountId": account["id"],
        "id": made["id"],
        "name": "Clients/Harbour",
        "system": False,
        "color": "#16A766",
    }
    assert {"Inbox", "Starred", "Spam", "Trash"} <= {one["name"] for one in labels if one["system"]}
    await service.mutate("mail.setLabels", threadIds=[thread_id], add=[made["id"]])
    await service.mutate("fake.mail.syncNow", address=MIA)
    (thread,) = (await service.query("mail.threads", accountId=account["id"], labelId=made["id"]))["threads"]
    assert {"id": made["id"], "name": "Clients/Harbour", "color": "#16A766"} in thread["labels"]


async def test_a_label_needs_a_name_that_can_be_told_from_others(service: Service) -> None:
    cases = [
        ({"name": ""}, "BAD_REQUEST"),
        ({"name": "   "}, "BAD_REQUEST"),
        ({"name": "a//b"}, "BAD_REQUEST"),
        ({"name": "/a"}, "BAD_REQUEST"),
        ({"name": "a\u202e"}, "taken"),
        ({"name": "x" * 226}, "BAD_REQUEST"),
        ({"name": "Inbox"}, "BAD_REQUEST"),
        ({"name": "trash"}, "BAD_REQUEST"),
        ({"name": "Fine", "color": "green"}, "BAD_REQUEST"),
        ({"name": "Fine", "color": "#12345"}, "BAD_REQUEST"),
        ({"name": "Fine", "accountId": "acc_none"}, "NOT_FOUND"),
        ({"name": "Fine", "color": "#123456"}, "taken"),
    ]
    await service.synced("One")
    (account,) = await service.query("mail.accounts")
    for more, code in cases:
        reply = await service.ask_as(UNCLAIMED, "mail.createLabel", {"accountId": account["id"], **more})
        answer: Any = reply.json
        assert (answer["error"]["data"]["code"] if "error" in answer else "taken") == code, more
        assert "\u202e" not in str(answer), more


async def test_a_provider_that_can_not_be_had_is_named_as_the_reason(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.synced("One")
    (account,) = await service.query("mail.accounts")

    async def cut(self: FakeProvider, name: str, *, color: str | None = None) -> ProviderLabel:
        raise LostAnswer("The connection was cut before the provider answered.")

    monkeypatch.setattr(FakeProvider, "create_label", cut)
    with pytest.raises(RpcError) as refused:
        await service.mutate("mail.createLabel", accountId=account["id"], name="Clients")
    assert refused.value.status == 503
