"""What a start behind Hypercorn wants, and which faults of TLS it tells. What it serves is tried in a browser
(`tests/web/test_app_journey.py`) and beside our own connection (`tests/protocol/test_asgi.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from svc import preflight
from svc.app import all_rules, all_settings
from svc.config import Config, ConfigError, read_config
from svc.listening import Front
from svc.preflight import serve_rules
from svc.settings import canonical_origin
from tests.support.certificates import self_signed


def read(tmp_path: Path, front: Front, **settings: str) -> Config:
    environ = {"HOME": str(tmp_path), "SVC_PORT": "0", "PROVIDERS": "fake", **settings}
    return read_config(all_settings(), environ, (*all_rules(), *serve_rules("all", front)))


def faults(tmp_path: Path, front: Front, **settings: str) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, front, **settings)
    return [(fault.name, fault.problem) for fault in caught.value.faults]


def test_with_a_certificate_the_origin_is_https(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    config = read(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=pem, SVC_TLS_KEY_FILE=pem)
    assert canonical_origin(config, port=4780) == "https://127.0.0.1:4780"
    assert canonical_origin(config, port=443) == "https://127.0.0.1"
    plain = read(tmp_path, "hypercorn")
    assert canonical_origin(plain, port=443) == "http://127.0.0.1:443"
    assert canonical_origin(plain, port=80) == "http://127.0.0.1"


def test_our_own_front_says_that_it_speaks_no_tls(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    told = faults(tmp_path, "own", SVC_TLS_CERT_FILE=pem, SVC_TLS_KEY_FILE=pem)
    assert told == [("SVC_TLS_CERT_FILE", "our own front speaks no TLS")]


def test_a_certificate_and_its_key_come_together(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    assert faults(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=pem) == [("SVC_TLS_KEY_FILE", "the certificate has no key")]
    assert faults(tmp_path, "hypercorn", SVC_TLS_KEY_FILE=pem) == [("SVC_TLS_CERT_FILE", "the key has no certificate")]


def test_a_key_that_can_not_be_used_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, other = self_signed(tmp_path / "one", "localhost"), self_signed(tmp_path / "other", "localhost")
    locked = tmp_path / "locked.pem"
    key = serialization.load_pem_private_key(one.read_bytes(), password=None)
    secret = serialization.BestAvailableEncryption(b"a word")
    locked.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
    for wrong in (other, locked, tmp_path / "missing.pem"):
        ((name, problem),) = faults(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=str(one), SVC_TLS_KEY_FILE=str(wrong))
        assert name in {"SVC_TLS_CERT_FILE", "SVC_TLS_KEY_FILE"}
        assert problem


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "find_spec", lambda name: None)
    assert faults(tmp_path, "hypercorn") == [("--front", "Hypercorn is not installed")]
    read(tmp_path, "own")
