from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.identity import OAuthState
from svc.identity.oidc_trip import CarriedData, nonce_of, opened, safe_next, sealed

ORIGIN = "http://127.0.0.1:4780"


@pytest.mark.parametrize(
    "wanted",
    [
        "/",
        "/p/mail",
        "/p/mail/acc_1?thread=thr_1",
        "/p/Projects%2FMural",
        "/p/caf%C3%A9",
        "/p/%e2%82%ac",
        "/settings/devices#pair",
        "/p/mail?q=a//b&u=https://x.test/../y",
        "/p/...",
        "/authors",
    ],
)
def test_a_path_of_ours_is_kept(wanted: str) -> None:
    assert safe_next(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "p/mail",
        "https://evil.test",
        "HTTPS:evil.test",
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.test",
        "///evil.test",
        "/\\evil.test",
        "\\\\evil.test",
        "/\t/evil.test",
        "/\n/evil.test",
        "\t//evil.test",
        " //evil.test",
        "/ /evil.test",
        "/%09/evil.test",
        "/%0d%0aLocation:%20https://evil.test",
        "/%00",
        "/%2f/evil.test",
        "/%2F%2Fevil.test",
        "/%252f/evil.test",
        "/%25252f/evil.test",
        "/%2525252f/evil.test",
        "/%5cevil.test",
        "/%255cevil.test",
        "/..//evil.test",
        "/p/..//evil.test",
        "/.//evil.test",
        "/%2e%2e//evil.test",
        "/%2e/x",
        "/p/../auth/idp/start",
        "/p//evil.test",
        "/x\u2028y",
        "/\u3002evil.test",
        "/%c2%85x",
        "/%ff",
        "/é",
        "/a\x00b",
        "/a\x7fb",
        "/<script>",
        "/'\"",
        "/auth/idp/start",
        "/AUTH/logout",
        "/%61uth/logout",
        "/auth",
        "/oauth/mail/start?email=x",
        "/trpc/health.ping",
        "/" + "a" * 2_000,
    ],
)
def test_what_leads_elsewhere_or_does_something_leads_home(wanted: str) -> None:
    assert safe_next(wanted) == "/"


@given(st.text(alphabet=st.sampled_from("/\\.%25fF09acCdD:@?#evil\t\n "), max_size=30))
def test_no_text_leads_to_another_host(wanted: str) -> None:
    for text in (wanted, f"/{wanted}"):
        found = safe_next(text)
        assert found.startswith("/")
        browser_reads = "".join(symbol for symbol in found.replace("\\", "/") if symbol not in "\t\r\n")
        parts = urlsplit(urljoin(f"{ORIGIN}/auth/idp/callback", browser_reads))
        assert f"{parts.scheme}://{parts.netloc}" == ORIGIN


def trip(**changes: str) -> OAuthState:
    fields = {"state": "state", "browser_key": "key", "hint": "", "payload": ""}
    return OAuthState(**(fields | changes))


def test_luggage_comes_back_to_the_browser_that_packed_it() -> None:
    packed = CarriedData(invite="S3CRET-invite", next="/p/mail")
    payload = sealed(packed, browser_key="key")
    assert "S3CRET" not in payload
    assert opened(trip(payload=payload)) == packed
    assert sealed(packed, browser_key="key") != payload


def test_luggage_under_another_key_or_damaged_is_empty() -> None:
    payload = sealed(CarriedData(invite="S3CRET-invite", next="/p/mail"), browser_key="key")
    assert opened(trip(payload=payload, browser_key="other")) == CarriedData()
    for damaged in ("", "A", "é", payload[:-4], "AAAA" + payload[4:], payload[:10]):
        assert opened(trip(payload=damaged)) == CarriedData()


def test_a_nonce_belongs_to_one_round_trip_of_one_browser() -> None:
    nonces = {nonce_of(trip()), nonce_of(trip(state="another")), nonce_of(trip(browser_key="another"))}
    assert len(nonces) == 3
    assert nonce_of(trip(payload="x")) == nonce_of(trip())
    assert all(len(nonce) == 64 for nonce in nonces)
    assert not nonces & {trip().verifier, trip().challenge}
