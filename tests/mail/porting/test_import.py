"""Importing as a run: what arrives, how often, what becomes of it when it is stopped, and what comes out again."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.mail.porting import actions, queries, taking
from svc.mail.porting.importer import Importer
from svc.mail.porting.model import ImportRow
from svc.mail.porting.sources import SourceFault
from svc.runs import telling
from svc.runs.tokens import RunGrant
from svc.store import Tx
from svc.worker import mail_import
from tests.files.uploads import uploaded
from tests.formats.mime import corpus
from tests.full_disk import limit_pages
from tests.mail.porting.test_sources import LINE, entries, mail, mbox, tarred, zipped
from tests.peers.needs import CORPUS, needs
from tests.recorded_log import RecordedLog
from tests.sizes import CORPUS_SAMPLE
from tests.support.service import MIA, RpcError, Service, open_service

ENDED = {"done", "failed", "cancelled"}


async def account(service: Service, name: str = "Old mail") -> str:
    found: str = (await service.mutate("mail.createLocal", name=name))["accountId"]
    return found


async def begin(service: Service, account_id: str, data: bytes, name: str = "old.mbox", **more: object) -> str:
    record = await uploaded(service, data, x_svc_filename=name)
    begun = await service.mutate("mail.import", accountId=account_id, fileId=record["id"], **more)
    run_id: str = begun["runId"]
    return run_id


async def ended(service: Service, run_id: str) -> dict[str, Any]:
    with trio.fail_after(3_600):
        while True:
            found: dict[str, Any] = await service.query("runs.get", id=run_id)
            if found["state"] in ENDED:
                return found
            await trio.sleep(1)


async def imported(service: Service, account_id: str, data: bytes, name: str = "old.mbox") -> dict[str, Any]:
    run = await ended(service, await begin(service, account_id, data, name))
    assert run["state"] == "done", run["error"]
    output: dict[str, Any] = run["output"]
    return output


async def stored(service: Service, account_id: str) -> list[tuple[Any, ...]]:
    return await service.rows(
        "select subject, labels from mail_messages where account_id = :id order by subject", id=account_id
    )


async def raws(service: Service, account_id: str) -> list[bytes]:
    rows = await service.rows(
        "select raw_sha256, raw_size from mail_messages where account_id = :id order by raw_sha256", id=account_id
    )
    return [await service.workspace.blobs.read(sha256, limit=size) for sha256, size in rows]


@asynccontextmanager
async def opened(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        yield service


MARKED = LINE + b"X-Gmail-Labels: Inbox,Unread,Starred,Work\n" + mail("marked") + b"\n"
REPLIES = (
    LINE
    + b"Message-ID: <1@x.example>\nSubject: Lunch\n\nHi\n\n"
    + LINE
    + b"Message-ID: <2@x.example>\nIn-Reply-To: <1@x.example>\nSubject: Re: Lunch\n\nYes\n\n"
)


async def test_an_mbox_becomes_mail_of_an_account_with_labels_threads_and_no_news(service: Service) -> None:
    account_id = await account(service)
    output = await imported(service, account_id, MARKED + REPLIES + mbox("plain"))
    assert output == {"added": 4, "known": 0, "skipped": 0}
    names = dict(
        await service.rows(
            "select label_id, name from mail_labels where account_id = :id and not system", id=account_id
        )
    )
    marked = dict(await stored(service, account_id))["marked"]
    assert list(names.values()) == ["Work"]
    assert all(label in marked for label in ("INBOX", "UNREAD", "STARRED", *names))
    (threads,) = await service.rows("select count(*) from mail_threads where account_id = :id", id=account_id)
    assert threads == (3,)
    events = await service.rows("select json_extract(payload, '$.backfill') from events where type = 'mail-received'")
    assert events == [(1,)] * 4
    found = await service.query("mail.search", query="Lunch")
    assert len(found["threads"]) == 1
    (told,) = [one for one in await service.query("mail.accounts") if one["id"] == account_id]
    assert (told["provider"], told["address"], told["messages"], told["unread"]) == ("local", "Old mail", 4, 1)


async def test_an_account_keeps_its_name_as_written_and_is_found_by_it_in_any_case(service: Service) -> None:
    account_id = await account(service, "  Ältere   Mail ")
    assert await account(service, "ÄLTERE MAIL") == account_id
    (told,) = [one for one in await service.query("mail.accounts") if one["id"] == account_id]
    assert told["address"] == "Ältere Mail"


async def test_the_same_again_adds_nothing_and_leaves_what_was_done_here(service: Service) -> None:
    account_id = await account(service)
    await imported(service, account_id, MARKED)
    (thread,) = (await service.query("mail.threads", section="inbox", accountId=account_id))["threads"]
    await service.mutate("mail.archive", threadIds=[thread["id"]])
    before = await stored(service, account_id)
    assert await imported(service, account_id, MARKED) == {"added": 0, "known": 1, "skipped": 0}
    assert await stored(service, account_id) == before
    again = MARKED.replace(b"Unread,Starred,Work", b"Work,Trips")
    assert await imported(service, account_id, again + again) == {"added": 0, "known": 2, "skipped": 0}
    (after,) = await stored(service, account_id)
    assert "INBOX" not in after[1]
    assert after[1].count("lbl_") == 2


async def test_what_can_not_be_taken_is_counted_and_told_and_what_is_no_mailbox_fails_in_words(
    service: Service,
) -> None:
    account_id = await account(service)
    data = zipped({"a.mbox": mbox("a"), "b.eml": b"  \n", "c/readme.txt": b"hello"})
    assert await imported(service, account_id, data, "mail.zip") == {"added": 1, "known": 0, "skipped": 1}
    run = await ended(service, await begin(service, account_id, b"%PDF-1.7", "a.pdf"))
    assert run["state"] == "failed"
    assert "no mailbox" in run["error"]["message"]
    newest, first = await service.query("mail.imports")
    assert (newest["state"], newest["name"]) == ("failed", "a.pdf")
    assert (first["state"], first["percent"], first["reasons"]) == ("done", 100, ["An empty mail."])


async def test_an_archive_that_is_cut_off_gives_all_that_came_before(service: Service) -> None:
    account_id = await account(service)
    noise = random.Random(7).randbytes(400_000).hex().encode()
    packed = tarred({"a.mbox": mbox("a", "b", "c"), "d.mbox": LINE + mail("d") + noise})
    run_id = await begin(service, account_id, packed[: len(packed) // 2], "old.tgz")
    run = await ended(service, run_id)
    assert (run["state"], "cut off" in run["error"]["message"]) == ("failed", True)
    assert [subject for subject, _ in await stored(service, account_id)] == ["a", "b", "c"]
    (told,) = await service.query("mail.imports")
    assert (told["added"], told["state"]) == (3, "failed")


@pytest.mark.parametrize("name", ["Work\udcff.mbox", "Wo\nrk\x1b[31m.mbox", "W" * 300 + ".mbox"])
async def test_a_folder_whose_name_is_no_text_is_a_label_all_the_same(service: Service, name: str) -> None:
    account_id = await account(service)
    output = await imported(service, account_id, tarred({name: mbox("a")}), "old.tgz")
    assert output == {"added": 1, "known": 0, "skipped": 0}
    ((label,),) = await service.rows(
        "select name from mail_labels where account_id = :id and not system", id=account_id
    )
    assert str(label).isprintable()
    assert len(str(label)) <= 225


async def test_an_upload_that_was_made_for_it_goes_with_its_end(service: Service) -> None:
    account_id = await account(service)
    run_id = await begin(service, account_id, mbox("a"), removeFile=True)
    assert (await ended(service, run_id))["state"] == "done"
    assert (await service.query("files.list"))["files"] == []


async def test_an_import_that_is_cancelled_stops_and_one_that_is_taken_up_again_comes_to_its_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "BATCH_MAILS", 1)
    account_id = await account(service)
    importer = service.workspace.service(Importer)
    go_on = trio.Event()
    prepare = taking.Taker.take
    asked = count(1)

    async def slow(self: taking.Taker, found: Any) -> Any:
        if next(asked) == 3:
            await go_on.wait()
        return await prepare(self, found)

    monkeypatch.setattr(taking.Taker, "take", slow)
    run_id = await begin(service, account_id, mbox("a", "b", "c", "d"))
    with trio.fail_after(60):
        while len(await stored(service, account_id)) < 2:  # noqa: ASYNC110  virtual time
            await trio.sleep(0.1)
    await service.mutate("runs.cancel", id=run_id)
    go_on.set()
    with trio.fail_after(600):
        while (await service.query("mail.imports"))[0]["state"] == "working":
            await trio.sleep(1)
            importer.wake.call()
    assert [subject for subject, _ in await stored(service, account_id)] == ["a", "b"]
    await service.mutate("runs.retry", id=run_id)
    assert (await ended(service, run_id))["output"] == {"added": 4, "known": 0, "skipped": 0}
    assert [subject for subject, _ in await stored(service, account_id)] == ["a", "b", "c", "d"]


async def test_an_import_that_fails_is_taken_up_where_it_stood_by_each_retry(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "BATCH_MAILS", 1)
    account_id = await account(service)
    skip, following = taking.Reader.skip, taking.Reader.next
    at = 0
    read: list[int] = []
    breaks_at = {1, 3}

    async def skipped(self: taking.Reader, count: int) -> None:
        nonlocal at
        await skip(self, count)
        at = count

    async def broken(self: taking.Reader) -> taking.Batch:
        nonlocal at
        if at in breaks_at:
            raise SourceFault(f"The file breaks off after {at}.")
        batch = await following(self)
        read.extend([at] * len(batch.found))
        at += batch.seen
        return batch

    monkeypatch.setattr(taking.Reader, "skip", skipped)
    monkeypatch.setattr(taking.Reader, "next", broken)
    run_id = await begin(service, account_id, mbox("a", "b", "c", "d"), removeFile=True)
    for place in (1, 3):
        for _ in range(2):  # a retry that changes nothing says the same again
            run = await ended(service, run_id)
            assert run["state"] == "failed"
            assert f"breaks off after {place}." in run["error"]["message"]
            assert len(await stored(service, account_id)) == place
            assert (await service.query("mail.imports"))[0]["state"] == "failed"
            await service.mutate("runs.retry", id=run_id)
        await ended(service, run_id)
        breaks_at.discard(place)
        await service.mutate("runs.retry", id=run_id)
    assert (await ended(service, run_id))["output"] == {"added": 4, "known": 0, "skipped": 0}
    assert [subject for subject, _ in await stored(service, account_id)] == ["a", "b", "c", "d"]
    assert read == [0, 1, 2, 3]
    assert [(one["state"], one["problem"]) for one in await service.query("mail.imports")] == [("done", None)]
    assert (await service.query("files.list"))["files"] == []


async def test_an_import_whose_account_is_disconnected_fails_in_words(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    account_id = await account(service)
    take = taking.Taker.take

    async def late(self: taking.Taker, found: Any) -> Any:
        await service.mutate("mail.disconnect", accountId=account_id)
        return await take(self, found)

    monkeypatch.setattr(taking.Taker, "take", late)
    run = await ended(service, await begin(service, account_id, mbox("a")))
    assert run["state"] == "failed"
    assert "was disconnected" in run["error"]["message"]


async def test_a_service_that_ends_in_the_middle_goes_on_behind_the_last_mail(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "BATCH_MAILS", 1)
    take = taking.Taker.take
    asked = count(1)
    async with opened(tmp_path, wall, log) as service:
        account_id = await account(service)

        async def held(self: taking.Taker, found: Any) -> Any:
            if next(asked) == 3:
                await trio.sleep_forever()
            return await take(self, found)

        monkeypatch.setattr(taking.Taker, "take", held)
        run_id = await begin(service, account_id, mbox("a", "b", "c"))
        with trio.fail_after(60):
            while len(await stored(service, account_id)) < 2:  # noqa: ASYNC110  virtual time
                await trio.sleep(0.1)
    monkeypatch.setattr(taking.Taker, "take", take)
    async with opened(tmp_path, wall, log) as service:
        assert (await ended(service, run_id))["output"] == {"added": 3, "known": 0, "skipped": 0}
        assert [subject for subject, _ in await stored(service, account_id)] == ["a", "b", "c"]


async def test_a_local_account_syncs_with_nothing_keeps_all_of_it_and_can_not_send(service: Service) -> None:
    account_id = await account(service)
    assert await account(service) == account_id, "of one name there is one"
    await imported(service, account_id, MARKED + mbox("plain"))
    before = await stored(service, account_id)
    await service.mutate("mail.resync", accountId=account_id)
    await trio.sleep(1_200)
    assert await stored(service, account_id) == before
    (told,) = [one for one in await service.query("mail.accounts") if one["id"] == account_id]
    assert (told["state"], told["problem"]) == ("caught-up", None)
    (thread,) = (await service.query("mail.threads", section="inbox", accountId=account_id))["threads"]
    await service.mutate("mail.archive", threadIds=[thread["id"]])
    label = await service.mutate("mail.createLabel", accountId=account_id, name="Trips")
    await service.mutate("mail.setLabels", threadIds=[thread["id"]], add=[label["id"]])
    await trio.sleep(60)
    (told,) = [one for one in await service.query("mail.accounts") if one["id"] == account_id]
    assert (told["pending"], told["failed"]) == (0, 0)
    after = dict(await stored(service, account_id))["marked"]
    assert "INBOX" not in after
    assert label["id"] in after
    with pytest.raises(RpcError, match="can’t send"):
        await service.mutate("mail.send", accountId=account_id, to=["a@b.example"], subject="x", html="x")


@pytest.mark.parametrize("name", ["", "  ", "me@example.org", "x" * 101, "a\x00b"])
async def test_a_local_account_has_a_plain_name(service: Service, name: str) -> None:
    with pytest.raises(RpcError) as refused:
        await account(service, name)
    assert refused.value.status == 400


async def test_mail_is_imported_into_accounts_that_are_kept_here_only(service: Service) -> None:
    await service.synced("One", address=MIA)
    (account_id,) = [one["id"] for one in await service.query("mail.accounts") if one["address"] == MIA]
    record = await uploaded(service, mbox("a"))
    with pytest.raises(RpcError, match="kept on this server") as refused:
        await service.mutate("mail.import", accountId=account_id, fileId=record["id"])
    assert refused.value.code == "CONFLICT"


async def test_an_exported_mailbox_imported_elsewhere_is_the_same_bytes_labels_read_and_starred(
    service: Service,
) -> None:
    account_id = await account(service)
    crlf = (LINE + mail("windows") + b">From here\n\xff\x00\n\n").replace(b"\n", b"\r\n")
    await imported(service, account_id, MARKED + REPLIES + crlf + LINE + b"Subject: unended\n\nno end")
    reply = await service.get(f"/mail/accounts/{account_id}/export")
    assert reply.status == 200
    assert reply.header("content-disposition") == 'attachment; filename="Old-mail.mbox"'
    other = await account(service, "Copy")
    await imported(service, other, reply.body)
    assert await raws(service, other) == await raws(service, account_id)
    again = await service.get(f"/mail/accounts/{other}/export")
    assert entries(again.body) == entries(reply.body)


async def test_nobody_exports_or_fills_the_account_of_somebody_else(service: Service) -> None:
    assert (await service.get("/mail/accounts/acc_none/export")).status == 404
    record = await uploaded(service, mbox("a"))
    with pytest.raises(RpcError) as refused:
        await service.mutate("mail.import", accountId="acc_none", fileId=record["id"])
    assert refused.value.status == 404


@pytest.mark.peer
@needs(CORPUS)
@pytest.mark.thorough
async def test_a_round_trip_of_real_mail_loses_nothing(service: Service) -> None:
    account_id = await account(service)
    contents = {path.read_bytes() for path in corpus.paths()[:CORPUS_SAMPLE]}
    box = b"".join(LINE + one.replace(b"\nFrom ", b"\n>From ") + b"\n\n" for one in sorted(contents))
    await imported(service, account_id, box)
    first = await raws(service, account_id)
    exported = await service.get(f"/mail/accounts/{account_id}/export")
    other = await account(service, "Copy")
    await imported(service, other, exported.body)
    assert await raws(service, other) == first
    assert len(first) > 0.9 * len(contents)


@pytest.mark.thorough
async def test_what_an_import_waits_for_is_told_and_its_run_hears_at_once_how_it_ended(service: Service) -> None:
    """By then the runs look only once a minute, and only a failed one can be retried."""
    account_id = await account(service)
    long = (" ".join(f"{number}w{word}" for word in range(100)) for number in range(taking.BATCH_MAILS))
    contents = {"first.mbox": mbox(*long), "second.mbox": b"%PDF-1.7"}
    files = [await uploaded(service, data, x_svc_filename=name) for name, data in contents.items()]

    async def told() -> list[tuple[str, str, str | None]]:
        found = await service.query("mail.imports")
        return sorted((one["name"], one["state"], one["waitsFor"]) for one in found)

    await service.workspace.store.write(limit_pages, 40)
    begun = [await service.mutate("mail.import", accountId=account_id, fileId=one["id"]) for one in files]
    await trio.sleep(400)
    assert await told() == [("first.mbox", "working", "room"), ("second.mbox", "working", "turn")]
    await service.workspace.store.write(limit_pages, None)
    await trio.sleep(40)  # room is looked for after 420 s, and the runs look by themselves after 454 s
    assert [(await service.query("runs.get", id=one["runId"]))["state"] for one in begun] == ["done", "failed"]


async def test_an_import_that_ends_while_its_run_is_going_to_wait_is_heard_of_at_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins_to_wait = telling.wait

    async def idle(self: Importer, row: ImportRow) -> None:
        await trio.sleep_forever()

    def wait(tx: Tx, grant: RunGrant, *, keys: list[str]) -> None:
        row = queries.import_of_run(tx, grant.run_id)
        assert row is not None
        actions.end(tx, row, state="done")
        begins_to_wait(tx, grant, keys=keys)

    monkeypatch.setattr(Importer, "_work", idle)
    monkeypatch.setattr(mail_import, "FIRST_PAUSE_S", 3_000.0)
    monkeypatch.setattr(telling, "wait", wait)
    began_s = trio.current_time()
    assert await imported(service, await account(service), mbox("a")) == {"added": 0, "known": 0, "skipped": 0}
    assert trio.current_time() - began_s < 60


async def test_an_import_whose_run_is_of_an_older_version_comes_to_its_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "IMPORT", replace(mail_import.IMPORT, version=1))
    assert await imported(service, await account(service), mbox("a")) == {"added": 1, "known": 0, "skipped": 0}
