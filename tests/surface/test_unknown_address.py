"""An unknown address: a browser gets a page of the app, a program gets a problem in JSON."""

from __future__ import annotations

import pytest

from tests.support.service import Service

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/nowhere", "/mail", "/no/such/place?q=1"])
async def test_a_browser_is_shown_a_page_of_the_app(service: Service, path: str) -> None:
    reply = await service.get(path, accept=BROWSER)
    assert reply.status == 404
    assert str(reply.header("content-type")).startswith("text/html")
    assert b'<div id="app">' in reply.body
    assert reply.header("cache-control") == "no-store"
    shell = await service.get("/p/mail", accept=BROWSER)
    assert reply.header("content-security-policy") == shell.header("content-security-policy")


async def test_head_says_the_same_without_the_page(service: Service) -> None:
    reply = await service.ask("HEAD", "/nowhere", fields={"accept": BROWSER})
    assert (reply.status, reply.body) == (404, b"")
    assert str(reply.header("content-type")).startswith("text/html")


@pytest.mark.parametrize(
    "path", ["/trpc/no.such", "/static/none.js", "/files/none", "/blobs/none/x", "/auth/none", "/settings2/../trpc"]
)
async def test_below_an_address_of_the_service_it_stays_json(service: Service, path: str) -> None:
    reply = await service.get(path, accept=BROWSER)
    assert reply.status >= 400
    assert "json" in str(reply.header("content-type"))


async def test_a_program_is_told_in_json(service: Service) -> None:
    for reply in (
        await service.get("/nowhere"),
        await service.get("/nowhere", accept="application/json"),
        await service.ask("POST", "/nowhere", fields={"accept": BROWSER}),
    ):
        assert reply.status == 404
        assert "json" in str(reply.header("content-type"))
