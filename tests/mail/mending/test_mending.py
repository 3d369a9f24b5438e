"""Lost parts of mail are made again from the raw message, and that is fetched from the provider; for that item only."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
import trio

from svc.mail.mending.tasks import GONE, NOT_CONNECTED
from svc.mail.providers.seam import Provider, RawMessage
from svc.mail.sync.engine import MailEngine
from svc.store import run_fsck
from tests.healing.damaging import WAYS, Harming, blob_of, damages, delete, flip, healed, truncate
from tests.support.service import MIA, Service

PDF = b"%PDF-1.7 the plans of the harbour"
DAMAGED = "This part of the message is damaged"
KINDS = ("body_sha256", "raw_sha256", "attachment")
every_way = pytest.mark.parametrize("harm", WAYS, ids=lambda harm: harm.__name__)


async def arrived(service: Service) -> str:
    """A mail with an attachment. Returns its thread."""
    files = [{"filename": "plans.pdf", "mime": "application/pdf", "content": base64.b64encode(PDF).decode()}]
    (thread_id,) = await service.synced("Plans", text="Here they are.", attachments=files)
    return thread_id


async def sha_of(service: Service, kind: str) -> str:
    if kind == "attachment":
        return hashlib.sha256(PDF).hexdigest()
    ((sha256,),) = await service.rows(f"select {kind} from mail_messages where subject = 'Plans'")
    return str(sha256)


async def message(service: Service, thread_id: str) -> dict[str, Any]:
    detail = await service.query("mail.thread", id=thread_id)
    return dict(detail["messages"][0])


async def account_id(service: Service) -> str:
    return str(next(one["id"] for one in await service.query("mail.accounts") if one["address"] == MIA))


async def health(service: Service) -> tuple[int, int, int]:
    (found,) = await service.query("mail.health", accountId=await account_id(service))
    return found["damaged"], found["lost"], found["mended"]


async def found(service: Service, *names: str) -> None:
    """Somebody has read them."""
    for name in names:
        assert not await service.workspace.threads.run(service.workspace.blobs.is_sound, name)
    await healed(service)


async def problems(service: Service) -> list[str]:
    workspace = service.workspace
    invariants = [row for feature in workspace.features for row in feature.invariants]
    return await workspace.store.read(run_fsck, invariants=invariants, blobs=workspace.blobs, secrets=None, deep=True)


@every_way
@pytest.mark.parametrize("kind", KINDS)
async def test_a_lost_part_of_a_mail_is_mended_by_itself(service: Service, kind: str, harm: Harming) -> None:
    thread_id = await arrived(service)
    before = await message(service, thread_id)
    name = await sha_of(service, kind)
    content = blob_of(service, name).read_bytes()
    harm(blob_of(service, name))
    await found(service, name)
    assert blob_of(service, name).read_bytes() == content
    assert await damages(service) == [(name, "mended", "")]
    assert await health(service) == (0, 0, 1)
    assert await message(service, thread_id) == before
    assert await problems(service) == []


async def test_body_and_attachment_are_made_again_without_the_provider(service: Service) -> None:
    await arrived(service)
    names = [await sha_of(service, kind) for kind in ("body_sha256", "attachment")]
    await service.mutate("mail.disconnect", accountId=await account_id(service))
    for name in names:
        truncate(blob_of(service, name))
    await found(service, *names)
    assert {state for _, state, _ in await damages(service)} == {"mended"}
    assert await problems(service) == []


async def test_all_of_a_message_comes_back_from_the_provider_with_one_call(service: Service) -> None:
    thread_id = await arrived(service)
    before = await message(service, thread_id)
    names = [await sha_of(service, kind) for kind in KINDS]
    calls = counted_gets(service, await account_id(service))
    for name in names:
        delete(blob_of(service, name))
    await found(service, *names)
    assert len(calls) == 1
    assert await message(service, thread_id) == before
    assert await health(service) == (0, 0, 3)


def counted_gets(service: Service, account: str) -> list[str]:
    loop = service.workspace.service(MailEngine).loop(account)
    assert loop is not None
    counting = Counting(loop.provider)
    loop.provider = counting  # type: ignore[assignment]
    return counting.calls


class Counting:
    """A provider that is asked for messages, and notes for which."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.calls: list[str] = []

    async def get(self, message_id: str) -> RawMessage:
        self.calls.append(message_id)
        return await self.provider.get(message_id)

    def __getattr__(self, name: str) -> object:
        return getattr(self.provider, name)


