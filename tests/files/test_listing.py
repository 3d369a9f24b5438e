"""The list of a person's uploads in its orders, by words and kinds; what each belongs to; names, deletion and room."""

from __future__ import annotations

from typing import Any

import pytest

from svc.clock import VirtualClock
from svc.files import listing
from svc.files.actions import RESTORABLE_MS, forget_deleted
from svc.files.kinds import kind_of
from svc.files.settings import UPLOAD_MAX_BYTES
from tests.files.uploads import uploaded
from tests.identity.people import Person, sign_in
from tests.support.service import MIA, RpcError, Service

FILES = {
    "b.png": ("image/png", 5),
    "A.pdf": ("application/pdf", 9),
    "c notes.txt": ("text/plain", 1),
    "Über Notes.csv": ("text/csv", 5),
    "d.bin": ("application/octet-stream", 3),
}


@pytest.fixture
async def stocked(service: Service, wall: VirtualClock) -> Service:
    for name, (mime, size) in FILES.items():
        wall.offset_ms += 1
        await uploaded(service, b"x" * size, content_type=mime, x_svc_filename=name.replace("Ü", "%C3%9C"))
    return service


async def names(by: Service | Person, **wanted: object) -> list[str]:
    """All of the list, page by page."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await by.query("files.list", **wanted, **cursor)
        found += [one["name"] for one in page["files"]]
        if page["nextCursor"] is None:
            return found
        cursor = {"cursor": page["nextCursor"]}


async def both(service: Service) -> tuple[Person, Person]:
    mia = await sign_in(service, MIA)
    invite = await mia.mutate("auth.createInvite", email="ben@example.org")
    return mia, await sign_in(service, "ben@example.org", invite=invite["code"])


async def refusal(by: Service | Person, procedure: str, **wanted: object) -> str:
    with pytest.raises(RpcError) as refused:
        await by.mutate(procedure, **wanted)
    return refused.value.code


@pytest.mark.parametrize("limit", [1, 2, 200])
async def test_each_order_is_walked_once_and_in_order(stocked: Service, limit: int) -> None:
    assert await names(stocked, limit=limit) == [*FILES][::-1]
    assert await names(stocked, limit=limit, sort="name") == [
        "A.pdf",
        "b.png",
        "c notes.txt",
        "d.bin",
        "Über Notes.csv",
    ]
    by_size = await names(stocked, limit=limit, sort="size")
    assert [FILES[name][1] for name in by_size] == [9, 5, 5, 3, 1]
    assert sorted(by_size) == sorted(FILES)


async def test_words_and_kinds_narrow_it_whatever_case_and_marks(stocked: Service) -> None:
    assert await names(stocked, text="NOTES") == ["Über Notes.csv", "c notes.txt"]
    assert await names(stocked, text="uber notes") == ["Über Notes.csv"]
    assert await names(stocked, text="notes", kinds=["text"]) == ["c notes.txt"]
    assert await names(stocked, kinds=["pdf", "image"], sort="name") == ["A.pdf", "b.png"]
    assert await names(stocked, text="none") == []


async def test_a_search_that_passes_over_much_goes_on_from_there(
    stocked: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_LOOKED_THROUGH", 2)
    first = await stocked.query("files.list", text="b.png")
    assert (first["files"], first["nextCursor"] is None) == ([], False)
    assert await names(stocked, text="b.png") == ["b.png"]


async def test_a_cursor_belongs_to_its_order(stocked: Service) -> None:
    page = await stocked.query("files.list", limit=1, sort="name")
    with pytest.raises(RpcError) as refused:
        await stocked.query("files.list", cursor=page["nextCursor"], sort="size")
    assert refused.value.code == "BAD_REQUEST"


async def test_a_file_says_where_else_it_is_to_who_may_know(service: Service) -> None:
    mia, ben = await both(service)
    record = await uploaded(mia, b"the plan", content_type="text/plain", x_svc_filename="plan.txt")
    for path in ("harbour", "private"):
        await mia.mutate("pages.save", path=path, body=f"[it](/files/{record['id']}/content)")
    grants = [{"to": "everyone", "level": "read"}]
    await mia.mutate("pages.setAccess", path="harbour", access="explicit", grants=grants)
    assert [one["path"] for one in (await mia.query("files.get", id=record["id"]))["pages"]] == ["harbour", "private"]
    assert [one["path"] for one in (await ben.query("files.get", id=record["id"]))["pages"]] == ["harbour"]
    assert (await ben.query("files.list"))["files"] == []
    await service.workspace.store.write(
        lambda tx: tx.run(
            """
            insert into files (id, owner_id, sha256, name, mime, size, origin, created_at)
            select 'fil_copy', owner_id, sha256, name, mime, size, 'draft:drf_1', created_at from files where id = :id
            """,
            id=record["id"],
        )
    )
    (listed,) = (await mia.query("files.list"))["files"]
    assert (listed["attached"], listed["kind"]) == (["draft"], "text")
    assert (await ben.query("files.get", id=record["id"]))["attached"] == []


async def test_a_new_name_is_as_harmless_as_any_and_is_told(service: Service) -> None:
    mia, ben = await both(service)
    record = await uploaded(mia, b"x", x_svc_filename="a.txt")
    found = await mia.mutate("files.rename", id=record["id"], name="../../b\u202e.txt\n")
    assert found["name"] == "b.txt"
    assert await refusal(ben, "files.rename", id=record["id"], name="mine") == "NOT_FOUND"
    assert await refusal(mia, "files.rename", id=record["id"], name="") == "BAD_REQUEST"
    assert await names(mia) == ["b.txt"]


async def test_what_was_deleted_comes_back_as_it_was_for_a_day(service: Service, wall: VirtualClock) -> None:
    mia, ben = await both(service)
    record = await uploaded(mia, b"again", content_type="text/plain", x_svc_filename="a.txt")
    before = await mia.query("files.get", id=record["id"])
    await mia.mutate("files.delete", id=record["id"])
    assert await refusal(ben, "files.restore", id=record["id"]) == "NOT_FOUND"
    await mia.mutate("files.restore", id=record["id"])
    assert await mia.query("files.get", id=record["id"]) == before
    assert (await mia.ask("GET", f"/files/{record['id']}/content")).body == b"again"
    assert await refusal(mia, "files.restore", id=record["id"]) == "NOT_FOUND"
    await mia.mutate("files.delete", id=record["id"])
    wall.offset_ms += RESTORABLE_MS
    assert await refusal(mia, "files.restore", id=record["id"]) == "NOT_FOUND"
    assert await service.workspace.store.write(forget_deleted) == 1


async def test_room_is_ones_own_and_for_admins_everybodys_each_content_once(service: Service) -> None:
    mia, ben = await both(service)
    for person, content in ((mia, b"same"), (mia, b"same"), (ben, b"same"), (ben, b"another")):
        await uploaded(person, content)
    found: dict[str, Any] = await mia.query("files.storage")
    assert (found["mine"], found["all"]) == ({"files": 2, "bytes": 8}, {"files": 2, "bytes": 11})
    assert found["largest"] == service.workspace.config[UPLOAD_MAX_BYTES]
    assert found["free"] > 0
    found = await ben.query("files.storage")
    assert (found["mine"], found["all"]) == ({"files": 2, "bytes": 11}, None)


@pytest.mark.parametrize(
    ("mime", "name", "kind"),
    [
        ("image/svg+xml", "a.svg", "image"),
        ("application/octet-stream", "Scan.PDF", "pdf"),
        ("text/csv; charset=utf-8", "a", "sheet"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.docx", "document"),
        ("application/vnd.oasis.opendocument.presentation", "a.odp", "slides"),
        ("application/gzip", "a.pdf", "archive"),
        ("application/octet-stream", "a", "other"),
        ("nonsense", "a.zip", "other"),
    ],
)
def test_a_kind_goes_by_the_type_and_by_the_name_where_there_is_none(mime: str, name: str, kind: str) -> None:
    assert kind_of(mime, name) == kind
