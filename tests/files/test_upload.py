"""``POST /files``: every byte or nothing, in constant memory, with what is refused refused before a byte is read."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.clock import VirtualClock
from svc.files import routes
from svc.overlap import PIECES_AHEAD
from svc.principal import UNCLAIMED
from svc.protocol import Headers, Request
from svc.protocol.messages import BytesBody
from svc.store import run_fsck
from svc.store.blob_files import CHUNK_BYTES
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.files.uploads import NOTHING, final, kept, say, settled, upload, uploaded
from tests.identity.people import Person, pair, sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, Service, open_service

CEILING = 1_000


@pytest.fixture
async def small(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    """With a ceiling of 1,000 bytes."""
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_UPLOAD_MAX_BYTES=str(CEILING)) as it:
        yield it


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def chunked(*pieces: bytes) -> list[bytes]:
    return [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]


async def test_an_upload_is_answered_with_its_record_and_comes_back_as_it_was(service: Service) -> None:
    content = os.urandom(3 * CHUNK_BYTES + 17)
    reply = await upload(service, content, content_type="image/png", x_svc_filename="H%C3%A9llo%20W.png")
    record = reply.json
    assert reply.status == 201
    assert record == {
        "id": record["id"],
        "sha256": sha(content),
        "name": "Héllo W.png",
        "mime": "image/png",
        "size": len(content),
    }
    assert reply.header("location") == f"/files/{record['id']}/content"
    assert reply.header("cache-control") == "no-store"
    assert (await service.get(f"/files/{record['id']}/content")).body == content
    assert await kept(service) == (0, [sha(content)], [sha(content)])


async def test_an_upload_may_be_empty_and_say_nothing_of_itself(service: Service) -> None:
    record = await uploaded(service, b"")
    assert (record["size"], record["name"], record["mime"]) == (0, "file", "application/octet-stream")
    reply = await service.get(f"/files/{record['id']}/content")
    assert (reply.status, reply.body, reply.header("content-length")) == (200, b"", "0")


async def test_an_upload_in_pieces_needs_no_length(service: Service) -> None:
    pieces = [os.urandom(size) for size in (1, 100_000, 7, CHUNK_BYTES)]
    raw = await say(service, *chunked(*pieces), b"0\r\n\r\n", fields=("transfer-encoding: chunked",))
    assert final(raw).json["sha256"] == sha(b"".join(pieces))


async def test_the_same_bytes_twice_are_two_files_and_one_blob(service: Service) -> None:
    first, second = [await uploaded(service, b"same", x_svc_filename=name) for name in ("a", "b")]
    assert first["id"] != second["id"]
    assert await kept(service) == (0, [sha(b"same")], [sha(b"same")] * 2)


async def test_the_owner_is_who_uploaded_by_browser_or_by_device(service: Service) -> None:
    mia = await sign_in(service, "mia@example.org")
    phone = await pair(mia)
    user_id = (await mia.me())["user"]["id"]
    for person in (mia, phone):
        record = await uploaded(person, b"x")
        assert await service.rows("select owner_id from files where id = :id", id=record["id"]) == [(user_id,)]


async def test_who_watches_files_hears_of_an_upload(service: Service) -> None:
    socket = await service.live("files")
    record = await uploaded(service, b"news")
    frame = await socket.hear()
    assert (frame["topic"], frame["kind"], frame["id"]) == ("files", "file.changed", record["id"])
    await socket.leave()


async def test_memory_does_not_grow_with_the_upload(service: Service) -> None:
    """Measured where all of the body passes: some pieces wait for the slower step, some are in its hands."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield bytes(CHUNK_BYTES)

    tracemalloc.start()
    await service.workspace.blobs.put_stream(body(), limit=10**9)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < (2 * PIECES_AHEAD + 6) * CHUNK_BYTES


# Refused


FORMS = ("multipart/form-data; boundary=x", "Multipart/Related", "multipart/form-data")


