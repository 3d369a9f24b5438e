"""Our server against our client, and both against what goes wrong between them: real sockets, real files."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.feature import Feature
from svc.nursery import Root, Subsystem, ThreadPool
from svc.protocol.egress import Egress, EgressResponse
from svc.replica import Replicator, Target, TargetFault
from svc.replica import place as place_module
from svc.replica.place import Place
from svc.replica.serving import ReplicaServer, digest_of
from svc.store import BlobCorrupt, BlobRef, Blobs
from tests.files.uploads import uploaded
from tests.protocol.raw_server import says, served
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.service import MIA, Service, open_service
from tests.support.waiting import until

pytestmark = pytest.mark.wall_clock

TOKEN: Final = "a-token-of-some-length"
CONTENT: Final = b"what somebody keeps" * 50_000
REF: Final = BlobRef(hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
SMALL: Final = b"a little"
SMALL_REF: Final = BlobRef(hashlib.sha256(SMALL).hexdigest(), len(SMALL))


@dataclass
class There:
    """A running place."""

    root: Path
    url: str
    clock: VirtualClock
    egress: Egress
    log: RecordedLog

    def path(self, sha256: str) -> Path:
        return self.root / sha256[:2] / sha256[2:4] / sha256

    def target(self, token: str = TOKEN) -> Target:
        return Target(url=self.url, token=token, egress=self.egress)

    async def ask(
        self,
        method: str,
        name: str,
        *,
        body: bytes | None = None,
        token: str = TOKEN,
        fields: Mapping[str, str] = MappingProxyType({}),
    ) -> EgressResponse:
        return await self.egress.request(
            method,
            f"{self.url}/{name[:2]}/{name[2:4]}/{name}",
            headers={"authorization": f"Bearer {token}", **fields},
            body=body,
            deadline_s=HANGS_S,
            limit_bytes=2**24,
        )


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[There]:
    clock = VirtualClock()
    log = RecordedLog(clock)
    place = Place(root=root, clock=clock, threads=ThreadPool(limit=4, name="replica"))
    place.open()
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    server = ReplicaServer(place=place, digest=digest_of(TOKEN), log=log, clock=clock)
    tree = Root(log=log, rng=random.Random(1))
    async with trio.open_nursery() as nursery, Egress() as egress:
        run = partial(server.run, listeners=listeners)
        nursery.start_soon(tree.run, [Subsystem(name="replica", run=run, essential=True, drain_s=0)])
        port = listeners[0].socket.getsockname()[1]
        yield There(root, f"http://127.0.0.1:{port}", clock, egress, log)
        tree.drain("test over")


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[There]:
    async with running(tmp_path / "there") as place:
        yield place


@pytest.fixture
async def blobs(tmp_path: Path, threads: ThreadPool) -> Blobs:
    blobs = Blobs.open(tmp_path / "here", threads=threads)
    await blobs.put_all([CONTENT, SMALL])
    return blobs


async def test_what_is_put_is_there_whole_and_comes_back(there: There, blobs: Blobs, tmp_path: Path) -> None:
    target = there.target()
    for ref, content in ((REF, CONTENT), (SMALL_REF, SMALL)):
        await target.put(blobs, ref)
        await target.put(blobs, ref)  # again: it is there
        assert there.path(ref.sha256).read_bytes() == content
    other = Blobs.open(tmp_path / "elsewhere", threads=ThreadPool(limit=2, name="other"))
    assert await other.put_stream(target.stream(REF.sha256), limit=len(CONTENT)) == REF
    assert await other.read(REF.sha256, limit=len(CONTENT)) == CONTENT
    part = await there.ask("GET", REF.sha256, fields={"range": "bytes=5-9"})
    assert (part.status, part.body) == (206, CONTENT[5:10])
    with pytest.raises(LookupError):
        await other.put_stream(target.stream("0" * 64), limit=len(CONTENT))


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: b"X" + data[1:], lambda data: b""])
async def test_what_is_there_and_not_whole_is_put_again(
    there: There, blobs: Blobs, harm: Callable[[bytes], bytes]
) -> None:
    for ref, content in ((REF, CONTENT), (SMALL_REF, SMALL)):
        await there.target().put(blobs, ref)
        there.path(ref.sha256).write_bytes(harm(content))
        assert not await there.target().is_sound(ref.sha256)
        await there.target().put(blobs, ref)
        assert there.path(ref.sha256).read_bytes() == content


async def test_bytes_that_are_not_what_the_name_says_are_refused_and_not_kept(there: There) -> None:
    reply = await there.ask("PUT", REF.sha256, body=b"something else")
    assert reply.status == 400
    assert not there.path(REF.sha256).exists()
    assert list((there.root / ".incoming").iterdir()) == []


async def test_only_who_has_the_token_gets_anything_and_no_name_leads_out(there: There) -> None:
    assert (await there.ask("GET", REF.sha256, token="another-token-of-that")).status == 401
    assert (await there.ask("PUT", SMALL_REF.sha256, body=SMALL, fields={"origin": "http://a.example"})).status == 403
    for path in ("/ab/cd/..%2f..%2fetc", "/ab/cd/x", f"/00/00/{REF.sha256}", "/../../etc/passwd"):
        reply = await there.egress.request(
            "GET", there.url + path, headers={"authorization": f"Bearer {TOKEN}"}, deadline_s=HANGS_S, limit_bytes=9_999
        )
        assert reply.status in {400, 404}
    with pytest.raises(TargetFault, match="refuses the token"):
        await there.target("wrong").has(REF.sha256)
    assert TOKEN not in there.log.text


async def test_a_blob_goes_seven_days_after_its_tombstone_by_the_clock_of_the_place(there: There, blobs: Blobs) -> None:
    target = there.target()
    await target.put(blobs, SMALL_REF)
    assert (await there.ask("DELETE", SMALL_REF.sha256)).status == 409
    await target.bury(SMALL_REF.sha256)
    there.clock.offset_ms += 6 * DAY_MS
    assert 6 * DAY_MS - 2_000 <= (await target.buried_for_ms(SMALL_REF.sha256) or 0) <= 6 * DAY_MS + 5_000
    assert (await there.ask("DELETE", SMALL_REF.sha256)).status == 409
    await target.put(blobs, SMALL_REF)  # wanted again: the tombstone is gone, also where nothing is sent
    there.clock.offset_ms += 2 * DAY_MS
    assert (await there.ask("DELETE", SMALL_REF.sha256)).status == 409
    await target.bury(SMALL_REF.sha256)
    there.clock.offset_ms += 8 * DAY_MS
    await target.delete(SMALL_REF.sha256)
    assert not await target.has(SMALL_REF.sha256)


async def test_what_was_cut_off_in_the_middle_leaves_nothing_and_is_swept(there: There, tmp_path: Path) -> None:
    stream = await trio.open_tcp_stream("127.0.0.1", int(there.url.rpartition(":")[2]))
    name = REF.sha256
    head = f"PUT /{name[:2]}/{name[2:4]}/{name} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\n"
    await stream.send_all(f"{head}content-length: {len(CONTENT)}\r\n\r\n".encode() + CONTENT[:300_000])
    incoming = there.root / ".incoming"
    await until(lambda: any(one.stat().st_size for one in incoming.iterdir()), what="a part of the upload")
    await trio.aclose_forcefully(stream)
    await until(lambda: not any(incoming.iterdir()), what="the part to be deleted")
    assert not there.path(name).exists()
    (incoming / "of a killed process").write_bytes(b"half")
    Place(root=there.root, clock=there.clock, threads=ThreadPool(limit=1, name="next")).open()
    assert not any(incoming.iterdir())


async def test_a_full_disk_there_is_told_as_that(there: There, blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place_module, "_write", full)
    with pytest.raises(TargetFault, match="it is full") as caught:
        await there.target().put(blobs, SMALL_REF)
    assert caught.value.whole
    assert not any((there.root / ".incoming").iterdir())


@pytest.mark.parametrize(
    ("answer", "whole", "words"),
    [
        (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", True, "does not let us write"),
        (b"HTTP/1.1 409 No\r\nContent-Length: 0\r\n\r\n", False, "busy with this blob"),
        (b"HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", False, "answers 413"),
        (b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", True, "not ready"),
        (b"HTTP/1.1 20", True, "can't be reached"),
        (b"HTTP/1.1 201 Yes\r\nContent-Length: 4\r\n\r\nhalf", False, "does not have all of it"),
    ],
)
async def test_what_a_target_says_is_told_in_words(blobs: Blobs, answer: bytes, whole: bool, words: str) -> None:
    async with served(says(answer)) as (_, url), Egress() as egress:
        with pytest.raises(TargetFault, match=words) as caught:
            await Target(url=url, token=TOKEN, egress=egress).put(blobs, SMALL_REF)
    assert caught.value.whole == whole
    assert caught.value.pause_s == (7 if b"Retry-After" in answer else 0)


@pytest.mark.parametrize("harm", [lambda data: b"", lambda data: data[:-1], lambda data: data[:-1] + b"X"])
async def test_of_what_is_damaged_here_nothing_is_sent(
    blobs: Blobs, tmp_path: Path, harm: Callable[[bytes], bytes]
) -> None:
    """A plain server would put it in the place of what may be the only good copy."""
    (file,) = (tmp_path / "here").rglob(SMALL_REF.sha256)
    file.write_bytes(harm(SMALL))
    async with served(says(b"HTTP/1.1 201 Yes\r\nContent-Length: 0\r\n\r\n")) as (server, url), Egress() as egress:
        with pytest.raises(BlobCorrupt):
            await Target(url=url, token=TOKEN, egress=egress).put(blobs, BlobRef(SMALL_REF.sha256, file.stat().st_size))
    assert server.connections == 0


async def test_everything_that_a_workspace_names_gets_there_and_a_new_one_too(
    there: There, tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    """Files and mail; those that were there before there was a replica, and, by a trigger, those that come."""
    async with open_service(tmp_path / "before", clock=wall, log=log, PROVIDERS="fake") as one:
        await uploaded(one, SMALL)
        await _mail(one, "first")
        assert await one.rows("select * from replica_blobs") == []
    settings = {"SVC_BLOB_REPLICA_URL": there.url, "SVC_BLOB_REPLICA_TOKEN": TOKEN}
    async with open_service(tmp_path / "before", clock=wall, log=log, PROVIDERS="fake", environ=settings) as two:
        replicator = two.workspace.service(Replicator)
        await _until(replicator, lambda found: bool(found.complete), what="the replica to be complete")
        held = {path.name for path in there.root.glob("??/??/*")}
        assert SMALL_REF.sha256 in held
        assert len(held) > 2
        assert await _named(two.workspace.features, two) <= held

        await uploaded(two, CONTENT)
        assert (await replicator.status()).pending == 1  # by the very commit
        await _mail(two, "second")
        named = await _named(two.workspace.features, two)
        queued = {sha256 for (sha256,) in await two.rows("select sha256 from replica_blobs")}
        assert named <= queued
        replicator.wake.call()
        await _until(replicator, lambda found: bool(found.complete), what="the replica to be complete")
        assert named <= {path.name for path in there.root.glob("??/??/*")}
        assert TOKEN not in log.text


async def _mail(service: Service, subject: str) -> None:
    mail = {"from": "a@b.example", "subject": subject, "text": f"the {subject} one"}
    await service.mutate("fake.mail.inject", address=MIA, **mail)
    await service.mutate("fake.mail.syncNow", address=MIA)


async def _named(features: tuple[Feature, ...], service: Service) -> set[str]:
    rows = [row for feature in features for row in feature.invariants if row.yields == "blobs"]
    found: set[str] = await service.workspace.store.read(lambda tx: {one for row in rows for one in row.check(tx)})
    return found


async def _until(replicator: Replicator, holds: Callable[[Any], bool], *, what: str) -> None:
    status: object = None

    async def is_so() -> bool:  # it tells nobody
        nonlocal status
        status = await replicator.status()
        return holds(status)

    await until(is_so, what=what, tell=lambda: status)
