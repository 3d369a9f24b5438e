"""Who may read which file and which blob: the owner, who reads a page that shows it, and nobody else by any sign."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from svc.principal import AUTH_OFF
from tests.files.uploads import uploaded
from tests.identity.people import Person, pair, sign_in
from tests.support.http import Reply
from tests.support.service import MIA, Service

SECRET = b"what only Mia has"
YEAR = "private, max-age=31536000, immutable"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class ClaimedInstance:
    """A claimed instance: Mia, its admin, and Ben, a member."""

    service: Service
    mia: Person
    ben: Person


@pytest.fixture
async def instance(service: Service) -> ClaimedInstance:
    mia = await sign_in(service, "mia@example.org")
    invite = await mia.mutate("auth.createInvite")
    return ClaimedInstance(service, mia, await sign_in(service, "ben@example.org", invite=invite["code"]))


async def content(person: Person, record: dict[str, object], method: str = "GET") -> Reply:
    return await person.ask(method, f"/files/{record['id']}/content")


async def blob(person: Person, sha256: str, method: str = "GET") -> Reply:
    return await person.ask(method, f"/blobs/{sha256}")


def told(reply: Reply) -> tuple[int, dict[str, str], bytes]:
    """All that an answer says, but for what differs between any two."""
    fields = {name: value for name, value in reply.headers if name not in ("x-request-id", "date")}
    return reply.status, fields, reply.body


async def test_the_owner_reads_a_file_and_its_blob_from_any_device(instance: ClaimedInstance) -> None:
    record = await uploaded(instance.mia, SECRET)
    for person in (instance.mia, await pair(instance.mia)):
        assert (await content(person, record)).body == SECRET
        assert (await blob(person, sha(SECRET))).body == SECRET


async def test_to_everybody_else_it_is_as_missing_as_what_never_was(instance: ClaimedInstance) -> None:
    """A member's file to the admin too: a role opens nothing."""
    for owner, other in ((instance.mia, instance.ben), (instance.ben, instance.mia)):
        secret = SECRET + owner.fields["cookie"].encode()
        record = await uploaded(owner, secret)
        for method in ("GET", "HEAD"):
            foreign, missing = await content(other, record, method), await content(other, {"id": "fil_none"}, method)
            assert told(foreign) == told(missing)
            foreign, missing = await blob(other, sha(secret), method), await blob(other, "0" * 64, method)
            assert told(foreign) == told(missing)
            assert missing.status == 404
        for field, value in (("range", "bytes=0-3"), ("if-none-match", f'"{sha(secret)}"'), ("if-none-match", "*")):
            asked = Person(instance.service, {**other.fields, field: value})
            assert told(await blob(asked, sha(secret))) == told(await blob(asked, "0" * 64))
            assert told(await content(asked, record)) == told(await content(asked, {"id": "fil_none"}))


async def test_a_stranger_is_turned_away_before_anything_is_looked_up(instance: ClaimedInstance) -> None:
    record = await uploaded(instance.mia, SECRET)
    stranger = Person(instance.service)
    for reply in (await content(stranger, record), await blob(stranger, sha(SECRET)), await blob(stranger, "0" * 64)):
        assert reply.status == 401


async def test_to_upload_what_another_has_opens_ones_own_copy_and_nothing_of_theirs(instance: ClaimedInstance) -> None:
    theirs = await uploaded(instance.mia, SECRET, x_svc_filename="mia.txt", content_type="text/plain")
    own = await uploaded(instance.ben, SECRET, x_svc_filename="ben.bin")
    assert (await content(instance.ben, theirs)).status == 404
    reply = await blob(instance.ben, sha(SECRET))
    assert reply.body == SECRET
    assert "ben.bin" in (reply.header("content-disposition") or "")
    assert "mia" not in str(told(reply))
    assert [file["id"] for file in (await instance.ben.query("files.list"))["files"]] == [own["id"]]
    await instance.ben.mutate("files.delete", id=own["id"])
    assert (await blob(instance.ben, sha(SECRET))).status == 404
    assert (await content(instance.mia, theirs)).body == SECRET


