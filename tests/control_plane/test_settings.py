"""What the escrow service refuses to start with, all faults together; and no token is ever shown."""

from __future__ import annotations

import json

import pytest

from svc.config import ConfigError, read_config
from svc.control_plane import process
from svc.control_plane.settings import CELL_TOKENS, RULES, SETTINGS, digest_of, port_of
from tests.control_plane.replicas import config_of, entry, token

URL = "postgresql://escrow:hunter2@db.example/escrow"
LOCAL = "postgresql://escrow:hunter2@127.0.0.1,localhost/escrow"


def faults(**environ: str) -> dict[str, str]:
    given = {"SVC_KEY_ESCROW_DATABASE_URL": URL, **environ}
    with pytest.raises(ConfigError) as caught:
        read_config(SETTINGS, given, RULES)
    assert "hunter2" not in str(caught.value)
    assert "secret-1-of" not in str(caught.value)
    return {fault.name: fault.problem for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ("{", "no JSON array"),
        ('{"credentialId": "a"}', "no JSON array"),
        ([{"credentialId": "a"}], "no JSON array"),
        ([entry("a") | {"more": "x"}], "no JSON array"),
        ([entry("a") | {"token": token("b")}], "entry 0 has no usable token"),
        ([entry("b"), entry("a") | {"token": "a." + "s" * 31}], "entry 1 has no usable token"),
        ([entry("a") | {"token": "a." + "s" * 31 + " "}], "entry 0 has no usable token"),
        ([entry("a") | {"token": "a." + "s" * 600}], "too long"),
        ([entry("a") | {"tenantId": "../x"}], "no usable tenantId"),
        ([entry("a") | {"credentialId": "a.b"}], "no usable credentialId"),
        ([entry("a"), entry("a", generation=2)], "'a' is there twice"),
    ],
)
def test_a_token_that_is_none_is_refused_by_its_place(entries: object, words: str) -> None:
    value = entries if isinstance(entries, str) else json.dumps(entries)
    assert words in faults(SVC_KEY_ESCROW_CELL_TOKENS=value)["SVC_KEY_ESCROW_CELL_TOKENS"]


def test_all_faults_are_told_together_and_plain_connections_stay_on_this_machine() -> None:
    found = faults(
        SVC_KEY_ESCROW_DATABASE_URL="mysql://x",
        SVC_KEY_ESCROW_DB_POOL_SIZE="101",
        SVC_KEY_ESCROW_SHUTDOWN_MS="999",
        SVC_KEY_ESCROW_DB_SSL="prefer",
        PORT="x",
    )
    assert list(found) == [
        "SVC_KEY_ESCROW_DATABASE_URL",
        "SVC_KEY_ESCROW_DB_SSL",
        "SVC_KEY_ESCROW_DB_POOL_SIZE",
        "PORT",
        "SVC_KEY_ESCROW_SHUTDOWN_MS",
    ]
    assert list(faults(SVC_KEY_ESCROW_DATABASE_URL="")) == ["SVC_KEY_ESCROW_DATABASE_URL"]
    for url in (URL, "postgresql:///escrow", "postgresql://127.0.0.1,db.example/escrow"):
        assert list(faults(SVC_KEY_ESCROW_DATABASE_URL=url, SVC_KEY_ESCROW_DB_SSL="disable")) == [
            "SVC_KEY_ESCROW_DB_SSL"
        ]
    config_of(LOCAL, SVC_KEY_ESCROW_DB_SSL="disable")


def test_the_platforms_port_wins_and_a_token_is_kept_as_its_digest(capsys: pytest.CaptureFixture[str]) -> None:
    config = config_of(LOCAL, [entry("a")], SVC_KEY_ESCROW_PORT="5000", PORT="6000")
    assert port_of(config) == 6000
    assert port_of(config_of(LOCAL, SVC_KEY_ESCROW_PORT="5000")) == 5000
    (only,) = config[CELL_TOKENS]
    assert only.digest == digest_of(token("a"))
    assert process._config(config, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "secret-1-of" not in shown + repr(only)
    assert "hunter2" not in shown
