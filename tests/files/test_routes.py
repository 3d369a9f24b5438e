"""``GET /files/:id/content`` over HTTP: the bytes a stranger attached, given out so that a browser can't run them."""

from __future__ import annotations

import base64
import hashlib
import os
from itertools import product
from pathlib import Path

import pytest

from svc.principal import Principal
from tests.support.http import Reply
from tests.support.service import HOST, Service

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
STRANGER = Principal(user_id="usr_other", device_id="dev_other", is_admin=True, via="session")


async def attached(service: Service, content: bytes, *, name: str = "a.png", mime: str = "image/png") -> str:
    """The path of an attachment that came by mail."""
    before = {file_id for (file_id,) in await service.rows("select id from files")}
    encoded = base64.b64encode(content).decode()
    await service.synced("With a file", attachments=[{"filename": name, "mime": mime, "content": encoded}])
    ((file_id,),) = [row for row in await service.rows("select id from files") if row[0] not in before]
    return f"/files/{file_id}/content"


def blob_path(service: Service, content: bytes) -> Path:
    sha256 = hashlib.sha256(content).hexdigest()
    return service.workspace.home.blobs / sha256[:2] / sha256


def etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'


async def test_the_bytes_come_back_as_they_were_with_the_orders_for_a_browser(service: Service) -> None:
    reply = await service.get(await attached(service, PNG, name="Ä picture.png"))
    assert (reply.status, reply.body) == (200, PNG)
    assert {name: reply.header(name) for name in EXPECTED_FIELDS} == {
        **EXPECTED_FIELDS,
        "content-length": str(len(PNG)),
        "etag": etag(PNG),
        "content-disposition": "inline; filename=\"_ picture.png\"; filename*=UTF-8''%C3%84%20picture.png",
    }
    for name in EXPECTED_FIELDS:
        assert len([key for key, _ in reply.headers if key == name]) == 1, name


EXPECTED_FIELDS = {
    "content-type": "image/png",
    "content-length": "",
    "content-disposition": "",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "etag": "",
}


async def test_head_says_the_same_without_the_bytes(service: Service) -> None:
    path = await attached(service, PNG)
    whole, head = await service.get(path), await service.ask("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert told(head) == told(whole)
    part = await service.ask("HEAD", path, fields={"range": "bytes=0-0"})
    assert (part.status, told(part)) == (200, told(whole))


STRANGE = (
    ("a.txt", "text/plain", b"<script>alert(1)</script>", "text/plain; charset=utf-8"),
    ("a.html", "text/html", b"<script>alert(1)</script>", None),
    ("a.svg", "image/svg+xml", b"<svg onload='alert(1)'/>", None),
    ("a.xml", "application/xml", b"<?xml version='1.0'?>", None),
    ("a.pdf", "application/pdf", b"%PDF-1.7", None),
    ("a.js", "text/javascript", b"alert(1)", None),
    ("a.png", "image/png", b"<html><script>alert(1)</script>", None),
    ("a", "application/octet-stream", b"\0\1\2", None),
    ("empty.png", "image/png", b"", None),
)


async def test_only_what_cannot_run_is_shown_in_place(service: Service) -> None:
    for name, mime, content, shown in STRANGE:
        reply = await service.get(await attached(service, content, name=name, mime=mime))
        disposition = reply.header("content-disposition") or ""
        assert (reply.status, reply.body) == (200, content), name
        assert disposition.startswith("inline; " if shown else "attachment; "), name
        assert shown is None or reply.header("content-type") == shown
        assert reply.header("content-type") not in ("text/html", "image/svg+xml")
        assert reply.header("content-security-policy") == "sandbox; default-src 'none'", name
        assert reply.header("x-content-type-options") == "nosniff", name


async def test_a_part_can_be_had_alone(service: Service) -> None:
    path = await attached(service, PNG)
    for wanted, start, stop in (("bytes=0-0", 0, 1), ("bytes=10-19", 10, 20), ("bytes=-5", len(PNG) - 5, len(PNG))):
        reply = await service.get(path, range=wanted)
        assert (reply.status, reply.body) == (206, PNG[start:stop])
        assert reply.header("content-range") == f"bytes {start}-{stop - 1}/{len(PNG)}"
        assert reply.header("content-length") == str(stop - start)
        assert reply.header("content-security-policy") == "sandbox; default-src 'none'"


async def test_a_part_beyond_the_end_is_not_satisfiable(service: Service) -> None:
    reply = await service.get(await attached(service, PNG), range=f"bytes={len(PNG)}-")
    assert (reply.status, reply.json["code"]) == (416, "range_not_satisfiable")
    assert reply.header("content-range") == f"bytes */{len(PNG)}"


async def test_a_part_of_other_content_is_answered_with_the_whole(service: Service) -> None:
    path = await attached(service, PNG)
    assert (await service.get(path, range="bytes=0-3", if_range='"other"')).status == 200
    assert (await service.get(path, range="bytes=0-3", if_range=etag(PNG))).status == 206


async def test_who_has_it_already_is_told_so(service: Service) -> None:
    path = await attached(service, PNG)
    for form, method in product(("{}", "W/{}", '"other", {}', "*"), ("GET", "HEAD")):
        reply = await service.ask(method, path, fields={"if-none-match": form.format(etag(PNG))})
        assert (reply.status, reply.body, reply.header("etag")) == (304, b"", etag(PNG))


async def test_who_wants_no_other_content_is_refused_if_it_is_another(service: Service) -> None:
    path = await attached(service, PNG)
    for wanted, status in (("*", 200), (f'"other", {etag(PNG)}', 200), ('"other"', 412), (f"W/{etag(PNG)}", 412)):
        assert (await service.get(path, if_match=wanted)).status == status, wanted


async def test_who_has_something_else_gets_it(service: Service) -> None:
    assert (await service.get(await attached(service, PNG), if_none_match='"other"')).status == 200


# What is not there


async def test_anothers_file_answers_exactly_as_one_that_never_was(service: Service) -> None:
    path = await attached(service, PNG)
    await service.workspace.store.write(lambda tx: tx.run("update files set owner_id = 'usr_mia'"))
    foreign = await service.get_as(STRANGER, path)
    missing = await service.get_as(STRANGER, "/files/fil_none/content")
    assert foreign.status == missing.status == 404
    assert (told(foreign), foreign.body) == (told(missing), missing.body)
    for fields in ({"range": "bytes=0-3"}, {"if_none_match": etag(PNG)}):
        assert told(await service.get_as(STRANGER, path, **fields)) == told(missing)
    owner = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=False, via="session")
    assert (await service.get_as(owner, path)).body == PNG


