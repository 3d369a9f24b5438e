"""Notifications in the browser: turned on and set, shown by the open page and by the service worker, and acted on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, Worker, expect

from tests.support.browser import App, drawn, fresh_page, intercept, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock]

NOTICES = """() => {
    window.notices = [];
    window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, options) { window.notices.push([title, options.body, options.tag]); }
    };
    document.hasFocus = () => false;
}"""
"""Stands in for the system's notices, and for a person who looks elsewhere."""

WORKER = """() => {
    const showNotification = async (title, { body, tag, actions }) => {
        window.notices.push([title, body, tag, actions.map(one => one.action)]);
    };
    navigator.serviceWorker.getRegistration = async () => ({ showNotification });
}"""
"""Stands in for the service worker, whose notices can have buttons."""


def arrived(app: App, **more: str) -> None:
    told = {"accountId": fake_mail.MIA, "threadId": "thr_00", "messageId": "msg_1"}
    with app.answers.lock:
        app.answers.emit(
            "notifications", "mail.arrived", "msg_1", {**told, "sender": "Noa", "subject": "Tea", "snippet": "", **more}
        )


@pytest.mark.thorough
def test_one_says_of_what_in_how_many_words_and_when(app: App) -> None:
    page = app.open("/settings/notifications", ready="#quiet-title")
    page.get_by_role("checkbox", name="mia@ternandtide.example").check()
    page.get_by_label("Only that there is new mail").check()
    page.get_by_label("Tell me nothing at night").check()
    page.get_by_label("From").fill("21:30")
    until(page, lambda: (app.answers.notifications["quiet"] or {}).get("begin") == 21 * 60 + 30, what="the hours")
    kept = app.answers.notifications
    assert (kept["accountIds"], kept["words"]) == ([fake_mail.MIA], "none")
    assert (kept["quiet"]["end"], bool(kept["quiet"]["timeZone"])) == (7 * 60, True)
    page.reload()
    expect(page.get_by_role("checkbox", name="mia@ternandtide.example")).to_be_checked()
    page.get_by_label("Tell me nothing at night").uncheck()
    until(page, lambda: app.answers.notifications["quiet"] is None, what="the hours to go")


def test_two_quick_choices_are_both_kept(app: App) -> None:
    page = app.open("/settings/notifications", ready="#quiet-title")
    held: list[Route] = []
    intercept(page, "**/trpc/notifications.set", lambda route: held.append(route), times=1)
    page.get_by_role("checkbox", name="mia@ternandtide.example").check()
    page.get_by_label("Only that there is new mail").check()
    until(page, lambda: bool(held), what="the first to be on its way")
    held[0].continue_()
    until(page, lambda: app.answers.notifications["words"] == "none", what="the second to be kept")
    assert app.answers.notifications["accountIds"] == [fake_mail.MIA]


@pytest.mark.thorough
def test_the_open_page_shows_a_notice_once_it_is_turned_on(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(), alone=True)
    app.page.add_init_script(f"({NOTICES})()")
    heard: list[str | bytes] = []
    app.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(frame)))
    page = app.open("/settings/notifications", ready="#quiet-title")
    arrived(app, subject="Not yet")
    until(page, lambda: any("Not yet" in str(one) for one in heard), what="the page to hear of it")
    drawn(page)
    page.get_by_role("button", name="Turn on here").click()
    page.get_by_text("You are told while svc is open here").wait_for()
    arrived(app)
    arrived(app, sender="", subject="")
    app.until("() => window.notices.length === 2")
    assert page.evaluate("() => window.notices") == [["Noa", "Tea", "mail thr_00"], ["New mail", "", "mail thr_00"]]
    page.evaluate(WORKER)
    arrived(app)
    app.until("() => window.notices.length === 3")
    assert page.evaluate("() => window.notices[2]") == ["Noa", "Tea", "mail thr_00", ["archive", "reply"]]
    page.get_by_role("button", name="Turn off here").click()
    page.get_by_text("Off in this browser.").wait_for()


@pytest.mark.thorough
def test_a_notices_reply_opens_compose(app: App) -> None:
    page = app.open("/p/mail/t/thr_00?answer=reply", ready=".thread-subject")
    page.locator(".answer-card").wait_for()
    page.wait_for_url("**/p/mail/t/thr_00")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("service")) as service:
        service.start(PROVIDERS="fake")
        yield service


@pytest.fixture
def page(browser: Browser, service: ServiceProcess) -> Iterator[Page]:
    with fresh_page(browser, service_workers="allow", base_url=service.base) as page:
        yield page


STAND_IN = """() => {
    self.shown = [];
    self.registration.showNotification = async (title, { body, tag, actions }) => {
        self.shown.push([title, body, tag, actions.map(one => one.action)]);
    };
}"""
"""This Chromium has no system to show a notice on."""

PRESS = """async ([action, threadId]) => {
    const event = new Event("notificationclick");
    const work = [];
    const notification = { close() {}, data: { threadId } };
    Object.assign(event, { action, notification, waitUntil: one => work.push(one) });
    self.dispatchEvent(event);
    await Promise.all(work);
}"""


def worker_of(page: Page) -> Worker:
    page.goto("/p/mail")
    page.evaluate("async () => { await navigator.serviceWorker.ready }")
    (worker,) = page.context.service_workers
    worker.evaluate(STAND_IN)
    return worker


@pytest.mark.thorough
def test_every_push_shows_a_notice_with_what_can_be_done(page: Page, service: ServiceProcess) -> None:
    worker = worker_of(page)
    session = page.context.new_cdp_session(page)
    seen: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda told: seen.extend(one["registrationId"] for one in told["registrations"]),
    )
    session.send("ServiceWorker.enable")
    until(page, lambda: bool(seen), what="the registration")
    told = {"threadId": "thr_1", "sender": "Noa", "subject": "Tea", "snippet": "At four?"}
    for data in (json.dumps(told), "not ours"):
        push = {"origin": service.base, "registrationId": seen[-1], "data": data}
        session.send("ServiceWorker.deliverPushMessage", push)
    until(page, lambda: len(worker.evaluate("self.shown")) == 2, what="the notices")
    assert worker.evaluate("self.shown") == [
        ["Noa", "Tea\nAt four?", "mail thr_1", ["archive", "reply"]],
        ["New mail", "", "svc", []],
    ]


@pytest.mark.thorough
def test_a_notice_archives_without_the_app_and_opens_it_for_a_reply(page: Page, service: ServiceProcess) -> None:
    mail = {"address": "mia@example.org", "from": "Noa <noa@example.org>", "subject": "Tea", "text": "At four?"}
    service.mutate("fake.mail.inject", **mail)
    service.mutate("fake.mail.syncNow", address="mia@example.org")
    (thread,) = service.query("mail.threads", section="inbox")["threads"]
    worker = worker_of(page)
    worker.evaluate(PRESS, ["reply", thread["id"]])
    page.locator(".answer-card").wait_for()
    worker.evaluate(PRESS, ["archive", thread["id"]])
    assert [one["id"] for one in service.query("mail.threads", section="skipped")["threads"]] == [thread["id"]]
