"""Secrets: encrypted, bound to their place, and never shown."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from svc.store import Keyring, Secrets, SecretUnreadable, Store, Tx, has_secrets

CANARY = b"canary-4f1c9a77-refresh-token"


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(Keyring.random())


def swap(tx: Tx, first: str, second: str, *, columns: str = "nonce, ciphertext, key_id, wrapped_key, version") -> None:
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


async def test_a_version_only_grows(idle_store: Store, secrets: Secrets) -> None:
    versions = []
    for value in (b"one", b"two", b"three"):
        idle_store.write_now(secrets.write, "token", value)
        versions.append(idle_store.read_now(lambda tx: tx.value("select version from secrets")))
    assert versions == [1, 2, 3]


@pytest.mark.parametrize("column", ["nonce", "ciphertext", "wrapped_key"])
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
    old = Keyring.random()
    for number in range(5):
        idle_store.write_now(Secrets(old).write, f"s{number}", b"%d" % number)
    both = Secrets(old.renewed())
    idle_store.write_now(both.write, "s0", b"0")
    assert idle_store.read_now(both.outdated) == 4
    first = idle_store.write_now(both.rewrap, limit=3)  # and here the power fails
    assert first == ["s1", "s2", "s3"]
    assert idle_store.write_now(both.rewrap, limit=3) == ["s4"]
    assert idle_store.write_now(both.rewrap, limit=3) == []
    assert idle_store.read_now(both.outdated) == 0
    for number in range(5):
        assert idle_store.read_now(both.read, f"s{number}") == b"%d" % number
        with pytest.raises(SecretUnreadable):
            idle_store.read_now(Secrets(old).read, f"s{number}")


async def test_rotation_touches_no_value_and_no_version(idle_store: Store) -> None:
    old = Keyring.random()
    idle_store.write_now(Secrets(old).write, "token", b"value")
    columns = "nonce, ciphertext, version, updated_at"
    before = idle_store.read_now(lambda tx: tx.one(f"select {columns} from secrets"))
    idle_store.write_now(Secrets(old.renewed()).rewrap, limit=9)
    assert idle_store.read_now(lambda tx: tx.one(f"select {columns} from secrets")) == before


async def test_a_secret_whose_key_is_lost_stays_and_holds_up_no_other(idle_store: Store) -> None:
    lost, old = Keyring.random(), Keyring.random()
    idle_store.write_now(Secrets(lost).write, "a-lost", b"1")
    idle_store.write_now(Secrets(old).write, "b-kept", b"2")
    new = Secrets(old.renewed())
    assert idle_store.write_now(new.rewrap, limit=1) == ["a-lost"]
    assert idle_store.write_now(new.rewrap, after="a-lost", limit=1) == ["b-kept"]
    assert idle_store.write_now(new.rewrap, after="b-kept", limit=1) == []
    assert idle_store.read_now(Secrets(lost).read, "a-lost") == b"1"
    assert idle_store.read_now(new.read, "b-kept") == b"2"


async def test_a_secret_of_an_older_version_is_read_and_brought_into_an_envelope(idle_store: Store) -> None:
    keyring = Keyring.random()
    secrets = Secrets(keyring)
    nonce, place = b"n" * 12, b'["token","sec_1",3]'
    sealed = AESGCM(keyring.current.material).encrypt(nonce, b"value", place)
    idle_store.write_now(
        lambda tx: tx.run(
            """
            insert into secrets (name, id, version, nonce, ciphertext, key_id, updated_at)
            values ('token', 'sec_1', 3, :nonce, :sealed, :key_id, 5)
            """,
            nonce=nonce,
            sealed=sealed,
            key_id=keyring.current.id,
        )
    )
    assert idle_store.read_now(secrets.read, "token") == b"value"
    assert idle_store.read_now(secrets.outdated) == 1
    assert idle_store.write_now(secrets.rewrap, limit=9) == ["token"]
    assert idle_store.read_now(secrets.outdated) == 0
    assert idle_store.read_now(secrets.read, "token") == b"value"
    (row,) = idle_store.read_now(secrets.rows)
    assert (row.version, row.updated_at) == (3, 5)
    assert idle_store.read_now(lambda tx: tx.value("select ciphertext from secrets")) != sealed


async def test_two_secrets_of_one_value_share_nothing(idle_store: Store, secrets: Secrets) -> None:
    for name in ("one", "two"):
        idle_store.write_now(secrets.write, name, CANARY)
    rows = idle_store.read_now(lambda tx: tx.all("select nonce, ciphertext, wrapped_key from secrets"))
    assert len({part for row in rows for part in row}) == 6


async def test_who_gave_a_value_is_remembered(idle_store: Store, secrets: Secrets) -> None:
    idle_store.write_now(secrets.seed, "seeded", b"1")
    idle_store.write_now(secrets.write, "typed", b"1", source="user")
    idle_store.write_now(secrets.write, "connected", b"1")
    assert {row.name: row.source for row in idle_store.read_now(secrets.rows)} == {
        "seeded": "seed",
        "typed": "user",
        "connected": "oauth",
    }
    idle_store.write_now(secrets.write, "seeded", b"2", source="user")
    assert {row.name: (row.source, row.version) for row in idle_store.read_now(secrets.rows)}["seeded"] == ("user", 2)
