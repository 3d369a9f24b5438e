"""What is described, asked at random by schemathesis: answers fit the description, and nothing breaks.

A share of all routes and procedures, chosen anew in each run; under ``SVC_SOAK=1`` all of them.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sizes import DESCRIBED, HANGS_S, SOAK
from tests.support.process import ServiceProcess

pytestmark = pytest.mark.journey

CONFIG = Path(__file__).with_name("schemathesis.toml")
LEFT_OUT = (
    "events.live",  # never ends
    "post_auth_logout",  # ends the session that asks
    "patch_files_tus_id",  # a media type that it can't write
    "post_files_tus_id",  # the same, by another method
    "post_files_tus",  # it takes a header that nobody knows for a fault
)
HOW_MUCH = ("examples,coverage,fuzzing", "50") if SOAK else ("fuzzing", "1")


def test_what_is_described_is_what_is_answered(tmp_path: Path, chance: random.Random) -> None:
    phases, examples = HOW_MUCH
    with ServiceProcess(tmp_path) as service:
        service.start(PROVIDERS="fake")
        cookie = signed_in(service)
        left_out = [
            word
            for name in sorted({*LEFT_OUT, *not_chosen(service, cookie, chance)})
            for word in ("--exclude-operation-id", name)
        ]
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIG), "run"]
        command += [f"{service.base}/openapi.json", "--header", f"Cookie: {cookie}", "--phases", phases]
        command += ["--exclude-operation-id-regex", "^socket_"]  # WebSockets, which it does not speak
        command += ["--max-examples", examples, "--no-color", "--generation-deterministic", "--warnings", "off"]
        done = subprocess.run(
            [*command, *left_out], cwd=tmp_path, capture_output=True, text=True, timeout=10 * HANGS_S, check=False
        )
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
        assert "Tested: 0" not in done.stdout
        assert service.is_ready()
        assert service.events("procedure failed") == service.events("http.request_failed") == []


def not_chosen(service: ServiceProcess, cookie: str, chance: random.Random) -> list[str]:
    document = service.request("GET", "/openapi.json", headers={"cookie": cookie}).json()
    names = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    return chance.sample(names, len(names) - len(names) // DESCRIBED)


def signed_in(service: ServiceProcess) -> str:
    """The cookie of the first person, who claims the instance: from then on each call needs a credential."""
    body = json.dumps({"email": "mia@example.org"}).encode()
    reply = service.request("POST", "/auth/dev-login", body, {"content-type": "application/json"})
    assert reply.status == 200
    return (reply.header("set-cookie") or "").partition(";")[0]
