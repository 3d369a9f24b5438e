"""Letting go of an account: its local mail stays, or goes whole; whatever was going on at that moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
import trio
from trio.abc import Instrument
from trio.lowlevel import Task

from svc.app import FEATURES
from svc.clock import VirtualClock
from svc.connections import credentials_of
from svc.errors import NotFound
from svc.fakes.mail.provider import FakeWorld
from svc.mail.accounts import actions as account_actions
from svc.mail.health import actions
from svc.mail.health.tasks import Eraser
from svc.mail.labelling import inbox_actions as thread_actions
from svc.mail.owners import ERASES
from svc.mail.sync.engine import MailEngine
from svc.mail.threads import erasing
from svc.nursery import ThreadPool
from svc.principal import UNCLAIMED
from svc.store import run_fsck
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.connections.kept_in_memory import KeptInMemory
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.sizes import CUT_STRIDE
from tests.support.mailbox import MIA, MailSync, mail, open_mail_sync
from tests.support.service import RpcError, Service, open_service

WORK = "mia@work.example"
NO_SECRETS = KeptInMemory()


async def account_of(service: Service, address: str) -> str:
    ((account_id,),) = await service.rows("select id from mail_accounts where address = :address", address=address)
    return str(account_id)


async def problems(service: Service) -> list[str]:
    return await service.workspace.store.read(
        run_fsck,
        invariants=[one for feature in FEATURES for one in feature.invariants],
        blobs=service.workspace.blobs,
        secrets=service.secrets,
    )


async def erased(service: Service, account_id: str) -> None:
    """Wait until the last of it is gone."""
    with trio.fail_after(3_600):
        while await service.rows("select 1 from mail_accounts where id = :id", id=account_id):  # noqa: ASYNC110
            await trio.sleep(1)


async def furnish(service: Service, address: str, *, subject: str = "Canary") -> list[str]:
    """An account with something in every corner. Returns its threads."""
    attachment = {"filename": "canary.txt", "mime": "text/plain", "text": "canary text"}
    threads = await service.synced(subject, "Canary again", address=address, attachments=[attachment])
    account_id = await account_of(service, address)
    await service.mutate("mail.setLabels", threadIds=threads[:1], add=["STARRED"])
    await service.mutate("mail.snooze", threadIds=threads[1:], until="2031-01-01T08:00:00.000Z")
    await service.mutate("mail.createLabel", accountId=account_id, name="Canary label")
    wish = {"accountId": account_id, "to": ["noa@example.org"], "subject": "Canary out", "html": "<p>Hi</p>"}
    await service.mutate("mail.saveDraft", **wish)
    await service.mutate("mail.setSignature", accountId=account_id, html="<p>Canary signature</p>")
    await service.mutate("mail.send", **wish, sendAt="2031-01-01T08:00:00.000Z")
    await service.mutate("mail.send", **wish)
    await trio.sleep(30)
    await service.query("mail.thread", id=threads[0])
    return threads


async def test_a_disconnected_account_keeps_its_mail_and_asks_nobody_any_more(service: Service) -> None:
    threads = await furnish(service, MIA)
    account_id = await account_of(service, MIA)
    live = await service.live("accounts")
    assert await service.mutate("mail.disconnect", accountId=account_id) == {"revoked": True, "notice": None}
    (told, *_) = [frame for frame in await live.hear_all() if frame["type"] == "event"]
    assert told["payload"]["account"]["state"] == "disconnected"
    await live.leave()
    await service.mutate("fake.mail.inject", address=MIA, **{"from": "a@example.org", "subject": "Too late"})
    await trio.sleep(300)

    (account,) = await service.query("mail.accounts")
    assert (account["state"], account["problem"]) == ("disconnected", None)
    (stands,) = await service.query("mail.health")
    assert (stands["nextAttemptAt"], stands["progress"]) == (None, None)
    assert (await service.query("mail.thread", id=threads[0]))["thread"]["subject"] == "Canary"
    outgoing = {one["state"]: one for one in await service.query("mail.outgoing")}
    assert "disconnected" in outgoing["failed"]["lastError"]
    with pytest.raises(RpcError, match="not connected"):
        await service.mutate("mail.resync", accountId=account_id)
    assert await problems(service) == []


async def test_an_account_connected_again_goes_on_where_it_was(service: Service) -> None:
    await furnish(service, MIA)
    account_id = await account_of(service, MIA)
    ((sweeps,),) = await service.rows("select sweep_no from mail_accounts")
    await service.mutate("mail.disconnect", accountId=account_id)
    await service.mutate("fake.mail.inject", address=MIA, **{"from": "a@example.org", "subject": "Meanwhile"})
    connect = {"address": MIA, "provider": "fake"}
    again = await service.workspace.store.write(account_actions.connect, UNCLAIMED, **cast(Any, connect))
    await service.workspace.service(MailEngine).start_account(again)
    await trio.sleep(60)
    assert again == account_id
    found = await service.query("mail.threads", section="inbox", limit=1)
    assert found["threads"][0]["subject"] == "Meanwhile"
    assert await service.rows("select sweep_no from mail_accounts") == [(sweeps,)]


async def test_disconnecting_twice_is_once(service: Service) -> None:
    await service.synced("One")
    account_id = await account_of(service, MIA)
    for _ in range(2):
        await service.mutate("mail.disconnect", accountId=account_id)
    await service.mutate("mail.disconnect", accountId=account_id, erase=True)
    with pytest.raises(RpcError) as refused:
        await service.mutate("mail.disconnect", accountId=account_id)
    assert refused.value.code == "NOT_FOUND"


async def test_of_an_erased_account_nothing_is_left(service: Service) -> None:
    await furnish(service, MIA)
    account_id = await account_of(service, MIA)
    live = await service.live("accounts")
    await service.mutate("mail.disconnect", accountId=account_id, erase=True)
    assert (await live.hear())["kind"] == "account.removed"
    await live.leave()
    assert await service.query("mail.accounts") == []  # at once, whatever is still going
    await erased(service, account_id)
    await trio.sleep(60)  # the indexer clears its words away

    kept = {name: rows for name, rows in (await service.dump()).items() if name != "outbox"}
    for word in ("Canary", "canary", account_id):
        assert [name for name, rows in kept.items() if word in repr(rows)] == []
    assert kept["mail_messages"] == kept["mail_outgoing"] == kept["mail_drafts"] == kept["files"] == []
    assert await problems(service) == []


async def test_the_twins_of_an_erased_account_stand_alone(service: Service) -> None:
    raw = mail("Lunch", date="Sat, 21 Nov 2026 08:00:00 +0000")
    with_id = b"Message-ID: <lunch@example.org>\r\n" + raw
    await service.synced("First")
    await service.synced("First at work", address=WORK)
    fake_mail = service.workspace.service(FakeWorld)
    for address in (MIA, WORK):
        await fake_mail.inject(address=address, raw=with_id, thread_key="lunch", labels=frozenset({"INBOX", "UNREAD"}))
        await service.mutate("fake.mail.syncNow", address=address)
    assert len(await service.rows("select 1 from mail_threads where twins is not null")) == 2
    account_id = await account_of(service, WORK)
    await service.mutate("mail.disconnect", accountId=account_id, erase=True)
    await erased(service, account_id)
    rows = await service.rows("select twins, leads from mail_threads where subject = 'Lunch'")
    assert rows == [(None, 1)]
    (account,) = await service.query("mail.accounts")
    assert account["unreadTwins"] == 0
    assert await problems(service) == []


async def test_an_erased_account_can_be_connected_anew(service: Service) -> None:
    await furnish(service, MIA)
    account_id = await account_of(service, MIA)
    await service.mutate("mail.disconnect", accountId=account_id, erase=True)
    await erased(service, account_id)
    again = await service.workspace.store.write(account_actions.connect, UNCLAIMED, address=MIA, provider="fake")
    await service.workspace.service(MailEngine).start_account(again)
    await trio.sleep(60)
    assert again != account_id
    found = await service.query("mail.threads", section="skipped", accountId=again)
    assert found["threads"]
    assert await problems(service) == []  # each message is announced once, also the second time


# Races, without the rest of the service


class AtStep(Instrument):
    """Sets ``reached`` when a task, with all below it, has begun its ``step``-th step."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.seen = 0
        self.reached = trio.Event()
        self.root: Task | None = None

    def before_task_step(self, task: Task) -> None:
        above: Task | None = task
        while above is not None and above is not self.root:
            above = above.parent_nursery.parent_task if above.parent_nursery else None
        if above is not None:
            self.seen += 1
            if self.seen == self.step:
                self.reached.set()


