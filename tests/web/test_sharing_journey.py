"""Two browsers against the whole program: a second person reads a shared mailbox and nothing else, then acts in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import fresh_page, settled, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.test_identity_journey import JONAS, ask, claim, invite, visitor
from tests.web.test_offline import IN_STORE

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

LOOKS = os.environ.get("SVC_LOOKS")
"""A folder for pictures of the pages, where somebody wants to look at them."""


CREATE_LOCAL = """() => fetch('/trpc/mail.createLocal', {method: 'POST', body: '{"name": "Jonas’ own"}',
    headers: {'content-type': 'application/json'}})"""
KEPT = f"""async () => {{ {IN_STORE}
    const tables = db.transaction(["rows", "threads", "answers"]);
    const keys = ["rows", "threads", "answers"].map(name => tables.objectStore(name).getAllKeys());
    await new Promise(done => {{ tables.oncomplete = done; }});
    db.close();
    return keys.map(({{ result }}) => result); }}"""
"""The keys of the rows, threads and answers that this browser keeps."""


@contextmanager
def with_a_worker(browser: Browser, service: ServiceProcess) -> Iterator[Page]:
    """A person whose browser keeps mail for offline use."""
    with fresh_page(browser, service_workers="allow", base_url=service.base) as page:
        yield page


def test_a_second_person_reads_a_shared_mailbox_and_nothing_else(browser: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake", SVC_SEED="mock-world")
        with visitor(browser, service) as mia, with_a_worker(browser, service) as jonas:
            claim(mia)
            join(jonas, invite(mia))
            shared, other = mailboxes(mia)
            share(mia, shared["address"], "May read")
            jonas_reads(jonas, shared["address"], other)
            jonas_may_not_act(jonas, shared["id"])
            mia_lets_him_act(mia, shared["address"])
            subject = jonas_archives(jonas, shared["id"])
            mia_sees_who_it_was(mia, shared["id"], subject)
            jonas_has_it_open(jonas, shared)
            mia_ends_it(mia, shared["address"])
            jonas_has_nothing_of_it(jonas, shared)
        assert service.stop() == 0


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Development login").fill(JONAS)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Connect your mail").wait_for()


def mailboxes(page: Page) -> tuple[dict[str, str], dict[str, str]]:
    """Two of hers, each with a thread of its own."""
    found = data_of(page, "mail.accounts")
    boxes = []
    for account in found[:2]:
        rows = data_of(page, "mail.threads", accountId=account["id"], section="inbox", limit=50)["threads"]
        alone = next(row for row in rows if not row["twins"])
        boxes.append({"id": account["id"], "address": account["address"], "thread": alone["id"]})
    return boxes[0], boxes[1]


def data_of(page: Page, procedure: str, **wanted: object) -> Any:
    reply = page.request.get(f"/trpc/{procedure}", params={"input": json.dumps(wanted)})
    return json.loads(reply.text())["result"]["data"]


def share(page: Page, address: str, level: str) -> None:
    page.goto("/settings/accounts")
    card = page.get_by_role("region", name=address)
    card.get_by_text("Share", exact=True).click()
    card.get_by_label(f"Share {address} with").select_option(label="jonas")
    card.get_by_label("What they may do", exact=True).select_option(label=level)
    card.get_by_role("button", name="Share", exact=True).click()
    expect(card.get_by_label("What jonas may do")).to_have_value("read")
    look(page, "owner")


def jonas_reads(page: Page, address: str, other: dict[str, str]) -> None:
    """It came without his asking; what he can open of hers is that one mailbox."""
    page.get_by_role("tab", name=address).wait_for()
    assert "shared by mia" in (page.get_by_role("tab", name=address).get_attribute("aria-label") or "")
    expect(page.get_by_role("tab", name=other["address"])).to_have_count(0)
    page.get_by_role("tab", name=address).click()
    page.locator("[data-thread]").first.wait_for()
    assert ask(page, "mail.thread", id=other["thread"]) == ask(page, "mail.thread", id="thr_none") == 404
    page.goto(f"/p/mail/a/{other['id']}/t/{other['thread']}")
    settled(page)
    assert other["address"] not in page.content()
    page.goto("/settings/accounts")
    page.get_by_text("shares it with you. You may read it.").wait_for()
    assert other["address"] not in page.content()
    look(page, "member")


def jonas_may_not_act(page: Page, account_id: str) -> None:
    page.goto(f"/p/mail/a/{account_id}")
    page.locator("[data-thread]").first.click()
    page.get_by_text("Shared by mia, to read").wait_for()
    page.locator(".card").first.wait_for()
    for name in ("Archive", "Reply", "Mark unread", "Delete"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    look(page, "reader")
    page.keyboard.press("e")
    page.get_by_text("it is shared with you to read").wait_for()


def mia_lets_him_act(page: Page, address: str) -> None:
    card = page.get_by_role("region", name=address)
    card.get_by_label("What jonas may do").select_option(label="May read and act")
    expect(card.get_by_label("What jonas may do")).to_have_value("act")


def jonas_archives(page: Page, account_id: str) -> str:
    """His page hears that he may."""
    page.get_by_role("button", name="Archive", exact=True).wait_for()
    subject = page.locator(".thread-subject").inner_text()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_text("Archived", exact=True).wait_for()
    return subject


def mia_sees_who_it_was(page: Page, account_id: str, subject: str) -> None:
    found: list[str] = []

    def has_arrived() -> bool:
        rows = data_of(page, "mail.threads", accountId=account_id, section="skipped", limit=50)
        found.extend(row["id"] for row in rows["threads"] if row["subject"] == subject)
        return bool(found)

    until(page, has_arrived, what="the archived thread to have left the inbox at the server")
    page.goto(f"/p/mail/a/{account_id}/t/{found[0]}")
    expect(page.get_by_role("list", name="Who did what")).to_contain_text("jonas archived this")
    look(page, "who")


def mia_ends_it(page: Page, address: str) -> None:
    page.goto("/settings/accounts")
    card = page.get_by_role("region", name=address)
    card.get_by_text("Shared with 1 person").click()
    card.get_by_label("What jonas may do").select_option(label="Nothing")
    expect(card.get_by_label("What jonas may do")).to_have_count(0)


def jonas_has_it_open(page: Page, shared: dict[str, str]) -> None:
    """And this browser keeps it, to be read without a link. He has an account of his own."""
    page.evaluate(CREATE_LOCAL)
    page.goto(f"/p/mail/t/{shared['thread']}")
    page.locator(".card").first.wait_for()

    def has_all() -> bool:
        rows, threads, answers = page.evaluate(KEPT)
        return bool(rows and threads and signature_of(shared) in answers)

    until(page, has_all, what="the browser to keep it")


def signature_of(account: dict[str, str]) -> str:
    return f'mail.signature {{"accountId":"{account["id"]}"}}'


def jonas_has_nothing_of_it(page: Page, shared: dict[str, str]) -> None:
    expect(page.get_by_role("heading", name="This thread is gone")).to_be_visible()
    expect(page.locator("[data-thread]")).to_have_count(0)
    expect(page.locator(".card")).to_have_count(0)

    def is_forgotten() -> bool:
        rows, threads, answers = page.evaluate(KEPT)
        return not rows and not threads and signature_of(shared) not in answers

    until(page, is_forgotten, what="the browser to forget it")
    page.context.set_offline(True)
    page.goto("/p/mail")
    expect(page.get_by_role("tab", name="jonas’ own")).to_be_visible()
    assert shared["address"] not in page.content()


def look(page: Page, name: str) -> None:
    if LOOKS:
        size = page.viewport_size
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            settled(page)
            page.screenshot(path=f"{LOOKS}/{name}-{width}.png")
        if size:
            page.set_viewport_size(size)