async def test_a_file_whose_blob_is_lost_says_so_and_the_log_says_which(service: Service) -> None:
    path = await attached(service, PNG)
    blob_path(service, PNG).unlink()
    lost, missing = await service.get(path), await service.get("/files/fil_none/content")
    assert lost.status == missing.status == 404
    assert "missing or damaged" in lost.json["detail"]
    assert lost.json | {"detail": ""} == missing.json | {"detail": ""}
    assert "files.blob_missing" in service.log.events("error")
    assert (await service.get("/readyz")).status == 200


@pytest.mark.thorough
async def test_damaged_bytes_are_never_passed_off_as_the_whole(service: Service) -> None:
    for size in (1, 300_000, 700_000):
        content = PNG + b"x" * size
        path = await attached(service, content)
        damage(blob_path(service, content), content)
        assert (await raw_answer(service, path)).startswith(b"HTTP/1.1 404 ")


async def test_bytes_that_are_damaged_once_they_were_known_are_not_given_out(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose size and time of content are as before. A large one is found out on its way, and cut."""
    content = PNG + b"x" * 700_000
    path = await attached(service, content)
    assert (await service.get(path)).body == content
    stored = blob_path(service, content)
    times = stored.stat().st_atime_ns, stored.stat().st_mtime_ns
    damage(stored, content)
    os.utime(stored, ns=times)
    with monkeypatch.context() as patch:
        patch.setattr("svc.store.blobs.CHECKED_AHEAD_BYTES", 1_000)
        head, _, body = (await raw_answer(service, path)).partition(b"\r\n\r\n")
    assert b"content-length: %d\r\n" % len(content) in head
    assert len(body) < len(content)
    assert "http.answer_cut" in service.log.events("error")
    assert (await raw_answer(service, path)).startswith(b"HTTP/1.1 404 ")


async def test_a_part_of_damaged_bytes_is_not_given_out(service: Service) -> None:
    path = await attached(service, PNG)
    damage(blob_path(service, PNG), PNG)
    raw = await raw_answer(service, path, "range: bytes=0-3\r\n")
    assert raw.startswith(b"HTTP/1.1 404 ")


def damage(stored: Path, content: bytes) -> None:
    stored.chmod(0o600)
    stored.write_bytes(content[:-1] + b"!")


def told(reply: Reply) -> dict[str, str]:
    """The headers, but for what differs between any two answers."""
    return {name: value for name, value in reply.headers if name not in ("x-request-id", "date")}


async def raw_answer(service: Service, path: str, fields: str = "") -> bytes:
    """Every byte of the answer, also of one that is cut."""
    stream = await service.listener.connect()
    await stream.send_all(f"GET {path} HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\n{fields}\r\n".encode())
    data = b""
    async for piece in stream:
        data += piece
    await stream.aclose()
    return data
