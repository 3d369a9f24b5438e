"""An MCP server at an address (streamable HTTP), called through the broker, which adds its declared headers.

An answer is one message, or a stream of messages that ends with the answer. If the stream breaks, the call is lost:
nothing is sent again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from typing import Final

import msgspec
import trio

from svc.protocol import LinkFault
from svc.worker.mcp import protocol
from svc.worker.mcp.client import words
from svc.worker.mcp.terms import CALL_S, MAX_ANSWER_BYTES, MAX_HEARD_BYTES, Refused, ServerFault
from svc.worker.models import sse
from svc.workflow import Answer, Run

GOODBYE_S: Final = 5.0
_JSON: Final = "application/json"
_STREAM: Final = "text/event-stream"
_SESSION: Final = "mcp-session-id"
_OK, _MULTIPLE = 200, 300
_SIGN_IN: Final = frozenset({401, 403})
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_MAX_PROBLEM_BYTES: Final = 64 * 1024


@asynccontextmanager
async def reached(run: Run, server: str) -> AsyncIterator[Http]:
    channel = Http(run, server)
    yield channel
    await channel.end()


class Http:
    def __init__(self, run: Run, server: str) -> None:
        self._run = run
        self._path = f"/mcp/{server}"
        self._headers = {"content-type": _JSON, "accept": f"{_JSON}, {_STREAM}"}
        self._heard = 0

    def speaks(self, version: str) -> None:
        self._headers["mcp-protocol-version"] = version

    async def tell(self, message: bytes) -> None:
        answer = await self._post(message)
        await answer.aclose()

    async def ask(self, id: int, message: bytes, *, about: Mapping[str, str]) -> protocol.Message:
        answer = await self._post(message, about)
        try:
            kind = (answer.header("content-type") or "").split(";")[0].strip().lower()
            if kind == _STREAM:
                return await self._streamed(answer, id)
            if kind != _JSON:
                raise ServerFault(f"It answers {words(kind or 'nothing')}, which is no MCP.")
            return _message(await self._whole(answer), id)
        except LinkFault as fault:
            raise ServerFault(f"Its answer was cut: {fault}.") from None
        finally:
            await answer.aclose()

    async def end(self) -> None:
        """End the server's session, if there is one. The result does not matter."""
        if _SESSION not in self._headers:
            return
        with trio.move_on_after(GOODBYE_S), suppress(LinkFault):
            answer = await self._run.broker(self._path, b"", headers=self._headers, method="DELETE", within_s=GOODBYE_S)
            await answer.aclose()

    async def _post(self, message: bytes, about: Mapping[str, str] = _NOTHING) -> Answer:
        fields = {**self._headers, **about}
        try:
            answer = await self._run.broker(self._path, message, headers=fields, within_s=CALL_S)
        except LinkFault as fault:
            raise ServerFault(f"It gave no answer: {fault}.") from None
        if session := answer.header(_SESSION):
            self._headers[_SESSION] = session
        if _OK <= answer.status < _MULTIPLE:
            return answer
        try:
            problem = await self._problem(answer)
        finally:
            await answer.aclose()
        raise problem

    async def _problem(self, answer: Answer) -> ServerFault:
        """The words of a refusal: the broker's or the server's."""
        try:
            said = msgspec.json.decode(await self._whole(answer, limit=_MAX_PROBLEM_BYTES))
        except (ServerFault, LinkFault, msgspec.DecodeError, RecursionError):
            said = None
        told = said if isinstance(said, dict) else {}
        error = told.get("error")
        detail = told.get("detail") or (error.get("message") if isinstance(error, dict) else error)
        if isinstance(error, dict) and answer.status not in _SIGN_IN:
            return Refused(f"It refuses: {words(detail)}", code=error.get("code"), data=error.get("data"))
        if answer.status in _SIGN_IN and "reason" not in told:
            return ServerFault(
                f"It wants a sign-in (it answers {answer.status}): sign in at its card in Settings, MCP servers, or "
                "name its key among the headers of its page, as a credential."
            )
        return ServerFault(f"{words(detail)}" if detail else f"It answers {answer.status}.")

    async def _whole(self, answer: Answer, *, limit: int = MAX_ANSWER_BYTES) -> bytes:
        body = bytearray()
        while piece := await answer.receive():
            body += piece
            self._count(piece)
            if len(body) > limit:
                raise ServerFault(f"It answers more than {limit >> 20} MiB, and was cut off.")
        return bytes(body)

    async def _streamed(self, answer: Answer, id: int) -> protocol.Message:
        events = sse.Events()
        while piece := await answer.receive():
            self._count(piece)
            try:
                for data in events.feed(piece):
                    found = protocol.read(data.encode())
                    if found.method is None and found.id == id:
                        return found
            except (sse.TooLong, protocol.Fault):
                raise ServerFault("What it answers can't be read, or is too long.") from None
        raise ServerFault("Its answer ended too early.")

    def _count(self, piece: bytes) -> None:
        self._heard += len(piece)
        if self._heard > MAX_HEARD_BYTES:
            raise ServerFault(f"It says more than {MAX_HEARD_BYTES >> 20} MiB, and was cut off.")


def _message(data: bytes, id: int) -> protocol.Message:
    try:
        found = protocol.read(data)
    except protocol.Fault as fault:
        raise ServerFault(f"What it answers can't be read. {words(str(fault)).rstrip('.')}.") from None
    if found.id not in {id, None}:
        raise ServerFault("It answers another question.")
    return found
