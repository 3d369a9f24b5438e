"""The client of a replica: plain HTTP, a blob at ``<url>/ab/cd/<sha256>``, its tombstone beside it.

``PUT`` with ``If-None-Match: *`` stores a blob once. 412 only says that a file exists, not that it is good: it is
compared before it counts. Everything that is received is hashed. A fault says whether the target itself has a problem
(``whole``), or only this blob can't be stored. Never retries, and never decides what is removed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from svc.clock import SECOND_MS, Millis
from svc.config import Config
from svc.protocol.egress import Egress, EgressFault, EgressResponse
from svc.replica.settings import REPLICA_TOKEN, REPLICA_URL
from svc.store import BlobRef, Blobs

ANSWER_S: Final = 60.0
IDLE_S: Final = 60.0
"""Time without a transferred byte. Beyond: the exchange is given up, and tried again later."""
SLOWEST_BYTES_A_S: Final = 1024
"""The lowest average rate of a blob that is read back, in bytes per second. Beyond: the exchange is given up, and tried
again later."""
HASHING_S: Final = 600.0
"""Time until a target has hashed a stored blob."""
ANSWER_BYTES: Final = 64 * 1024
ASK_FIRST_BYTES: Final = 1024 * 1024
"""For a blob of this size or more, the target is asked first whether it has it."""

_DONE: Final = frozenset({200, 201, 204})
_GONE: Final = frozenset({404, 410})
_WORDS: Final[Mapping[int, str]] = {
    401: "it refuses the token; set SVC_BLOB_REPLICA_TOKEN to the one it was started with",
    403: "it does not let us write; see to the rights of this token there",
    404: "it has no such place; correct SVC_BLOB_REPLICA_URL",
    405: "it takes no PUT; correct SVC_BLOB_REPLICA_URL",
    409: "it is busy with this blob",
    429: "it asks for a pause",
    503: "it is not ready",
    507: "it is full; make room there",
}
_OF_ONE_BLOB: Final = frozenset({400, 409, 411, 413, 414, 415, 422})


class TargetFault(Exception):
    """``words`` are for a person. ``whole``: any other blob would fail in the same way. ``pause_s``: as the target
    asked for."""

    def __init__(self, words: str, *, whole: bool, pause_s: float = 0.0) -> None:
        super().__init__(words)
        self.words = words
        self.whole = whole
        self.pause_s = pause_s


def target_of(config: Config, egress: Egress) -> Target | None:
    """The configured replica."""
    url = config[REPLICA_URL]
    return None if url is None else Target(url=url, token=config[REPLICA_TOKEN] or "", egress=egress)


@dataclass(frozen=True, kw_only=True)
class Target:
    """``url`` has no trailing slash."""

    url: str
    token: str
    egress: Egress

    async def put(self, blobs: Blobs, ref: BlobRef) -> None:
        """Make sure that the whole blob is there. Raises :class:`TargetFault`, and as :meth:`Blobs.stream` does."""
        if ref.size >= ASK_FIRST_BYTES and await self._is_there(ref):
            return
        answer = await self._send(blobs, ref, once=True)
        if answer.status == 412:
            if await self._is_there(ref):
                return
            answer = await self._send(blobs, ref, once=False)  # incomplete or damaged there; ours is whole
            if answer.status in {409, 412} and (await self._ask("DELETE", ref.sha256)).status in {*_DONE, *_GONE}:
                answer = await self._send(blobs, ref, once=True)
        if answer.status not in _DONE:
            raise _fault(answer)
        if not await self._arrived(ref, answer):
            raise TargetFault("The replica took the blob, and does not have all of it.", whole=False)

    async def _arrived(self, ref: BlobRef, answer: EgressResponse) -> bool:
        """Whether the target really stored it. A success status is not enough: a server may hide that its disk is full.
        One that hashes returns the digest."""
        told = answer.headers.get("repr-digest")
        if told is not None:
            return told == repr_digest(bytes.fromhex(ref.sha256))
        return await self.has(ref.sha256, size=ref.size)

    async def _send(self, blobs: Blobs, ref: BlobRef, *, once: bool) -> EgressResponse:
        """Reads the blob to its end first: a plain server may empty what it holds as soon as a request begins."""
        async with aclosing(blobs.stream(ref.sha256)) as pieces:
            async for _ in pieces:
                pass
        headers = {**self._headers(), "content-type": "application/octet-stream"}
        if once:
            headers["if-none-match"] = "*"
        async with aclosing(blobs.stream(ref.sha256)) as pieces:
            try:
                return await self.egress.upload(
                    "PUT",
                    self._place(ref.sha256),
                    headers=headers,
                    pieces=pieces,
                    length=ref.size,
                    idle_s=IDLE_S,
                    limit_bytes=ANSWER_BYTES,
                )
            except EgressFault as fault:
                raise _unreached(fault) from None

    async def _is_there(self, ref: BlobRef) -> bool:
        """Whether the whole blob is there: by its size, and by the target's hash; if it gives none, the content is
        read."""
        answer = await self._ask("HEAD", ref.sha256, deadline_s=HASHING_S, want="sha-256=10")
        if answer.status in _GONE:
            return False
        if answer.status not in _DONE:
            raise _fault(answer)
        if answer.headers.get("content-length") != str(ref.size):
            return False
        told = answer.headers.get("repr-digest")
        if told is not None:
            return told == repr_digest(bytes.fromhex(ref.sha256))
        return await self.is_sound(ref.sha256)

    async def has(self, sha256: str, *, size: int | None = None) -> bool:
        """Whether a file of that name is there, and of that size, if one is given and the target reports it."""
        answer = await self._ask("HEAD", sha256)
        if answer.status not in {*_DONE, *_GONE}:
            raise _fault(answer)
        told = answer.headers.get("content-length")
        return answer.status in _DONE and (size is None or told is None or told == str(size))

    async def is_sound(self, sha256: str) -> bool:
        """Read it back and compare its hash."""
        try:
            async with aclosing(self.stream(sha256)) as pieces:
                async for _ in pieces:
                    pass
        except LookupError:
            return False
        return True

    async def stream(self, sha256: str) -> AsyncGenerator[bytes, None]:
        """The stored content, in pieces. Raises :class:`TargetFault`, and :class:`LookupError` where there is none, or,
        before the last piece, where it is damaged."""
        digest = hashlib.sha256()
        held = b""
        try:
            answer = await self.egress.open(
                "GET",
                self._place(sha256),
                headers=self._headers(),
                body=b"",
                head_s=ANSWER_S,
                idle_s=IDLE_S,
                slowest_bytes_s=SLOWEST_BYTES_A_S,
            )
        except EgressFault as fault:
            raise _unreached(fault) from None
        try:
            if answer.status in _GONE:
                raise LookupError(f"the replica has no blob {sha256}")
            if answer.status not in _DONE:
                raise _fault(EgressResponse(status=answer.status, headers=answer.headers, body=b""))
            while piece := await answer.receive():
                if held:
                    yield held
                digest.update(piece)
                held = piece
        except EgressFault as fault:
            raise _unreached(fault) from None
        finally:
            await answer.aclose()
        if digest.hexdigest() != sha256:
            raise LookupError(f"the replica's blob {sha256} is damaged")
        if held:
            yield held

    # Removal

    async def bury(self, sha256: str) -> None:
        await self._change("PUT", f"{sha256}.tombstone")

    async def unbury(self, sha256: str) -> None:
        """Remove the tombstone. Call it before asking whether the blob is there: a remover checks the tombstone
        first."""
        await self._change("DELETE", f"{sha256}.tombstone")

    async def buried_for_ms(self, sha256: str) -> Millis | None:
        """The age of the tombstone by the target's own clock; ``None`` where it sends no dates. Raises
        :class:`LookupError` where there is none."""
        answer = await self._ask("HEAD", f"{sha256}.tombstone")
        if answer.status in _GONE:
            raise LookupError(f"the blob {sha256} has no tombstone")
        if answer.status not in _DONE:
            raise _fault(answer)
        made, now = (_instant(answer.headers.get(name)) for name in ("last-modified", "date"))
        return None if made is None or now is None else now - made

    async def delete(self, sha256: str) -> None:
        """Delete the blob, then its tombstone."""
        await self._change("DELETE", sha256)
        await self._change("DELETE", f"{sha256}.tombstone")

    async def _change(self, method: str, name: str) -> None:
        answer = await self._ask(method, name)
        if answer.status not in _DONE and not (method == "DELETE" and answer.status in _GONE):
            raise _fault(answer)

    async def _ask(
        self, method: str, name: str, *, deadline_s: float = ANSWER_S, want: str | None = None
    ) -> EgressResponse:
        headers = self._headers() | ({} if want is None else {"want-repr-digest": want})
        try:
            return await self.egress.request(
                method,
                self._place(name),
                headers={**headers, "accept-encoding": "identity"},
                body=b"" if method == "PUT" else None,
                deadline_s=deadline_s,
                limit_bytes=ANSWER_BYTES,
            )
        except EgressFault as fault:
            raise _unreached(fault) from None

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def _place(self, name: str) -> str:
        return f"{self.url}/{name[:2]}/{name[2:4]}/{name}"


def repr_digest(digest: bytes) -> str:
    """The digest in the form of RFC 9530."""
    return f"sha-256=:{base64.b64encode(digest).decode()}:"


def _fault(answer: EgressResponse) -> TargetFault:
    words = _WORDS.get(answer.status, f"it answers {answer.status}")
    after = answer.headers.get("retry-after") or ""
    pause_s = float(after) if after.isascii() and after.isdigit() else 0.0
    return TargetFault(f"The replica can't be used: {words}.", whole=answer.status not in _OF_ONE_BLOB, pause_s=pause_s)


def _unreached(fault: EgressFault) -> TargetFault:
    return TargetFault(f"The replica can't be reached: {fault.detail}.", whole=True)


def _instant(value: str | None) -> Millis | None:
    try:
        return None if value is None else round(parsedate_to_datetime(value).timestamp() * SECOND_MS)
    except ValueError:
        return None
