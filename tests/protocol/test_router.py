"""From a path to its route."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.errors import Refusal
from svc.protocol.messages import Request, Response
from svc.protocol.router import Router
from svc.protocol.rows import Method, Route, SocketRoute
from svc.protocol.socket import Socket


async def handle(context: None, request: Request) -> Response:
    return Response()


async def handle_socket(context: None, request: Request, socket: Socket) -> None:
    return


def route(method: Method, path: str) -> Route[None]:
    return Route(method=method, path=path, access="public", handle=handle, summary="")


ROUTER: Router[None] = Router(
    [
        route("GET", "/"),
        route("GET", "/files"),
        route("POST", "/files"),
        route("GET", "/files/recent"),
        route("GET", "/files/:id"),
        route("DELETE", "/files/:id"),
        route("GET", "/files/:id/content"),
        route("GET", "/p/*page"),
        route("GET", "/:one/fixed"),
    ],
    [SocketRoute(path="/ws", access="authenticated", handle=handle_socket, summary="")],
)


def find(raw_path: str, method: str = "GET") -> tuple[str, dict[str, str]] | str:
    try:
        match = ROUTER.match(raw_path)
        return match.route(method).path, dict(match.params)
    except Refusal as refusal:
        return refusal.code


@pytest.mark.parametrize(
    ("raw_path", "expected"),
    [
        ("/", ("/", {})),
        ("/files", ("/files", {})),
        ("/fi%6Ces", ("/files", {})),
        ("/files/recent", ("/files/recent", {})),
        ("/files/7", ("/files/:id", {"id": "7"})),
        ("/files/a%2Fb", ("/files/:id", {"id": "a/b"})),
        ("/files/a%2Fb/content", ("/files/:id/content", {"id": "a/b"})),
        ("/files/%C3%A4/content", ("/files/:id/content", {"id": "ä"})),
        ("/files/recent/content", ("/files/:id/content", {"id": "recent"})),
        ("/files/%252e%252e", ("/files/:id", {"id": "%2e%2e"})),
        ("/files/...", ("/files/:id", {"id": "..."})),
        ("/files/fixed", ("/files/:id", {"id": "fixed"})),
        ("/x/fixed", ("/:one/fixed", {"one": "x"})),
        ("/p/", ("/p/*page", {"page": ""})),
        ("/p/mail/inbox/", ("/p/*page", {"page": "mail/inbox/"})),
        ("/files/", "not_found"),
        ("/files//content", "invalid"),
        ("//", "invalid"),
        ("//evil.example/", "invalid"),
        ("/p//mail", "invalid"),
        ("/p/a%2Fb", "not_found"),
        ("/p/..", "invalid"),
        ("/p/../files", "invalid"),
        ("/p/%2e%2e/files", "invalid"),
        ("/p/.%2E", "invalid"),
        ("/p/./x", "invalid"),
        ("/files/a%00b", "invalid"),
        ("/files/a%0d%0ab", "invalid"),
        ("/files/%zz", "invalid"),
        ("/files/%", "invalid"),
        ("/files/%f", "invalid"),
        ("/files/%ff", "invalid"),
        ("/files/%c0%ae", "invalid"),
        ("/nope", "not_found"),
        ("/files/7/content/more", "not_found"),
        ("*", "not_found"),
    ],
)
def test_a_path_is_split_first_and_decoded_once(raw_path: str, expected: object) -> None:
    assert find(raw_path) == expected


def test_a_wrong_method_is_told_what_is_possible() -> None:
    with pytest.raises(Refusal) as caught:
        ROUTER.match("/files").route("PUT")
    assert caught.value.row.status == 405
    assert caught.value.headers == {"allow": "GET, HEAD, POST, OPTIONS"}
    assert ROUTER.match("/files/7").allow == "GET, HEAD, DELETE, OPTIONS"
    assert ROUTER.match("/ws").allow == "GET, OPTIONS"


def test_head_is_answered_by_the_row_for_get() -> None:
    assert find("/files", "HEAD") == find("/files", "GET")


@pytest.mark.parametrize(
    "rows",
    [
        [route("GET", "/a"), route("GET", "/a")],
        [route("GET", "/a/:x"), route("GET", "/a/:x")],
        [route("GET", "/a/:x"), route("POST", "/a/:y")],
    ],
)
def test_two_rows_for_one_request_can_not_be_built(rows: list[Route[None]]) -> None:
    with pytest.raises(ValueError, match="row"):
        Router(rows)


def test_a_socket_has_its_path_for_itself() -> None:
    socket: SocketRoute[None] = SocketRoute(path="/a", access="public", handle=handle_socket, summary="")
    with pytest.raises(ValueError, match="two rows"):
        Router([route("GET", "/a")], [socket])


def test_all_rows_can_be_enumerated() -> None:
    assert len(ROUTER.rows()) == 10


@given(st.text(alphabet="/.%2eEfF0a:*\\", max_size=12))
def test_no_path_reaches_a_row_with_a_segment_that_climbs(path: str) -> None:
    found = find("/" + path)
    if isinstance(found, tuple):
        for name, value in found[1].items():
            segments = value.split("/") if name == "page" else [value]
            assert not {".", ".."} & set(segments)