@pytest.mark.parametrize("grant", ["everyone", "user"])
async def test_a_file_on_a_page_is_read_by_who_reads_the_page_and_no_longer(
    instance: ClaimedInstance, grant: str
) -> None:
    record = await uploaded(instance.mia, SECRET, x_svc_filename="shared.bin")
    await uploaded(instance.mia, SECRET, x_svc_filename="private.bin")
    body = f"![it](/files/{record['id']}/content)"
    await instance.mia.mutate("pages.save", path="notes/plan", body=body)
    assert (await content(instance.ben, record)).status == 404
    assert (await blob(instance.ben, sha(SECRET))).status == 404
    to = "everyone" if grant == "everyone" else (await instance.ben.me())["user"]["id"]
    await instance.mia.mutate(
        "pages.setAccess", path="notes/plan", access="explicit", grants=[{"to": to, "level": "read"}]
    )
    assert (await content(instance.ben, record)).body == SECRET
    reply = await blob(instance.ben, sha(SECRET))
    assert reply.body == SECRET
    assert "shared.bin" in (reply.header("content-disposition") or "")
    assert (await instance.ben.query("files.list"))["files"] == []  # to read is not to own
    await instance.mia.mutate("pages.save", path="notes/plan", body="nothing any more")
    assert (await content(instance.ben, record)).status == 404
    assert (await blob(instance.ben, sha(SECRET))).status == 404


async def test_to_name_anothers_file_on_a_page_of_ones_own_opens_nothing(instance: ClaimedInstance) -> None:
    record = await uploaded(instance.mia, SECRET)
    await instance.ben.mutate("pages.save", path="ben", body=f"[x](/files/{record['id']}/content)")
    assert (await content(instance.ben, record)).status == 404
    assert (await blob(instance.ben, sha(SECRET))).status == 404


async def test_while_nobody_has_claimed_it_everybody_reads_and_then_the_first_admin_alone(service: Service) -> None:
    anybody = Person(service)
    early_phone = await pair(anybody)
    records = [await uploaded(person, SECRET) for person in (anybody, early_phone)]
    for record in records:
        assert (await content(anybody, record)).body == SECRET
        assert (await content(early_phone, record)).body == SECRET
    assert (await blob(anybody, sha(SECRET))).body == SECRET
    mia = await sign_in(service, "mia@example.org")
    invite = await mia.mutate("auth.createInvite")
    ben = await sign_in(service, "ben@example.org", invite=invite["code"])
    for record in records:
        assert (await content(anybody, record)).status == 401
        assert (await content(mia, record)).body == SECRET
        assert (await content(ben, record)).status == 404
    assert (await blob(ben, sha(SECRET))).status == 404
    assert (await blob(mia, sha(SECRET))).body == SECRET
    listed = (await mia.query("files.list"))["files"]
    assert {file["id"] for file in listed} == {record["id"] for record in records}


async def test_with_identity_off_everything_is_readable(instance: ClaimedInstance) -> None:
    record = await uploaded(instance.ben, SECRET)
    assert (await instance.service.get_as(AUTH_OFF, f"/files/{record['id']}/content")).body == SECRET
    assert (await instance.service.get_as(AUTH_OFF, f"/blobs/{sha(SECRET)}")).body == SECRET


# The blob itself


async def test_a_blob_may_be_kept_for_a_year_and_a_file_is_asked_for_again(service: Service) -> None:
    record = await uploaded(service, SECRET)
    assert (await service.get(f"/blobs/{sha(SECRET)}")).header("cache-control") == YEAR
    assert (await service.get(f"/files/{record['id']}/content")).header("cache-control") == "private, no-cache"
    again = await service.get(f"/blobs/{sha(SECRET)}", if_none_match=f'"{sha(SECRET)}"')
    assert (again.status, again.header("cache-control"), again.header("etag")) == (304, YEAR, f'"{sha(SECRET)}"')


RANGES = [
    ({}, 200, SECRET, None),
    ({"range": "bytes=0-3"}, 206, SECRET[:4], f"bytes 0-3/{len(SECRET)}"),
    ({"range": "bytes=-3"}, 206, SECRET[-3:], f"bytes {len(SECRET) - 3}-{len(SECRET) - 1}/{len(SECRET)}"),
    ({"range": "bytes=5-"}, 206, SECRET[5:], f"bytes 5-{len(SECRET) - 1}/{len(SECRET)}"),
    ({"range": "bytes=0-0,2-3"}, 200, SECRET, None),
    ({"range": "bytes=0-3", "if_range": f'"{sha(SECRET)}"'}, 206, SECRET[:4], f"bytes 0-3/{len(SECRET)}"),
    ({"range": "bytes=0-3", "if_range": '"other"'}, 200, SECRET, None),
    ({"range": "bytes=0-3", "if_none_match": f'"{sha(SECRET)}"'}, 304, b"", None),
    ({"range": f"bytes={len(SECRET)}-"}, 416, None, f"bytes */{len(SECRET)}"),
]


