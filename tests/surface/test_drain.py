"""A port that closes, by real sockets: what its clients have sent by then is answered."""

from __future__ import annotations

import random
import socket
from dataclasses import replace

import pytest
import trio
import trio.testing

from svc.doors import Door, serve_port
from svc.nursery import Child, Root, Subsystem
from svc.protocol import DEFAULT_LIMITS
from tests.sizes import HANGS_S
from tests.support.http import SmallApplication, read_to_end, replies, request_bytes

ASK = request_bytes("GET", "/hello")


def connect(port: int) -> trio.SocketStream:
    """Without letting the service run meanwhile."""
    return trio.SocketStream(trio.socket.from_stdlib_socket(socket.create_connection(("127.0.0.1", port))))


@pytest.mark.wall_clock  # real sockets: how long bytes take in the system is not virtual
async def test_no_request_is_lost_that_was_sent_before_a_client_could_know_of_the_drain() -> None:
    app, slots, patient = SmallApplication(), trio.Semaphore(100), replace(DEFAULT_LIMITS, drain_idle_s=HANGS_S)
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]

    async def serve(child: Child) -> None:
        child.started()
        await serve_port(child, [listener], [Door(application=app.application, slots=slots, limits=patient)])

    root = Root(log=app.log, rng=random.Random(7))
    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(root.run, [Subsystem(name="http", run=serve, drain_s=HANGS_S)])
            await root.started.wait()
            kept = connect(port)
            await kept.send_all(ASK)
            assert (await kept.receive_some()).startswith(b"HTTP/1.1 200 ")
            not_accepted_yet = [connect(port) for _ in range(5)]
            root.drain("a test")
            await trio.testing.wait_all_tasks_blocked()
            for stream in (kept, *not_accepted_yet):
                await stream.send_all(ASK)
                [reply] = replies(await read_to_end(stream))
                assert (reply.status, reply.header("connection")) == (200, "close")
                await stream.aclose()
