"""Credentials from the environment go into the secrets store once, whole, and never over existing ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc.app import all_capabilities, all_rules, all_settings
from svc.clock import VirtualClock
from svc.config import ConfigError, read_config
from svc.store import Keyring, Secrets
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

VARIABLES = {
    "IM_A_BOT_TOKEN": "im-a.send",
    "IM_A_APP_TOKEN": "im-a.socket",
    "IM_B_API_ID IM_B_API_HASH IM_B_SESSION": "im-b",
    "IDP_CLIENT_ID IDP_CLIENT_SECRET": "idp.oauth",
    "MICROSOFT_CLIENT_ID MICROSOFT_CLIENT_SECRET MICROSOFT_TENANT": "microsoft.oauth",
    "STT_API_KEY": "stt",
    "SVC_STT_SERVER_KEY": "stt.server",
    "LLM_A_API_KEY": "llm.a",
    "LLM_B_API_KEY": "llm.b",
    "MLOPS_A_API_KEY": "mlops-a.api",
    "MLOPS_B_API_TOKEN": "mlops-b.api",
    "CODING_AGENT_API_KEY": "coding-agent.api",
    "DRIVE_B_ACCESS_TOKEN": "provider.drive-b",
    "DRIVE_C_ACCESS_TOKEN DRIVE_C_DRIVE_ID": "provider.drive-c",
    "SVC_GITOPS_TOKEN": "gitops.git.token",
    "SVC_GITOPS_WEBHOOK_SECRET": "gitops.webhook.secret",
}
"""The table of the specification, part 1.2, and the clients of services that it does not know."""


async def test_each_row_of_the_table_seeds_its_capability(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    environ = {name: f"canary of {name}" for names in VARIABLES for name in names.split()}
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", environ=environ) as service:
        listed = {one["name"]: one for one in await service.query("capabilities.list")}
        assert set(VARIABLES.values()) == set(listed)
        assert {one["source"] for one in listed.values()} == {"seed"}
        rows = {row.name: row for row in all_capabilities()}
        for names, capability in VARIABLES.items():
            stored = await service.workspace.store.read(service.secrets.read, capability)
            assert stored is not None
            values = rows[capability].decode(stored).values()
            assert sorted(values) == sorted(f"canary of {name}" for name in names.split())
    assert "canary of" not in log.text


async def test_a_stale_variable_changes_nothing(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", LLM_A_API_KEY="first") as service:
        await service.mutate("capabilities.set", name="llm.a", value="rotated")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", LLM_A_API_KEY="first") as service:
        assert await service.workspace.store.read(service.secrets.read, "llm.a") == b"rotated"
        await service.mutate("capabilities.remove", name="llm.a")
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", LLM_A_API_KEY="again") as service:
        assert await service.workspace.store.read(service.secrets.read, "llm.a") == b"again"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"IDP_CLIENT_ID": "x"}, "IDP_CLIENT_SECRET"),
        ({"IDP_CLIENT_SECRET": "x"}, "IDP_CLIENT_ID"),
        ({"IM_B_API_ID": "1", "IM_B_API_HASH": "2"}, "IM_B_SESSION"),
        ({"DRIVE_C_DRIVE_ID": "1"}, "DRIVE_C_ACCESS_TOKEN"),
    ],
)
def test_half_a_credential_is_a_fault_that_names_the_other_half(environ: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(all_settings(), {"HOME": "/nowhere", **environ}, all_rules())
    assert [fault.name for fault in caught.value.faults] == [named]


@pytest.mark.parametrize("environ", [{"IM_B_BOT_TOKEN": "1"}, {"DRIVE_C_ACCESS_TOKEN": "1"}])
def test_what_is_enough_alone_is_no_fault(environ: dict[str, str]) -> None:
    read_config(all_settings(), {"HOME": "/nowhere", **environ}, all_rules())


async def test_a_rotation_that_was_cut_is_finished_at_the_next_boot(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    key_file = tmp_path / "key"
    settings = {"PROVIDERS": "fake", "SVC_MASTER_KEY_FILE": str(key_file)}
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        await service.mutate("capabilities.set", name="llm.a", value="value")
    old = Keyring.from_text(key_file.read_text())
    assert old is not None
    key_file.write_text(old.renewed().as_text())  # the new key is there, and then nothing
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        assert await service.workspace.store.read(service.secrets.outdated) == 0
        new = Keyring.from_text(key_file.read_text())
        assert new is not None
        only_new = Secrets(new.current_only())
        assert await service.workspace.store.read(only_new.read, "llm.a") == b"value"
