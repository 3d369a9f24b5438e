"""The client of our own listeners: connections that are kept, closed by the other end, or never answered."""

from __future__ import annotations

import pytest
import trio

from svc.nursery import open_task_group
from svc.protocol import Link, LinkFault, stream_pair

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


class Peer:
    """Answers each connection by one script: how many requests, and what it does then."""

    def __init__(self, nursery: trio.Nursery, *scripts: list[bytes]) -> None:
        self.nursery = nursery
        self.scripts = list(scripts)
        self.connections = 0
        self.requests = 0

    async def connect(self) -> trio.abc.Stream:
        ours, theirs = stream_pair()
        self.connections += 1
        self.nursery.start_soon(self._serve, theirs, self.scripts.pop(0))
        return ours

    async def _serve(self, stream: trio.abc.Stream, answers: list[bytes]) -> None:
        for answer in answers:
            await stream.receive_some()
            self.requests += 1
            await stream.send_all(answer)
        await stream.aclose()

    def link(self) -> Link:
        return Link(connect=self.connect, authority="127.0.0.1:1", token="t")


async def test_a_connection_is_kept_and_used_again() -> None:
    async with open_task_group() as nursery:
        peer = Peer(nursery, [ANSWER, ANSWER, ANSWER])
        link = peer.link()
        for _ in range(3):
            assert (await link.post("/x", {})).json() == {}
        assert (peer.connections, peer.requests) == (1, 3)
        await link.aclose()


async def test_one_that_was_closed_while_it_was_idle_is_replaced_without_a_word() -> None:
    async with open_task_group() as nursery:
        peer = Peer(nursery, [ANSWER], [ANSWER])
        link = peer.link()
        assert (await link.post("/x", {})).ok
        await trio.sleep(1)
        assert (await link.post("/x", {})).ok
        assert peer.connections == 2
        await link.aclose()


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\ncontent-le", b"nonsense\r\n\r\n"])
async def test_a_new_connection_that_breaks_is_a_fault_and_not_tried_again(said: bytes) -> None:
    async with open_task_group() as nursery:
        peer = Peer(nursery, [said], [ANSWER])
        with pytest.raises(LinkFault):
            await peer.link().post("/x", {})
        assert peer.connections == 1


async def test_an_answer_that_breaks_in_its_middle_is_a_fault_also_on_a_kept_connection() -> None:
    async with open_task_group() as nursery:
        peer = Peer(nursery, [ANSWER, b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"], [ANSWER])
        link = peer.link()
        await link.post("/x", {})
        with pytest.raises(LinkFault):
            await link.post("/x", {})
        assert peer.connections == 1


async def test_who_does_not_answer_is_given_up_in_time() -> None:
    async def connect() -> trio.abc.Stream:
        return stream_pair()[0]

    link = Link(connect=connect, authority="127.0.0.1:1", token="t")
    with pytest.raises(LinkFault, match="within 5 s"):
        await link.post("/x", {}, within_s=5.0)


async def test_nobody_there_is_a_fault() -> None:
    async def connect() -> trio.abc.Stream:
        raise ConnectionRefusedError("refused")

    with pytest.raises(LinkFault, match="refused"):
        await Link(connect=connect, authority="127.0.0.1:1", token="t").post("/x", {})
