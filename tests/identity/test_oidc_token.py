"""An ID token counts only when everything about it is right."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable

import pytest
import trio
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwk

from svc.clock import VirtualClock
from svc.identity.discovery import OpenIdProvider, ProviderAway
from svc.identity.oidc_keys import KEYS_LIFETIME_S, REFETCH_PAUSE_S, KeyCache
from svc.identity.oidc_refusal import Claims, SignInRefused
from svc.identity.oidc_token import verified_claims
from svc.identity.roca import has_roca_mark
from tests.identity.scripted_provider import (
    ABSENT,
    CLIENT_ID,
    ISSUER,
    ScriptedProvider,
    handmade,
    hs256_with_public_key,
    key,
    public,
    signed,
)
from tests.mail.scripted_http import ScriptedHttp, answer, no_answer

NONCE = "n-0"
PROVIDER = OpenIdProvider(
    issuer=ISSUER,
    authorization=f"{ISSUER}/auth",
    token=f"{ISSUER}/token",
    keys=f"{ISSUER}/keys",
    signing_algorithms=("RS256", "PS256", "ES256", "EdDSA", "HS256", "none"),
)


async def checked(
    token: str, idp: ScriptedProvider, *, keys: KeyCache | None = None, provider: OpenIdProvider = PROVIDER
) -> Claims:
    return await verified_claims(
        token,
        provider=provider,
        keys=keys or KeyCache(http=idp),
        client_id=CLIENT_ID,
        nonce=NONCE,
        now=idp.clock.now(),
    )


async def cause_of(token: str, idp: ScriptedProvider, *, keys: KeyCache | None = None) -> str:
    with pytest.raises(SignInRefused) as refused:
        await checked(token, idp, keys=keys)
    assert "Sign in again" in refused.value.detail
    return refused.value.cause


# What is believed


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_token_in_each_pinned_algorithm_is_believed(idp: ScriptedProvider, algorithm: str) -> None:
    idp.keys = [key("other"), key(f"mine-{algorithm}", algorithm)]
    claims = await checked(signed(idp.said(nonce=NONCE), idp.keys[1], alg=algorithm), idp)
    assert claims == Claims(subject="sub-1", email="mia@example.org", email_verified=True, name="Mia")


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": [CLIENT_ID]},
        {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID},
        {"azp": CLIENT_ID},
        {"nbf": 1},
        {"groups": ["x" * 50] * 1_000},
        {"email": ABSENT, "email_verified": ABSENT, "name": ABSENT},
    ],
)
async def test_what_the_standard_allows_is_believed(idp: ScriptedProvider, changes: dict[str, object]) -> None:
    idp.claims = changes
    assert (await checked(signed(idp.said(nonce=NONCE), key("one")), idp)).subject == "sub-1"


async def test_an_address_is_passed_on_as_the_provider_sent_it(idp: ScriptedProvider) -> None:
    idp.claims = {"email": 7, "email_verified": "true"}
    claims = await checked(signed(idp.said(nonce=NONCE), key("one")), idp)
    assert (claims.email, claims.email_verified) == (7, "true")


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": -59},
        {"iat": 59},
        {"nbf": 59},
    ],
)
async def test_clocks_may_differ_by_a_minute(idp: ScriptedProvider, changes: dict[str, int]) -> None:
    idp.claims = {name: idp.clock.now() // 1000 + offset for name, offset in changes.items()}
    await checked(signed(idp.said(nonce=NONCE), key("one")), idp)


# What is not


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"iss": "https://evil.example.org"}, "issuer"),
        ({"iss": f"{ISSUER}/"}, "issuer"),
        ({"iss": ISSUER.upper()}, "issuer"),
        ({"iss": ABSENT}, "malformed"),
        ({"aud": "another"}, "audience"),
        ({"aud": []}, "audience"),
        ({"aud": ["another"]}, "audience"),
        ({"aud": f"{CLIENT_ID} another"}, "audience"),
        ({"aud": ABSENT}, "malformed"),
        ({"aud": {"cid": True}}, "malformed"),
        ({"aud": [CLIENT_ID, "another"]}, "audience"),
        ({"aud": [CLIENT_ID, "another"], "azp": "another"}, "audience"),
        ({"azp": "another"}, "audience"),
        ({"azp": ""}, "audience"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": ABSENT}, "nonce"),
        ({"nonce": ""}, "nonce"),
        ({"nonce": "näh"}, "nonce"),
        ({"nonce": None}, "malformed"),
        ({"sub": ABSENT}, "no-subject"),
        ({"sub": ""}, "no-subject"),
        ({"sub": 7}, "malformed"),
        ({"exp": ABSENT}, "malformed"),
        ({"exp": "2099-01-01"}, "malformed"),
        ({"exp": True}, "malformed"),
        ({"iat": ABSENT}, "malformed"),
    ],
)
async def test_a_claim_that_is_missing_or_wrong_is_refused(
    idp: ScriptedProvider, changes: dict[str, object], cause: str
) -> None:
    idp.claims = changes
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one")), idp) == cause


@pytest.mark.parametrize(("name", "offset"), [("exp", -60), ("iat", 62), ("nbf", 62), ("nbf", 10**12)])
async def test_a_token_out_of_its_time_is_refused(idp: ScriptedProvider, name: str, offset: int) -> None:
    idp.claims = {name: idp.clock.now() // 1000 + offset}
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one")), idp) == "time"


@pytest.mark.parametrize(
    ("forge", "cause"),
    [
        (lambda claims: handmade({"alg": "none"}, claims), "algorithm"),
        (lambda claims: handmade({"alg": "None", "kid": "one"}, claims), "algorithm"),
        (lambda claims: handmade({"alg": "", "kid": "one"}, claims), "algorithm"),
        (lambda claims: hs256_with_public_key(claims, key("one")), "algorithm"),
        (lambda claims: signed(claims, key("one"), alg="RS512"), "algorithm"),
        (lambda claims: signed(claims, key("evil"), kid="one"), "signature"),
        (lambda claims: signed(claims, key("evil")), "unknown-key"),
        (lambda claims: signed(claims, key("one"), alg="PS256"), "unknown-key"),
        (lambda claims: signed(claims, key("evil"), jwk=key("evil").as_dict(private=False)), "unknown-key"),
        (lambda claims: signed(claims, key("evil"), kid="one", jku="https://evil.example.org/keys"), "signature"),
        (lambda claims: signed(claims, key("evil-ec", "ES256"), alg="ES256", kid="one"), "unknown-key"),
        (lambda claims: handmade({"alg": "RS256", "kid": "one"}, claims), "signature"),
        (lambda claims: handmade({"alg": "RS256", "kid": "one", "crit": ["b64"], "b64": False}, claims), "malformed"),
        (lambda claims: handmade({"alg": "RS256", "kid": 7}, claims), "malformed"),
        (lambda claims: handmade({"alg": ["RS256"], "kid": "one"}, claims), "malformed"),
        (lambda claims: handmade(["RS256"], claims), "malformed"),
        (lambda claims: handmade({"alg": "RS256", "kid": "x" * 5_000}, claims), "malformed"),
        (lambda claims: signed(claims, key("one")).rpartition(".")[0], "signature"),
        (lambda claims: signed(claims, key("one")) + ".x.y", "signature"),
        (lambda claims: _with_payload(signed(claims, key("one")), b'{"sub":"admin"}'), "signature"),
        (lambda claims: "", "malformed"),
        (lambda claims: "....", "malformed"),
        (lambda claims: "é.é.é", "malformed"),
    ],
)
async def test_a_forged_token_is_refused(
    idp: ScriptedProvider, forge: Callable[[dict[str, object]], str], cause: str
) -> None:
    assert await cause_of(forge(idp.said(nonce=NONCE)), idp) == cause


@pytest.mark.parametrize("claims", [[], "admin", 7, None])
async def test_a_signed_token_that_holds_no_claims_is_refused(idp: ScriptedProvider, claims: object) -> None:
    assert await cause_of(signed(claims, key("one")), idp) == "malformed"  # type: ignore[arg-type]


async def test_an_algorithm_that_the_provider_does_not_list_is_refused(idp: ScriptedProvider) -> None:
    idp.keys = [key("mine-ES256", "ES256")]
    token = signed(idp.said(nonce=NONCE), idp.keys[0], alg="ES256")
    for listed in ((), ("RS256",)):
        bare = OpenIdProvider(issuer=ISSUER, authorization="", token="", keys=PROVIDER.keys, signing_algorithms=listed)
        with pytest.raises(SignInRefused) as refused:
            await checked(token, idp, provider=bare)
        assert refused.value.cause == "algorithm"


async def test_a_provider_without_keys_that_can_be_trusted_is_away(idp: ScriptedProvider) -> None:
    bare = OpenIdProvider(issuer=ISSUER, authorization="", token="", signing_algorithms=("RS256",))
    with pytest.raises(ProviderAway):
        await checked(signed(idp.said(nonce=NONCE), key("one")), idp, provider=bare)


@given(text=st.text(max_size=200) | st.binary(max_size=200).map(lambda data: base64.urlsafe_b64encode(data).decode()))
async def test_no_text_at_all_does_more_than_be_refused(text: str) -> None:
    idp = ScriptedProvider(clock=VirtualClock())
    for token in (text, f"{text}.e30.c2ln", f"{text}.{text}.{text}"):
        with pytest.raises(SignInRefused):
            await checked(token, idp)


# Which key


async def test_a_token_that_names_no_key_is_believed_only_where_there_is_one(idp: ScriptedProvider) -> None:
    nameless = signed(idp.said(nonce=NONCE), key("one"), kid=ABSENT)
    assert (await checked(nameless, idp)).subject == "sub-1"
    idp.keys = [key("one"), key("two")]
    assert await cause_of(nameless, idp) == "unknown-key"
    idp.keys = [key("one"), key("mine-ES256", "ES256")]
    assert await cause_of(nameless, idp) == "unknown-key"


async def test_two_keys_of_one_name_are_no_key(idp: ScriptedProvider) -> None:
    twice = public(key("one"), key("two"), kid="same")
    keys = KeyCache(http=ScriptedHttp(otherwise=answer(twice)))
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one"), kid="same"), idp, keys=keys) == "unknown-key"


async def test_a_rotated_key_is_fetched_and_the_old_one_forgotten(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)
    idp.keys = [key("two")]
    await trio.sleep(REFETCH_PAUSE_S)
    await checked(signed(idp.said(nonce=NONCE), key("two")), idp, keys=keys)
    assert idp.asked_for("/keys") == 2
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys) == "unknown-key"


@pytest.mark.parametrize("kid", ["one", ABSENT])
async def test_a_key_replaced_under_the_same_name_or_none_is_fetched(idp: ScriptedProvider, kid: object) -> None:
    http = ScriptedHttp(answers=[answer(public(key("one"), kid=kid)), answer(public(key("two"), kid=kid))])
    keys = KeyCache(http=http)
    await checked(signed(idp.said(nonce=NONCE), key("one"), kid=kid), idp, keys=keys)
    await trio.sleep(REFETCH_PAUSE_S)
    await checked(signed(idp.said(nonce=NONCE), key("two"), kid=kid), idp, keys=keys)
    assert len(http.asked) == 2


@pytest.mark.thorough
async def test_made_up_names_and_signatures_ask_the_provider_once_a_minute(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    for number in range(20):
        assert await cause_of(signed(idp.said(nonce=NONCE), key("evil"), kid=f"k{number}"), idp, keys=keys)
        assert await cause_of(signed(idp.said(nonce=NONCE), key("evil"), kid="one"), idp, keys=keys) == "signature"
        await trio.sleep(15)
    assert idp.asked_for("/keys") == 5  # 300 seconds
    await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)
    assert idp.asked_for("/keys") == 5


async def test_keys_are_fetched_anew_once_an_hour_so_that_a_withdrawn_one_ends(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    for _ in range(3):
        await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)
    idp.keys = [key("two")]
    await trio.sleep(KEYS_LIFETIME_S)
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys) == "unknown-key"
    assert idp.asked_for("/keys") == 2


async def test_a_provider_that_is_away_when_a_new_key_is_wanted_loses_no_known_one(idp: ScriptedProvider) -> None:
    keys = KeyCache(http=idp)
    await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)
    await trio.sleep(REFETCH_PAUSE_S)
    idp.away = True
    with pytest.raises(ProviderAway):
        await checked(signed(idp.said(nonce=NONCE), key("two")), idp, keys=keys)
    assert (await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)).subject == "sub-1"


@pytest.mark.parametrize(
    "published",
    [
        answer({"keys": []}),
        answer(public(key("one"), n="AQAB")),
        answer(public(key("one"), n=7)),
        answer(public(key("one"), e="!")),
        answer(public(key("one"), kty="oct", k="AAAA")),
        answer(public(key("one"), kty=["RSA"])),
        answer(public(key("one"), alg="PS256")),
        answer(public(key("one"), alg={"RS256": True})),
        answer(public(key("mine-ES256", "ES256"), kid="one")),
        answer({"keys": [{"kid": "one"}, {}]}),
    ],
)
async def test_what_is_no_key_for_signatures_is_passed_over(idp: ScriptedProvider, published: object) -> None:
    keys = KeyCache(http=ScriptedHttp(otherwise=published))  # type: ignore[arg-type]
    assert await cause_of(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys) == "unknown-key"


async def test_a_short_rsa_key_is_no_key(idp: ScriptedProvider) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library knows better, too
        weak = jwk.RSAKey.generate_key(1024, {"kid": "weak"})
        token = signed(idp.said(nonce=NONCE), weak)
    keys = KeyCache(http=ScriptedHttp(otherwise=answer(public(weak))))
    assert await cause_of(token, idp, keys=keys) == "unknown-key"


@pytest.mark.parametrize(
    "told",
    [
        {"use": "enc"},
        {"use": ["sig"]},
        {"use": None},
        {"use": ABSENT, "key_ops": ["encrypt"]},
        {"use": ABSENT, "key_ops": ["sign"]},
        {"use": "sig", "key_ops": ["wrapKey", "deriveBits"]},
        {"key_ops": []},
        {"key_ops": "verify"},
        {"key_ops": None},
        {"use": "enc", "key_ops": ["verify"]},
    ],
)
async def test_a_key_that_is_published_for_something_else_verifies_nothing(
    idp: ScriptedProvider, told: dict[str, object]
) -> None:
    token = signed(idp.said(nonce=NONCE), key("one"))
    keys = KeyCache(http=ScriptedHttp(otherwise=answer(public(key("one"), **told))))
    assert await cause_of(token, idp, keys=keys) == "key-use"
    nameless = signed(idp.said(nonce=NONCE), key("one"), kid=ABSENT)
    assert await cause_of(nameless, idp, keys=keys) == "key-use"


@pytest.mark.parametrize("told", [{"key_ops": ["verify"]}, {"use": ABSENT}, {"key_ops": ["sign", "verify"]}])
async def test_a_key_that_is_published_for_signatures_is_used(idp: ScriptedProvider, told: dict[str, object]) -> None:
    other = public(key("two"), use="enc")["keys"]
    published = {"keys": [*public(key("one"), **told)["keys"], *other]}  # type: ignore[misc]
    keys = KeyCache(http=ScriptedHttp(otherwise=answer(published)))
    token = signed(idp.said(nonce=NONCE), key("one"))
    assert (await checked(token, idp, keys=keys)).subject == "sub-1"


async def test_an_rsa_key_of_the_library_whose_keys_can_be_factored_verifies_nothing(idp: ScriptedProvider) -> None:
    """CVE-2017-15361."""
    weak = roca_key()
    keys = KeyCache(http=ScriptedHttp(otherwise=answer(public(weak))))
    assert await cause_of(signed(idp.said(nonce=NONCE), weak), idp, keys=keys) == "weak-key"
    assert has_roca_mark(ROCA_P * ROCA_Q)


@pytest.mark.parametrize("name", ["one", "two", "evil"])
def test_a_key_of_other_make_has_not_the_mark_of_that_library(name: str) -> None:
    numbers = key(name).public_key.public_numbers()  # type: ignore[union-attr]
    assert not has_roca_mark(numbers.n)  # type: ignore[union-attr]


def roca_key() -> jwk.RSAKey:
    n, d = ROCA_P * ROCA_Q, rsa.rsa_recover_private_exponent(65_537, ROCA_P, ROCA_Q)
    numbers = rsa.RSAPrivateNumbers(
        p=ROCA_P,
        q=ROCA_Q,
        d=d,
        dmp1=rsa.rsa_crt_dmp1(d, ROCA_P),
        dmq1=rsa.rsa_crt_dmq1(d, ROCA_Q),
        iqmp=rsa.rsa_crt_iqmp(ROCA_P, ROCA_Q),
        public_numbers=rsa.RSAPublicNumbers(e=65_537, n=n),
    )
    pem = numbers.private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return jwk.RSAKey.import_key(pem, {"kid": "roca", "use": "sig", "alg": "RS256"})


# Primes of the form that the library made: k * M + (65537 ** a mod M), M the product of the primes up to 701.
ROCA_P = int(
    "f4a868eac88c3db3a04b5d6a79ef2cbe040e36c8c033f758ba672f38ca6b8a4567d95dbb859e4b2aa82582c9ab74770d50be"
    "12ef4afe3a0ee114b6e7e3c9322ca0581c15759841886a75d838d2956cb0d9cf7eebb385075f8935e847db07ee3d262920ec"
    "7611772e4f31d9fba57fa7bf3b15bb65733e3e534ad670d2d1163925",
    16,
)
ROCA_Q = int(
    "c1b8883657df52d4c2a41bf68327e6a6c1564b98f1aeac4e69374db8cd6f0a9ab502cfbd1e95312025ea5a586499aa78350a"
    "160150b6fa388a1225f6a59de3705f7722f94f5e2023ac633e065844a5d17c4dbb518ee71acdf19ccee88e8a09cd0c48191a"
    "cf8e344c5ae1cfb355166fcc8e97d8b2a8ca96906f7f2bf8920454f7",
    16,
)


@pytest.mark.parametrize(
    "published",
    [
        answer(b"<html>"),
        answer({"keys": "all"}),
        answer({"keys": [7]}),
        answer({}),
        answer(public(key("one")), status=500),
        answer(b"", status=302, location="https://evil.example.org/keys"),
        no_answer(may_have_happened=True),
    ],
)
async def test_a_provider_that_gives_no_key_set_is_away(idp: ScriptedProvider, published: object) -> None:
    keys = KeyCache(http=ScriptedHttp(otherwise=published))  # type: ignore[arg-type]
    with pytest.raises(ProviderAway):
        await checked(signed(idp.said(nonce=NONCE), key("one")), idp, keys=keys)


def _with_payload(token: str, payload: bytes) -> str:
    header, _, signature = token.split(".")
    return f"{header}.{base64.urlsafe_b64encode(payload).decode().rstrip('=')}.{signature}"
