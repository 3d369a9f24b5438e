"""A forge that we did not write, as a process: the emulator's GitHub, which signs what it tells of a push.

    with forge(tmp_path) as there:
        hook = there.add_hook(f"{service.base}/gitops/webhook", secret="…")
        there.push(hook)

It holds no repository that git could read: it only tells.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from tests.peers.cache import emulator_files
from tests.sizes import HANGS_S
from tests.support.process import free_port, until

OWNER: Final = "acme"
REPOSITORY: Final = "handbook"
_TOKEN: Final = "token-of-the-owner"
_HOOKS: Final = f"/repos/{OWNER}/{REPOSITORY}/hooks"


@dataclass(frozen=True, kw_only=True)
class Forge:
    port: int

    def add_hook(self, url: str, *, secret: str) -> int:
        """The hook's id."""
        config = {"url": url, "content_type": "json", "secret": secret}
        return int(self._ask("POST", _HOOKS, {"name": "web", "events": ["push"], "config": config})["id"])

    def push(self, hook: int) -> int:
        """Tell of a push to ``main``; the status that the hook answered with."""
        return self._deliver(hook, "tests")

    def ping(self, hook: int) -> int:
        return self._deliver(hook, "pings")

    def _deliver(self, hook: int, what: str) -> int:
        self._ask("POST", f"{_HOOKS}/{hook}/{what}")
        return int(self._ask("GET", f"{_HOOKS}/{hook}/deliveries")[0]["status_code"])

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=HANGS_S)
        try:
            fields = {"authorization": f"Bearer {_TOKEN}", "content-type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), fields)
            answer = connection.getresponse()
            told = answer.read()
            assert answer.status in {200, 201, 204}, (answer.status, told)
            return json.loads(told) if told else None
        finally:
            connection.close()


@contextmanager
def forge(directory: Path) -> Iterator[Forge]:
    """Wants ``needs(EMULATOR)``."""
    files = emulator_files()
    assert files is not None, "run .ci/peers first"
    port = free_port()
    seed = directory / "forge.json"
    seed.write_text(json.dumps(_SEED))
    options = ["--service", "github", "--port", str(port), "--seed", str(seed)]
    with (directory / "forge.log").open("wb") as log:
        process = subprocess.Popen(
            [*map(str, files), "start", *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        until(lambda: _answers(port), what="the forge", deadline_s=HANGS_S, tell=(directory / "forge.log").read_text)
        yield Forge(port=port)
    finally:
        process.kill()
        process.wait()


_SEED: Final = {
    "tokens": {_TOKEN: {"login": OWNER, "id": 1, "scopes": ["repo", "admin:repo_hook"]}},
    "github": {
        "users": [{"login": OWNER, "name": "Acme", "email": "acme@acme.test"}],
        "repos": [{"owner": OWNER, "name": REPOSITORY, "auto_init": True}],
    },
}


def _answers(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=HANGS_S)
    try:
        connection.request("GET", f"/repos/{OWNER}/{REPOSITORY}")
        return connection.getresponse().status < 500
    except OSError:
        return False
    finally:
        connection.close()
