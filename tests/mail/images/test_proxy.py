"""Remote images: fetched only where a message that one may read names them, and only pictures come back."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
import trio

from svc.formats.html import POLICY_VERSION
from svc.mail.images.picture import kind_of
from svc.mail.images.proxy import MAX_ASKED_EACH, MAX_AT_A_TIME_EACH, MAX_BYTES, over_tls
from svc.principal import Principal
from tests.mail.images.conftest import Gallery
from tests.mail.images.pictures import KINDS, NO_PICTURES, PNG, SVG
from tests.protocol.small_internet import ELSEWHERE, PICTURES, PUBLIC, Page, answer, drip, endless, moved
from tests.quiet import all_quiet
from tests.support.http import Reply

URL = f"https://{PICTURES}/a.png"
HTML = f"<p>Look:</p><img src={URL}>"
OWNER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
ADMIN = Principal(user_id="usr_a", device_id="dev_a", is_admin=True, via="session")


def target(url: str) -> str:
    return f"/mail/proxy-image?url={quote(url, safe='')}"


def picture(data: bytes = PNG, mime: str = "image/png") -> bytes:
    return answer(data, f"Content-Type: {mime}")


async def ask(gallery: Gallery, page: Page | None = None, *, url: str = URL) -> Reply:
    if page is not None:
        gallery.internet.pages[f"{PICTURES}/a.png"] = page
    return await gallery.service.get(target(url))


def code_of(reply: Reply) -> str:
    found: str = json.loads(reply.body)["code"]
    return found


async def test_a_picture_of_a_mail_is_fetched_and_given_out_as_a_picture_only(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    reply = await ask(gallery, picture(PNG, "image/x-whatever; charset=utf-8"))
    assert (reply.status, reply.body) == (200, PNG)
    headers = dict(reply.headers)
    assert headers["content-type"] == "image/png"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "private, max-age=86400"


async def test_nothing_is_fetched_before_it_is_asked_for(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    assert gallery.internet.lookups == []


async def test_an_address_that_stands_in_no_mail_is_not_found_and_not_asked(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    for url in (URL + "?x", URL.upper(), "https://127.0.0.1/", f"https://{ELSEWHERE}/", "", "x" * 9_000):
        assert (await ask(gallery, url=url)).status in (404, 414), url
    assert (await gallery.service.get("/mail/proxy-image")).status == 400
    assert gallery.internet.lookups == []


async def test_an_address_in_a_mail_that_only_somebody_else_may_read_is_not_found(gallery: Gallery) -> None:
    gallery.internet.pages[f"{PICTURES}/a.png"] = picture()
    await gallery.receive(HTML)
    await gallery.service.workspace.store.write(
        lambda tx: tx.run("update mail_accounts set owner_id = :owner", owner=OWNER.user_id)
    )
    assert (await gallery.service.get_as(OWNER, target(URL))).status == 200
    assert (await gallery.service.get_as(ADMIN, target(URL))).status == 404
    assert (await gallery.service.get_as(None, target(URL))).status == 401


async def test_what_the_text_of_a_mail_links_to_is_not_fetched(gallery: Gallery) -> None:
    await gallery.receive(f"<a href={URL}>x</a><p style='background:url({URL})'>x</p>")
    assert (await ask(gallery)).status == 404


async def test_a_page_of_another_site_can_not_have_it_asked(gallery: Gallery) -> None:
    """Nor by an older browser, which names only the page, or by a site whose name we do not know."""
    await gallery.receive(HTML)
    for foreign in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"referer": "https://elsewhere.example/"},
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
    ):
        for method in ("GET", "HEAD"):
            assert (await gallery.service.ask(method, target(URL), fields=foreign)).status == 403, foreign
    assert gallery.internet.lookups == []


async def test_what_is_named_with_http_is_asked_for_over_tls(gallery: Gallery) -> None:
    await gallery.receive(f"<img src=http://{PICTURES}:80/a.png>")
    assert (await ask(gallery, picture(), url=f"http://{PICTURES}:80/a.png")).status == 200
    assert gallery.internet.dialled == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://a.example/b?c=http://d.example/", "https://a.example/b?c=http://d.example/"),
        ("HTTP://a.example:80", "https://a.example"),
        ("http://a.example?b", "https://a.example?b"),
        ("http://a.example:8080/", "http://a.example:8080/"),
        ("https://a.example/", "https://a.example/"),
        ("https://a.example/?u=http://b.example/c.png", "https://a.example/?u=http://b.example/c.png"),
        ("http://a.example:8080/?u=http://b.example/", "http://a.example:8080/?u=http://b.example/"),
    ],
)
def test_an_address_moves_to_tls_where_it_may(url: str, asked: str) -> None:
    assert over_tls(url) == asked


async def test_a_private_host_is_refused_in_every_disguise(gallery: Gallery) -> None:
    hosts = ("127.0.0.1", "2130706433", "0x7f.1", "[::1]", "localhost", "printer", "inside.example")
    await gallery.receive("".join(f"<img src=https://{host}/a.png>" for host in hosts))
    gallery.internet.names["inside.example"] = [["10.1.2.3"], [PUBLIC, "::1"]]
    for host in (*hosts, "inside.example"):
        reply = await ask(gallery, url=f"https://{host}/a.png")
        assert (reply.status, code_of(reply)) == (502, "bad_gateway"), host
    assert gallery.internet.dialled == []


async def test_a_redirect_is_followed_where_an_address_could_have_led(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    gallery.internet.pages[f"{ELSEWHERE}/b.png"] = picture()
    assert (await ask(gallery, moved(f"https://{ELSEWHERE}/b.png"))).body == PNG
    gallery.internet.names[ELSEWHERE] = [["192.168.0.1"]]
    assert (await ask(gallery)).status == 502


async def test_slow_large_and_missing_pictures_are_told_apart(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    began = trio.current_time()
    assert (await ask(gallery, drip(head + PNG, every_s=1))).status == 504
    assert trio.current_time() - began == pytest.approx(5)
    assert (await ask(gallery, head + PNG + bytes(MAX_BYTES - len(PNG)))).status == 200
    assert (await ask(gallery, head + PNG + bytes(MAX_BYTES - len(PNG) + 1))).status == 413
    assert (await ask(gallery, endless(head + PNG, bytes(65_536)))).status == 413
    missing = await ask(gallery, answer(PNG, "Content-Type: image/png", status="404 Not Found"))
    assert (missing.status, code_of(missing)) == (502, "bad_gateway")
    assert "404" in json.loads(missing.body)["detail"]


@pytest.mark.parametrize("name", NO_PICTURES)
async def test_what_is_no_picture_is_refused_whatever_it_is_called(gallery: Gallery, name: str) -> None:
    await gallery.receive(HTML)
    reply = await ask(gallery, picture(NO_PICTURES[name]))
    assert (reply.status, code_of(reply)) == (415, "unsupported_media_type")


async def test_a_picture_that_its_server_calls_something_else_is_refused_too(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    for mime in ("text/html", "application/octet-stream", "", "imagery/png"):
        assert (await ask(gallery, picture(PNG, mime))).status == 415, mime
    assert (await ask(gallery, picture(SVG, "image/svg+xml"))).status == 415


@pytest.mark.parametrize("mime", KINDS)
def test_every_kind_of_picture_is_known_by_its_first_bytes(mime: str) -> None:
    assert kind_of(KINDS[mime]) == mime
    assert kind_of(KINDS[mime][1:]) is None
    for length in range(len(KINDS[mime])):
        assert kind_of(KINDS[mime][:length]) in (mime, None)


async def test_one_person_has_a_few_under_way_and_a_bounded_queue(gallery: Gallery) -> None:
    await gallery.receive(HTML)
    gallery.internet.pages[f"{PICTURES}/a.png"] = drip(b"HTTP/1.1 200 OK\r\n\r\n", every_s=1)
    found: list[int] = []

    async def one() -> None:
        found.append((await ask(gallery)).status)

    async with trio.open_nursery() as nursery:
        for _ in range(MAX_ASKED_EACH + 1):
            nursery.start_soon(one)
        await trio.sleep(1)
        assert len(gallery.internet.heard) == MAX_AT_A_TIME_EACH
        assert found == [429]
        nursery.cancel_scope.cancel()
    await all_quiet()


async def test_the_log_names_no_address_of_a_picture(gallery: Gallery) -> None:
    await gallery.receive(f"<img src={URL}?canary-77>")
    assert (await ask(gallery, url=f"{URL}?canary-77")).status == 502
    assert "canary-77" not in gallery.service.log.text


async def test_a_body_sanitized_under_older_rules_is_read_anew_and_its_pictures_noted(gallery: Gallery) -> None:
    thread_id = await gallery.receive(HTML)

    def forget(tx: object) -> None:
        tx.run("update mail_clean set policy = :old", old=POLICY_VERSION - 1)  # type: ignore[attr-defined]
        tx.run("delete from mail_remote_images")  # type: ignore[attr-defined]

    await gallery.service.workspace.store.write(forget)
    assert (await ask(gallery, picture())).status == 404
    await gallery.service.query("mail.thread", id=thread_id)
    assert (await ask(gallery)).status == 200
