"""Ids that are derived from a name never change: links, files and other homes contain them."""

from __future__ import annotations

import hashlib
import re

from svc.ids import derived_id, new_id

ALPHABET = "0123456789abcdefghijkmnpqrstuvwxyz"


def spelled(number: int) -> str:
    """Twenty digits to the base of the alphabet, the lowest first."""
    return "".join(ALPHABET[number // len(ALPHABET) ** place % len(ALPHABET)] for place in range(20))


def test_a_derived_id_is_the_one_it_always_was() -> None:
    assert derived_id("msg", "a", "b") == "msg_eze098s3gaj7vszu93rm"


def test_a_derived_id_spells_the_hash_of_what_it_names() -> None:
    for number in range(500):
        digest = hashlib.sha256(f"acc\0{number}".encode()).digest()
        assert derived_id("thr", "acc", str(number)) == f"thr_{spelled(int.from_bytes(digest, 'big'))}"


def test_a_new_id_is_another_one_each_time() -> None:
    found = {new_id("acc") for _ in range(100)}
    assert len(found) == 100
    assert all(re.fullmatch(f"acc_[{ALPHABET}]{{20}}", one) for one in found)
