"""npm's choice is fetched only if every package is from the registry and has its SHA-512."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from svc.plugins.locking import BadLock, check_lock

REGISTRY = "https://registry.example/npm"
GOOD = {
    "version": "1.0.0",
    "resolved": "https://registry.example/npm/a/-/a-1.0.0.tgz",
    "integrity": "sha512-" + base64.b64encode(bytes(64)).decode(),
}


def lock(place: str = "node_modules/a", *, version: int = 3, **changed: Any) -> bytes:
    row = {key: value for key, value in {**GOOD, **changed}.items() if value is not None}
    return json.dumps({"lockfileVersion": version, "packages": {"": {"dependencies": {}}, place: row}}).encode()


def test_a_good_lock_tells_the_versions() -> None:
    assert check_lock(lock(), registry=REGISTRY) == {"a": "1.0.0"}
    nested = check_lock(lock("node_modules/a/node_modules/@team/b"), registry=REGISTRY)
    assert nested == {"a/node_modules/@team/b": "1.0.0"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not understood"),
        (b"[]", "not understood"),
        (b"[" * 100_000, "not understood"),
        (b'{"lockfileVersion": 3, "packages": {"node_modules/a": 5}}', "not understood"),
        (lock(version=1), "of version 1"),
        (lock(resolved="git+ssh://git@evil.example/a.git#1"), "does not come from the registry"),
        (lock(resolved="https://registry.example.evil/a.tgz"), "does not come from the registry"),
        (lock(resolved="https://evil@registry.example/a.tgz"), "does not come from the registry"),
        (lock(resolved="http://registry.example/a.tgz"), "does not come from the registry"),
        (lock(resolved="file:../a.tgz"), "does not come from the registry"),
        (lock(resolved="https://[a"), "does not come from the registry"),
        (lock(resolved=None), "does not come from the registry"),
        (lock(link=True), "does not come from the registry"),
        (lock(integrity=None), "no SHA-512"),
        (lock(integrity="sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="), "no SHA-512"),
        (lock(integrity="sha512-AAAA"), "no SHA-512"),
        (lock(integrity="sha512-"), "no SHA-512"),
        (lock("../../evil"), "no place for a package"),
        (lock("node_modules/../../evil"), "no place for a package"),
        (lock("node_modules/a/b"), "no place for a package"),
    ],
)
def test_anything_else_is_not_fetched(data: bytes, words: str) -> None:
    with pytest.raises(BadLock, match=words):
        check_lock(data, registry=REGISTRY)


def test_too_many_packages_are_not_fetched() -> None:
    packages = {f"node_modules/p{number}": GOOD for number in range(501)}
    with pytest.raises(BadLock, match="more than 500 packages"):
        check_lock(json.dumps({"lockfileVersion": 3, "packages": packages}).encode(), registry=REGISTRY)
