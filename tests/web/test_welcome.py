"""The first minutes: one thing at a time, skipped and found again; and an inbox that is worth emptying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.peers.needs import AXE, need
from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_identity import JONAS, signed_in
from tests.web.fake_mail import MIA, at
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import NARROW, WIDE, check, check_in_a_light

pytestmark = pytest.mark.browser


@dataclass
class FirstDay(FakeAnswers):
    """Nothing is connected; the demo brings one account with all the mail of this world."""

    def rpc_demo_tryout(self, given: dict[str, Any]) -> Any:
        self.accounts += [{**fake_mail.accounts()[0], "address": "demo", **fake_mail.kept_here()}]
        return {"accountId": MIA}


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "window"), [("wide", WIDE), ("phone", NARROW)])
def test_each_first_step_is_skipped_and_found_again(
    start: Callable[..., App], name: str, window: dict[str, Any]
) -> None:
    need(AXE)
    app = start(FirstDay(accounts=[]), **window)
    page = app.open(ready=".connect")
    page.get_by_role("button", name="Google").wait_for()
    check_in_a_light(page, f"{name}-welcome-connect")
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("heading", name="Try it with made-up mail").wait_for()
    page = app.open(ready=".connect")
    page.get_by_role("heading", name="Try it with made-up mail").wait_for()
    check_in_a_light(page, f"{name}-welcome-demo")
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("heading", name="Invite people").wait_for()
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("heading", name="Nothing is connected yet").wait_for()
    check(page, f"{name}-welcome-done")
    page.get_by_role("navigation", name="First steps").get_by_role("button", name="Try the demo").click()
    page.get_by_role("main").get_by_role("button", name="Try the demo", exact=True).last.click()
    page.get_by_role("status").get_by_role("button", name="Show it").wait_for()
    page.locator("[data-thread]").first.wait_for()
    assert len(app.calls("demo.tryOut")) == 1
    page = app.open("/settings/first-steps", ready="main h2 >> visible=true")
    for link in ("Mail accounts", "Users and invites"):
        page.get_by_role("main").get_by_role("link", name=link).wait_for()
    page.get_by_role("button", name="Try the demo").wait_for()


def test_a_member_is_not_asked_to_invite(start: Callable[..., App]) -> None:
    page = start(FirstDay(accounts=[], me=signed_in(JONAS))).open(ready=".connect")
    expect(page.get_by_role("navigation", name="First steps").get_by_role("button")).to_have_count(2)
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("button", name="Skip this").click()
    page.get_by_role("heading", name="Nothing is connected yet").wait_for()


def test_the_mail_of_a_first_account_that_somebody_shares_is_there_at_once(start: Callable[..., App]) -> None:
    app = start(FirstDay(accounts=[], threads=[], me=signed_in(JONAS)))
    app.open(ready=".connect")
    app.answers.accounts += fake_mail.accounts()[:1]
    app.answers.threads += fake_mail.threads()
    app.answers.set_account(MIA, access="read", owner="Mia Tern")
    app.row("thr_00").wait_for()


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "window"), [("wide", WIDE), ("phone", NARROW)])
def test_an_empty_inbox_says_what_was_done_and_what_comes_next(
    start: Callable[..., App], name: str, window: dict[str, Any]
) -> None:
    need(AXE)
    threads = [fake_mail.thread(subject="Berth seven " + "and its neighbours " * 9, in_inbox=False)]
    threads[0].update(snoozedUntil=at(days=-2))
    done = [{"id": str(n), "what": "archived", "at": at(seconds=0)} for n in range(3)]
    page = start(FakeAnswers(threads=threads, done=done), **window).open(ready=".empty-inbox")
    page.get_by_text("3 steps with your mail today.").wait_for()
    page.get_by_role("link", name="Next to come back: Berth seven").wait_for()
    empty, below = page.locator(".empty-inbox").bounding_box(), page.locator(".section-head").last.bounding_box()
    assert empty is not None
    assert below is not None
    assert empty["y"] + empty["height"] <= below["y"]
    link = page.get_by_role("link", name="Next to come back: Berth seven").bounding_box()
    assert link is not None
    assert link["x"] + link["width"] <= empty["x"] + empty["width"]
    expect(page.locator(".empty-picture")).to_be_in_viewport()
    check_in_a_light(page, f"{name}-empty-inbox")
    page.get_by_role("link", name="Next to come back: Berth seven").click()
    page.locator("[data-thread]").first.wait_for()
