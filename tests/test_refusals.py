"""Every refusal of a boot for its environment, one row each: the variable, the reason, what to do, and no secret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from svc.app import all_rules, all_settings
from svc.config import ConfigError, ConfigFault, read_config
from tests.test_cli import svc

CELL: Final = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "PROVIDERS": "fake"}
SECRET: Final = "canary-secret"


@dataclass(frozen=True)
class Refusal:
    """``faults`` are the variables that are named, ``reason`` words that one of them is refused with."""

    environ: dict[str, str]
    faults: tuple[str, ...]
    reason: str


def one(name: str, value: str, reason: str, *faults: str, **more: str) -> Refusal:
    return Refusal({name: value, **more}, faults or (name,), reason)


REFUSALS: Final = {
    # Spec, part 7, and 1.2
    "identity is off where others reach it": one(
        "SVC_AUTH", "off", "can't be off on '192.0.2.7'", SVC_HOST="192.0.2.7"
    ),
    "a public cell has no origin": one(
        "SVC_PROFILE", "cloud", "needs its HTTPS origin", "SVC_PUBLIC_ORIGIN", PROVIDERS="fake"
    ),
    "a public cell's origin is not HTTPS": one(
        "SVC_PUBLIC_ORIGIN", "http://localhost:80", "needs its HTTPS origin", SVC_PROFILE="cloud", PROVIDERS="fake"
    ),
    "a public cell has no key escrow": one(
        "SVC_PROFILE",
        "cloud",
        "a public cell belongs to a tenant",
        *("SVC_TENANT_ID", "SVC_KMS_PROVIDER", "SVC_KMS_KEY_ID", "SVC_KEY_ESCROW_URL", "SVC_KEY_ESCROW_TOKEN"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        SVC_PUBLIC_ORIGIN="https://a.example",
    ),
    "a key by an alias": one("SVC_KMS_KEY_ID", "alias/tenants", "is an alias"),
    "a key by the ARN of an alias": one("SVC_KMS_KEY_ID", "arn:aws:kms:eu-1:123456789012:alias/a", "is an alias"),
    "a key that is no ARN": one("SVC_KMS_KEY_ID", "1234abcd", "no ARN of a key"),
    "another key service": one("SVC_KMS_PROVIDER", "vault", "'vault' is not known"),
    "an escrow service by http": one("SVC_KEY_ESCROW_URL", "http://keys.example", "would carry secrets unencrypted"),
    "a short escrow credential": one("SVC_KEY_ESCROW_TOKEN", "cell.short", "no credential of the escrow service"),
    "another service": one("SVC_SERVICE", "escrow", "'escrow' is not known"),
    "a wildcard outside the cloud profile": one("SVC_HOST", "0.0.0.0", "would open the service to every network"),
    "a wildcard of IPv6": one("SVC_HOST", "::", "would open the service to every network"),
    "the internal port is the public one": one("SVC_INTERNAL_PORT", "4780", "is the public port"),
    "a worker that is not on this machine": one("SVC_WORKER_URL", "https://10.0.0.1:4781", "is not loopback's"),
    "a broker that is not on this machine": one("SVC_BROKER_URL", "https://10.0.0.1:4782", "is not loopback's"),
    "another proxy than the supported one": one("SVC_TRUST_PROXY", "nginx", "'nginx' is not known"),
    "proxies without a proxy": one("SVC_TRUSTED_PROXIES", "10.0.0.0/24", "no meaning without SVC_TRUST_PROXY"),
    "proxies that are no addresses": one("SVC_TRUSTED_PROXIES", "front", "no address", SVC_TRUST_PROXY="railway"),
    "an origin with a wildcard": one("SVC_CORS_ORIGINS", "https://*.example.org", "is not an exact http(s) origin"),
    "an origin with a path": one("SVC_CORS_ORIGINS", "https://a.example/x", "is not an exact http(s) origin"),
    "another profile": one("SVC_PROFILE", "staging", "'staging' is not known"),
    "another kind of identity": one("SVC_AUTH", "on", "'on' is not known"),
    "other providers": one("PROVIDERS", "real", "'real' is not known"),
    "another world": one("SVC_SEED", "my-world", "'my-world' is not known", PROVIDERS="fake"),
    "a world without the fakes": one("SVC_SEED", "mock-world", "needs the fake providers"),
    "a port that is none": one("SVC_PORT", "99999", "not a whole number from 0 to 65535"),
    "the platform's port is none": one("PORT", "http", "not a whole number", **CELL),
    "a rate of zero": one("SVC_AUTH_RATE_LIMIT", "0", "not a whole number from 1"),
    "uploads of a negative size": one("SVC_UPLOAD_MAX_BYTES", "-1", "not a whole number"),
    "an index that never waits": one("SVC_INDEX_DEBOUNCE_MS", "soon", "not a whole number"),
    # Ours
    "a home that is not absolute": one("SVC_HOME", "here", "is not an absolute path"),
    "a log of another form": one("SVC_LOG", "loud", "'loud' is not known"),
    "a drain of hours": one("SVC_DRAIN_SECONDS", "3600", "not a whole number from 0 to 120"),
    "a switch that is neither": one("SVC_OS_EXEC", "yes", "neither 0 nor 1"),
    "containers that are neither": one("SVC_CONTAINERS", "true", "neither 0 nor 1"),
    "an issuer without TLS": one("SVC_IDP_ISSUER", "http://idp.example", "would carry secrets unencrypted"),
    "a model vendor without TLS": one("SVC_LLM_A_URL", "http://llm.example", "would carry secrets unencrypted"),
    "a mail API that is no URL": one("SVC_MAIL_API_URL", "gmail", "not a plain http or https URL"),
    "two places for the key": one(
        "SVC_MASTER_KEY_FILE", "/key", "keyring keeps no file", SVC_MASTER_KEY_STORE="keyring"
    ),
    "another place for the key": one("SVC_MASTER_KEY_STORE", "vault", "'vault' is not known"),
    "a plugin that no registry has": one("SVC_PLUGINS", "a@1 github:b/c", "names no package of a registry"),
    "a plugin at an address": one("SVC_PLUGINS", "https://evil.example/a.tgz", "names no package of a registry"),
    "a plugin by a tag": one("SVC_PLUGINS", "a@latest", "is neither a version nor a range"),
    "a plugin twice": one("SVC_PLUGINS", "a@1, a@2", "a is named twice"),
    "a registry without TLS": one("SVC_PLUGINS_REGISTRY", "http://npm.example", "would carry secrets unencrypted"),
    # Secrets: told without their value
    "a claim token that can be guessed": one("SVC_CLAIM_TOKEN", "canary", "fewer than 8 characters"),
    "an internal token that can be guessed": one("SVC_INTERNAL_TOKEN", f"{SECRET} x", "too short"),
    "half an OAuth client": one("IDP_CLIENT_SECRET", SECRET, "is set without it", "IDP_CLIENT_ID"),
    "a third of a chat account": one("IM_B_API_HASH", SECRET, "is set without it", "IM_B_API_ID", "IM_B_SESSION"),
    "a secret said twice": one("STT_API_KEY", SECRET, "are both set", STT_API_KEY_FILE="/run/stt"),
    "a secret in no file": one("STT_API_KEY_FILE", "/no/such/file", "can't be read (No such file or directory)"),
    "a password in an address": one(
        "SVC_MAIL_API_URL", f"https://me:{SECRET}@mail.example", "not a plain http or https URL"
    ),
}


ASKED_BY_RULES: Final = {"SVC_PROFILE", "SVC_TRUST_PROXY", "PROVIDERS", "SVC_PORT"}
"""While one of these is at fault itself, the rules that ask for it have nothing to say about others."""


def faults_of(environ: dict[str, str]) -> list[ConfigFault]:
    with pytest.raises(ConfigError) as caught:
        read_config(all_settings(), {"HOME": "/home/mia", **environ}, all_rules())
    return caught.value.faults


@pytest.mark.parametrize("row", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_names_the_variable_the_reason_and_what_to_do(row: Refusal) -> None:
    faults = faults_of(row.environ)
    assert tuple(fault.name for fault in faults) == row.faults
    assert any(row.reason in fault.problem for fault in faults), faults
    assert all(fault.problem and fault.remedy for fault in faults)
    assert SECRET not in "".join(map(str, faults))


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("SVC_PUBLIC_ORIGIN", "mail.example.org", "write it as https://host[:port]"),
        ("SVC_WORKER_URL", ":port", "write it as http://127.0.0.1:<port> or :<port>"),
        ("SVC_MAIL_API_URL", "gmail", "write it as https://host[:port][/path]"),
    ],
)
def test_the_remedy_for_an_address_has_no_more_than_may_stand_there(name: str, value: str, remedy: str) -> None:
    (fault,) = faults_of({name: value})
    assert fault.remedy == remedy


def test_a_fault_of_a_value_that_may_be_seen_shows_it() -> None:
    for row in REFUSALS.values():
        for fault in faults_of(row.environ):
            value = row.environ.get(fault.name, "")
            if value and SECRET not in value and not re.search("secret|token", fault.name, re.IGNORECASE):
                assert value in str(fault) or fault.value == value, fault


def test_all_are_told_at_once_before_anything_is_opened(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    expected: set[str] = set()
    for row in REFUSALS.values():
        if len(row.environ) == 1 and not row.environ.keys() & (environ.keys() | ASKED_BY_RULES):
            environ |= row.environ
            expected |= set(row.faults)
    done = svc("serve", **environ)
    assert (done.returncode, done.stdout) == (78, "")
    told = {line.partition(": ")[0] for line in done.stderr.splitlines()}
    assert len(expected) > 15
    assert expected <= told
    assert all("; " in line for line in done.stderr.splitlines())
    assert SECRET not in done.stderr
    assert list(tmp_path.iterdir()) == []
