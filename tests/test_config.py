"""Settings: read once, every fault together, secrets never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.app import all_rules, all_settings
from svc.config import REDACTED, SECRET_FILE_MAX_BYTES, AnySetting, ConfigError, read_config, unknown_names
from svc.control_plane.settings import SETTINGS as CONTROL_PLANE
from svc.mail.providers.gmail.settings import MAIL_API_URL, MAIL_QUOTA
from svc.settings import (
    HOME,
    HOST,
    IDP_CLIENT_SECRET,
    INTERNAL_PORT,
    PORT,
    PUBLIC_ORIGIN,
    WORKER_URL,
    canonical_origin,
    is_loopback,
    is_wildcard,
)


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


@pytest.mark.parametrize(
    ("environ", "port"),
    [({}, 4782), ({"SVC_PORT": "4999"}, 4782), ({"SVC_PORT": "0"}, 0), ({"SVC_INTERNAL_PORT": "1"}, 1)],
)
def test_the_internal_port_is_free_where_the_public_one_is(environ: dict[str, str], port: int) -> None:
    assert read(**environ)[INTERNAL_PORT] == port


def test_the_internal_port_is_not_the_public_one() -> None:
    assert faults_of(SVC_PORT="4782") == ["SVC_INTERNAL_PORT"]
    assert faults_of(SVC_PORT="4999", SVC_INTERNAL_PORT="4999") == ["SVC_INTERNAL_PORT"]


@pytest.mark.parametrize("url", [":4791", "http://127.0.0.1:4791", "http://localhost:4791/"])
def test_the_workers_address_is_loopbacks(url: str) -> None:
    assert read(SVC_WORKER_URL=url)[WORKER_URL] == "http://127.0.0.1:4791"


@pytest.mark.parametrize(
    "url", ["4791", "http://10.0.0.1:4791", "https://127.0.0.1:4791", "http://127.0.0.1", ":4791/x"]
)
def test_no_other_is_taken_for_the_workers(url: str) -> None:
    assert faults_of(SVC_WORKER_URL=url) == ["SVC_WORKER_URL"]


@pytest.mark.parametrize("token", ["short", "x" * 7, "x" * 20 + " " + "x" * 20, "ü" * 40])
def test_a_token_that_could_be_guessed_or_said_wrong_is_refused(token: str) -> None:
    assert faults_of(SVC_INTERNAL_TOKEN=token) == ["SVC_INTERNAL_TOKEN"]


def test_tokens_of_people_are_taken_from_eight_characters_on() -> None:
    """The contract bounds only the secret of an escrow credential."""
    eight = "ci-token"
    read(SVC_INTERNAL_TOKEN=eight, SVC_CLAIM_TOKEN=eight)


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


@pytest.mark.parametrize(
    "host", ["0", "0x0", "0.0", "00.0.0.0", "::ffff:0.0.0.0", "127.1", "127.0.0..1", "*", "a b", "[]"]
)
def test_no_other_spelling_of_a_wildcard_is_bound_and_no_slip_is_looked_up(host: str) -> None:
    assert faults_of(SVC_HOST=host) == ["SVC_HOST"]


@pytest.mark.parametrize("host", ["mia-laptop", "box.tailnet.example", "100.64.0.7", "fd7a::1", "fe80::1%eth0"])
def test_an_address_or_a_name_is_taken_as_it_is(host: str) -> None:
    config = read(SVC_HOST=host)
    assert (config[HOST], is_loopback(host), is_wildcard(host)) == (host, False, False)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "[::1]", "127.0.0.2"])
def test_a_loopback_bind_is_accepted(host: str) -> None:
    assert read(SVC_HOST=host)[HOST] == host.strip("[]")


def test_the_platforms_port_counts_in_a_cell_that_names_none_itself() -> None:
    cell = {"SVC_PROFILE": "cloud", "SVC_PUBLIC_ORIGIN": "https://a.example", "PROVIDERS": "fake", "PORT": "8080"}
    config = read(**cell)
    assert (config[PORT], config.source(PORT)) == (8080, "PORT")
    assert read(**cell, SVC_PORT="4999")[PORT] == 4999
    assert read(PORT="8080")[PORT] == 4780
    assert faults_of(**{**cell, "PORT": "http"}) == ["PORT"]


@pytest.mark.parametrize(
    ("host", "port", "origin"),
    [
        ("127.0.0.1", 4780, "http://127.0.0.1:4780"),
        ("127.0.0.1", 80, "http://127.0.0.1"),
        ("localhost", 4780, "http://127.0.0.1:4780"),
        ("127.0.0.2", 4780, "http://127.0.0.2:4780"),
        ("::1", 4780, "http://[::1]:4780"),
        ("192.0.2.7", 4780, "http://192.0.2.7:4780"),
    ],
)
def test_the_canonical_origin_is_where_it_listens(host: str, port: int, origin: str) -> None:
    assert canonical_origin(read(SVC_HOST=host), port=port) == origin


def test_a_public_origin_goes_before_what_is_bound() -> None:
    cell = read(SVC_PROFILE="cloud", SVC_PUBLIC_ORIGIN="https://a.example", PROVIDERS="fake", SVC_HOST="0.0.0.0")
    assert canonical_origin(cell, port=4780) == "https://a.example"


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


TEXT: Final = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"))
ALMOST: Final = ("http://[", "https://[::1", "ssh://[", "9" * 5_000, "https://\u2100.example", "x@[:1")
"""What the parsers of addresses and of numbers choke on."""


@given(setting=st.sampled_from([*all_settings(), *CONTROL_PLANE]), value=TEXT)
def test_whatever_a_variable_holds_is_taken_or_a_fault_of_that_variable(setting: AnySetting, value: str) -> None:
    for one in (value, *ALMOST):
        faults: list[str] = []
        try:
            read_config([setting], {"HOME": "/home/mia", setting.name: one})
        except ConfigError as error:
            faults = [fault.name for fault in error.faults]
        assert faults in ([], [setting.name])


def test_a_secret_that_another_variable_stands_in_for_is_not_told_either() -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(CONTROL_PLANE, {"DATABASE_URL": "host=db password=canary"})
    assert str(caught.value).startswith("DATABASE_URL: ")
    assert "canary" not in str(caught.value)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_no_value_of_a_number_is_taken_silently_for_another(value: str) -> None:
    faults: list[str] = []
    try:
        read_back = str(read(SVC_MAIL_QUOTA_PER_MINUTE=value)[MAIL_QUOTA])
    except ConfigError as error:
        read_back, faults = value.lstrip("0"), [fault.name for fault in error.faults]
    assert read_back == value.lstrip("0")
    assert faults in ([], ["SVC_MAIL_QUOTA_PER_MINUTE"])


# A secret in a file, as containers hand it over


def test_a_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    for content, secret in ((b"canary-1", "canary-1"), (b"canary-2\n", "canary-2"), (b"canary-3\r\n", "canary-3")):
        path.write_bytes(content)
        config = read(IDP_CLIENT_ID="x", IDP_CLIENT_SECRET_FILE=str(path))
        assert config[IDP_CLIENT_SECRET] == secret
        assert config.source(IDP_CLIENT_SECRET) == "IDP_CLIENT_SECRET_FILE"
        assert config.shown(IDP_CLIENT_SECRET) == REDACTED
        assert list(unknown_names(all_settings(), {"SVC_CLAIM_TOKEN_FILE": str(path)})) == []


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe", b"x" * (SECRET_FILE_MAX_BYTES + 1)])
def test_a_file_that_holds_no_secret_is_a_fault_of_its_variable(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    assert faults_of(IDP_CLIENT_ID="x", IDP_CLIENT_SECRET_FILE=str(path)) == ["IDP_CLIENT_SECRET_FILE"]


def test_a_secret_given_twice_is_a_fault_and_its_value_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(IDP_CLIENT_ID="x", IDP_CLIENT_SECRET="canary", IDP_CLIENT_SECRET_FILE=str(tmp_path / "secret"))
    (fault,) = caught.value.faults
    assert "both set" in str(fault)
    assert "canary" not in str(fault)


def test_what_is_no_secret_lies_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "port"
    path.write_text("4999")
    assert read(SVC_PORT_FILE=str(path))[PORT] == 4780
    assert [name for name, _ in unknown_names(all_settings(), {"SVC_PORT_FILE": str(path)})] == ["SVC_PORT_FILE"]
