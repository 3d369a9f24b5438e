"""aimock: both model vendors' APIs by somebody else's hand, with streams, tool calls and faults, as a process.

    with aimock(directory) as url: …

It wants a key, streams in small pieces, and answers by the words of a question; a fixture's faults are certain.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.peers.cache import peers_dir
from tests.sizes import HANGS_S
from tests.support.process import free_port, until

AIMOCK_PATH: Final = peers_dir() / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
SDKS_PATH: Final = peers_dir() / "vendor-sdks" / "bin" / "python"
STORY: Final = "Once upon a time a small boat sailed along the coast and came home late."
_USAGE: Final = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "input_tokens": 11,
    "output_tokens": 7,
}


def _fixture(text: str, response: dict[str, Any], *, after_tool: bool | None = None, **more: Any) -> dict[str, Any]:
    match = {"userMessage": text} if after_tool is None else {"userMessage": text, "hasToolResult": after_tool}
    return {"match": match, "response": response, **more}


FIXTURES: Final = (
    _fixture(
        "weather",
        {"toolCalls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}], "usage": _USAGE},
        after_tool=False,
    ),
    _fixture("weather", {"content": "It rains in Oslo.", "usage": _USAGE}, after_tool=True),
    _fixture("ratelimit", {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}),
    _fixture("dropped", {"content": "never"}, chaos={"dropRate": 1}),
    _fixture("malformed", {"content": "never"}, chaos={"malformedRate": 1}),
    _fixture("cut off", {"content": STORY}, truncateAfterChunks=6, latency=20),
    _fixture("long story", {"content": STORY, "usage": _USAGE}),
)


@contextmanager
def aimock(directory: Path, *, keys: tuple[str, ...]) -> Iterator[str]:
    """Its address, without a path. ``keys``: it takes no other."""
    fixtures = directory / "fixtures"
    fixtures.mkdir()
    (fixtures / "all.json").write_text(json.dumps({"fixtures": FIXTURES}))
    port = free_port()
    node = shutil.which("node")
    assert node is not None
    command = [node, str(AIMOCK_PATH), "--port", str(port), "--fixtures", str(fixtures), "--chunk-size", "8"]
    environ = {**os.environ, "AIMOCK_API_KEYS": ",".join(keys)}
    with (directory / "aimock.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ)
    try:
        url = f"http://127.0.0.1:{port}"
        read = (directory / "aimock.log").read_text
        until(lambda: _answers(url), what="aimock", deadline_s=HANGS_S, tell=read)
        yield url
    finally:
        process.kill()
        process.wait()


def journal(url: str, *, key: str) -> str:
    """All that it was asked, as text."""
    request = Request(f"{url}/__aimock/journal", headers={"authorization": f"Bearer {key}"})
    with urlopen(request, timeout=HANGS_S) as answer:
        text: str = answer.read().decode()
    return text


def _answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/health", timeout=HANGS_S) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
