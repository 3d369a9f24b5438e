"""The official inspector's command line in front of ``POST /mcp`` and of ``svc mcp``. With SVC_SOAK=1."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from svc.clock import VirtualClock
from tests.mcp.test_server import TOKEN, Instance, approve, instance
from tests.peers.needs import MCP_INSPECTOR, MCP_INSPECTOR_PATH, NODE_PATH, need
from tests.recorded_log import RecordedLog
from tests.sizes import SOAK

pytestmark = [
    pytest.mark.peer,
    pytest.mark.wall_clock,
    pytest.mark.skipif(not SOAK, reason="the inspector is tried with SVC_SOAK=1"),
]

SAVE: Final = ("--tool-name", "pages.save", "--tool-arg", "path=notes/a", "--tool-arg", "body=Hi")
READ: Final = ("--tool-name", "pages.read", "--tool-arg", "path=notes/a")
KEEP: Final = ("--tool-name", "memory.write", "--tool-arg", "name=x", "--tool-arg", "body=y")


async def inspected(home: Path, *words: str | Path) -> tuple[int, Any, str]:
    """How it ended, what it read, and what it said besides. Its own folder is below ``home``."""
    ended = await trio.run_process(
        [NODE_PATH, MCP_INSPECTOR_PATH, "--cli", *words],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_stdout=True,
        capture_stderr=True,
        check=False,
    )
    said = ended.stderr.decode()
    return ended.returncode, json.loads(ended.stdout) if ended.stdout.strip() else None, said


def ways(where: Instance) -> dict[str, list[str]]:
    """The words that lead to the server: its address, and the program in front of it."""
    stdio = [sys.executable, "-m", "svc", "mcp", "-e", f"SVC_URL={where.origin}", "-e", f"SVC_TOKEN={where.token}"]
    return {
        "http": [f"{where.origin}/mcp", "--transport", "http", "--header", f"{TOKEN}: {where.token}"],
        "stdio": stdio,
    }


async def test_the_inspector_lists_and_calls_our_tools_by_either_way(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    need(MCP_INSPECTOR)
    async with instance(tmp_path / "home", wall, log) as where:
        listed = []
        for way in ways(where).values():
            code, found, said = await inspected(tmp_path, *way, "--method", "tools/list", "--strict")
            assert code == 0, said
            listed.append({one["name"] for one in found["tools"]})
            for call, expected in ((SAVE, None), (READ, "Hi")):
                code, found, said = await inspected(tmp_path, *way, "--method", "tools/call", *call)
                assert (code, found.get("isError", False)) == (0, False), (said, found)
                assert expected is None or found["structuredContent"]["body"] == expected
        assert listed[0] == listed[1] >= {"pages.read", "mail.send", "runs.result"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(approve, where)
            _, found, said = await inspected(tmp_path, *ways(where)["http"], "--method", "tools/call", *KEEP)
        assert not found.get("isError", False), (said, found)
        code, found, said = await inspected(
            tmp_path, f"{where.origin}/mcp", "--transport", "http", "--method", "tools/list"
        )
        assert code != 0, "nobody is served without a token"
