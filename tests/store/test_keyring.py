"""The master key: private, outside the home, and never silently replaced."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from svc.store import KeyRefused, master_key_path, open_keyring


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "config" / "svc" / "keys" / "home_1"


def test_the_first_boot_makes_a_private_key_and_later_ones_read_it(key: Path, home: Path) -> None:
    made = open_keyring(key, home=home, may_create=True)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert open_keyring(key, home=home, may_create=False) == made
    assert open_keyring(key, home=home, may_create=True) == made
    assert list(key.parent.iterdir()) == [key]


def test_a_missing_key_is_never_replaced_once_there_are_secrets(key: Path, home: Path) -> None:
    with pytest.raises(KeyRefused, match=f"{key} is missing"):
        open_keyring(key, home=home, may_create=False)
    assert not key.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o660, 0o601])
def test_a_key_others_may_touch_is_refused(key: Path, home: Path, mode: int) -> None:
    open_keyring(key, home=home, may_create=True)
    key.chmod(mode)
    with pytest.raises(KeyRefused, match="chmod 600"):
        open_keyring(key, home=home, may_create=True)


@pytest.mark.parametrize("content", [b"", b"\n", b"abc\n", b"g" * 64, b"a" * 63, b"a" * 65, b"\xff" * 64, b"a" * 9999])
def test_a_damaged_key_is_refused_and_left_alone(key: Path, home: Path, content: bytes) -> None:
    key.parent.mkdir(parents=True)
    key.write_bytes(content)
    key.chmod(0o600)
    with pytest.raises(KeyRefused, match="damaged"):
        open_keyring(key, home=home, may_create=True)
    assert key.read_bytes() == content


def test_a_key_inside_the_home_is_refused_also_through_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(home)
    for path in (home / "key", tmp_path / "alias" / "key"):
        with pytest.raises(KeyRefused, match="lies in the home"):
            open_keyring(path, home=home, may_create=True)
    assert list(home.iterdir()) == []


def test_a_directory_or_an_unreachable_path_is_a_clear_refusal(key: Path, home: Path, tmp_path: Path) -> None:
    key.mkdir(parents=True)
    with pytest.raises(KeyRefused):
        open_keyring(key, home=home, may_create=True)
    (tmp_path / "file").touch()
    with pytest.raises(KeyRefused):
        open_keyring(tmp_path / "file" / "key", home=home, may_create=True)


def test_the_first_line_is_current_and_the_others_still_decrypt(key: Path, home: Path) -> None:
    old = open_keyring(key, home=home, may_create=True).current
    key.write_text("ab" * 32 + "\n" + key.read_text())
    keyring = open_keyring(key, home=home, may_create=False)
    assert keyring.current.material == b"\xab" * 32
    assert keyring.find(old.id) == old
    assert keyring.find("key_unknown") is None


def test_the_path_follows_the_setting_then_the_configuration_directory(tmp_path: Path) -> None:
    explicit = tmp_path / "key"
    environ = {"XDG_CONFIG_HOME": "/etc/me"}
    assert master_key_path(explicit, home_id="home_1", environ=environ) == explicit
    assert master_key_path(None, home_id="home_1", environ=environ) == Path("/etc/me/svc/keys/home_1")
    for unusable in ({}, {"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "relative"}):
        path = master_key_path(None, home_id="home_1", environ={"HOME": "/home/ann", **unusable})
        assert path == Path("/home/ann/.config/svc/keys/home_1")