async def disconnected(mail_sync: MailSync, account_id: str, *, erase: bool = False) -> None:
    await mail_sync.store.write(actions.disconnect, NO_SECRETS, mail_sync.principal, account_id=account_id, erase=erase)


async def everything(mail_sync: MailSync) -> dict[str, list[tuple[object, ...]]]:
    """All rows but the news, which say that an account is gone, and the sizes of tables, which a full sync notes."""
    names = [str(name) for (name,) in await mail_sync.rows("select name from sqlite_schema where type = 'table'")]
    return {
        name: await mail_sync.rows(f"select * from {name}") for name in names if name not in {"outbox", "sqlite_stat1"}
    }


async def at_every_step(
    clock: VirtualClock, *, flow: Callable[[MailSync, str], Awaitable[None]], erase: bool, log: RecordedLog, every: int
) -> int:
    """Disconnect at each ``every``-th step of a flow that is not stopped: nothing is written after it. Returns how
    many steps the flow took."""
    step = 1
    while True:
        with TemporaryDirectory() as home:
            threads = ThreadPool(limit=8, name="race")
            async with open_mail_sync(Path(home), clock=clock, log=log, threads=threads) as mail_sync:
                for number in range(3):
                    await mail_sync.inject(f"Mail {number}")
                account_id = await mail_sync.connect()
                watch = AtStep(step)
                ended = False

                async def run(
                    mail_sync: MailSync = mail_sync, account_id: str = account_id, watch: AtStep = watch
                ) -> None:
                    nonlocal ended
                    watch.root = trio.lowlevel.current_task()
                    await flow(mail_sync, account_id)
                    ended = True
                    watch.reached.set()

                trio.lowlevel.add_instrument(watch)
                try:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(run)
                        await watch.reached.wait()
                        await disconnected(mail_sync, account_id, erase=erase)
                        if erase:
                            await Eraser(store=mail_sync.store, log=log, erases=ERASES[::-1]).erase(account_id)
                        after = await everything(mail_sync)
                finally:
                    trio.lowlevel.remove_instrument(watch)
                assert await everything(mail_sync) == after, f"something was written after step {step}"
                assert await mail_sync.problems() == []
                if erase:
                    assert after["mail_accounts"] == after["mail_messages"] == after["mail_labels"] == []
                if watch.seen < step:
                    return watch.seen
        step += every


