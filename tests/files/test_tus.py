"""Uploads by tus 1.0.0: what comes is kept, to the byte that was acknowledged, and what is wrong is refused."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from svc.clock import VirtualClock
from svc.errors import Conflict, Invalid, Refusal
from svc.files import partial, tus
from svc.files.partial import KEEP_MS, MAX_UNFINISHED, PartialUpload
from svc.files.receiving import CHECKPOINT_BYTES, Receiver
from svc.principal import UNCLAIMED
from svc.protocol.messages import BytesBody
from svc.store import CHUNK_BYTES
from svc.store.parts import Part
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.files.tus_client import CONTENT, ask, begun, kept, metadata, offset, problems, sha
from tests.files.uploads import settled
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, MIA, Service, open_service

CEILING = 100_000


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_UPLOAD_MAX_BYTES=str(CEILING)) as it:
        yield it


async def test_what_is_spoken_here_is_told_to_everybody(service: Service) -> None:
    reply = await service.ask("OPTIONS", "/files/tus")
    assert reply.status == 204
    assert reply.header("tus-version") == "1.0.0"
    assert reply.header("tus-extension") == "creation,creation-with-upload,termination,expiration,checksum"
    assert reply.header("tus-checksum-algorithm") == "sha1,sha256,md5"
    assert reply.header("tus-max-size") == str(CEILING)
    assert reply.header("allow") == "POST, OPTIONS"
    assert reply.header("access-control-allow-origin") is None
    assert (await service.ask("OPTIONS", "/files/tus", host="elsewhere.example")).status == 421
    of_one = await service.ask("OPTIONS", "/files/tus/upl_none")
    assert (of_one.status, of_one.header("tus-version")) == (204, "1.0.0")
    assert of_one.header("allow") == "GET, HEAD, POST, PATCH, DELETE, OPTIONS"


async def test_a_file_comes_in_pieces_and_is_a_file_with_the_last(service: Service) -> None:
    socket = await service.live("files")
    upload = await begun(
        service, upload_metadata=metadata(filename="Größe \u202etxt.exe", filetype="text/plain", x="1")
    )
    assert await offset(service, upload) == 0
    for start, stop in ((0, 1), (1, 700), (700, 700), (700, 999)):
        reply = await ask(service, "PATCH", upload, CONTENT[start:stop], upload_offset=str(start))
        assert (reply.status, reply.header("upload-offset")) == (204, str(stop))
        assert reply.header("tus-resumable") == "1.0.0"
        assert "GMT" in (reply.header("upload-expires") or "")
        assert reply.header("x-svc-file-id") is None
        assert await offset(service, upload) == stop
    assert await service.rows("select id from files") == []
    reply = await ask(service, "PATCH", upload, CONTENT[999:], upload_offset="999")
    file_id = reply.header("x-svc-file-id")
    assert (reply.status, reply.header("upload-offset")) == (204, "1000")
    assert (await service.get(f"/files/{file_id}/content")).body == CONTENT
    found = await service.query("files.get", id=file_id)
    assert (found["name"], found["mime"], found["sha256"]) == ("Größe txt.exe", "text/plain", sha(CONTENT))
    assert (await socket.hear())["id"] == file_id
    await socket.leave()
    again = await ask(service, "HEAD", upload)
    assert (again.header("upload-offset"), again.header("upload-length")) == ("1000", "1000")
    assert again.header("x-svc-file-id") == file_id  # for who did not hear the last answer
    assert again.header("upload-metadata") == metadata(filename="Größe \u202etxt.exe", filetype="text/plain", x="1")
    assert await kept(service) == ([], [sha(CONTENT)], 1)
    assert await problems(service) == []


async def test_bytes_may_come_with_the_beginning_and_an_empty_file_is_one_at_once(service: Service) -> None:
    reply = await ask(service, "POST", "/files/tus", CONTENT[:10], upload_length="1000", content_type=tus.BYTES)
    assert (reply.status, reply.header("upload-offset")) == (201, "10")
    whole = await ask(service, "POST", "/files/tus", CONTENT, upload_length="1000", content_type=tus.BYTES)
    empty = await ask(service, "POST", "/files/tus", upload_length="0")
    for found, content in ((whole, CONTENT), (empty, b"")):
        assert found.status == 201
        assert (await service.get(f"/files/{found.header('x-svc-file-id')}/content")).body == content
    form = await ask(service, "POST", "/files/tus", CONTENT, upload_length="1000", content_type="text/plain")
    assert form.status == 415


async def test_a_client_without_patch_and_delete_says_what_it_means(service: Service) -> None:
    upload = await begun(service)
    patched = await ask(
        service,
        "POST",
        upload,
        CONTENT,
        x_http_method_override="PATCH",
        upload_offset="0",
        content_type=tus.BYTES,
    )
    assert (patched.status, patched.header("upload-offset")) == (204, "1000")
    assert (await ask(service, "POST", upload, x_http_method_override="DELETE")).status == 204
    assert (await ask(service, "HEAD", upload)).status == 404
    assert (await ask(service, "POST", upload, x_http_method_override="PUT")).status == 400
    assert (await service.get(f"/files/{patched.header('x-svc-file-id')}/content")).status == 200


WRONG_PIECES: list[tuple[dict[str, str], int]] = [
    ({"upload_offset": "499"}, 409),
    ({"upload_offset": "501"}, 409),
    ({"upload_offset": "1000"}, 409),
    ({"upload_offset": "-"}, 400),
    ({"upload_offset": "-1"}, 400),
    ({"upload_offset": "5e2"}, 400),
    ({"upload_offset": "500, 500"}, 400),
    ({"upload_offset": "500", "content_type": "application/octet-stream"}, 415),
    ({"upload_offset": "500", "content_type": "-"}, 415),
    ({"upload_offset": "500", "tus_resumable": "0.2.2"}, 412),
    ({"upload_offset": "500", "tus_resumable": "-"}, 412),
    ({"upload_offset": "500", "upload_checksum": "crc32 AAAA"}, 400),
    ({"upload_offset": "500", "upload_checksum": "sha1 ???"}, 400),
    ({"upload_offset": "500", "upload_checksum": "sha1 AAAA"}, 460),
]


async def test_a_piece_that_is_not_the_next_or_says_too_little_is_refused_and_nothing_of_it_kept(
    service: Service,
) -> None:
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:500], upload_offset="0")
    for fields, status in WRONG_PIECES:
        reply = await ask(service, "PATCH", upload, b"x" * 100, **fields)
        assert (reply.status, reply.header("tus-resumable")) == (status, "1.0.0"), fields
        assert await offset(service, upload) == 500
    assert (await ask(service, "PATCH", upload, b"x" * 501, upload_offset="500")).status == 413
    await ask(service, "PATCH", upload, CONTENT[500:], upload_offset="500")
    assert list(service.workspace.blobs.each_sha()) == [sha(CONTENT)]
    late = await ask(service, "PATCH", upload, b"x", upload_offset="1000")
    assert late.status == 413


BEGINNINGS: list[tuple[dict[str, str], int]] = [
    ({}, 400),
    ({"upload_length": "ten"}, 400),
    ({"upload_length": str(CEILING + 1)}, 413),
    ({"upload_length": "1" * 19}, 400),
    ({"upload_length": "5", "tus_resumable": "2.0"}, 412),
    ({"upload_defer_length": "1"}, 400),
    ({"upload_length": "5", "upload_concat": "partial"}, 400),
    ({"upload_length": "5", "upload_metadata": "filename ???"}, 400),
    ({"upload_length": "5", "upload_metadata": "filename YQ==,filename YQ=="}, 400),
    ({"upload_length": "5", "upload_metadata": "filename /w=="}, 400),
    ({"upload_length": "5", "upload_metadata": "x " + "A" * tus.MAX_METADATA_CHARS}, 400),
]


async def test_a_beginning_that_says_too_little_or_wants_too_much_is_refused(service: Service) -> None:
    for fields, status in BEGINNINGS:
        assert (await ask(service, "POST", "/files/tus", b"", **fields)).status == status, fields
    refused = await ask(service, "POST", "/files/tus", upload_length=str(CEILING + 1))
    assert refused.header("tus-max-size") == str(CEILING)
    assert await kept(service) == ([], [], 0)
    assert await offset(service, await begun(service, CEILING)) == 0
    plain = await begun(service, 1, upload_metadata="is_confidential,name YS50eHQ=, type bm8gdHlwZQ==")
    await ask(service, "PATCH", plain, b"x", upload_offset="0")
    assert await service.rows("select name, mime from files") == [("a.txt", "application/octet-stream")]


@pytest.mark.parametrize("algorithm", tus.ALGORITHMS)
async def test_a_checksum_is_held_to(service: Service, algorithm: str) -> None:
    upload = await begun(service)
    right = b64encode(hashlib.new(algorithm, CONTENT).digest()).decode()
    wrong = await ask(
        service, "PATCH", upload, CONTENT[::-1], upload_offset="0", upload_checksum=f"{algorithm} {right}"
    )
    assert (wrong.status, await offset(service, upload)) == (460, 0)
    good = await ask(service, "PATCH", upload, CONTENT, upload_offset="0", upload_checksum=f"{algorithm} {right}")
    assert good.header("x-svc-file-id") is not None
    assert list(service.workspace.blobs.each_sha()) == [sha(CONTENT)]


async def test_an_upload_is_its_owners_alone(service: Service) -> None:
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite", email="ben@example.org")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    upload = await begun(mia)
    for method in ("HEAD", "PATCH", "DELETE"):
        fields = {"upload_offset": "0"} if method == "PATCH" else {}
        foreign = await ask(ben, method, upload, CONTENT if fields else b"", **fields)
        missing = await ask(ben, method, "/files/tus/upl_none", CONTENT if fields else b"", **fields)
        assert foreign.status == missing.status == 404
        assert foreign.body == missing.body
        assert (await ask(service, method, upload, CONTENT if fields else b"", **fields)).status == 401
    await ask(mia, "PATCH", upload, CONTENT, upload_offset="0")
    assert len((await mia.query("files.list"))["files"]) == 1
    assert (await ben.query("files.list"))["files"] == []


async def test_what_began_before_the_claim_is_the_first_admins(service: Service) -> None:
    upload = await begun(service)
    mia = await sign_in(service, MIA)
    reply = await ask(mia, "PATCH", upload, CONTENT, upload_offset="0")
    assert (await mia.query("files.list"))["files"][0]["id"] == reply.header("x-svc-file-id")


async def test_another_site_can_not_upload(service: Service) -> None:
    for fields in ({"origin": "https://elsewhere.example"}, {"sec_fetch_site": "cross-site"}):
        assert (await ask(service, "POST", "/files/tus", b"", upload_length="1", **fields)).status == 403
    upload = await begun(service)
    refused = await ask(service, "PATCH", upload, CONTENT, upload_offset="0", origin="https://elsewhere.example")
    assert refused.status == 403
    assert await offset(service, upload) == 0


async def test_one_that_is_ended_leaves_nothing(service: Service) -> None:
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:500], upload_offset="0")
    reply = await ask(service, "DELETE", upload)
    assert (reply.status, reply.header("tus-resumable")) == (204, "1.0.0")
    assert (await ask(service, "HEAD", upload)).status == 404
    assert await kept(service) == ([], [], 0)


async def test_one_that_nobody_goes_on_with_is_removed(service: Service, wall: VirtualClock) -> None:
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:500], upload_offset="0")
    wall.offset_ms += KEEP_MS - 1
    await service.workspace.service(Receiver).tidy()
    assert await offset(service, upload) == 500
    wall.offset_ms += 1
    assert (await ask(service, "HEAD", upload)).status == 404
    (service.workspace.home.blobs / ".parts" / "upl_nobodys").write_bytes(b"left by a crash")
    await service.workspace.service(Receiver).tidy()
    assert await kept(service) == ([], [], 0)


async def test_one_person_has_only_so_many_that_never_end(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial, "MAX_UNFINISHED", 2)
    assert MAX_UNFINISHED > 2
    first, _ = [await begun(service) for _ in range(2)]
    refused = await ask(service, "POST", "/files/tus", upload_length="1")
    assert (refused.status, refused.header("retry-after")) == (429, "60")
    await ask(service, "PATCH", first, CONTENT, upload_offset="0")
    await begun(service)


# Broken links


async def half_sent(service: Service, upload: str, content: bytes, at: int) -> trio.abc.HalfCloseableStream:
    """A PATCH of all the rest that stops in the middle, and whose link stays open."""
    stream = await service.listener.connect()
    lines = [
        f"PATCH {upload} HTTP/1.1",
        f"host: {HOST}",
        "tus-resumable: 1.0.0",
        f"content-type: {tus.BYTES}",
        f"upload-offset: {at}",
        f"content-length: {len(CONTENT) - at}",
        "",
        "",
    ]
    await stream.send_all("\r\n".join(lines).encode() + content)
    await settled()
    return stream


async def test_what_came_before_the_link_broke_is_kept(service: Service) -> None:
    upload = await begun(service)
    stream = await half_sent(service, upload, CONTENT[:321], 0)
    await trio.aclose_forcefully(stream)
    await settled()
    assert await offset(service, upload) == 321
    reply = await ask(service, "PATCH", upload, CONTENT[321:], upload_offset="321")
    assert reply.header("x-svc-file-id") is not None
    assert list(service.workspace.blobs.each_sha()) == [sha(CONTENT)]


@pytest.mark.parametrize("way", ["HEAD", "PATCH", "DELETE"])
async def test_who_comes_back_need_not_wait_for_a_link_that_is_dead(service: Service, way: str) -> None:
    """It still waits for bytes here, and what it had is kept."""
    upload = await begun(service)
    dead = await half_sent(service, upload, CONTENT[:100], 0)
    if way == "HEAD":
        assert await offset(service, upload) == 100
    elif way == "PATCH":
        late = await ask(service, "PATCH", upload, CONTENT, upload_offset="0")
        assert late.status == 409
        assert await offset(service, upload) == 100
    else:
        assert (await ask(service, "DELETE", upload)).status == 204
        assert await kept(service) == ([], [], 0)
    await trio.aclose_forcefully(dead)


async def test_a_stranger_does_not_end_the_call_of_another(service: Service) -> None:
    upload = await begun(service)
    stream = await half_sent(service, upload, CONTENT[:100], 0)
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite", email="ben@example.org")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    assert (await ask(ben, "HEAD", upload)).status == 404
    await stream.send_all(CONTENT[100:])
    await settled()
    assert await service.rows("select size from files") == [(len(CONTENT),)]
    await trio.aclose_forcefully(stream)


class Chunks(BytesBody):
    """A body that comes piece by piece."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.data = data

    @property
    def declared_length(self) -> None:
        return None

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.data), CHUNK_BYTES):
            yield self.data[start : start + CHUNK_BYTES]


