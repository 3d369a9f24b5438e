"""Requests to a stranger's address: only to public servers, over TLS, within time and size, without private data."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from svc.protocol.addresses import is_public_address
from svc.protocol.pinned import (
    MAX_ADDRESSES,
    MAX_REDIRECTS,
    PinnedAnswer,
    PinnedEgress,
    PinnedFault,
    PinnedStream,
    SystemNetwork,
    pinned_url,
)
from tests.protocol.small_internet import (
    ELSEWHERE,
    OTHER_PUBLIC,
    PICTURES,
    PUBLIC,
    Internet,
    Page,
    answer,
    drip,
    endless,
    moved,
)
from tests.support.certificates import certificates

LIMIT = 3 * 1024 * 1024
URL = f"https://{PICTURES}/a.png"


@pytest.fixture
async def internet(tmp_path: Path) -> AsyncIterator[Internet]:
    server_tls, client_tls = certificates(tmp_path, PICTURES, ELSEWHERE)
    async with trio.open_nursery() as nursery:
        yield Internet(server_tls=server_tls, client_tls=client_tls, nursery=nursery)
        nursery.cancel_scope.cancel()


async def get(internet: Internet, url: str = URL, *, egress: PinnedEgress | None = None) -> PinnedAnswer:
    return await (egress or internet.egress()).get(url, accept="image/png", deadline_s=5, limit_bytes=LIMIT)


async def fault_of(internet: Internet, url: str = URL, page: Page | None = None) -> PinnedFault:
    if page is not None:
        internet.pages[f"{PICTURES}/a.png"] = page
    with pytest.raises(PinnedFault) as caught:
        await get(internet, url)
    return caught.value


async def test_a_whole_answer_is_handed_back_from_the_address_that_was_checked(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png?w=1"] = answer(b"picture", "Content-Type: image/png")
    found = await get(internet, f"https://{PICTURES.upper()}./a.png?w=1#part")
    assert (found.status, found.body, found.headers.get("content-type")) == (200, b"picture", "image/png")
    assert internet.dialled == [(PUBLIC, 443)]
    assert internet.lookups == [PICTURES]


async def test_what_is_asked_says_nothing_of_who_asks(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = answer(b"x")
    await get(internet)
    lines = internet.heard[0].decode().split("\r\n")
    assert lines[0] == "GET /a.png HTTP/1.1"
    assert sorted(line.partition(":")[0].lower() for line in lines[1:] if line) == [
        "accept",
        "accept-encoding",
        "connection",
        "host",
        "user-agent",
    ]
    assert "accept-encoding: identity" in internet.heard[0].decode().lower()
    assert "svc" not in internet.heard[0].decode().lower()


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.7"],
        ["169.254.169.254"],
        ["::1"],
        ["fd00::1"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
        ["fe80::1%eth0"],
        [PUBLIC, "10.0.0.7"],
        [OTHER_PUBLIC, PUBLIC, "fc00::1"],
        [],
        [PUBLIC] * (MAX_ADDRESSES + 1),
    ],
)
async def test_a_name_with_one_address_that_is_not_public_is_not_connected_to(
    internet: Internet, addresses: list[str]
) -> None:
    internet.names[PICTURES] = [addresses]
    fault = await fault_of(internet)
    assert fault.kind == "refused"
    assert internet.dialled == []
    internet.names.clear()
    unknown = await fault_of(internet)
    assert (unknown.kind, unknown.detail) == ("unreachable", fault.detail)


async def test_a_name_that_answers_otherwise_a_moment_later_changes_nothing(internet: Internet) -> None:
    internet.names[PICTURES] = [[PUBLIC], ["127.0.0.1"]]
    internet.pages[f"{PICTURES}/a.png"] = answer(b"x")
    await get(internet)
    assert internet.dialled == [(PUBLIC, 443)]
    assert (await fault_of(internet)).kind == "refused"
    assert internet.dialled == [(PUBLIC, 443)]


async def test_a_redirect_to_the_same_name_is_resolved_and_checked_again(internet: Internet) -> None:
    internet.names[PICTURES] = [[PUBLIC], ["192.168.1.1"]]
    assert (await fault_of(internet, page=moved("/b.png"))).kind == "refused"
    assert internet.dialled == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    "location",
    [
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "http://elsewhere.example/",
        "ftp://elsewhere.example/",
        "file:///etc/passwd",
        "https://elsewhere.example:8443/",
        "https://me:secret@elsewhere.example/",
        "https://[elsewhere/",
        "javascript:alert(1)",
    ],
)
async def test_a_redirect_may_lead_only_where_an_address_may(internet: Internet, location: str) -> None:
    assert (await fault_of(internet, page=moved(location))).kind == "refused"
    assert internet.dialled == [(PUBLIC, 443)]


async def test_a_space_in_a_redirect_is_read_as_a_browser_reads_it(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = moved(" /my picture.png ")
    internet.pages[f"{PICTURES}/my%20picture.png"] = answer(b"there")
    assert (await get(internet)).body == b"there"


async def test_a_redirect_to_a_private_network_is_refused(internet: Internet) -> None:
    internet.names[ELSEWHERE] = [["10.0.0.1"]]
    assert (await fault_of(internet, page=moved(f"https://{ELSEWHERE}/"))).kind == "refused"
    assert internet.lookups == [PICTURES, ELSEWHERE]
    assert len(internet.dialled) == 1


async def test_redirects_are_followed_without_cookies_or_referer_up_to_a_limit(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = answer(
        b"", f"Location: //{ELSEWHERE}/1", "Set-Cookie: id=7", status="301 Moved"
    )
    for hop in range(1, MAX_REDIRECTS):
        internet.pages[f"{ELSEWHERE}/{hop}"] = moved(f"/{hop + 1}", status="307 Temporary")
    internet.pages[f"{ELSEWHERE}/{MAX_REDIRECTS}"] = answer(b"there")
    assert (await get(internet)).body == b"there"
    assert not any(b"cookie" in head.lower() or b"refer" in head.lower() for head in internet.heard)
    internet.pages[f"{ELSEWHERE}/{MAX_REDIRECTS}"] = moved("/more")
    assert (await fault_of(internet)).kind == "protocol"
    internet.pages[f"{PICTURES}/a.png"] = moved("/a.png")
    assert (await fault_of(internet)).kind == "protocol"
    assert (await fault_of(internet, page=answer(status="302 Found"))).kind == "protocol"


async def test_a_dead_address_gives_its_turn_to_the_next(internet: Internet) -> None:
    internet.names[PICTURES] = [[OTHER_PUBLIC, PUBLIC]]
    internet.dead = {OTHER_PUBLIC}
    internet.pages[f"{PICTURES}/a.png"] = answer(b"x")
    assert (await get(internet)).body == b"x"
    internet.dead = {OTHER_PUBLIC, PUBLIC}
    assert (await fault_of(internet)).kind == "unreachable"


async def test_the_certificate_must_be_for_the_name_and_trusted(internet: Internet, tmp_path: Path) -> None:
    internet.names["other.example"] = [[PUBLIC]]
    assert (await fault_of(internet, "https://other.example/")).kind == "tls"
    with pytest.raises(PinnedFault) as caught:
        await get(internet, egress=PinnedEgress(network=internet))
    assert caught.value.kind == "tls"
    assert internet.heard == []


async def test_one_deadline_covers_everything(internet: Internet) -> None:
    began = trio.current_time()
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    assert (await fault_of(internet, page=drip(head, every_s=0.5))).kind == "timeout"
    assert trio.current_time() - began == 5
    assert (await fault_of(internet, page=drip(b"HTTP/1.1 200 OK\r\nX: ", every_s=0.5))).kind == "timeout"

    async def slow_hop(stream: trio.abc.Stream) -> None:
        await trio.sleep(2)
        await stream.send_all(moved("/a.png"))

    assert (await fault_of(internet, page=slow_hop)).kind == "timeout"
    assert trio.current_time() - began == 15


async def test_the_size_is_counted_while_it_comes(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = answer(bytes(LIMIT))
    assert len((await get(internet)).body) == LIMIT
    assert (await fault_of(internet, page=answer(bytes(LIMIT + 1)))).kind == "too_large"
    unsaid = b"HTTP/1.1 200 OK\r\n\r\n"
    assert (await fault_of(internet, page=unsaid + bytes(LIMIT + 1))).kind == "too_large"
    assert (await fault_of(internet, page=endless(unsaid, bytes(65_536)))).kind == "too_large"
    declared = answer(b"x", length=LIMIT + 1)
    assert (await fault_of(internet, page=declared)).kind == "too_large"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert (await fault_of(internet, page=endless(chunked, b"4000\r\n" + bytes(0x4000) + b"\r\n"))).kind == "too_large"


async def test_nothing_is_decompressed(internet: Internet) -> None:
    bomb = gzip.compress(bytes(LIMIT * 10))
    assert (await fault_of(internet, page=answer(bomb, "Content-Encoding: gzip"))).kind == "protocol"
    transfer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + bomb
    assert (await fault_of(internet, page=transfer)).kind == "protocol"


async def test_a_server_that_only_ever_hints_is_left_before_the_deadline(internet: Internet) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 100
    assert (await fault_of(internet, page=endless(b"", hints))).kind == "protocol"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 10_000,
    ],
    ids=["nothing", "ssh", "cut", "two lengths", "switch", "long head", "hints"],
)
async def test_what_is_no_answer_in_http_is_told_as_such(internet: Internet, said: bytes) -> None:
    assert (await fault_of(internet, page=said)).kind == "protocol"


@pytest.mark.parametrize(
    "url",
    [
        "http://pictures.example/",
        "https:pictures.example/",
        "https://pictures.example:80/",
        "https://pictures.example:0443/",
        "https://me@pictures.example/",
        "https://me:secret@pictures.example/",
        "https://pictures.example\n.evil.example/",
        "https://pictures.example/a b",
        "https:///a",
        "https://pictures/",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://127.0.0.1./",
        "https://１２７.0.0.1/",
        "https://127。0。0。1/",
        "https://①②⑦.0.0.1/",
        "https://a.0x/",
        "https://a.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://%31%32%37.0.0.1/",
        "https://pictures%2eexample/",
        "https://.example/",
        "https://a..example/",
        "https://-a.example/",
        "https://a.example\u00ad:8443/",
        f"https://{'a' * 64}.example/",
        f"https://{'a.' * 130}example/",
        f"https://{'a.' * 123}too-long/",
        f"https://pictures.example/{'a' * 9_000}",
        "https://fa\u00df.example/",
        "https://\ud800.example/",
    ],
)
def test_an_address_that_could_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(PinnedFault) as caught:
        pinned_url(url)
    assert caught.value.kind == "refused"


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("HTTPS://Pictures.Example", "https://pictures.example/"),
        ("https://pictures.example:443/a?b=c%20d&e#f", "https://pictures.example/a?b=c%20d&e"),
        ("https://pictures.example:/a", "https://pictures.example/a"),
        ("https://pictures.example./a", "https://pictures.example/a"),
        ("https://pictures.example?a", "https://pictures.example/?a"),
        ("https://pictures.example\\a\\b?c\\d", "https://pictures.example/a/b?c%5Cd"),
        ("https://bücher.example/é?ü", "https://xn--bcher-kva.example/%C3%A9?%C3%BC"),
        ("https://pictures。example/", "https://pictures.example/"),
        ("https://img_1.pictures.example/~a/(b)|{c}", "https://img_1.pictures.example/~a/(b)|{c}"),
        (f"https://{'a.' * 123}example/", f"https://{'a.' * 123}example/"),
        ('https://pictures.example/"<`>', "https://pictures.example/%22%3C%60%3E"),
    ],
)
def test_an_address_is_read_as_a_browser_reads_it(url: str, read: str) -> None:
    assert str(pinned_url(url)) == read


# A call that carries what its caller put in


async def asked(internet: Internet, method: str = "POST", body: bytes = b"ask") -> PinnedAnswer:
    fields = {"authorization": "Bearer key", "user-agent": "named"}
    return await internet.egress().request(method, URL, headers=fields, body=body, deadline_s=5, limit_bytes=LIMIT)


async def test_a_request_goes_to_the_checked_address_with_what_was_put_in(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = answer(b"said", status="201 Created")
    found = await asked(internet)
    assert (found.status, found.body) == (201, b"said")
    assert internet.dialled == [(PUBLIC, 443)]
    head, _, body = internet.heard[0].partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    assert lines[0] == "post /a.png http/1.1"
    assert {"authorization: bearer key", "user-agent: named", "content-length: 3", "accept-encoding: identity"} < {
        *lines
    }
    assert body == b"ask"
    await asked(internet, "GET", b"")
    assert b"content-length" not in internet.heard[1].lower()


async def test_a_request_follows_no_redirect_and_takes_nothing_along(internet: Internet) -> None:
    internet.pages[f"{PICTURES}/a.png"] = moved(f"https://{ELSEWHERE}/")
    found = await asked(internet)
    assert (found.status, found.headers.get("location")) == (302, f"https://{ELSEWHERE}/")
    assert internet.lookups == [PICTURES]


async def test_a_request_to_what_is_not_public_never_leaves(internet: Internet) -> None:
    internet.names[PICTURES] = [["10.0.0.7"]]
    with pytest.raises(PinnedFault) as caught:
        await asked(internet)
    assert (caught.value.kind, internet.dialled) == ("refused", [])


async def opened(internet: Internet, page: Page, *, head_s: float = 5) -> PinnedStream:
    internet.pages[f"{PICTURES}/a.png"] = page
    return await internet.egress().open("POST", URL, headers={}, body=b"", head_s=head_s, idle_s=5)


async def test_an_opened_answer_comes_in_pieces_and_may_not_fall_silent(internet: Internet) -> None:
    stream = await opened(internet, drip(b"HTTP/1.1 200 OK\r\n\r\n", every_s=3))
    assert stream.status == 200
    assert [await stream.receive() for _ in range(4)] == [b"."] * 4
    await stream.aclose()
    stream = await opened(internet, drip(b"HTTP/1.1 200 OK\r\n\r\n", every_s=7))
    with pytest.raises(PinnedFault) as caught:
        await stream.receive()
    assert caught.value.kind == "timeout"
    await stream.aclose()


async def test_an_opened_answer_ends_or_says_that_it_was_cut(internet: Internet) -> None:
    stream = await opened(internet, answer(b"all"))
    assert [await stream.receive(), await stream.receive()] == [b"all", b""]
    await stream.aclose()
    stream = await opened(internet, answer(b"half", length=9))
    assert await stream.receive() == b"half"
    with pytest.raises(PinnedFault) as caught:
        await stream.receive()
    assert caught.value.kind == "protocol"
    await stream.aclose()


async def test_an_answer_that_never_begins_is_not_waited_for_for_ever(internet: Internet) -> None:
    with pytest.raises(PinnedFault) as caught:
        await opened(internet, drip(b"", every_s=1), head_s=4.5)
    assert caught.value.kind == "timeout"
    with pytest.raises(PinnedFault) as caught:
        await opened(internet, answer(b"", "Content-Encoding: gzip"))
    assert caught.value.kind == "protocol"


@pytest.mark.wall_clock
async def test_the_machines_own_network_resolves_and_connects() -> None:
    network = SystemNetwork()
    try:
        found = await network.resolve("localhost")
    except OSError:
        found = []  # a machine may know no such name with a dot at its end
    assert not any(map(is_public_address, found))
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, lambda stream: stream.send_all(b"x"), listeners)
        stream = await network.connect("127.0.0.1", listeners[0].socket.getsockname()[1])
        assert await stream.receive_some(1) == b"x"
        await stream.aclose()
        nursery.cancel_scope.cancel()
