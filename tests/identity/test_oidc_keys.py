"""How long a provider's keys are valid, and how often they are fetched: exactly at each limit."""

from __future__ import annotations

import pytest
import trio

from svc.identity.discovery import ProviderAway
from svc.identity.oidc_keys import KEYS_LIFETIME_S, MAX_KEYS, REFETCH_PAUSE_S, KeyCache
from tests.identity.scripted_provider import ISSUER, ScriptedProvider, key, public
from tests.mail.scripted_http import ScriptedHttp, answer

URL = f"{ISSUER}/keys"


async def finds(keys: KeyCache, kid: str | None, *, url: str = URL, algorithm: str = "RS256") -> bool:
    return await keys.find(url, kid=kid, algorithm=algorithm) is not None


async def test_keys_count_for_an_hour_and_not_a_second_more(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    assert await finds(keys, "one")
    await trio.sleep(KEYS_LIFETIME_S - 1)
    assert await finds(keys, "one")
    assert idp.asked_for("/keys") == 1
    await trio.sleep(1)
    assert await finds(keys, "one")
    assert idp.asked_for("/keys") == 2


async def test_an_unknown_name_asks_again_after_a_minute_and_not_before(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    assert not await finds(keys, "two")
    idp.keys = [key("two")]
    await trio.sleep(REFETCH_PAUSE_S - 1)
    assert not await finds(keys, "two")
    assert idp.asked_for("/keys") == 1
    await trio.sleep(1)
    assert await finds(keys, "two")
    assert not await finds(keys, "one")
    assert idp.asked_for("/keys") == 2


async def test_a_provider_that_was_away_is_left_alone_for_a_minute_while_old_keys_count(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    assert await finds(keys, "one")
    await trio.sleep(REFETCH_PAUSE_S)
    idp.away = True
    with pytest.raises(ProviderAway):
        await finds(keys, "two")
    assert not await finds(keys, "two")
    assert await finds(keys, "one")
    assert idp.asked_for("/keys") == 2


async def test_without_any_key_that_counts_the_provider_is_asked_each_time(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    idp.away = True
    for _ in range(2):
        with pytest.raises(ProviderAway):
            await finds(keys, "one")
    idp.away = False
    assert await finds(keys, "one")


async def test_another_providers_keys_are_its_own(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    assert await finds(keys, "one")
    http = ScriptedHttp(otherwise=answer(public(key("two"))))
    keys.http = http
    assert not await finds(keys, "one", url="https://other.example/keys")
    assert await finds(keys, "two", url="https://other.example/keys")
    assert len(http.asked) == 1


async def test_a_flood_of_keys_is_cut_off() -> None:
    many = [{**published, "kid": f"k{number}"} for number in range(MAX_KEYS + 1) for published in _published()]
    keys = KeyCache(http=ScriptedHttp(otherwise=answer({"keys": many})))
    assert await finds(keys, f"k{MAX_KEYS - 1}")
    assert not await finds(keys, f"k{MAX_KEYS}")


async def test_a_key_is_found_by_name_and_by_what_it_can_sign(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    assert await finds(keys, None)
    assert not await finds(keys, "one", algorithm="ES256")
    idp.keys = [key("one"), key("two")]
    await trio.sleep(KEYS_LIFETIME_S)
    assert not await finds(keys, None)  # which of them?
    assert await finds(keys, "two")


def _published() -> list[dict[str, object]]:
    published = public(key("one"))["keys"]
    assert isinstance(published, list)
    return published