class Cut(Chunks):
    """One that ends with an error."""

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in super().chunks():
            yield chunk
        raise Invalid("The link broke.")


async def test_within_one_long_call_bytes_become_durable_now_and_then(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash costs what came since. Here nothing is kept at the end, as if there were none."""
    receiver = service.workspace.service(Receiver)
    content = os.urandom(CHECKPOINT_BYTES + 3 * CHUNK_BYTES)
    upload = await service.workspace.store.write(
        partial.begin, UNCLAIMED, length=2 * len(content), name="a", mime="text/plain", metadata=""
    )
    seen: list[int] = []
    note = partial.keep

    def keep(tx: Any, upload_id: str, *, stored: int) -> None:
        seen.append(stored)
        note(tx, upload_id, stored=stored)

    monkeypatch.setattr(partial, "keep", keep)
    with pytest.raises(Invalid):
        await receiver.receive(UNCLAIMED, upload.id, offset=0, body=Cut(content))
    assert seen == [CHECKPOINT_BYTES, len(content)]


@pytest.mark.parametrize("room", [1, 2, 3])
async def test_when_the_disk_is_full_it_goes_on_later_and_is_what_was_sent(
    service: Service, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """The hash can be ahead of the disk then: it has seen pieces that could not be written."""
    receiver = service.workspace.service(Receiver)
    content = os.urandom(4 * CHUNK_BYTES)
    upload = await service.workspace.store.write(
        partial.begin, UNCLAIMED, length=len(content), name="a", mime="text/plain", metadata=""
    )
    write = Part.write

    def fills(part: Part, pieces: Sequence[bytes]) -> None:
        for piece in pieces:
            if part.size == room * CHUNK_BYTES:
                raise Refusal("The disk is full.", code="insufficient_storage")
            write(part, [piece])

    with monkeypatch.context() as patched:
        patched.setattr(Part, "write", fills)
        with pytest.raises(Refusal, match="full"):
            await receiver.receive(UNCLAIMED, upload.id, offset=0, body=Chunks(content))
    stored = (await receiver.look(UNCLAIMED, upload.id)).stored
    assert stored == room * CHUNK_BYTES
    await receiver.receive(UNCLAIMED, upload.id, offset=stored, body=Chunks(content[stored:]))
    assert list(service.workspace.blobs.each_sha()) == [sha(content)]


# Crashes


async def test_bytes_beyond_what_is_on_record_are_cut_off(service: Service) -> None:
    """They may be anything after a power loss. The hash of this life is forgotten, as with a new process."""
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:400], upload_offset="0")
    part = service.workspace.home.blobs / ".parts" / upload.rpartition("/")[2]
    part.write_bytes(CONTENT[:400] + bytes(300))
    service.workspace.service(Receiver)._hashes.clear()
    await ask(service, "PATCH", upload, CONTENT[400:], upload_offset="400")
    assert list(service.workspace.blobs.each_sha()) == [sha(CONTENT)]


async def test_one_whose_bytes_were_lost_begins_anew_as_another(service: Service) -> None:
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:400], upload_offset="0")
    (service.workspace.home.blobs / ".parts" / upload.rpartition("/")[2]).write_bytes(CONTENT[:399])
    assert (await ask(service, "PATCH", upload, CONTENT[400:], upload_offset="400")).status == 404
    assert "files.part_lost" in service.log.events("error")
    assert await kept(service) == ([], [], 0)


@pytest.mark.parametrize("moved", [False, True])
async def test_one_that_died_between_its_seal_and_its_file_becomes_one(service: Service, moved: bool) -> None:
    upload = await begun(service)
    await ask(service, "PATCH", upload, CONTENT[:400], upload_offset="0")
    upload_id = upload.rpartition("/")[2]
    (service.workspace.home.blobs / ".parts" / upload_id).write_bytes(CONTENT)
    await service.workspace.store.write(partial.seal, upload_id, sha256=sha(CONTENT))
    if moved:
        await service.workspace.blobs.put(CONTENT)
        (service.workspace.home.blobs / ".parts" / upload_id).unlink()
    await service.workspace.service(Receiver).tidy()
    (file,) = (await service.query("files.list"))["files"]
    assert (await service.get(f"/files/{file['id']}/content")).body == CONTENT
    assert await offset(service, upload) == len(CONTENT)
    assert await kept(service) == ([], [sha(CONTENT)], 1)
    assert await problems(service) == []


async def test_cancelled_anywhere_it_goes_on_and_is_one_file(service: Service) -> None:
    receiver = service.workspace.service(Receiver)

    async def attempt(run: Interrupted) -> None:
        upload = await service.workspace.store.write(
            partial.begin, UNCLAIMED, length=len(CONTENT), name="a", mime="text/plain", metadata=""
        )
        await run(partial_receive, upload.id)
        done = await gone_on(upload.id)
        assert await service.rows("select id, sha256 from files") == [(done.file_id, sha(CONTENT))]
        await service.workspace.store.write(lambda tx: tx.run("delete from files"))
        await receiver.end(UNCLAIMED, upload.id)

    async def gone_on(upload_id: str) -> PartialUpload:
        """As a client does: what the cut one had asked the database for may be done a moment after it was looked at."""
        found = await receiver.look(UNCLAIMED, upload_id)
        try:
            rest = BytesBody(CONTENT[found.stored :])
            return await receiver.receive(UNCLAIMED, upload_id, offset=found.stored, body=rest)
        except Conflict:
            return await receiver.look(UNCLAIMED, upload_id)

    async def partial_receive(upload_id: str) -> None:
        await receiver.receive(UNCLAIMED, upload_id, offset=0, body=BytesBody(CONTENT))

    assert await cancel_everywhere(attempt) > 5
    assert await kept(service) == ([], [sha(CONTENT)], 0)
    assert await problems(service) == []
