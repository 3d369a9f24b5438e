"""Settings: read once, every fault together, secrets never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.app import all_rules, all_settings
from svc.config import REDACTED, ConfigError, read_config
from svc.mail.settings import MAIL_API_URL, MAIL_QUOTA
from svc.settings import HOME, HOST, IDP_CLIENT_SECRET, PORT, PUBLIC_ORIGIN


def read(**environ: str):  # type: ignore[no-untyped-def]
    return read_config(all_settings(), {"HOME": "/home/mia", **environ}, all_rules())


def faults_of(**environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(**environ)
    return [fault.name for fault in caught.value.faults]


def test_an_empty_environment_is_a_laptop() -> None:
    config = read()
    assert config[HOME] == Path("/home/mia/Svc")
    assert (config[HOST], config[PORT]) == ("127.0.0.1", 4780)
    assert config[MAIL_API_URL] == "https://gmail.googleapis.com"


def test_an_empty_variable_counts_as_unset() -> None:
    assert read(SVC_PORT="")[PORT] == 4780


def test_every_fault_of_a_boot_is_reported_together() -> None:
    assert faults_of(SVC_PORT="http", SVC_HOME="relative", PROVIDERS="real", SVC_IDP_ISSUER="not a url") == [
        "SVC_HOME",
        "SVC_PORT",
        "PROVIDERS",
        "SVC_IDP_ISSUER",
    ]


def test_an_unreadable_value_hides_no_fault_that_lies_between_other_values() -> None:
    assert faults_of(SVC_PORT="http", SVC_HOST="0.0.0.0", SVC_AUTH="off", IDP_CLIENT_ID="id") == [
        "SVC_PORT",
        "SVC_HOST",
        "IDP_CLIENT_SECRET",
        "SVC_AUTH",
    ]
    assert faults_of(PROVIDERS="real", SVC_SEED="mock-world") == ["PROVIDERS"]


def test_a_fault_names_the_variable_what_is_wrong_and_what_to_do() -> None:
    with pytest.raises(ConfigError) as caught:
        read(SVC_PORT="99999")
    assert str(caught.value) == "SVC_PORT: '99999' is not a whole number from 0 to 65535; give one"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]"])
def test_a_wildcard_bind_is_refused_outside_the_cloud_profile(host: str) -> None:
    assert faults_of(SVC_HOST=host) == ["SVC_HOST"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "[::1]", "127.0.0.2"])
def test_a_loopback_bind_is_accepted(host: str) -> None:
    assert read(SVC_HOST=host)[HOST] == host.strip("[]")


def test_the_mock_world_needs_the_fake_providers() -> None:
    assert faults_of(SVC_SEED="mock-world") == ["SVC_SEED"]
    read(SVC_SEED="mock-world", PROVIDERS="fake")


def test_half_an_oauth_client_is_refused_by_the_name_of_the_missing_half() -> None:
    assert faults_of(IDP_CLIENT_ID="id") == ["IDP_CLIENT_SECRET"]
    assert faults_of(IDP_CLIENT_SECRET="s") == ["IDP_CLIENT_ID"]


def test_a_secret_is_never_shown() -> None:
    config = read(IDP_CLIENT_ID="id", IDP_CLIENT_SECRET="canary-7f3")
    assert config.shown(IDP_CLIENT_SECRET) == REDACTED
    assert config.source(IDP_CLIENT_SECRET) == "environment"
    assert "canary-7f3" not in repr(config)


@pytest.mark.parametrize(
    "url",
    ["http://example.org", "ftp://localhost", "https://", "https://a@b.org", "https://b.org?q", "https://b.org:x"],
)
def test_an_endpoint_that_would_leak_secrets_or_is_no_url_is_refused(url: str) -> None:
    assert faults_of(SVC_MAIL_API_URL=url) == ["SVC_MAIL_API_URL"]


def test_a_public_origin_has_no_path() -> None:
    assert read(SVC_PUBLIC_ORIGIN="https://Mail.Example.org")[PUBLIC_ORIGIN] == "https://mail.example.org"
    assert faults_of(SVC_PUBLIC_ORIGIN="https://example.org/svc") == ["SVC_PUBLIC_ORIGIN"]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_no_value_of_a_number_is_taken_silently_for_another(value: str) -> None:
    faults: list[str] = []
    try:
        read_back = str(read(SVC_MAIL_QUOTA_PER_MINUTE=value)[MAIL_QUOTA])
    except ConfigError as error:
        read_back, faults = value.lstrip("0"), [fault.name for fault in error.faults]
    assert read_back == value.lstrip("0")
    assert faults in ([], ["SVC_MAIL_QUOTA_PER_MINUTE"])
