"""Settings > Inside: the tree with its search, what stands out, and that it looks again by itself until it is held."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.peers.needs import AXE, need
from tests.support.browser import App
from tests.web.fake_identity import IdentityAnswers, signed_in
from tests.web.test_app_looks import SIZES, check_in_a_light

pytestmark = pytest.mark.browser


def rows(page: Page, region: str) -> Locator:
    return page.get_by_role("region", name=region).locator("tbody tr")


@pytest.mark.thorough
def test_the_tree_is_searched_and_what_stands_out_is_seen(start: Callable[..., App]) -> None:
    page = start(IdentityAnswers()).open("/settings/inside", ready=".inside-facts")
    expect(page.get_by_role("heading", name="Inside", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("link", name="Inside")).to_be_in_viewport()
    expect(page.get_by_role("definition")).to_have_text(["0.1.0", "2 h", "72 MB", "41", "12 of 10,000"])
    expect(rows(page, "The tree of tasks")).to_have_count(8)
    expect(rows(page, "The tree of tasks").nth(1)).to_contain_text("nursery: 2 tasks")
    expect(rows(page, "The tree of tasks").last).to_contain_text("10 more tasks _highlevel_serve_listeners")
    waits = rows(page, "The tree of tasks").locator("td:nth-child(2)")
    expect(waits).to_have_text(["at least 2 h", "", "12 s", "12 s", "a few seconds or less", "", "40 ms", ""])
    page.get_by_placeholder("Find a task").fill("poll wake.py")
    shown = rows(page, "The tree of tasks").locator("td:first-child")
    expect(shown).to_have_text(
        ["app.serve", "nursery: 2 tasks", "mail:acc_1", "mail.sync.tasks.AccountLoop._poll_for_ever"]
    )
    page.get_by_placeholder("Find a task").fill("nothing like it")
    expect(page.get_by_text("No task of that name.")).to_be_visible()
    expect(rows(page, "All subsystems").first).to_contain_text("restarting")
    expect(rows(page, "All subsystems").first).to_contain_text("OSError: the line broke")
    expect(rows(page, "All mail accounts").last).to_contain_text("nobody yet")
    expect(rows(page, "All mail accounts").last).to_contain_text("never")
    page.get_by_text("1,240 ms").click()
    expect(page.get_by_text("svc/formats/text.py:30 words")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="subsystem.crashed")).to_contain_text("task=mail:acc_1")


@pytest.mark.thorough
def test_it_looks_again_until_it_is_held(start: Callable[..., App]) -> None:
    app = start(IdentityAnswers(), alone=True)
    app.page.clock.install()
    page = app.open("/settings/inside", ready=".inside-facts")
    seen = len(app.called("inside.look"))
    page.clock.run_for(2_000)
    app.called("inside.look", times=seen + 1)
    page.get_by_role("button", name="Hold this moment").click()
    app.settled()
    held = len(app.called("inside.look"))
    page.clock.run_for(10_000)
    app.settled()
    assert len(app.called("inside.look")) == held
    page.get_by_role("button", name="Go on").click()
    page.clock.run_for(2_000)
    app.called("inside.look", times=held + 1)


def test_a_member_does_not_see_it(start: Callable[..., App]) -> None:
    answers = IdentityAnswers()
    answers.me = signed_in({**answers.me["user"], "role": "member"})
    page = start(answers).open("/settings", ready=".who")
    expect(page.get_by_role("link", name="Profile")).to_be_visible()
    expect(page.get_by_role("link", name="Inside")).to_have_count(0)


@pytest.mark.look
def test_it_passes_axe_and_fits(start: Callable[..., App], size: str) -> None:
    need(AXE)
    page = start(IdentityAnswers(), **SIZES[size]).open("/settings/inside", ready=".inside-facts")
    check_in_a_light(page, f"{size}-settings-inside")
