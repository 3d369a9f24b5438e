"""``files.list`` and ``files.delete``: one's own uploads, newest first, and the end of them."""

from __future__ import annotations

from itertools import product

import pytest
import trio

from svc.files import listing
from svc.files.listing import Sort
from svc.store import Value
from tests.files.uploads import uploaded
from tests.identity.people import Person, sign_in
from tests.support.service import MIA, RpcError, Service


async def sign_in_both(service: Service) -> tuple[Person, Person]:
    mia = await sign_in(service, "mia@example.org")
    invite = await mia.mutate("auth.createInvite")
    return mia, await sign_in(service, "ben@example.org", invite=invite["code"])


async def with_attachment(service: Service, person: Person) -> str:
    """The id of a file that came by mail."""
    attachments = [{"filename": "a.txt", "mime": "text/plain", "text": "from afar"}]
    wanted = {"address": MIA, "from": "n@example.org", "subject": "Hi", "attachments": attachments}
    await person.mutate("fake.mail.inject", **wanted)
    await person.mutate("fake.mail.syncNow", address=MIA)
    ((file_id,),) = await service.rows("select id from files where origin like 'mail:%'")
    return str(file_id)


async def test_a_list_shows_ones_own_uploads_newest_first_and_no_attachment(service: Service) -> None:
    mia, ben = await sign_in_both(service)
    await with_attachment(service, mia)
    records = []
    for number in range(3):
        records.append(await uploaded(mia, b"%d" % number, x_svc_filename=f"{number}.txt", content_type="text/plain"))
        await trio.sleep(1)
    await uploaded(ben, b"Ben's")
    found = await mia.query("files.list")
    assert [file["id"] for file in found["files"]] == [record["id"] for record in reversed(records)]
    assert found["nextCursor"] is None
    newest = found["files"][0]
    assert {name: newest[name] for name in records[2]} == records[2]
    assert newest["createdAt"] > found["files"][1]["createdAt"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
async def test_a_walk_by_cursor_meets_each_upload_once_in_order(service: Service, limit: int) -> None:
    """Many of them uploaded in the same millisecond; and one more uploaded while walking."""
    ids = {str((await uploaded(service, b"%d" % number))["id"]) for number in range(7)}
    seen: list[str] = []
    cursor = None
    while True:
        page = await service.query("files.list", limit=limit, **({"cursor": cursor} if cursor else {}))
        assert len(page["files"]) <= limit
        seen += [file["id"] for file in page["files"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
        await trio.sleep(1)
        await uploaded(service, b"meanwhile")
    assert len(seen) == len(set(seen)) == 7
    assert set(seen) == ids


@pytest.mark.parametrize("limit", [0, 201, -1, "5", 1.5])
async def test_a_list_has_bounds(service: Service, limit: object) -> None:
    with pytest.raises(RpcError) as refused:
        await service.query("files.list", limit=limit)
    assert refused.value.code == "BAD_REQUEST"


@pytest.mark.parametrize("cursor", ["x", "!!!!", "MTp4" * 100, "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTp4", "LTE6eA", "\u00e4"])
async def test_a_cursor_that_this_server_did_not_give_is_refused(service: Service, cursor: str) -> None:
    await uploaded(service, b"x")
    with pytest.raises(RpcError) as refused:
        await service.query("files.list", cursor=cursor)
    assert refused.value.code == "BAD_REQUEST"


ORDERS: tuple[tuple[Sort, str], ...] = (("newest", ""), ("name", "_by_name"), ("size", "_by_size"))


@pytest.mark.parametrize(("order", "everybodys", "onwards"), list(product(ORDERS, (True, False), (True, False))))
async def test_a_page_of_the_list_is_read_off_an_index_without_sorting(
    service: Service, order: tuple[Sort, str], everybodys: bool, onwards: bool
) -> None:
    sort, index = order
    params: dict[str, Value] = {"limit": 50}
    params |= {} if everybodys else {"user_id": "usr_x"}
    params |= {"value": 1, "id": "fil_x"} if onwards else {}
    sql = listing.listed_sql(sort, everybodys=everybodys, onwards=onwards)
    plan = await service.rows("explain query plan " + sql, **params)
    (step,) = [str(row[3]) for row in plan]
    assert f"USING INDEX files_uploads{index}{'' if everybodys else '_of'}" in step
    assert ("<" in step or ">" in step) == onwards


async def test_what_is_deleted_is_gone_and_who_watches_hears_of_it(service: Service) -> None:
    record = await uploaded(service, b"x")
    socket = await service.live("files")
    await service.mutate("files.delete", id=record["id"])
    frame = await socket.hear()
    assert (frame["topic"], frame["kind"], frame["id"]) == ("files", "file.removed", record["id"])
    await socket.leave()
    assert (await service.get(f"/files/{record['id']}/content")).status == 404
    assert (await service.get(f"/blobs/{record['sha256']}")).status == 404
    assert (await service.query("files.list"))["files"] == []
    with pytest.raises(RpcError) as refused:
        await service.mutate("files.delete", id=record["id"])
    assert refused.value.code == "NOT_FOUND"


async def test_only_the_owner_deletes_and_others_learn_nothing(service: Service) -> None:
    mia, ben = await sign_in_both(service)
    for owner, other in ((mia, ben), (ben, mia)):
        record = await uploaded(owner, b"x")
        foreign = await other.ask("POST", "/trpc/files.delete", {"id": record["id"]})
        missing = await other.ask("POST", "/trpc/files.delete", {"id": "fil_none"})
        assert (foreign.status, foreign.body) == (missing.status, missing.body)
        assert foreign.status == 404
        await owner.mutate("files.delete", id=record["id"])


async def test_to_read_a_file_through_a_page_is_not_to_delete_it(service: Service) -> None:
    mia, ben = await sign_in_both(service)
    record = await uploaded(mia, b"x")
    await mia.mutate("pages.save", path="plan", body=f"[it](/files/{record['id']}/content)")
    grants = [{"to": "everyone", "level": "write"}]
    await mia.mutate("pages.setAccess", path="plan", access="explicit", grants=grants)
    assert (await ben.ask("GET", f"/files/{record['id']}/content")).status == 200
    with pytest.raises(RpcError) as refused:
        await ben.mutate("files.delete", id=record["id"])
    assert refused.value.code == "NOT_FOUND"


async def test_the_attachment_of_a_mail_stays_with_it(service: Service) -> None:
    mia, ben = await sign_in_both(service)
    file_id = await with_attachment(service, mia)
    with pytest.raises(RpcError) as refused:
        await mia.mutate("files.delete", id=file_id)
    assert refused.value.code == "CONFLICT"
    with pytest.raises(RpcError) as refused:
        await ben.mutate("files.delete", id=file_id)
    assert refused.value.code == "NOT_FOUND"
    assert (await mia.ask("GET", f"/files/{file_id}/content")).body == b"from afar"


async def test_news_of_a_file_is_for_its_owner_alone(service: Service) -> None:
    _, ben = await sign_in_both(service)
    user_id = (await ben.me())["user"]["id"]
    record = await uploaded(ben, b"x")
    await ben.mutate("files.delete", id=record["id"])
    told = await service.rows("select kind, audience from outbox where topic = 'files' order by seq")
    assert told == [("file.changed", user_id), ("file.removed", user_id)]


async def test_files_are_found_by_words_of_their_names_by_those_who_may_read_them(service: Service) -> None:
    mia, ben = await sign_in_both(service)
    await with_attachment(service, mia)
    plan = await uploaded(mia, b"1", x_svc_filename="Quay_plan-v2.pdf", content_type="application/pdf")
    await trio.sleep(1)
    await uploaded(mia, b"2", x_svc_filename="Tid%C3%A9s.txt", content_type="text/plain")
    assert [file["name"] for file in await mia.query("files.find", text="PLAN quay")] == ["Quay_plan-v2.pdf"]
    assert [file["name"] for file in await mia.query("files.find", text="tides")] == ["Tidés.txt"]
    assert len(await mia.query("files.find", limit=1)) == 1
    assert await mia.query("files.find", text="a.txt") == []  # it came with a mail
    assert await ben.query("files.find", text="plan") == []
    body = f"![](/files/{plan['id']}/content)"
    await mia.mutate("pages.save", path="plans", title="Plans", body=body)
    assert await ben.query("files.find", text="plan") == []
    await mia.mutate("pages.setAccess", path="plans", access="explicit", grants=[{"to": "everyone", "level": "read"}])
    assert [file["id"] for file in await ben.query("files.find", text="plan")] == [plan["id"]]
