"""Secrets: encrypted, bound to their place, and never shown."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from svc.store import Keyring, Secrets, SecretUnreadable, Store, Tx, has_secrets

CANARY = b"canary-4f1c9a77-refresh-token"


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(Keyring.random())


def swap(tx: Tx, first: str, second: str, *, columns: str = "nonce, ciphertext, key_id, version") -> None:
    """What somebody with the disk in hand could do to two rows."""
    for column in columns.split(", "):
        a = tx.value(f"select {column} from secrets where name = :name", name=first)
        b = tx.value(f"select {column} from secrets where name = :name", name=second)
        tx.run(f"update secrets set {column} = :value where name = :name", value=b, name=first)
        tx.run(f"update secrets set {column} = :value where name = :name", value=a, name=second)


async def test_a_secret_comes_back_as_it_was_written(idle_store: Store, secrets: Secrets) -> None:
    for value in (b"", b"\x00\xff", CANARY, b"x" * 100_000):
        idle_store.write_now(secrets.write, "idp.oauth", value)
        assert idle_store.read_now(secrets.read, "idp.oauth") == value
    assert idle_store.read_now(secrets.read, "other") is None
    assert idle_store.read_now(secrets.names) == ["idp.oauth"]


async def test_no_file_of_the_database_holds_a_value_in_clear(idle_store: Store, secrets: Secrets, path: Path) -> None:
    idle_store.write_now(secrets.write, "idp.oauth", CANARY)
    files = [file.read_bytes() for file in path.parent.iterdir()]
    assert any(b"idp.oauth" in content for content in files)
    assert not any(CANARY in content for content in files)


async def test_swapped_rows_do_not_decrypt(idle_store: Store, secrets: Secrets) -> None:
    idle_store.write_now(secrets.write, "mine", b"mine")
    idle_store.write_now(secrets.write, "yours", b"yours")
    idle_store.write_now(swap, "mine", "yours")
    for name in ("mine", "yours"):
        with pytest.raises(SecretUnreadable, match=name):
            idle_store.read_now(secrets.read, name)


async def test_a_row_swapped_with_its_id_does_not_decrypt_under_another_name(
    idle_store: Store, secrets: Secrets
) -> None:
    def exchange_names(tx: Tx) -> None:
        for old, new in (("mine", "tmp"), ("yours", "mine"), ("tmp", "yours")):
            tx.run("update secrets set name = :new where name = :old", old=old, new=new)

    idle_store.write_now(secrets.write, "mine", b"mine")
    idle_store.write_now(secrets.write, "yours", b"yours")
    idle_store.write_now(exchange_names)
    with pytest.raises(SecretUnreadable):
        idle_store.read_now(secrets.read, "mine")


async def test_an_older_ciphertext_does_not_decrypt_under_the_newer_version(
    idle_store: Store, secrets: Secrets
) -> None:
    idle_store.write_now(secrets.write, "token", b"old")
    old = idle_store.read_now(lambda tx: tx.one("select nonce, ciphertext from secrets"))
    assert old is not None
    idle_store.write_now(secrets.write, "token", b"new")
    idle_store.write_now(lambda tx: tx.run("update secrets set nonce = :n, ciphertext = :c", n=old[0], c=old[1]))
    with pytest.raises(SecretUnreadable):
        idle_store.read_now(secrets.read, "token")


@pytest.mark.parametrize("column", ["nonce", "ciphertext"])
async def test_every_changed_byte_is_noticed(idle_store: Store, secrets: Secrets, column: str) -> None:
    idle_store.write_now(secrets.write, "token", b"value")
    stored = idle_store.read_now(lambda tx: tx.value(f"select {column} from secrets"))
    for index in range(len(stored)):
        changed = bytearray(stored)
        changed[index] ^= 1
        idle_store.write_now(lambda tx, value: tx.run(f"update secrets set {column} = :v", v=value), bytes(changed))
        with pytest.raises(SecretUnreadable):
            idle_store.read_now(secrets.read, "token")
    idle_store.write_now(lambda tx: tx.run(f"update secrets set {column} = x''"))
    with pytest.raises(SecretUnreadable):
        idle_store.read_now(secrets.read, "token")


async def test_a_value_never_shows_in_an_error_or_a_repr(idle_store: Store) -> None:
    keyring = Keyring.random()
    secrets = Secrets(keyring)
    idle_store.write_now(secrets.write, "token", CANARY)
    idle_store.write_now(lambda tx: tx.run("update secrets set version = 9"))
    with pytest.raises(SecretUnreadable) as caught:
        idle_store.read_now(secrets.read, "token")
    shown = "".join(traceback.format_exception(caught.value)) + repr(secrets) + repr(keyring) + repr(keyring.current)
    assert "token" in shown
    assert CANARY.decode() not in shown
    assert keyring.current.material.hex() not in shown
    assert repr(keyring.current.material)[2:-1] not in shown


async def test_seeding_never_overwrites(idle_store: Store, secrets: Secrets) -> None:
    assert idle_store.write_now(secrets.seed, "idp.oauth", b"from the environment")
    idle_store.write_now(secrets.write, "idp.oauth", b"rotated")
    assert not idle_store.write_now(secrets.seed, "idp.oauth", b"from the environment")
    assert idle_store.read_now(secrets.read, "idp.oauth") == b"rotated"


async def test_deleting_leaves_nothing(idle_store: Store, secrets: Secrets) -> None:
    assert not idle_store.read_now(has_secrets)
    idle_store.write_now(secrets.write, "token", b"value")
    assert idle_store.read_now(has_secrets)
    assert idle_store.write_now(secrets.delete, "token")
    assert not idle_store.write_now(secrets.delete, "token")
    assert idle_store.read_now(secrets.read, "token") is None


async def test_another_key_is_a_clear_error(idle_store: Store, secrets: Secrets) -> None:
    idle_store.write_now(secrets.write, "token", b"value")
    with pytest.raises(SecretUnreadable, match="not in the key file"):
        idle_store.read_now(Secrets(Keyring.random()).read, "token")


async def test_rotation_moves_every_secret_to_the_current_key(idle_store: Store) -> None:
    old, new = Keyring.random(), Keyring.random()
    for number in range(5):
        idle_store.write_now(Secrets(old).write, f"s{number}", b"%d" % number)
    both = Secrets(Keyring((new.current, old.current)))
    idle_store.write_now(both.write, "s0", b"0")
    assert idle_store.write_now(both.rotate) == 4
    assert idle_store.write_now(both.rotate) == 0
    for number in range(5):
        assert idle_store.read_now(Secrets(new).read, f"s{number}") == b"%d" % number