@pytest.mark.parametrize("kind", FORMS)
async def test_a_form_is_refused_before_a_byte_is_read(service: Service, kind: str) -> None:
    raw = await say(service, fields=("content-length: 100", f"content-type: {kind}", "expect: 100-continue"))
    assert b"100 Continue" not in raw
    assert (final(raw).status, final(raw).json["code"]) == (415, "unsupported_media_type")
    assert await kept(service) == NOTHING


async def test_compressed_bytes_are_refused_and_not_kept_under_a_wrong_type(service: Service) -> None:
    assert (await upload(service, b"x", content_encoding="gzip")).status == 415
    assert (await upload(service, b"x", content_encoding="identity")).status == 201


@pytest.mark.parametrize("name", ["a%zz", "%ff", "caf\xe9", "%"])
async def test_a_name_that_is_none_is_refused_before_a_byte_is_read(service: Service, name: str) -> None:
    raw = await say(service, fields=("content-length: 9", f"x-svc-filename: {name}", "expect: 100-continue"))
    assert b"100 Continue" not in raw
    assert final(raw).status == 400
    assert await kept(service) == NOTHING


async def test_a_name_given_twice_is_refused(service: Service) -> None:
    raw = await say(service, b"x", fields=("content-length: 1", "x-svc-filename: a", "x-svc-filename: b"))
    assert final(raw).status == 400


async def test_up_to_the_ceiling_it_is_taken_and_a_byte_more_is_not(small: Service) -> None:
    assert (await upload(small, b"x" * CEILING)).status == 201
    reply = await upload(small, b"y" * (CEILING + 1))
    assert (reply.status, reply.json["code"]) == (413, "too_large")
    whole = sha(b"x" * CEILING)
    assert await kept(small) == (0, [whole], [whole])


async def test_too_large_a_length_is_refused_before_it_is_invited(small: Service) -> None:
    raw = await say(small, fields=(f"content-length: {CEILING + 1}", "expect: 100-continue"))
    assert raw.startswith(b"HTTP/1.1 413 ")
    assert await kept(small) == NOTHING


async def test_what_may_come_is_invited(small: Service) -> None:
    raw = await say(small, b"x" * CEILING, fields=(f"content-length: {CEILING}", "expect: 100-continue"))
    assert raw.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 ")


