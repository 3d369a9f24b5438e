"""Vectors of texts for the trusted plane itself: vendor B's embeddings. Only this module adds the key to the request.

Search by meaning needs the vector of a query while a person waits, so this is not a run. All else is as in a run: the
call is reserved in the ledger before it is sent, may not pass a ceiling, and is settled with what the vendor counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import trio

from svc.broker.redaction import Redactor
from svc.broker.usage import Usage, WholeReader
from svc.broker.vendors import B, Outgoing, Vendors
from svc.capabilities import Door
from svc.errors import Refusal
from svc.models import Models, Reserved, release, reserve, settle
from svc.protocol.egress import EgressFault
from svc.runs import count_tokens, run
from svc.store import Tx
from svc.workspace import Workspace

MAX_ANSWER_BYTES: Final = 32 << 20
"""The vectors of one call. Beyond: the answer is not read."""
BYTES_A_TOKEN: Final = 3
_OK: Final = 200
_AGAIN: Final = frozenset({408, 409, 429})
_SERVER_FAULT: Final = 500
_PATH: Final = "/v1/embeddings"
_NONE_SET: Final = "none"
_SHOWN_CHARS: Final = 300


class EmbeddingFault(Exception):
    """There are no vectors. ``passing``: the same call may work later, after ``pause_s`` if the vendor gave a time."""

    def __init__(self, message: str, *, passing: bool, pause_s: float | None = None) -> None:
        super().__init__(message)
        self.passing = passing
        self.pause_s = pause_s


class _Vector(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Answer(msgspec.Struct):
    data: list[_Vector]


class _Error(msgspec.Struct):
    message: str = ""


class _Refused(msgspec.Struct):
    error: _Error | str = ""


@dataclass(frozen=True, kw_only=True)
class Embeddings:
    """The only way to get vectors. ``door`` is the broker's own."""

    workspace: Workspace
    door: Door

    async def embed(
        self,
        texts: Sequence[str],
        *,
        model: str,
        dimensions: int | None,
        account: str,
        user_id: str | None,
        within_s: float,
    ) -> list[list[float]]:
        """One vector per text, in the same order. ``account``: the run, or another name under which the cost is
        counted.

        Raises :class:`EmbeddingFault`; a ceiling, a missing key and a vendor's refusal are not ``passing``.
        """
        wanted: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
        if dimensions is not None:
            wanted["dimensions"] = dimensions
        body = msgspec.json.encode(wanted)
        key = await self._key()
        redactor = Redactor(key.values())
        reserved = await self._reserved(body, model=model, account=account, user_id=user_id)
        usage, status = Usage(), 0
        try:
            with trio.fail_after(within_s):
                status, answer, pause_s = await self._asked(body, key)
        except trio.TooSlowError:
            raise EmbeddingFault(f"The model took longer than {within_s:g} seconds.", passing=True) from None
        except EgressFault as fault:
            if not fault.may_have_happened:
                await self._settle(reserved, 0, usage, account=account)
            words = redactor.text(fault.detail)
            raise EmbeddingFault(f"The model's server gave no answer: {words}.", passing=True) from None
        if status == _OK:
            reader = WholeReader()
            reader.feed(answer)
            usage = reader.result()
        await self._settle(reserved, status, usage, account=account)
        if status != _OK:
            passing = status in _AGAIN or status >= _SERVER_FAULT
            raise EmbeddingFault(redactor.text(_words(answer, status)), passing=passing, pause_s=pause_s)
        return _vectors(answer, count=len(texts))

    async def _key(self) -> Mapping[str, str]:
        stored = await self.door.acquire(B.capability, purpose="embeddings")
        if stored is not None:
            row = self.door.broker.capabilities.get(B.capability)
            return row.decode(stored) if row is not None else {"value": stored.decode()}
        if self.workspace.service(Vendors).want_keys and not self.workspace.service(Models).b_is_elsewhere:
            raise EmbeddingFault(f"There is no credential {B.capability}.", passing=False)
        return {"value": _NONE_SET}

    async def _reserved(self, body: bytes, *, model: str, account: str, user_id: str | None) -> Reserved:
        try:
            return await self.workspace.store.write(
                reserve,
                account,
                user_id=user_id,
                model=model,
                price=self.workspace.service(Models).price(f"b/{model}"),
                input_tokens=-(-len(body) // BYTES_A_TOKEN),
                output_tokens=0,
            )
        except Refusal as refusal:
            raise EmbeddingFault(refusal.detail, passing=False) from None

    async def _asked(self, body: bytes, key: Mapping[str, str]) -> tuple[int, bytes, float | None]:
        call = Outgoing(
            vendor=B.name,
            method="POST",
            target=_PATH,
            headers={
                "content-type": "application/json",
                "accept": "application/json",
                B.header: B.form.format_map(key),
            },
            body=body,
        )
        answer = await self.workspace.service(Vendors).send(call)
        try:
            whole = bytearray()
            while piece := await answer.receive():
                whole += piece
                if len(whole) > MAX_ANSWER_BYTES:
                    raise EmbeddingFault(f"The answer has more than {MAX_ANSWER_BYTES} bytes.", passing=False)
            return answer.status, bytes(whole), _pause_s(answer.headers.get("retry-after"))
        finally:
            await answer.aclose()

    async def _settle(self, reserved: Reserved, status: int, usage: Usage, *, account: str) -> None:
        await self.workspace.store.write(_settle, reserved, status, usage, account=account)


def _settle(tx: Tx, reserved: Reserved, status: int, usage: Usage, *, account: str) -> None:
    """A call that was refused or never sent (status 0) costs nothing."""
    if status != _OK:
        release(tx, reserved)
        return
    settle(tx, reserved, input_tokens=usage.input_tokens, output_tokens=0)
    if usage.is_known and run(tx, account) is not None:
        count_tokens(tx, account, input_tokens=usage.input_tokens, output_tokens=0)


def _pause_s(said: str | None) -> float | None:
    try:
        return None if said is None else max(float(said), 0.0)
    except ValueError:
        return None


def _words(answer: bytes, status: int) -> str:
    try:
        error = msgspec.json.decode(answer, type=_Refused).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = ""
    words = error if isinstance(error, str) else error.message
    return f"The model's server answered {status}: {words[:_SHOWN_CHARS] or 'no reason given'}"


def _vectors(answer: bytes, *, count: int) -> list[list[float]]:
    """Raises :class:`EmbeddingFault` unless there is one vector per text, all of one length, with finite numbers."""
    try:
        rows = sorted(msgspec.json.decode(answer, type=_Answer).data, key=lambda row: row.index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise EmbeddingFault("The model's server answered with no vectors.", passing=False) from None
    vectors = [row.embedding for row in rows]
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1 or 0 in lengths:
        raise EmbeddingFault(
            f"The model's server answered with {len(vectors)} vectors for {count} texts.", passing=False
        )
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise EmbeddingFault("The model's server answered with numbers that are none.", passing=False)
    return vectors