async def test_while_it_lasts_that_part_alone_is_missing_and_says_so(service: Service) -> None:
    thread_id = await arrived(service)
    body, raw, pdf = [await sha_of(service, kind) for kind in ("body_sha256", "raw_sha256", "attachment")]
    await service.mutate("mail.disconnect", accountId=await account_id(service))
    for name in (body, raw, pdf):
        flip(blob_of(service, name))
    assert DAMAGED in (await message(service, thread_id))["html"]
    await found(service, raw, pdf)
    shown = await message(service, thread_id)
    assert (shown["subject"], shown["from"]["address"]) == ("Plans", "noa@example.org")
    (attachment,) = shown["attachments"]
    assert (attachment["filename"], attachment["damaged"]) == ("plans.pdf", True)
    assert (await service.get(f"/files/{attachment['fileId']}/content")).status == 404
    assert await health(service) == (3, 0, 0)
    parts = await service.query("mail.damage", accountId=await account_id(service))
    assert {(one["part"], one["name"], one["state"], one["reason"]) for one in parts} == {
        ("body", None, "waiting", NOT_CONNECTED),
        ("raw", None, "waiting", NOT_CONNECTED),
        ("attachment", "plans.pdf", "waiting", NOT_CONNECTED),
    }
    assert (await service.query("mail.threads", section="inbox", limit=1))["threads"][0]["subject"] == "Plans"


async def test_who_has_the_thread_open_hears_that_it_is_whole_again(service: Service) -> None:
    thread_id = await arrived(service)
    socket = await service.live("mail")
    delete(blob_of(service, await sha_of(service, "body_sha256")))
    assert DAMAGED in (await message(service, thread_id))["html"]
    await healed(service)
    kinds = [(frame["kind"], frame["id"]) for frame in await socket.hear_all() if frame["type"] == "event"]
    assert ("thread.changed", thread_id) in kinds
    shown = await message(service, thread_id)
    assert "Here they are." in shown["html"]
    await socket.leave()


async def test_two_readers_at_once_have_it_fetched_once(service: Service) -> None:
    thread_id = await arrived(service)
    calls = counted_gets(service, await account_id(service))
    for kind in ("body_sha256", "raw_sha256"):
        delete(blob_of(service, await sha_of(service, kind)))
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(message, service, thread_id)
    await healed(service)
    assert len(calls) == 1
    assert DAMAGED not in (await message(service, thread_id))["html"]


async def test_a_message_that_the_provider_has_no_more_stays_recorded_with_the_reason(service: Service) -> None:
    await arrived(service)
    raw = await sha_of(service, "raw_sha256")
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=404)
    delete(blob_of(service, raw))
    await found(service, raw)
    assert await damages(service) == [(raw, "lost", GONE)]
    assert await health(service) == (1, 1, 0)


async def test_a_provider_in_trouble_is_asked_again_later(service: Service) -> None:
    await arrived(service)
    raw = await sha_of(service, "raw_sha256")
    await service.mutate("fake.mail.fault", address=MIA, operation="get", fault=500, times=2)
    delete(blob_of(service, raw))
    await found(service, raw)
    ((_, state, _),) = await damages(service)
    assert state == "waiting"
    await trio.sleep(600)
    ((_, state, _),) = await damages(service)
    assert state == "mended"
    assert await problems(service) == []


async def test_where_the_parser_makes_other_bytes_the_message_names_these(service: Service) -> None:
    """As after an update of the parser: what was stored is not what would be made today."""
    thread_id = await arrived(service)
    workspace = service.workspace
    before = await message(service, thread_id)
    body, pdf = await sha_of(service, "body_sha256"), await sha_of(service, "attachment")
    other = (await workspace.blobs.put(b'{"html":null,"text":"As an earlier parser saw it."}')).sha256
    other_pdf = (await workspace.blobs.put(b"as an earlier parser saw it")).sha256
    await workspace.store.write(
        lambda tx: (
            tx.run(
                """
                update mail_messages set body_sha256 = :body, headers = replace(headers, :pdf, :other_pdf)
                where body_sha256 = :before
                """,
                body=other,
                pdf=pdf,
                other_pdf=other_pdf,
                before=body,
            ),
            tx.run("update files set sha256 = :other where sha256 = :pdf", other=other_pdf, pdf=pdf),
        )
    )
    assert "earlier parser" in (await message(service, thread_id))["html"]
    for name in (other, other_pdf):
        delete(blob_of(service, name))
    await found(service, other, other_pdf)
    assert await message(service, thread_id) == before
    assert (await service.get(f"/files/{before['attachments'][0]['fileId']}/content")).body == PDF
    states = {name: state for name, state, _ in await damages(service)}
    assert states[other] == "mended"
    assert await problems(service) == []


async def test_a_body_that_was_lost_while_its_words_were_taken_is_found_by_them_once_it_is_mended(
    service: Service,
) -> None:
    await arrived(service)
    body = await sha_of(service, "body_sha256")
    await service.workspace.store.write(
        lambda tx: tx.run("update mail_search_body set body = '' where body like '%they are%'")
    )
    delete(blob_of(service, body))
    await found(service, body)
    rows = await service.rows("select body from mail_search_body where body like '%they are%'")
    assert len(rows) == 1


async def test_nobody_else_hears_what_is_damaged(service: Service) -> None:
    await arrived(service)
    with pytest.raises(AssertionError, match="no such account"):
        await service.query("mail.damage", accountId="acc_nobodys")