async def full_sync_and_poll(mail_sync: MailSync, account_id: str) -> None:
    await mail_sync.sync_of(account_id).step()
    await mail_sync.inject("One more")
    await mail_sync.sync_of(account_id).step()


@pytest.mark.share(2)
@pytest.mark.parametrize("erase", [False, True])
@pytest.mark.thorough
async def test_nothing_is_written_after_a_disconnect_at_any_step_of_a_sync(
    wall: VirtualClock, log: RecordedLog, erase: bool
) -> None:
    assert await at_every_step(wall, flow=full_sync_and_poll, erase=erase, log=log, every=CUT_STRIDE) > 50


@pytest.mark.thorough
async def test_nothing_is_written_after_an_erasure_at_any_step_of_a_mirror(
    wall: VirtualClock, log: RecordedLog
) -> None:
    async def flow(mail_sync: MailSync, account_id: str) -> None:
        await mail_sync.sync_of(account_id).step()
        ids = [str(row[0]) for row in await mail_sync.rows("select id from mail_threads order by id")]
        for thread_id in ids[:1]:
            with suppress(NotFound):  # it is gone already
                await mail_sync.store.write(thread_actions.open_thread, mail_sync.principal, thread_id=thread_id)
                await mail_sync.store.write(thread_actions.archive, mail_sync.principal, thread_ids=[thread_id])
        await mail_sync.loop_of(account_id).sync_now()

    assert await at_every_step(wall, flow=flow, erase=True, log=log, every=CUT_STRIDE) > 50


@pytest.mark.thorough
async def test_an_erasure_cut_anywhere_holds_and_is_finished_later(
    wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "THREADS_A_BATCH", 2)

    async def attempt(run: Interrupted) -> None:
        with TemporaryDirectory() as home:
            threads = ThreadPool(limit=8, name="race")
            async with open_mail_sync(Path(home), clock=wall, log=log, threads=threads) as mail_sync:
                account_id = await mail_sync.synced("One", "Two", "Three", "Four", "Five")
                await disconnected(mail_sync, account_id, erase=True)
                eraser = Eraser(store=mail_sync.store, log=log, erases=ERASES[::-1])
                await run(eraser.erase, account_id)
                assert await mail_sync.problems() == []
                await eraser.erase(account_id)
                left = await everything(mail_sync)
                assert left["mail_accounts"] == left["mail_messages"] == left["events"] == []

    assert await cancel_everywhere(attempt, every=CUT_STRIDE) > 5


async def test_kept_news_of_an_erased_account_say_nothing_of_its_mail(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await furnish(service, MIA)
        account_id = await account_of(service, MIA)
        mail = {"accountId": account_id, "to": ["noa@example.org"], "subject": "Zanzibar", "html": "<p>Zanzibar</p>"}
        await service.mutate("mail.saveDraft", **mail)
        await service.mutate("mail.send", sendAt="2099-01-01T00:00:00Z", **mail)
        await service.synced("Zanzibar", address=MIA)
        told = "select count(*), max(seq) - min(seq) + 1 from outbox"
        assert (await service.rows("select count(*) from outbox where payload like '%Zanzibar%'"))[0][0] >= 3
        await service.mutate("mail.disconnect", accountId=account_id, erase=True)
        await all_quiet()
        await Eraser(store=service.workspace.store, log=log, erases=ERASES[::-1]).erase(account_id)
        assert await service.rows("select count(*) from outbox where payload like '%Zanzibar%'") == [(0,)]
        ((rows, span),) = await service.rows(told)
        assert rows == span


async def test_an_erasure_that_a_kill_interrupted_goes_on_at_the_next_boot(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await furnish(service, MIA)
        account_id = await account_of(service, MIA)
        # Committed, and then nothing: the eraser is not told.
        await service.workspace.store.write(
            actions.disconnect,
            credentials_of(service.workspace),
            UNCLAIMED,
            account_id=account_id,
            erase=True,
        )
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        await erased(service, account_id)
        assert await service.rows("select id from mail_messages") == []
        assert await problems(service) == []
