"""``svc secrets``: what it lists, and a new master key that loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svc.clock import VirtualClock
from svc.store import KeyRefused, Keyring, OsKeyring
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service
from tests.test_cli import svc

NAMES = ("llm.a", "llm.b", "stt")


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "SVC_HOME": str(tmp_path / "home"),
        "SVC_MASTER_KEY_FILE": str(tmp_path / "key"),
        "PROVIDERS": "fake",
    }


def keys(tmp_path: Path) -> Keyring:
    found = Keyring.from_text((tmp_path / "key").read_text())
    assert found is not None
    return found


async def values(service: Service) -> list[bytes | None]:
    return [await service.workspace.store.read(service.secrets.read, name) for name in NAMES]


@pytest.mark.thorough
async def test_a_rotation_puts_every_secret_under_a_new_key_and_loses_none(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, settings: dict[str, str]
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        for name in NAMES:
            await service.mutate("capabilities.set", name=name, value=f"canary of {name}")
        before = await values(service)
    first = keys(tmp_path)

    listed = svc("secrets", "list", "--json", **settings)
    assert [row["name"] for row in json.loads(listed.stdout)] == list(NAMES)
    assert "canary" not in listed.stdout

    done = svc("secrets", "rotate", **settings)
    assert (done.returncode, done.stdout) == (0, "3 secrets are under the new master key\n"), done.stderr
    both = keys(tmp_path)
    assert both.keys[1:] == first.keys
    assert both.current != first.current
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600

    done = svc("secrets", "rotate", "--forget-old", **settings)
    assert done.returncode == 0, done.stderr
    assert len(keys(tmp_path).keys) == 1
    assert keys(tmp_path).current not in both.keys
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        assert await values(service) == before


@pytest.mark.thorough
async def test_a_rotation_that_was_cut_goes_on_with_the_key_it_made(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, settings: dict[str, str]
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        await service.mutate("capabilities.set", name="stt", value="value")
    (tmp_path / "key").write_text(keys(tmp_path).renewed().as_text())
    made = keys(tmp_path)
    done = svc("secrets", "rotate", **settings)
    assert done.returncode == 0, done.stderr
    assert keys(tmp_path) == made


@pytest.mark.thorough
async def test_where_a_key_is_lost_nothing_is_forgotten(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, settings: dict[str, str]
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        await service.mutate("capabilities.set", name="stt", value="value")
    lost = keys(tmp_path)
    (tmp_path / "key").write_text(Keyring.random().as_text())
    done = svc("secrets", "rotate", "--forget-old", **settings)
    assert done.returncode == 1
    assert "1 secrets can't be decrypted" in done.stderr
    (tmp_path / "key").write_text(lost.as_text())
    async with open_service(tmp_path, clock=wall, log=log, environ=settings) as service:
        assert await service.workspace.store.read(service.secrets.read, "stt") == b"value"


# The keyring of the system


class System:
    """The ``keyring`` library's two calls, in memory. ``forgets``: it takes a password and keeps none."""

    class errors:  # noqa: N801  as the library names it
        class KeyringError(Exception):
            pass

    def __init__(self, *, locked: bool = False, forgets: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked, self.forgets = locked, forgets

    def get_password(self, service: str, name: str) -> str | None:
        if self.locked:
            raise self.errors.KeyringError("locked")
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, password: str) -> None:
        if not self.forgets:
            self.kept[service, name] = password


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    system = System()
    monkeypatch.setattr("svc.store.os_keyring._library", lambda: system)
    return system


def test_the_systems_keyring_keeps_the_key_of_each_home(system: System) -> None:
    mine, yours = OsKeyring(home_id="home_1"), OsKeyring(home_id="home_2")
    made = mine.load(may_create=True)
    assert mine.load(may_create=False) == made
    assert yours.load(may_create=True) != made
    mine.replace(made.renewed())
    assert mine.load(may_create=False).keys[1:] == made.keys


def test_a_keyring_without_the_key_of_a_home_with_secrets_is_refused(system: System) -> None:
    with pytest.raises(KeyRefused, match="no entry"):
        OsKeyring(home_id="home_1").load(may_create=False)
    assert system.kept == {}


def test_a_damaged_locked_or_forgetful_keyring_is_refused_in_words(system: System) -> None:
    keys = OsKeyring(home_id="home_1")
    system.kept["svc master key", "home_1"] = "nonsense"
    with pytest.raises(KeyRefused, match="damaged"):
        keys.load(may_create=True)
    system.kept.clear()
    system.forgets = True
    with pytest.raises(KeyRefused, match="did not keep"):
        keys.load(may_create=True)
    system.locked = True
    with pytest.raises(KeyRefused, match="locked; unlock it"):
        keys.load(may_create=True)


def test_without_the_library_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    with pytest.raises(KeyRefused, match=r"install svc\[keyring\]"):
        OsKeyring(home_id="home_1").load(may_create=True)
