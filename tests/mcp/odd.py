"""The odd MCP server (``odd_server.py``), as a test steers it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

ODD: Final = Path(__file__).with_name("odd_server.py")
ECHO: Final = {
    "name": "echo",
    "description": "Says it again.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["text"],
    },
}


class Odd:
    """The odd server, as a test steers it."""

    def __init__(self, file: Path) -> None:
        """``file`` lies in a folder of its own, into which the server may write."""
        self.file = file
        self.is_(tools=[ECHO])

    def is_(self, **said: Any) -> None:
        known = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.file.write_text(json.dumps({**known, **said}))

    @property
    def heard(self) -> list[dict[str, Any]]:
        log = self.file.with_name(self.file.name + ".log")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def calls(self) -> list[dict[str, Any]]:
        return [one["arguments"] for one in self.heard if "call" in one]

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", str(ODD), str(self.file), str(self.file.parent)]

    def page(self, **env: object) -> str:
        program, *args = self.command
        return f"---\ncommand: {program}\nargs: {json.dumps(args)}\nenv: {json.dumps(env)}\n---\n"
