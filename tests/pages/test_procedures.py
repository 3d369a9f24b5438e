"""The ``pages.*`` procedures over the whole service: their shapes, and how each refusal is worded."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from svc.clock import VirtualClock
from svc.errors import ERRORS
from svc.pages.model import MAX_BODY_BYTES
from svc.principal import Principal
from svc.protocol import Headers, Request
from svc.protocol.messages import BytesBody
from svc.store import Tx
from tests.pages.people_and_pages import MIA, NOA, OLE
from tests.recorded_log import RecordedLog
from tests.support.service import HOST, RpcError, Service, open_service


@pytest.fixture
async def service(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as opened:
        yield opened


@pytest.fixture
async def claimed(service: Service) -> Service:
    """Claimed by Mia; Noa and Ole are members."""

    def claim(tx: Tx) -> None:
        for who in (MIA, NOA, OLE):
            name = str(who.user_id).removeprefix("usr_")
            tx.run(
                "insert into users (id, email, name, role, created_at) values (:id, :email, :name, 'member', 0)",
                id=who.user_id,
                email=f"{name}@example.org",
                name=name.title(),
            )
        for feature in service.workspace.features:
            if feature.claim:
                feature.claim(tx, str(MIA.user_id))

    await service.workspace.store.write(claim)
    return service


async def ask(service: Service, who: Principal, procedure: str, **wanted: object) -> Any:
    """The answer to ``who``; raises :class:`RpcError`."""
    kind = "GET" if procedure.rpartition(".")[2] in {"tree", "get", "history"} else "POST"
    text = json.dumps(wanted)
    target = f"/trpc/{procedure}" + (f"?input={quote(text)}" if kind == "GET" else "")
    fields = Headers([("host", HOST), ("content-type", "application/json")])
    body = BytesBody(text.encode() if kind == "POST" else b"")
    response = await service.application_for(who)(Request(method=kind, target=target, headers=fields, body=body))
    answer = json.loads(response.body if isinstance(response.body, bytes) else b"")
    if "error" in answer:
        raise RpcError(answer["error"])
    return answer["result"]["data"]


async def refused(service: Service, who: Principal, procedure: str, **wanted: object) -> str:
    with pytest.raises(RpcError) as caught:
        await ask(service, who, procedure, **wanted)
    return caught.value.code


async def test_a_page_is_saved_and_shown_with_its_grants_and_backlinks(claimed: Service) -> None:
    saved = await ask(claimed, NOA, "pages.save", path="notes/a", title="A", body="See [[notes/b]].")
    await ask(claimed, NOA, "pages.save", path="notes/b", body="*Hi.*")
    grants: list[dict[str, object]] = [{"to": "everyone", "level": "read"}, {"to": OLE.user_id, "level": "write"}]
    assert await ask(claimed, NOA, "pages.setAccess", path="notes/b", access="explicit", grants=grants) == {}
    page = await ask(claimed, NOA, "pages.get", path="notes/b")
    assert page.pop("id").startswith("pag_")
    assert page == {
        "path": "notes/b",
        "title": "b",
        "kind": "page",
        "body": "*Hi.*",
        "revision": 1,
        "owner": {"id": NOA.user_id, "name": "Noa"},
        "access": "explicit",
        "grants": [grants[0] | {"name": None}, grants[1] | {"name": "Ole"}],
        "canWrite": True,
        "canShare": True,
        "backlinks": [{"path": "notes/a", "title": "A"}],
        "managed": None,
        "updatedAt": "2026-10-27T08:00:00.000Z",
    }
    assert saved == {"id": saved["id"], "revision": 1}
    by_ole = await ask(claimed, OLE, "pages.get", path="notes/b")
    assert (by_ole["canWrite"], by_ole["canShare"], by_ole["backlinks"]) == (True, False, [])
    by_mia = await ask(claimed, MIA, "pages.get", path="notes/b")
    assert (by_mia["canWrite"], by_mia["canShare"]) == (False, False)


async def test_the_tree_lists_what_the_caller_may_read(claimed: Service) -> None:
    await ask(claimed, NOA, "pages.save", path="notes", body="")
    await ask(claimed, NOA, "pages.save", path="notes/a", body="")
    entries = await ask(claimed, NOA, "pages.tree")
    surfaces = {entry["path"] for entry in entries if entry["kind"] == "surface"}
    assert surfaces == {"inbox", "task-queue", "reminders", "calendar", "mail", "im", "memory"}
    (notes,) = (entry for entry in entries if entry["kind"] == "page")
    assert {key: notes[key] for key in sorted(notes.keys() - {"id"})} == {
        "access": "inherited",
        "canWrite": True,
        "hasChildren": True,
        "kind": "page",
        "path": "notes",
        "title": "notes",
        "updatedAt": "2026-10-27T08:00:00.000Z",
    }
    (below,) = await ask(claimed, NOA, "pages.tree", path="notes")
    assert (below["path"], below["hasChildren"]) == ("notes/a", False)
    assert surfaces == {entry["path"] for entry in await ask(claimed, OLE, "pages.tree")}


async def test_history_restore_move_and_delete(claimed: Service) -> None:
    await ask(claimed, NOA, "pages.save", path="a", body="one")
    await ask(claimed, NOA, "pages.save", path="a", body="two", revision=1)
    newest, oldest = await ask(claimed, NOA, "pages.history", path="a")
    assert oldest["revision"] == 1
    assert newest == {
        "revision": 2,
        "title": "a",
        "author": {"id": NOA.user_id, "name": "Noa"},
        "deviceId": NOA.device_id,
        "at": "2026-10-27T08:00:00.000Z",
    }
    assert (await ask(claimed, NOA, "pages.restore", path="a", revision=1))["revision"] == 3
    assert await ask(claimed, NOA, "pages.move", path="a", to="b/c") == {}
    assert (await ask(claimed, NOA, "pages.get", path="b/c"))["body"] == "one"
    assert await ask(claimed, NOA, "pages.delete", path="b/c") == {}
    assert await refused(claimed, NOA, "pages.get", path="b/c") == "NOT_FOUND"


async def test_a_wrong_revision_is_a_conflict_that_names_the_current_one(claimed: Service) -> None:
    await ask(claimed, NOA, "pages.save", path="a", body="one")
    await ask(claimed, NOA, "pages.save", path="a", body="two")
    wanted = json.dumps({"path": "a", "body": "three", "revision": 1}).encode()
    fields = Headers([("host", HOST), ("content-type", "application/json")])
    request = Request(method="POST", target="/trpc/pages.save", headers=fields, body=BytesBody(wanted))
    response = await claimed.application_for(NOA)(request)
    assert response.status == ERRORS["conflict"].status
    assert isinstance(response.body, bytes)
    data = json.loads(response.body)["error"]["data"]
    assert (data["code"], data["revision"]) == ("CONFLICT", 2)


async def test_each_procedure_calls_a_foreign_page_missing_and_a_shared_one_forbidden(claimed: Service) -> None:
    calls: dict[str, dict[str, object]] = {
        "pages.tree": {},
        "pages.get": {},
        "pages.history": {},
        "pages.save": {"body": "mine"},
        "pages.move": {"to": "mine"},
        "pages.delete": {},
        "pages.restore": {"revision": 1},
        "pages.setAccess": {"access": "inherited"},
    }
    await ask(claimed, NOA, "pages.save", path="a", body="")
    for who in (OLE, MIA):
        assert {await refused(claimed, who, name, path="a", **more) for name, more in calls.items()} == {"NOT_FOUND"}
    everyone = [{"to": "everyone", "level": "read"}]
    await ask(claimed, NOA, "pages.setAccess", path="a", access="explicit", grants=everyone)
    for name in ("pages.tree", "pages.get", "pages.history"):
        await ask(claimed, OLE, name, path="a")
    for name in ("pages.save", "pages.move", "pages.delete", "pages.restore", "pages.setAccess"):
        assert await refused(claimed, OLE, name, path="a", **calls[name]) == "FORBIDDEN"


@pytest.mark.parametrize(
    ("procedure", "wanted"),
    [
        ("pages.get", {"path": "a//b"}),
        ("pages.get", {"path": "x" * 5_000}),
        ("pages.get", {}),
        ("pages.tree", {"path": "../a"}),
        ("pages.save", {"path": "a"}),
        ("pages.save", {"path": "a", "body": "", "revision": -1}),
        ("pages.move", {"path": "a", "to": ""}),
        ("pages.setAccess", {"path": "a", "access": "public"}),
        ("pages.setAccess", {"path": "a", "access": "explicit", "grants": [{"to": "everyone", "level": "own"}]}),
    ],
)
async def test_bad_input_is_a_bad_request(claimed: Service, procedure: str, wanted: dict[str, object]) -> None:
    await ask(claimed, NOA, "pages.save", path="a", body="")
    assert await refused(claimed, NOA, procedure, **wanted) == "BAD_REQUEST"


async def test_the_longest_page_and_the_longest_path_fit_through_the_wire(claimed: Service) -> None:
    path, body = "/".join(["家" * 66] * 5), "é" * (MAX_BODY_BYTES // 2)
    await ask(claimed, NOA, "pages.save", path=path, body=body)
    assert (await ask(claimed, NOA, "pages.get", path=path))["body"] == body
    assert await refused(claimed, NOA, "pages.save", path=path, body=body + "x") == "PAYLOAD_TOO_LARGE"


async def test_on_an_unclaimed_instance_everything_is_open_and_nobodys(service: Service) -> None:
    await service.mutate("pages.save", path="a", body="")
    page = await service.query("pages.get", path="a")
    assert (page["owner"], page["canWrite"], page["canShare"]) == (None, True, True)
    assert [entry["path"] for entry in await service.query("pages.tree")] == ["a"]


async def test_a_socket_hears_of_pages(service: Service) -> None:
    socket = await service.live("pages")
    await service.mutate("pages.save", path="a", body="")
    event = await socket.hear()
    assert (event["topic"], event["kind"], event["payload"]) == ("pages", "page.changed", {"path": "a"})
    await socket.leave()