@pytest.mark.parametrize("size", [1, 333, 999])
async def test_without_a_length_the_byte_that_passes_the_ceiling_ends_it(small: Service, size: int) -> None:
    pieces = [b"x" * size] * (CEILING // size)
    pieces.append(b"x" * (CEILING - sum(map(len, pieces))))
    fitting = b"".join(chunked(*[piece for piece in pieces if piece]))
    raw = await say(small, fitting, *chunked(b"!"), fields=("transfer-encoding: chunked",))
    assert final(raw).status == 413
    assert await kept(small) == NOTHING
    raw = await say(small, fitting, b"0\r\n\r\n", fields=("transfer-encoding: chunked",))
    assert final(raw).status == 201


async def test_nobody_uploads_once_the_instance_is_claimed(service: Service) -> None:
    await sign_in(service, "mia@example.org")
    raw = await say(service, fields=("content-length: 100", "expect: 100-continue"))
    assert raw.startswith(b"HTTP/1.1 401 ")
    assert await kept(service) == NOTHING


async def test_what_was_on_its_way_while_the_instance_was_claimed_is_the_first_admins(service: Service) -> None:
    stream = await service.listener.connect()
    await stream.send_all(f"POST /files HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 2\r\n\r\na".encode())
    await settled()
    mia = await sign_in(service, "mia@example.org")
    await stream.send_all(b"b")
    assert b"201 Created" in await stream.receive_some()
    await trio.aclose_forcefully(stream)
    assert [file["sha256"] for file in (await mia.query("files.list"))["files"]] == [sha(b"ab")]


# Cut off


def wire_pieces(*, by_length: bool) -> tuple[tuple[str, ...], list[bytes]]:
    """A head's fields and the body of an upload, in eight pieces of more than one chunk together."""
    pieces = [os.urandom(CHUNK_BYTES // 3) for _ in range(8)]
    if by_length:
        return (f"content-length: {sum(map(len, pieces))}",), pieces
    return ("transfer-encoding: chunked",), [*chunked(*pieces), b"0\r\n\r\n"]


@pytest.mark.parametrize("by_length", [True, False], ids=["length", "chunked"])
async def test_an_upload_that_breaks_off_anywhere_leaves_nothing(service: Service, by_length: bool) -> None:
    fields, pieces = wire_pieces(by_length=by_length)
    for count in range(len(pieces)):
        for half in (False, True):
            sent = [*pieces[:count], *([pieces[count][: len(pieces[count]) // 2]] if half else [])]
            raw = await say(service, *sent, fields=fields, end=True)
            assert b" 201 " not in raw
            assert await kept(service) == NOTHING, (count, half)
    assert service.log.events("error") == []
    assert final(await say(service, *pieces, fields=fields)).status == 201


async def test_a_client_that_is_gone_leaves_nothing_within_a_second(service: Service) -> None:
    fields, pieces = wire_pieces(by_length=True)
    head = "\r\n".join(["POST /files HTTP/1.1", f"host: {HOST}", *fields, "", ""]).encode()
    for count in range(len(pieces)):
        stream = await service.listener.connect()
        for piece in (head, *pieces[:count]):
            await stream.send_all(piece)
            await settled()
        await trio.aclose_forcefully(stream)
        await trio.sleep(1.0)
        assert await kept(service) == NOTHING
    assert service.log.events("error") == []


async def test_a_client_that_stalls_is_told_so_and_leaves_nothing(service: Service) -> None:
    raw = await say(service, b"a little", fields=("content-length: 100000",))
    assert final(raw).status == 408
    assert await kept(service) == NOTHING


@pytest.mark.parametrize("broken", [b"zz\r\nx\r\n", b"5\r\nabc", b"3\r\nabcd\r\n", b"-1\r\n\r\n"])
async def test_broken_framing_leaves_nothing(service: Service, broken: bytes) -> None:
    fields = ("transfer-encoding: chunked",)
    raw = await say(service, *chunked(b"good"), broken, fields=fields, end=True)
    assert final(raw).status == 400
    assert await kept(service) == NOTHING


async def test_an_upload_cancelled_at_any_step_leaves_a_whole_file_or_none(service: Service) -> None:
    """Also when it is cut while the disk is being waited for: a blob may be left over, a record without one never."""
    content = os.urandom(CHUNK_BYTES + 5)

    async def attempt(run: Interrupted) -> None:
        request = Request(method="POST", target="/files", headers=Headers(), body=BytesBody(content))
        await run(routes.upload, service.call(UNCLAIMED), request)
        temporary, blobs, recorded = await kept(service)
        assert temporary == 0
        assert set(recorded) <= set(blobs) <= {sha(content)}

    assert await cancel_everywhere(attempt) > 5
    assert await problems(service) == []


async def problems(service: Service) -> list[str]:
    workspace = service.workspace
    invariants = [row for feature in workspace.features for row in feature.invariants]
    return await workspace.store.read(
        run_fsck, invariants=invariants, blobs=workspace.blobs, secrets=service.secrets, deep=True
    )


async def test_many_at_once_do_not_mix(service: Service) -> None:
    people = [Person(service)] * 20
    contents = [os.urandom(CHUNK_BYTES + number) for number in range(len(people))]
    records: list[str] = []

    async def one(person: Person, content: bytes) -> None:
        record = await uploaded(person, content)
        assert record["sha256"] == sha(content)
        records.append(str(record["id"]))

    async with trio.open_nursery() as nursery:
        for person, content in zip(people, contents, strict=True):
            nursery.start_soon(one, person, content)
    assert len(set(records)) == len(people)
    assert await problems(service) == []
