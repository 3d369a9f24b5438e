"""Rules 11, 12, 16 and 17 in a browser against the whole program: the open thread, hostile mail, images, files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import PHONE
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import (
    MIA,
    PageWithService,
    account,
    app_page,
    arrives,
    labels_of,
    seeded_service,
)

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

FERRY = "Re: Signage for MV Guillemot"
PARCEL = "Your parcel is waiting - confirm within 24 hours"
WOOL = "Wool that has been rained on (in a good way)"
BILL = "Your bill for last month: less than the month before"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
FORBIDDEN = (
    "script, style, link, base, form, input, textarea, button, select, iframe, object, embed, svg, math, "
    "meta[http-equiv=refresh], img:not([src^='data:'])"
)
ALL_OF_A_KIND = """\
<html><head><style>p { color: red }</style></head><body onload="alert(1)">
<p onclick="alert(2)" style="color:#123456">One <a href="https://news.example/a">link</a>,
<a href="javascript:alert(3)">a script</a>, <a href="mailto:ann@sea.example">a mailbox</a>.</p>
<img src="https://news.example/one.png" width="120" height="40" alt="the quay at dawn">
<img src="http://news.example/two.png" width="120" height="40" alt="the quay at dusk">
<img src="cid:logo@news.example" alt="logo"><img src="data:image/png;base64,iVBORw0KGgo=" alt="dot">
<form action="https://news.example/steal"><input name="password"><textarea></textarea><button>Go</button></form>
<iframe src="https://news.example/"></iframe><object data="https://news.example/x"></object><embed src="x">
<svg onload="alert(4)"><a href="x">s</a></svg><math><mi>m</mi></math><script>alert(5)</script>
</body></html>"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path_factory.mktemp("seeded")) as process:
        yield process


@pytest.fixture
def app(browser: Browser, service: ServiceProcess) -> Iterator[PageWithService]:
    with app_page(browser, service) as opened:
        yield opened


def test_opening_marks_read_here_in_the_badge_and_at_the_provider(app: PageWithService) -> None:
    subject = "Six tomorrow, if the drawing comes"
    thread = app.thread(subject)
    before = account(app.service, MIA)["unread"]
    page = app.inbox()
    expect(page.get_by_role("tab", name=f"{MIA}, {before} unread")).to_be_visible()
    expect(page.get_by_role("link", name=f"Unread, Ben Aldous, {subject}")).to_be_visible()
    app.open(subject)
    expect(page.get_by_role("tab", name=f"{MIA}, {before - 1} unread")).to_be_visible()
    app.eventually(lambda: "UNREAD" not in labels_of(app.service, thread["id"]))
    app.eventually(lambda: account(app.service, MIA)["pending"] == 0)
    assert "UNREAD" not in provider_labels(app.service, thread["id"])


def test_a_thread_has_its_subject_its_filing_line_and_a_card_for_each_message(app: PageWithService) -> None:
    page = app.inbox()
    detail = app.service.query("mail.thread", id=app.thread(FERRY)["id"])
    app.open(FERRY)
    page.get_by_role("button", name="older messages").click()
    expect(page.locator("article.card")).to_have_count(len(detail["messages"]))
    filing = page.locator(".filing")
    expect(filing).to_have_text(f"Filed under {detail['filing']['title']}")
    app.picture("rule-12-thread", dark=True, phone=True)
    filing.click()
    page.wait_for_url(f"**/p/{detail['filing']['path']}")
    page.get_by_role("heading", name=detail["filing"]["title"]).first.wait_for()
    app.picture("rule-12-page")
    page.go_back()
    page.locator(".thread-subject").wait_for()


def test_a_page_given_another_title_renames_the_sender_of_its_rows(app: PageWithService) -> None:
    """Rule 9: a person with a page is shown by its title."""
    page = app.inbox()
    row = page.get_by_role("link", name="Press slot: Tuesday is free if you are quick")
    expect(row).to_contain_text("Della at Kestrel Print")
    sender = app.service.query("mail.thread", id=row.get_attribute("data-thread"))["messages"][0]["from"]
    app.service.mutate("people.add", address=sender["address"])  # who only wrote is suggested, and has no page yet
    path = app.service.query("mail.thread", id=row.get_attribute("data-thread"))["filing"]["path"]
    known = app.service.query("pages.get", path=path)
    app.service.mutate("pages.save", path=path, title="Kestrel Print", body=known["body"], revision=known["revision"])
    expect(row.locator(".row-sender")).to_contain_text("Kestrel Print")
    expect(row.locator(".row-sender")).not_to_contain_text("Della")


