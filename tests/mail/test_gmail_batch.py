"""Messages fetched from Gmail in batches: which answers are believed, and what becomes of missing messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.mail.providers.gmail.ahead import TOGETHER_MAX
from svc.mail.providers.gmail.batch import BOUNDARY, answers_of, request_body
from svc.mail.providers.gmail.provider import GmailProvider
from svc.mail.providers.gmail.quota import COST_UNITS, QuotaLimiter
from svc.mail.providers.seam import GrantLost, MessageGone, ProviderFault, Throttled, Unreachable
from svc.protocol.egress import EgressFault, EgressResponse
from svc.protocol.messages import Headers
from tests.mail.gmail_wire import BASE, Tokens, b64url
from tests.mail.scripted_http import Asked, answer, google_error

PRICE = COST_UNITS["messages.get"]
IDS = [f"m{number}" for number in range(120)]


def raw_of(message_id: str) -> bytes:
    return b"Subject: %s\r\n\r\nHi.\r\n" % message_id.encode()


def message(message_id: str) -> EgressResponse:
    return answer({"id": message_id, "threadId": "t1", "raw": b64url(raw_of(message_id))})


def part(place: int | str, one: EgressResponse, *, length: int | None = None) -> bytes:
    fields = [*one.headers.items(), ("Content-Length", str(len(one.body) if length is None else length))]
    lines = "\r\n".join(f"{name}: {value}" for name, value in fields)
    return (
        f"--x\r\nContent-Type: application/http\r\nContent-ID: <response-item-{place}>\r\n\r\n"
        f"HTTP/1.1 {one.status} -\r\n{lines}\r\n\r\n"
    ).encode() + one.body


def batch(*parts: bytes, end: bytes = b"\r\n--x--\r\n", kind: str = 'multipart/mixed; boundary="x"') -> EgressResponse:
    return EgressResponse(status=200, headers=Headers([("content-type", kind)]), body=b"\r\n".join(parts) + end)


# What is believed


@given(st.lists(st.tuples(st.integers(100, 599), st.binary(max_size=60)), max_size=8))
def test_what_was_written_is_read(wanted: list[tuple[int, bytes]]) -> None:
    """Whatever is in the bodies, but for the boundary on a line of its own, which the sender sees to."""
    safe = [(status, body.replace(b"--x", b"")) for status, body in wanted]
    parts = [part(place, answer(body, status=status)) for place, (status, body) in enumerate(safe)]
    found = answers_of(batch(*parts), requests=len(parts))
    assert {place: (one.status, one.body) for place, one in found.items()} == dict(enumerate(safe))


@given(st.binary(max_size=300), st.text(max_size=60))
def test_nothing_that_comes_is_too_garbled_to_be_left_out(body: bytes, kind: str) -> None:
    for content_type in (kind, "multipart/mixed; boundary=x"):
        headers = Headers([("content-type", content_type)])
        assert isinstance(answers_of(EgressResponse(status=200, headers=headers, body=body), requests=3), dict)


@given(st.data())
def test_a_garbled_answer_gives_no_part_that_was_not_sent(data: st.DataObject) -> None:
    """Bytes are dropped, doubled or changed: each part that is still found was sent like that, or names its fault."""
    whole = batch(*(part(place, message(f"m{place}")) for place in range(4))).body
    at = data.draw(st.integers(0, len(whole) - 1))
    upto = data.draw(st.integers(at, len(whole)))
    other = data.draw(st.sampled_from([b"", whole[at:upto] * 2, b"\r\n", b"--x", b"\x00"]))
    garbled = EgressResponse(
        status=200,
        headers=Headers([("content-type", "multipart/mixed; boundary=x")]),
        body=whole[:at] + other + whole[upto:],
    )
    assert set(answers_of(garbled, requests=4)) <= set(range(4))


@given(st.integers(0, 2_000))
def test_of_an_answer_that_was_cut_off_only_whole_parts_are_left(kept: int) -> None:
    parts = [part(place, message(f"m{place}")) for place in range(4)]
    cut = EgressResponse(status=200, headers=batch().headers, body=batch(*parts).body[:kept])
    for place, one in answers_of(cut, requests=4).items():
        assert one.body == message(f"m{place}").body


def test_who_answers_for_one_place_twice_or_for_one_that_nobody_asked_is_not_believed() -> None:
    parts = [part(0, answer(b"a")), part(0, answer(b"b")), part(1, answer(b"c")), part(7, answer(b"d"))]
    assert {place: one.body for place, one in answers_of(batch(*parts), requests=2).items()} == {1: b"c"}


@pytest.mark.parametrize(
    "kind", ["", "text/html", "multipart/mixed", 'multipart/mixed; boundary=""', "multipart/mixed;"]
)
def test_what_has_no_boundary_is_no_answer(kind: str) -> None:
    assert answers_of(batch(part(0, answer(b"a")), kind=kind), requests=1) == {}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_line_end_before_a_boundary_is_no_part_of_the_body(end: bytes) -> None:
    first, second = (part(place, answer(b"a")).replace(b"Content-Length", b"X-Length") for place in (0, 1))
    whole = EgressResponse(status=200, headers=batch().headers, body=first + end + second + end + b"--x--")
    found = answers_of(whole, requests=2)
    assert {place: one.body for place, one in found.items()} == {0: b"a", 1: b"a"}


@pytest.mark.parametrize("body", [b"see --x here\r\n", b"a--x\nb", b"--xy\r\n--x y\n", b"\r--x\r\n"])
def test_only_a_line_of_its_own_is_a_boundary(body: bytes) -> None:
    found = answers_of(batch(part(0, answer(body)), part(1, answer(b"b"))), requests=2)
    assert {place: one.body for place, one in found.items()} == {0: body, 1: b"b"}


def test_many_boundaries_are_read_in_a_moment() -> None:
    assert answers_of(batch(b"--x\r\n" * 200_000), requests=1) == {}


# A mailbox that answers so


@dataclass
class Gmail:
    """Answers for each message as ``says``, else with the message. ``whole``: instead of all of a batch."""

    says: dict[str, EgressResponse] = field(default_factory=dict)
    in_batches: dict[str, EgressResponse] = field(default_factory=dict)
    whole: list[EgressResponse | EgressFault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    takes_s: float = 0.0

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        self.asked.append(Asked(method=method, url=url, headers=headers, body=body, at_s=trio.current_time()))
        await trio.sleep(self.takes_s)
        if not urlsplit(url).path.startswith("/batch"):
            return self.answer(url)
        if self.whole:
            instead = self.whole.pop(0)
            if isinstance(instead, EgressFault):
                raise instead
            return instead
        assert body is not None
        targets = re.findall(rb"^GET (\S+) HTTP/1.1\r$", body, flags=re.MULTILINE)
        assert len(targets) <= TOGETHER_MAX
        assert body.endswith(f"--{BOUNDARY}--\r\n".encode())
        return batch(*(part(place, self.answer(one.decode(), batch=True)) for place, one in enumerate(targets)))

    def answer(self, target: str, *, batch: bool = False) -> EgressResponse:
        message_id = urlsplit(target).path.rpartition("/")[2]
        return (self.in_batches if batch else {}).get(message_id) or self.says.get(message_id) or message(message_id)

    @property
    def calls(self) -> list[str]:
        return ["batch" if "/batch/" in one.url else urlsplit(one.url).path.rpartition("/")[2] for one in self.asked]


@dataclass
class Box:
    wall: VirtualClock
    http: Gmail = field(default_factory=Gmail)
    tokens: Tokens = field(default_factory=Tokens)
    quota: QuotaLimiter = field(default_factory=QuotaLimiter)
    provider: GmailProvider = field(init=False)

    def __post_init__(self) -> None:
        self.provider = GmailProvider(
            address="mia@example.org",
            base_url=BASE,
            http=self.http,
            tokens=self.tokens,
            quota=self.quota,
            clock=self.wall,
        )

    async def get_all(self, ids: list[str]) -> dict[str, bytes | ProviderFault]:
        """As the fetcher does: they are announced, then asked for, four at a time."""
        got: dict[str, bytes | ProviderFault] = {}
        four = trio.Semaphore(4)

        async def one(message_id: str) -> None:
            try:
                got[message_id] = (await self.provider.get(message_id)).raw
            except ProviderFault as fault:
                got[message_id] = fault
            four.release()

        self.provider.expect(ids)
        async with trio.open_nursery() as nursery:
            for message_id in ids:
                await four.acquire()
                nursery.start_soon(one, message_id)
        return got


@pytest.fixture
def box(wall: VirtualClock) -> Box:
    return Box(wall)


async def test_a_page_comes_with_a_few_requests_at_the_price_of_each(box: Box) -> None:
    box.http.takes_s = 1.0
    assert await box.get_all(IDS[:100]) == {one: raw_of(one) for one in IDS[:100]}
    assert box.http.calls == ["batch", "batch"]
    assert box.quota.used() == 100 * PRICE
    assert all("%" not in one.url for one in box.http.asked)


async def test_two_or_one_are_asked_for_alone(box: Box) -> None:
    assert set(await box.get_all(IDS[:2])) == {"m0", "m1"}
    assert (await box.provider.get("m9")).raw == raw_of("m9")
    assert box.http.calls == ["m0", "m1", "m9"]


async def test_each_that_fails_learns_why_by_itself(box: Box) -> None:
    """Missing, broken and rate-limited parts of a batch."""
    gone, broken, fast = google_error(404, reason="notFound"), google_error(500), google_error(429, retry_after="7")
    box.http.says = {"m1": gone, "m2": broken}
    box.http.in_batches = {"m3": fast}
    got = await box.get_all(IDS[:10])
    assert isinstance(got["m1"], MessageGone)
    assert isinstance(got["m2"], Unreachable)
    assert {one for one, raw in got.items() if raw == raw_of(one)} == set(IDS[:10]) - {"m1", "m2"}
    assert sorted(box.http.calls) == ["batch", "m1", "m2", "m3"]
    assert min(one.at_s for one in box.http.asked[1:]) - box.http.asked[0].at_s >= 7


async def test_where_all_is_too_fast_the_account_hears_it(box: Box) -> None:
    box.http.says = dict.fromkeys(IDS, google_error(429))
    got = await box.get_all(IDS[:5])
    assert all(isinstance(one, Throttled) for one in got.values())


@pytest.mark.parametrize(
    ("whole", "again"),
    [
        (google_error(503), True),
        (EgressFault("closed", "gone", may_have_happened=True), True),
        (answer(b"<html>a portal</html>", content_type="text/html"), True),
        (google_error(404), False),
        (google_error(405), False),
    ],
)
async def test_where_no_batch_is_answered_each_is_asked_for_alone(
    box: Box, whole: EgressResponse | EgressFault, *, again: bool
) -> None:
    box.http.whole = [whole]
    assert await box.get_all(IDS[:5]) == {one: raw_of(one) for one in IDS[:5]}
    assert (box.http.calls[0], sorted(box.http.calls[1:])) == ("batch", IDS[:5])
    await box.get_all(IDS[5:10])
    assert ("batch" in box.http.calls[6:]) == again


async def test_what_is_too_large_together_comes_in_smaller_parts_at_last_alone(box: Box) -> None:
    box.http.whole = [EgressFault("too_large", "16 MiB", may_have_happened=True) for _ in range(9)]
    assert await box.get_all(IDS) == {one: raw_of(one) for one in IDS}
    sizes = [(one.body or b"").count(b"GET ") for one in box.http.asked if "/batch/" in one.url]
    assert sizes == [50, 25, 12, 6, 3]


async def test_an_access_token_that_has_ended_is_renewed_once(box: Box) -> None:
    box.http.whole = [google_error(401)]
    await box.get_all(IDS[:5])
    assert (box.http.calls, box.tokens.refreshes) == (["batch", "batch"], 1)


async def test_a_lost_grant_is_told(box: Box) -> None:
    box.http.whole = [google_error(401)]
    box.tokens.lost = True
    with trio.fail_after(5):
        got = await box.get_all(IDS[:5])
    assert any(isinstance(one, GrantLost) for one in got.values())


async def test_no_more_are_asked_for_together_than_the_quota_has_room_for(box: Box) -> None:
    await box.quota.spend(5_000)
    await box.get_all(IDS[:30])
    sizes = [(one.body or b"").count(b"GET ") for one in box.http.asked if "/batch/" in one.url]
    assert sizes[0] == 20
    assert sum(sizes) + len([one for one in box.http.calls if one != "batch"]) == 30


async def test_who_is_cancelled_lets_the_others_go_on(box: Box) -> None:
    """The one whose request brings them is gone: the others ask for themselves."""
    box.http.takes_s = 1.0
    box.provider.expect(IDS[:5])
    got: list[bytes] = []

    async def impatient() -> None:
        with trio.move_on_after(0.5):
            await box.provider.get("m0")

    async def patient() -> None:
        await trio.sleep(0.1)
        got.append((await box.provider.get("m1")).raw)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(impatient)
        nursery.start_soon(patient)
    assert got == [raw_of("m1")]


async def test_what_came_ahead_is_given_once_and_forgotten_with_the_next_page(box: Box) -> None:
    box.provider.expect(IDS[:5])
    await box.provider.get("m0")
    await box.provider.get("m0")
    assert box.http.calls == ["batch", "m0"]
    box.provider.expect(())
    await box.provider.get("m1")
    assert box.http.calls == ["batch", "m0", "m1"]


async def test_an_answer_for_another_message_is_not_believed(box: Box) -> None:
    box.http.in_batches = {"m1": message("m2")}
    assert await box.get_all(IDS[:4]) == {one: raw_of(one) for one in IDS[:4]}
    assert box.http.calls == ["batch", "m1"]


def test_a_request_holds_a_whole_request_for_each() -> None:
    assert request_body(["/a?b=c"]) == (
        b"--svc-batch\r\ncontent-type: application/http\r\ncontent-id: <item-0>\r\n\r\n"
        b"GET /a?b=c HTTP/1.1\r\naccept: application/json\r\n\r\n\r\n--svc-batch--\r\n"
    )
