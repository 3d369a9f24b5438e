"""A browser against the whole program with made-up mail: read, archive, undo, new mail, spam, a crash in between."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.sizes import HANGS_S
from tests.support.browser import DESKTOP, PHONE, AppPage, fresh_page, hear, still
from tests.support.browser import until as browser_until
from tests.support.certificates import self_signed
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess, until
from tests.support.shots import keep_picture

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SETTINGS = {"PROVIDERS": "fake", "SVC_SEED": "mock-world"}
MIA = "mia@ternandtide.example"
LEAST_THREADS = 40


def test_a_day_with_the_inbox(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(**SETTINGS)
        until(lambda: is_read(service), what="all mail to be read", deadline_s=HANGS_S, tell=service.log)
        with reader(browser, service) as seat:
            everything_is_there(seat)
            reads_and_archives(seat, service)
            new_mail_shows_itself_and_spam_does_not(seat, service)
            archives_all_as_one_step(seat, service)
            blocks_a_sender(seat, service)
            assert seat.problems == []
            survives_a_crash(seat, service)
        pictures(browser, service)
        assert service.stop() == 0


@pytest.mark.share(3, among="the app by another way")
def test_the_same_inbox_behind_hypercorn_with_tls_and_http_2(browser: Browser, tmp_path: Path) -> None:
    pem = self_signed(tmp_path, "localhost")
    with InstalledService(tmp_path, trusted=ssl.create_default_context(cafile=str(pem))) as service:
        service.program = ("-m", "svc", "serve", "--front=hypercorn")
        service.start(**SETTINGS, SVC_TLS_CERT_FILE=str(pem), SVC_TLS_KEY_FILE=str(pem))
        until(lambda: is_read(service), what="all mail to be read", deadline_s=HANGS_S, tell=service.log)
        with reader(browser, service, ignore_https_errors=True) as seat:
            everything_is_there(seat)
            assert seat.page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
            reads_and_archives(seat, service)
            new_mail_shows_itself_and_spam_does_not(seat, service)
            assert seat.problems == []
            assert service.stop() == 0
            seat.page.get_by_text("Reconnecting to the server.").wait_for()
        assert service.events("http.front") == []


def is_read(service: ServiceProcess) -> bool:
    accounts = service.query("mail.accounts")
    return len(accounts) == 3 and all(one["state"] == "caught-up" for one in accounts)


def everything_is_there(seat: AppPage) -> None:
    page = seat.page
    page.goto("/")
    page.wait_for_url("**/p/mail")
    seat.until(f"() => {count_of('inbox')} >= {LEAST_THREADS}")
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(4)
    seat.settled()
    badges = [int((text or "·0").rpartition("·")[2]) for text in tabs.all_text_contents()]
    assert badges[0] == sum(badges[1:])
    seat.until(f"() => {count_of('skipped')} > 10")


def reads_and_archives(seat: AppPage, service: ServiceProcess) -> None:
    page = seat.page
    unread = total(service.query("mail.accounts"))
    (thread,) = service.query("mail.threads", section="inbox", limit=1)["threads"]
    seat.press("j")
    seat.selects(thread["id"])
    seat.press("Enter")
    page.locator("iframe").first.wait_for()
    eventually(page, lambda: total(service.query("mail.accounts")) == unread - 1)

    def in_inbox() -> bool:
        return bool(service.query("mail.thread", id=thread["id"])["thread"]["inInbox"])

    seat.press("e")
    eventually(page, lambda: not in_inbox())
    page.get_by_role("button", name="Undo").click()
    eventually(page, in_inbox)
    seat.settled()
    seat.press("u")
    page.get_by_role("grid", name="Inbox").locator(f"#row-{thread['id']}").wait_for()


def new_mail_shows_itself_and_spam_does_not(seat: AppPage, service: ServiceProcess) -> None:
    page = seat.page
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 0; }")
    skipped = page.evaluate(count_of("skipped"))
    arrives(service, "You have won", "SPAM")
    arrives(service, "The ferry is late", "INBOX")
    page.get_by_role("link", name="Unread, Harbour Office, The ferry is late").wait_for()
    assert page.evaluate(count_of("skipped")) == skipped
    expect(page.get_by_text("You have won")).to_have_count(0)


def archives_all_as_one_step(seat: AppPage, service: ServiceProcess) -> None:
    """All that is loaded, most of it out of sight, by one step, which one press brings back."""
    page = seat.page

    def in_inbox() -> int:
        return sum(1 for _ in service.query("mail.threads", section="inbox", limit=100)["threads"])

    before = in_inbox()
    seat.press("*", "e")
    eventually(page, lambda: in_inbox() == 0)
    page.get_by_role("button", name="Undo").click()
    eventually(page, lambda: in_inbox() == before)
    seat.settled()


def blocks_a_sender(seat: AppPage, service: ServiceProcess) -> None:
    """What is here goes, what comes goes there as well, and the settings let the sender in again."""
    page = seat.page
    page.get_by_role("link", name="Harbour Office, The ferry is late").click()
    page.locator("iframe").first.wait_for()
    page.locator(".card-more").last.click()
    page.get_by_role("button", name="Block sender").click()
    page.get_by_role("dialog", name="Block sender").get_by_role("button", name="Block").click()
    page.get_by_text("moved to the trash").wait_for()
    arrives(service, "The ferry is later", "INBOX")
    trashed = {"labelName": "Trash", "limit": 10}
    eventually(page, lambda: len(service.query("mail.threads", **trashed)["threads"]) >= 2)
    expect(page.get_by_role("link", name="The ferry is later")).to_have_count(0)
    page.goto(f"{service.base}/settings/blocked")
    page.get_by_role("button", name="Unblock").click()
    page.get_by_text("Nobody is blocked").wait_for()
    page.goto(f"{service.base}/p/mail")
    page.locator("[data-thread]").first.wait_for()


def survives_a_crash(seat: AppPage, service: ServiceProcess) -> None:
    page = seat.page
    service.kill()
    page.get_by_text("Reconnecting to the server.").wait_for()
    service.start(**SETTINGS)
    page.get_by_text("Reconnecting to the server.").wait_for(
        state="detached"
    )  # by itself, and perhaps before it is ready
    arrives(service, "After the crash", "INBOX")
    page.get_by_role("link", name="After the crash").wait_for()


def arrives(service: ServiceProcess, subject: str, label: str) -> None:
    sender = {"from": "Harbour Office <office@harbour.example>"}
    service.mutate("fake.mail.inject", address=MIA, subject=subject, text="…", labels=[label, "UNREAD"], **sender)
    service.mutate("fake.mail.syncNow", address=MIA)


def pictures(browser: Browser, service: ServiceProcess) -> None:
    """For people: the inbox as it is seen first."""
    looks: list[tuple[str, dict[str, Any]]] = [
        ("light", {"viewport": DESKTOP, "color_scheme": "light"}),
        ("dark", {"viewport": DESKTOP, "color_scheme": "dark"}),
        ("phone", {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}),
    ]
    for name, options in looks:
        with reader(browser, service, **options) as seat:
            seat.page.goto("/p/mail")
            seat.page.locator("[data-thread]").first.wait_for()
            still(seat.page)
            keep_picture(seat.page, f"seeded-{name}")
            assert seat.problems == []


@contextmanager
def reader(browser: Browser, service: ServiceProcess, **options: Any) -> Iterator[AppPage]:
    with fresh_page(browser, base_url=service.base, **options) as page:
        seat = AppPage(page=page)
        hear(page, seat.problems.append)
        yield seat


def count_of(section: str) -> str:
    """JavaScript: how many threads the head of a section counts."""
    return f"Number(document.querySelector('[data-section={section}] .section-count')?.textContent.replace(/\\D/g, ''))"


def total(accounts: list[dict[str, Any]]) -> int:
    return sum(int(account["unread"]) for account in accounts)


def eventually(page: Page, holds: Callable[[], bool]) -> None:
    browser_until(page, holds)
