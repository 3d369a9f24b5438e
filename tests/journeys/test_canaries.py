"""Forty planted secrets, and none of them is anywhere but as ciphertext: no file, log, worker or answer has one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from svc.app import all_capabilities, all_settings
from tests.sizes import HANGS_S
from tests.support.process import ServiceProcess, until

pytestmark = pytest.mark.journey
NOT_PLANTED: Final = {"SVC_INTERNAL_TOKEN", "SVC_CLAIM_TOKEN"}
"""The one is made at boot, the other would ask the test to sign in first."""
AT_LEAST: Final = 40


def canary(number: int) -> str:
    return f"canary-{number:04d}.{'abcdefgh' * 4}"


class Planted:
    """Every secret that was given, by where."""

    def __init__(self) -> None:
        self.values: list[str] = []

    def one(self) -> str:
        self.values.append(canary(len(self.values)))
        return self.values[-1]

    def found_in(self, text: str | bytes) -> list[str]:
        data = text.encode() if isinstance(text, str) else text
        return [value for value in self.values if value.encode() in data]


def environment(planted: Planted) -> dict[str, str]:
    fields = {one.setting.name: one for capability in all_capabilities() for one in capability.fields}
    secret = {setting.name for setting in all_settings() if setting.secret} - NOT_PLANTED
    plain = {name: "plain" for name, one in fields.items() if not one.secret}
    return plain | {name: planted.one() for name in sorted(secret)}


def rotate_all(service: ServiceProcess, planted: Planted) -> None:
    """By the app, each capability that an admin may set."""
    for capability in all_capabilities():
        if not capability.fields:
            continue
        fields = {one.name: planted.one() if one.secret else "plain" for one in capability.fields}
        value: Any = next(iter(fields.values())) if capability.is_single else fields
        service.mutate("capabilities.set", name=capability.name, value=value)


def answers(service: ServiceProcess) -> list[bytes]:
    """The answers of sockets, to right and wrong requests."""
    said = []
    for path in (
        "/readyz",
        "/auth/me",
        "/settings/credentials",
        "/nowhere",
        "/trpc/capabilities.list",
        "/trpc/capabilities.audit?input=%7B%7D",
        "/trpc/capabilities.set?input=%7B%7D",
        "/trpc/runs.list?input=%7B%7D",
        "/trpc/events.recent?input=%7B%7D",
        "/trpc/mail.accounts",
    ):
        said.append(service.request("GET", path).body)
    for name in [capability.name for capability in all_capabilities()]:
        body = json.dumps({"name": name}).encode()
        said.append(service.request("POST", "/trpc/capabilities.test", body, {"content-type": "application/json"}).body)
    return said


def test_no_secret_is_found_anywhere_but_as_ciphertext(tmp_path: Path) -> None:
    planted = Planted()
    settings = environment(planted)
    with ServiceProcess(tmp_path) as service:
        service.start(**settings, PROVIDERS="fake", SVC_WORKER_PROCESS="1")
        rotate_all(service, planted)
        rotate_all(service, planted)
        assert len(planted.values) >= AT_LEAST
        run_id = service.mutate("search.reindex")["runId"]
        until(
            lambda: service.query("runs.get", id=run_id)["state"] == "done",
            what="a run in the worker to end",
            deadline_s=HANGS_S,
            tell=service.log,
        )
        said = answers(service)
        worker = service.events("worker.started")[0]["pid"]
        for name in ("environ", "cmdline"):
            assert planted.found_in(Path(f"/proc/{worker}/{name}").read_bytes()) == []
        printed = service.command("config", "--json")
        assert service.stop() == 0
    assert planted.found_in(b"".join(said)) == []
    assert planted.found_in(printed.stdout + printed.stderr) == []
    assert planted.found_in(service.log()) == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(re.fullmatch(r"svc\.sqlite3.*", path.name) for path in files)
    assert [path for path in files if planted.found_in(path.read_bytes())] == []
