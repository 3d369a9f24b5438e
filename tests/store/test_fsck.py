"""The check of all invariants finds what is wrong, names it, and stays silent about what is right."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.store import Blobs, Invariant, Keyring, ReadTx, Secrets, Store, Tx, run_fsck

BODY = b"a body"
DIGEST = hashlib.sha256(BODY).hexdigest()


def notes_are_short(tx: ReadTx) -> Iterator[str]:
    for (number,) in tx.each("select id from notes where length(text) > 100 order by id"):
        yield f"note {number} is too long"


INVARIANTS = (
    Invariant(name="notes", check=notes_are_short),
    Invariant(name="bodies", check=lambda tx: [text for (text,) in tx.all("select text from notes")], yields="blobs"),
)


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(Keyring.random())


@pytest.fixture
async def sound(idle_store: Store, blobs: Blobs, secrets: Secrets) -> Store:
    def fill(tx: Tx) -> None:
        tx.run("insert into notes (text) values (:digest)", digest=DIGEST)
        tx.run("insert into replies (note) values (1)")
        tx.emit(topic="notes", kind="note.changed", id="1", audience=None)
        tx.record(type="note-written", payload={}, audience=None, device_id="dev_1")
        secrets.write(tx, "token", b"value")

    await blobs.put(BODY)
    idle_store.write_now(fill)
    return idle_store


def problems(store: Store, blobs: Blobs, secrets: Secrets | None, *, deep: bool = True) -> list[str]:
    return store.read_now(run_fsck, invariants=INVARIANTS, blobs=blobs, secrets=secrets, deep=deep)


async def test_a_sound_home_has_no_problems(sound: Store, blobs: Blobs, secrets: Secrets) -> None:
    assert problems(sound, blobs, secrets) == []
    assert problems(sound, blobs, None, deep=False) == []


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("insert into notes (text) values (printf('%0120d', 1))", "notes: note 2 is too long"),
        ("update secrets set version = 7", "secrets: the secret 'token' can't be decrypted"),
        ("update outbox set payload = '{'", "outbox: the payload of row 1 is not JSON"),
        ("update sqlite_sequence set seq = 0 where name = 'outbox'", "outbox: row 1 is beyond the newest"),
        (
            "insert into outbox (seq, at, topic, kind, ref, payload) values (9, 0, 't', 'k', 'r', '{}')",
            "outbox: rows are missing between 1 and 9",
        ),
        ("update events set payload = 'x'", "events: the payload of record 1 is not JSON"),
        ("update notes set text = printf('%064d', 0)", f"bodies: the blob {'0' * 64} is missing"),
    ],
)
async def test_each_damage_is_named(sound: Store, blobs: Blobs, secrets: Secrets, damage: str, complaint: str) -> None:
    sound.write_now(lambda tx: tx.run(damage))
    assert any(problem.startswith(complaint) for problem in problems(sound, blobs, secrets))


async def test_a_row_without_its_parent_is_named(sound: Store, blobs: Blobs, secrets: Secrets) -> None:
    sound.close_now()
    connection = sqlite3.connect(sound.path)
    connection.execute("delete from notes")
    connection.commit()
    connection.close()
    assert problems(sound, blobs, secrets) == ["foreign keys: row 1 of replies points to no row of notes"]


async def test_a_damaged_blob_is_found_by_the_deep_check(
    sound: Store, blobs: Blobs, secrets: Secrets, tmp_path: Path
) -> None:
    (tmp_path / "blobs" / DIGEST[:2] / DIGEST).write_bytes(b"a bodY")
    assert problems(sound, blobs, secrets, deep=False) == []
    assert problems(sound, blobs, secrets) == [f"bodies: the blob {DIGEST} is damaged"]


async def test_a_secret_under_a_lost_key_is_named_without_its_value(sound: Store, blobs: Blobs) -> None:
    (problem,) = problems(sound, blobs, Secrets(Keyring.random()))
    assert "token" in problem
    assert "value" not in problem


async def test_an_invariant_that_cannot_be_checked_is_a_problem_itself(sound: Store, blobs: Blobs) -> None:
    broken = Invariant(name="broken", check=lambda tx: tx.all("select text from nowhere"))  # type: ignore[arg-type, return-value]
    found = sound.read_now(run_fsck, invariants=[broken], blobs=blobs, secrets=None)
    assert found == ["broken: can't be checked: no such table: nowhere"]


async def test_a_flood_of_problems_is_cut(sound: Store, blobs: Blobs) -> None:
    many = Invariant(name="many", check=lambda tx: (f"{number}" for number in range(10**6)))
    assert len(sound.read_now(run_fsck, invariants=[many], blobs=blobs, secrets=None)) == 100
