"""Where the tokens of grants are kept: behind one interface, under stable names, in the store's transactions."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from svc.clock import VirtualClock
from svc.connections import Credentials, KeptTokens, Tokens, credentials_of, keep_tokens
from svc.store import Store
from tests.connections.kept_in_memory import KeptInMemory
from tests.recorded_log import RecordedLog
from tests.support.service import Service, open_service

NAME = "idp.oauth.mia@example.org"


def tokens(access: str, *, granted_at: int | None) -> Tokens:
    return Tokens(
        access_token=access, refresh_token="r", expires_at=5, scopes=frozenset({"b", "a"}), granted_at=granted_at
    )


@pytest.fixture(params=["database", "memory"])
def places(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def place(named: str, service: Service) -> tuple[Store, Credentials]:
    workspace = service.workspace
    return workspace.store, credentials_of(workspace) if named == "database" else KeptInMemory()


async def test_what_is_kept_of_a_grant_is_what_is_read_again_wherever_secrets_lie(
    service: Service, places: str
) -> None:
    store, credentials = await place(places, service)
    await store.write(keep_tokens, credentials, name=NAME, tokens=tokens("one", granted_at=7))
    assert await KeptTokens(store=store, credentials=credentials, name=NAME).load() == tokens("one", granted_at=7)


async def test_a_renewal_is_kept_only_for_the_grant_it_is_of(service: Service, places: str) -> None:
    store, credentials = await place(places, service)
    kept = KeptTokens(store=store, credentials=credentials, name=NAME)
    await kept.save(tokens("of a grant that was let go of", granted_at=7))
    assert await kept.load() is None
    await store.write(keep_tokens, credentials, name=NAME, tokens=tokens("new", granted_at=8))
    await kept.save(tokens("of the grant before", granted_at=7))
    assert await kept.load() == tokens("new", granted_at=8)
    await kept.save(tokens("newer", granted_at=8))
    assert await kept.load() == tokens("newer", granted_at=8)
    assert await store.write(credentials.remove, NAME)
    assert not await store.write(credentials.remove, NAME)
    assert await kept.load() is None


async def test_a_grant_that_an_older_version_kept_is_read(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    old = {"access_token": "a", "refresh_token": "r", "expires_at": 5, "scopes": ["a", "b"]}
    async with open_service(tmp_path, clock=wall, log=log) as service:
        secrets, store = service.secrets, service.workspace.store
        await store.write(secrets.write, NAME, msgspec.json.encode(old))
    async with open_service(tmp_path, clock=wall, log=log) as service:
        credentials = credentials_of(service.workspace)
        kept = KeptTokens(store=service.workspace.store, credentials=credentials, name=NAME)
        assert await kept.load() == tokens("a", granted_at=None)