def test_an_attachment_is_downloaded_as_it_came(app: PageWithService, tmp_path: Path) -> None:
    page = app.open_by_address(BILL)
    chip = page.get_by_role("link", name="Download brightwater-bill.pdf")
    with page.expect_download() as download:
        chip.click()
    assert download.value.suggested_filename == "brightwater-bill.pdf"
    download.value.save_as(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    assert content.startswith(b"%PDF-")
    sent = app.service.query("mail.thread", id=app.thread(BILL)["id"])["messages"][0]["attachments"]
    assert hashlib.sha256(content).hexdigest() == sent[0]["sha256"]
    app.picture("rule-12-attachment")


def test_names_of_files_that_would_deceive_are_made_harmless(app: PageWithService) -> None:
    page = app.inbox()
    app.open("Overdue: invoice 20331")
    names = page.locator(".attachments .attachment-name")
    expect(names).to_have_count(2)
    shown = names.all_inner_texts()
    assert not any(sign in name for name in shown for sign in "\u202e\u202d/\\")
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Download {shown[1]}").click()
    assert "/" not in download.value.suggested_filename
    app.picture("rule-12-deceit")


def test_a_hostile_mail_is_shown_as_what_is_left_of_it(app: PageWithService) -> None:
    app.inbox()
    app.open(PARCEL)
    expect(app.frame.locator("body")).to_contain_text("a parcel could not be delivered")
    nothing_of_it_runs(app)
    expect(app.frame.get_by_role("link")).to_have_text(["read our help"])
    app.picture("rule-16-hostile", dark=True)
    assert [url for url in app.went if "parcel-desk" in url] == []


def test_every_forbidden_kind_is_taken_out_and_what_is_good_stays(app: PageWithService) -> None:
    arrives(
        app.service,
        "All of a kind",
        html=ALL_OF_A_KIND,
        attachments=[{"filename": "logo.png", "mime": "image/png", "content": PIXEL}],
    )
    page = app.inbox()
    app.open("All of a kind")
    nothing_of_it_runs(app)
    expect(app.frame.get_by_role("link")).to_have_text(["link", "a mailbox"])
    expect(app.frame.locator("p")).to_have_css("color", "rgb(18, 52, 86)")
    expect(page.locator(".blocked")).to_contain_text("2 images blocked")
    expect(app.frame.get_by_role("img")).to_have_count(2)  # the placeholders; cid: and data: are gone
    with page.context.expect_page() as opened:
        app.frame.get_by_role("link", name="link", exact=True).click()
    assert opened.value.evaluate("window.opener") is None
    opened.value.close()
    app.picture("rule-16-all-kinds")
    assert [url for url in app.went if "news.example" in url] == []


def test_blocked_images_are_counted_and_asked_for_through_the_service_on_a_word(app: PageWithService) -> None:
    app.tolerated += ("Failed to load resource",)
    page = app.open_by_address(WOOL)
    bar = page.locator(".blocked")
    blocked = app.service.query("mail.thread", id=app.thread(WOOL)["id"])["messages"][0]["blockedImages"]
    expect(bar).to_contain_text(f"{blocked} images blocked")
    app.picture("rule-17-blocked", dark=True, phone=True)
    assert not any("proxy-image" in url for url in app.went)
    bar.get_by_role("button", name="Load images").click()
    expect(bar).to_contain_text("not loaded")
    asked = [url for url in app.went if "/mail/proxy-image?url=" in url]
    assert asked
    assert all(url.startswith(app.service.base) for url in app.went if not url.startswith(("blob:", "data:", "about:")))
    expect(app.frame.locator("[role=img][title]").first).to_be_visible()  # its place says what was in the way
    app.picture("rule-17-not-loaded")


@pytest.mark.parametrize("subject", [WOOL, "No. 58: The letter that refused to lean"])
def test_a_newsletter_made_for_a_wide_window_fits_a_phone(
    browser: Browser, service: ServiceProcess, subject: str
) -> None:
    with app_page(browser, service, viewport=PHONE) as app:
        app.open_by_address(subject)
        assert app.frame.locator("html").evaluate("root => root.scrollWidth <= root.clientWidth")
        app.picture(f"rule-12-phone-{subject.split()[0].lower().rstrip('.')}")


def nothing_of_it_runs(app: PageWithService) -> None:
    """The frame's own walls, and what stands in it."""
    frame = app.page.locator(".card iframe").last
    expect(frame).to_have_attribute("sandbox", "allow-popups allow-popups-to-escape-sandbox")
    source = frame.get_attribute("srcdoc") or ""
    assert source.index('http-equiv="Content-Security-Policy" content="default-src \'none\'') < source.index("<body")
    found: dict[str, Any] = app.frame.locator("html").evaluate(
        """(root, forbidden) => ({
            forbidden: [...root.querySelectorAll(forbidden)].map(one => one.outerHTML),
            handlers: [...root.querySelectorAll("*")]
                .flatMap(one => one.getAttributeNames()).filter(name => name.startsWith("on")),
            links: [...root.querySelectorAll("a[href]")].map(one => [one.protocol, one.target, one.rel]),
        })""",
        FORBIDDEN,
    )
    assert (found["forbidden"], found["handlers"]) == ([], [])
    assert all(
        protocol in {"https:", "http:", "mailto:"} and (target, rel) == ("_blank", "noopener noreferrer")
        for protocol, target, rel in found["links"]
    )


def provider_labels(service: ServiceProcess, thread_id: str) -> set[str]:
    """What the mailbox says once it is read anew."""
    service.mutate("fake.mail.syncNow", address=MIA)
    return labels_of(service, thread_id)
