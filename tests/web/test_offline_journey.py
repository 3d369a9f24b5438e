"""Without a link what was there is read, what a person does waits, and all of it is done once when the link is back.

Against the whole program and its own service worker; once with a browser that is offline, once with a program that was
killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import fresh_page, settled, until
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import MIA, arrives, seeded_service, sent_from, start_seeded
from tests.web.test_offline import KEPT

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SUBJECTS = ("Tide tables", "Harbour dues", "A new buoy", "Rope and tar")
SMALL_ANSWERS = 7
"""Accounts, labels, drafts, what is going out, and the signatures of three accounts."""
LATE_WORKER = """() => {
    if (navigator.serviceWorker.controller) return;
    const register = navigator.serviceWorker.register.bind(navigator.serviceWorker);
    const asked = new Promise(done => { window.letWorkerBegin = done; });
    navigator.serviceWorker.register = (...options) => asked.then(() => register(...options));
}"""
STORED = """async table => {
    const opened = indexedDB.open("svc-offline");
    const db = await new Promise((done, failed) => { opened.onsuccess = () => done(opened.result);
        opened.onerror = failed; });
    if (!db.objectStoreNames.contains(table)) return 0;
    const count = db.transaction(table).objectStore(table).count();
    return new Promise(done => { count.onsuccess = () => { db.close(); done(count.result); }; });
}"""

WAITS_FOR = """async name => {
    const opened = indexedDB.open("svc-offline");
    const db = await new Promise(done => { opened.onsuccess = () => done(opened.result); });
    const all = db.transaction("queue").objectStore("queue").getAll();
    return new Promise(done => { all.onsuccess = () => {
        db.close();
        done(all.result.filter(one => one.name === name).length);
    }; });
}"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    with seeded_service(tmp_path, SVC_UNDO_SEND_SECONDS="0") as service:
        yield service


@pytest.fixture
def page(browser: Browser, service: ServiceProcess) -> Iterator[Page]:
    with fresh_page(browser, service_workers="allow", base_url=service.base) as page:
        yield page


def row(page: Page, subject: str) -> Locator:
    return page.locator("[data-thread]", has=page.get_by_text(subject, exact=True)).first


def read(page: Page, subject: str) -> None:
    row(page, subject).click()
    expect(page.locator(".thread-subject")).to_have_text(subject)
    expect(page.frame_locator(".card iframe").last.get_by_text("The tide is at nine.")).to_be_visible()


def keep(page: Page, *subjects: str) -> None:
    """Until the app, its small answers, the rows and these threads are in this browser."""
    page.evaluate(KEPT)
    until(page, lambda: page.evaluate(STORED, "answers") >= SMALL_ANSWERS, what="the small answers to be kept")
    until(page, lambda: page.evaluate(STORED, "rows") > 40, what="the rows to be kept")
    for subject in subjects:
        read(page, subject)
    until(page, lambda: page.evaluate(STORED, "threads") == len(subjects), what="the threads to be kept")


