"""What an MCP server may answer besides what it should: our client reads it or says what is wrong, and never breaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.worker.mcp import protocol
from svc.worker.mcp.client import Client
from svc.worker.mcp.pins import Listed
from svc.worker.mcp.terms import ServerFault
from tests.mcp.odd import ECHO
from tests.sizes import NO_SPEED, examples
from tests.support.odd_json import with_odd

SERVER: Final = {"name": "odd", "title": "Odd", "version": "1.0"}
ANSWERS: Final[dict[str, Any]] = {
    "initialize": {"result": {"protocolVersion": "2025-11-25", "serverInfo": SERVER, "capabilities": {}}},
    "tools/list": {"result": {"tools": [ECHO], "nextCursor": ""}},
    "tools/call": {
        "result": {
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "resource", "resource": {"uri": "a:b", "text": "Hi"}},
                {"type": "resource_link", "name": "a", "uri": "a:b"},
                {"type": "image", "mimeType": "image/png", "data": ""},
            ],
            "structuredContent": {"a": 1},
            "isError": False,
        }
    },
    "server/discover": {"result": {"supportedVersions": ["2026-07-28"], "_meta": {}, "serverInfo": SERVER}},
}
NESTED: Final = "NESTED"
REFUSES: Final = {"error": {"code": -32601, "message": "no", "data": {"supported": ["2026-07-28"]}}}


class Says:
    """A channel to a server that answers so."""

    def __init__(self, answers: Mapping[str, Any], depth: int = 0) -> None:
        """``depth``: how many levels the text ``NESTED`` in an answer stands for."""
        self._answers = answers
        self._nested = '{"a":' * depth + "{}" + "}" * depth

    async def ask(self, id: int, message: bytes, *, about: Mapping[str, str]) -> protocol.Message:
        method = json.loads(message)["method"]
        answer = self._answers[method]
        body = {"jsonrpc": "2.0", "id": id, **answer} if isinstance(answer, dict) else answer
        try:
            return protocol.read(json.dumps(body).replace(f'"{NESTED}"', self._nested).encode())
        except protocol.Fault as fault:
            raise ServerFault(str(fault)) from None

    async def tell(self, message: bytes) -> None: ...

    def speaks(self, version: str) -> None: ...


async def talk(answers: Mapping[str, Any], *, depth: int = 0) -> None:
    client = Client(Says(answers, depth))
    with suppress(ServerFault):
        await client.greet()
    with suppress(ServerFault):
        tools, _ = await client.tools()
        assert all(isinstance(one, Listed) for one in tools)
    tool = Listed(name="echo", description="", input_schema={"type": "object"})
    with suppress(ServerFault):
        assert isinstance((await client.call(tool, {"text": "x"})).text, str)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=NO_SPEED)
@given(data=st.data(), refused=st.sampled_from([None, *ANSWERS]))
async def test_an_answer_with_something_else_in_any_place_is_read_or_told(
    data: st.DataObject, refused: str | None
) -> None:
    answers = ANSWERS | ({} if refused is None else {refused: REFUSES})
    odd = data.draw(st.sampled_from(list(answers)))
    await talk({**answers, odd: with_odd(answers[odd], data)})


@pytest.mark.parametrize("code", [[], {}, None, "x", 10**30])
async def test_a_refusal_with_a_code_that_is_none_is_told(code: object) -> None:
    await talk({**ANSWERS, "initialize": {"error": {**REFUSES["error"], "code": code}}})


@pytest.mark.parametrize("depth", [50, 400, 800, 950, 990])
async def test_what_is_nested_without_end_is_read_or_told(depth: int) -> None:
    schema = {**ECHO, "inputSchema": {"type": "object", "properties": NESTED}}
    await talk({**ANSWERS, "tools/list": {"result": {"tools": [schema]}}}, depth=depth)
    await talk({**ANSWERS, "tools/call": {"result": {"structuredContent": NESTED}}}, depth=depth)
    await talk({**ANSWERS, "initialize": {"error": {"code": 1, "message": NESTED}}}, depth=depth)
