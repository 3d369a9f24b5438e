"""A download that is cut off goes on where it broke, with the bytes of the same archive."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest
import trio

from svc.app import all_settings
from svc.clock import VirtualClock
from svc.config import read_config
from svc.export import downloads as downloads_module
from svc.export import rows
from svc.export.downloads import MAX_KEPT, WHOLE_S, Downloads, ExportCut, Kept
from svc.store import ROOM_BYTES
from tests.export.test_round_trip import bag_of
from tests.files.uploads import uploaded
from tests.identity.people import Person, sign_in
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import MIA, open_service

KEPT_S = 2 * WHOLE_S


@pytest.fixture
def _kept_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of an hour, in which all the rest of the service does what it does each half minute."""
    monkeypatch.setattr(downloads_module, "KEPT_S", KEPT_S)


@pytest.mark.usefixtures("_kept_for_minutes")
async def test_the_rest_is_of_the_same_archive_for_its_time(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        mia = await sign_in(service, MIA)
        await uploaded(mia, b"an upload" * 100_000, **{"x-svc-filename": "plan.txt"})
        whole = await mia.ask("GET", "/export")
        tag, size = whole.header("etag") or "", len(whole.body)
        assert bag_of(whole.body)
        kept = service.workspace.service(Downloads).of(await person_of(mia))
        assert kept is not None
        async with aclosing(kept.stream(service.workspace.threads)) as pieces:  # the line breaks
            begun = await anext(pieces)
        await mia.mutate("pages.save", path="meanwhile", body="Written after it was made.")
        conditions: tuple[dict[str, str], ...] = ({}, {"if-range": tag})
        for condition in conditions:
            rest = await with_fields(mia, {"range": f"bytes={len(begun)}-", **condition})
            assert (rest.status, begun + rest.body) == (206, whole.body)
            assert rest.header("content-range") == f"bytes {len(begun)}-{size - 1}/{size}"
        assert (await with_fields(mia, {"range": f"bytes={size}-"})).status == 416

        anew = await with_fields(mia, {"range": "bytes=0-"})
        assert (anew.status, anew.header("etag") != tag, kept.file.closed) == (200, True, True)
        kept = service.workspace.service(Downloads).of(await person_of(mia))
        assert kept is not None

        await trio.sleep(KEPT_S + 1)
        assert kept.file.closed
        assert service.workspace.service(Downloads).of(await person_of(mia)) is None
        other = await with_fields(mia, {"range": "bytes=5-", "if-range": tag})
        assert (other.status, other.header("etag") != tag) == (200, True)
        assert "data/pages/meanwhile.md" in bag_of(other.body)
        assert not list((service.workspace.home.spool / "export").iterdir()), "a file without a name is left to nobody"


async def test_one_that_can_not_be_made_to_its_end_is_cut_and_not_kept(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"begun"
        raise OSError(28, "No space left on device")

    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        downloads = service.workspace.service(Downloads)
        kept = await downloads.begin("mia", pieces())
        assert kept is not None
        with pytest.raises(ExportCut):
            [piece async for piece in kept.stream(service.workspace.threads)]
        await trio.sleep(1)
        assert (downloads.of("mia"), kept.file.closed) == (None, True)


@pytest.mark.usefixtures("_kept_for_minutes")
async def test_one_that_takes_long_is_there_for_its_time_after_it(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"begun, "
        await trio.sleep(2 * KEPT_S)
        yield b"done"

    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        kept = await service.workspace.service(Downloads).begin("mia", pieces())
        assert kept is not None
        await trio.sleep(2 * KEPT_S - WHOLE_S / 2)
        assert await kept.end() == len(b"begun, done")
        await trio.sleep(KEPT_S - 1)
        rest = [piece async for piece in kept.stream(service.workspace.threads, start=7)]
        assert (rest, kept.file.closed) == ([b"done"], False)
        await trio.sleep(KEPT_S + 1)
        assert kept.file.closed
        with pytest.raises(ExportCut):
            await anext(kept.stream(service.workspace.threads))


async def test_all_that_are_made_or_read_count_and_none_takes_the_room_of_another(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        yield b"x" * 60
        await trio.sleep(10)
        yield b"x" * 40

    free = 130
    monkeypatch.setattr(rows, "weight", lambda tx: 100)
    monkeypatch.setattr(downloads_module, "_free", lambda folder: free + ROOM_BYTES)
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        downloads, threads = service.workspace.service(Downloads), service.workspace.threads
        first = await downloads.begin("mia", pieces())
        assert first is not None
        assert await downloads.begin("noa", pieces()) is None, (
            "it still has to write 40 at least, and 100 more is too much"
        )
        await first.end()
        async with AsyncExitStack() as reading:
            kept: Kept | None = first
            for _ in range(MAX_KEPT):  # the same person clicks again, and each line stays open
                assert kept is not None
                await anext(await reading.enter_async_context(aclosing(kept.stream(threads))))
                await kept.end()
                kept = await downloads.begin("mia", pieces())
            assert kept is None
        assert await downloads.begin("mia", pieces()) is not None


async def test_an_admin_of_a_cell_downloads_nothing_that_is_private_to_others(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        mia = await sign_in(service, MIA)
        cell = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "PROVIDERS": "fake"}
        service.workspace.config = read_config(all_settings(), cell)
        assert (await mia.ask("GET", "/export")).status == 200
        invite = await mia.mutate("auth.createInvite", email="noa@example.org")
        await sign_in(service, "noa@example.org", invite=invite["code"])
        for fields in ({}, {"range": "bytes=5-"}):
            refused = await with_fields(mia, fields)
            assert (refused.status, refused.json["code"]) == (403, "forbidden")


async def person_of(person: Person) -> str:
    return str((await person.me())["user"]["id"])


async def with_fields(person: Person, fields: dict[str, str]) -> Reply:
    return await Person(person.service, {**person.fields, **fields}).ask("GET", "/export")