def act(page: Page) -> None:
    """Archive two, star one, answer one."""
    for subject in SUBJECTS[:2]:
        row(page, subject).click()
        page.keyboard.press("e")
        expect(row(page, subject)).to_have_count(0)
    until(page, lambda: page.evaluate(WAITS_FOR, "mail.archive") == 2, what="both to be written down")
    page.goto("/p/mail")
    row(page, SUBJECTS[2]).click()
    page.get_by_role("button", name="Star", exact=True).click()
    expect(page.get_by_role("button", name="Star", exact=True)).to_have_attribute("aria-pressed", "true")
    read(page, SUBJECTS[3])
    page.keyboard.press("r")
    page.locator("[contenteditable]").first.fill("I will be there.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("It is sent when the server can be reached.")).to_be_visible()


def look_done_once(page: Page, service: ServiceProcess, ids: dict[str, str]) -> None:
    until(page, lambda: page.evaluate(STORED, "queue") == 0, what="the queue to be told", tell=service.log)
    where = {subject: service.query("mail.thread", id=ids[subject])["thread"] for subject in SUBJECTS}
    assert [where[subject]["inInbox"] for subject in SUBJECTS] == [False, False, True, True]
    assert where[SUBJECTS[2]]["starred"]
    until(page, lambda: len(sent_from(service, MIA, f"Re: {SUBJECTS[3]}")) >= 1, what="the answer to be sent")
    assert len(sent_from(service, MIA, f"Re: {SUBJECTS[3]}")) == 1
    steps = dict(service.rows("select what, count(*) from undo_steps group by what"))
    assert (steps["archive"], steps["labels"]) == (2, 1)


def deliver(service: ServiceProcess) -> dict[str, str]:
    return {subject: arrives(service, subject)["threadId"] for subject in SUBJECTS}


def test_without_a_link_what_is_done_waits_and_is_done_once(page: Page, service: ServiceProcess) -> None:
    ids = deliver(service)
    page.goto("/p/mail")
    keep(page, *SUBJECTS)
    page.context.set_offline(True)
    page.goto("/p/mail")
    expect(page.get_by_text("You are offline. You see what this browser kept")).to_be_visible()
    act(page)
    page.goto("/p/mail")
    expect(page.get_by_text("changes will be sent then.")).to_be_visible()
    expect(row(page, SUBJECTS[3])).to_be_visible()
    expect(row(page, SUBJECTS[0])).to_have_count(0)
    page.goto("/p/mail/search/tar")
    page.context.set_offline(False)
    look_done_once(page, service, ids)


def test_what_came_before_the_worker_is_kept_and_a_thread_muted_without_a_link_is_marked_so(
    page: Page, service: ServiceProcess
) -> None:
    ids = deliver(service)
    page.add_init_script(f"({LATE_WORKER})()")
    page.goto("/p/mail")
    expect(row(page, SUBJECTS[0])).to_be_visible()
    settled(page)
    page.evaluate("letWorkerBegin()")
    keep(page)  # nothing was asked for since
    keep(page, SUBJECTS[0])
    address = page.url
    page.context.set_offline(True)
    page.goto("/p/mail")
    row(page, SUBJECTS[0]).click()
    page.keyboard.press("m")
    until(page, lambda: page.evaluate(WAITS_FOR, "mail.mute") == 1, what="it to be written down")
    page.goto(address)
    expect(page.locator(".thread-muted")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".banner-short")).to_have_text("Offline: 1 change to send")
    banner = page.locator(".banner").bounding_box()
    text = page.locator(".banner-short").bounding_box()
    assert banner is not None
    assert text is not None
    assert (banner["height"] < 52, text["height"] < 30) == (True, True)
    page.context.set_offline(False)
    until(page, lambda: service.query("mail.thread", id=ids[SUBJECTS[0]])["thread"]["muted"], what="it to be muted")


def test_a_program_that_was_killed_is_told_once_it_is_back(page: Page, service: ServiceProcess) -> None:
    ids = deliver(service)
    page.goto("/p/mail")
    keep(page, *SUBJECTS)
    service.kill()
    page.goto("/p/mail")
    act(page)
    start_seeded(service, SVC_UNDO_SEND_SECONDS="0")
    page.reload()
    look_done_once(page, service, ids)


def test_what_waits_is_taken_back_and_what_is_refused_is_a_draft_again(page: Page, service: ServiceProcess) -> None:
    ids = deliver(service)
    page.goto("/p/mail")
    keep(page, SUBJECTS[3])
    page.context.set_offline(True)
    page.goto("/p/mail")
    row(page, SUBJECTS[0]).click()
    page.keyboard.press("e")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(f"Back from the archive: {SUBJECTS[0]}")).to_be_visible()
    assert page.evaluate(STORED, "queue") == 0
    page.goto(f"/p/mail/t/{ids[SUBJECTS[2]]}")
    expect(page.get_by_text("It was not read in this browser yet")).to_be_visible()
    read_again(page, ids[SUBJECTS[3]])
    page.keyboard.press("r")
    page.locator("[contenteditable]").first.fill("I will be there.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("It is sent when the server can be reached.")).to_be_visible()
    (account,) = (one for one in service.query("mail.accounts") if one["address"] == MIA)
    service.mutate("mail.disconnect", accountId=account["id"])
    page.context.set_offline(False)
    expect(page.get_by_text("was not sent:")).to_be_visible()
    assert page.evaluate(STORED, "queue") == 0
    assert sent_from(service, MIA, f"Re: {SUBJECTS[3]}") == []
    assert service.query("mail.thread", id=ids[SUBJECTS[0]])["thread"]["inInbox"]


def read_again(page: Page, thread_id: str) -> None:
    page.goto(f"/p/mail/t/{thread_id}")
    expect(page.frame_locator(".card iframe").last.get_by_text("The tide is at nine.")).to_be_visible()