@pytest.mark.parametrize(("fields", "status", "body", "content_range"), RANGES)
async def test_a_part_of_a_blob_is_served_as_http_says(
    service: Service, fields: dict[str, str], status: int, body: bytes | None, content_range: str | None
) -> None:
    await uploaded(service, SECRET)
    reply = await service.get(f"/blobs/{sha(SECRET)}", **fields)
    assert (reply.status, reply.header("content-range")) == (status, content_range)
    assert body is None or reply.body == body
    if status in (200, 206):
        assert reply.header("content-length") == str(len(reply.body))
        assert reply.header("accept-ranges") == "bytes"


async def test_head_of_a_blob_says_the_same_without_the_bytes(service: Service) -> None:
    await uploaded(service, SECRET)
    whole, head = await service.get(f"/blobs/{sha(SECRET)}"), await service.ask("HEAD", f"/blobs/{sha(SECRET)}")
    assert told(head) == (200, told(whole)[1], b"")


@pytest.mark.parametrize("name", ["x", "A" * 64, sha(SECRET).upper(), "0" * 63, "0" * 65, "..%2f..%2fhome-id"])
async def test_what_is_no_hash_is_missing(service: Service, name: str) -> None:
    await uploaded(service, SECRET)
    assert told(await service.get(f"/blobs/{name}")) == told(await service.get(f"/blobs/{'0' * 64}"))


async def test_a_blob_that_no_file_names_is_missing_even_to_who_sees_everything(service: Service) -> None:
    """The body of a mail is a blob too, and no file."""
    await service.synced("Hello")
    ((body_sha256,),) = await service.rows("select body_sha256 from mail_messages")
    assert (await service.get(f"/blobs/{body_sha256}")).status == 404


HOSTILE = [
    ("text/html", b"<script>alert(1)</script>"),
    ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
    ("application/xhtml+xml", b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>"),
    ("application/xml", b"<?xml version='1.0'?><?xml-stylesheet href='x'?><a/>"),
    ("application/pdf", b"%PDF-1.7 /JS (app.alert(1))"),
    ("text/javascript", b"alert(1)"),
    ("text/css", b"*{}"),
    ("image/png", b"<script>alert(1)</script>"),
    ("", b"<html>"),
]


@pytest.mark.parametrize(("mime", "data"), HOSTILE, ids=[mime or "none" for mime, _ in HOSTILE])
async def test_what_a_browser_could_run_it_may_only_save(service: Service, mime: str, data: bytes) -> None:
    name = quote('x".html\r\n<b>\u202e')
    record = await uploaded(service, data, x_svc_filename=name, content_type=mime)
    for target in (f"/files/{record['id']}/content", f"/blobs/{sha(data)}"):
        reply = await service.get(target)
        assert (reply.header("content-disposition") or "").startswith("attachment; ")
        assert reply.header("content-security-policy") == "sandbox; default-src 'none'"
        assert reply.header("x-content-type-options") == "nosniff"
        declared = reply.header("content-type") or ""
        assert not any(word in declared for word in ("html", "svg", "xml", "script", "css"))


async def test_the_attachment_of_a_mail_is_its_account_owners(instance: ClaimedInstance) -> None:
    attachments = [{"filename": "a.txt", "mime": "text/plain", "text": "from afar"}]
    wanted = {"address": MIA, "from": "n@example.org", "subject": "Hi", "attachments": attachments}
    await instance.mia.mutate("fake.mail.inject", **wanted)
    await instance.mia.mutate("fake.mail.syncNow", address=MIA)
    ((file_id,),) = await instance.service.rows("select id from files")
    assert (await content(instance.mia, {"id": file_id})).body == b"from afar"
    assert (await content(instance.ben, {"id": file_id})).status == 404
