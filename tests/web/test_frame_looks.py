"""The frame at every width, with one account and with twelve of long names: nothing is cut, nothing hides unsaid."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from copy import deepcopy

import pytest
from playwright.sync_api import Page, expect

from tests.sizes import FRAME_WIDTHS
from tests.support.browser import App, still
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import check_in_a_light

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

WIDTHS = (320, 390, 600, 768, 1024, 1280, 1920, 2560)
ZOOMED = tuple(width // 2 for width in WIDTHS if width >= 640)
"""At 200 % a window has half the width."""
HEIGHT_PX = 860
BARS = (".top", ".tabs", ".list-top", ".bottom-bar", ".side-head", ".side-foot", ".thread-toolbar")

OUTSIDE = """bars => {
    const seen = one => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 1;
    const cut = (one, within) => {
        const [mine, room] = [one.getBoundingClientRect(), within.getBoundingClientRect()];
        return mine.left < room.left - 1 || mine.right > room.right + 1
            || mine.top < room.top - 1 || mine.bottom > room.bottom + 1;
    };
    const words = one => one.getAttribute("aria-label") || one.textContent.trim();
    const found = [];
    for (const bar of bars.flatMap(name => [...document.querySelectorAll(name)].filter(seen))) {
        const controls = [...bar.querySelectorAll("a, button, input")].filter(seen)
            .filter(one => !one.closest("[popover]") && getComputedStyle(one).position !== "fixed");
        for (const one of controls) if (cut(one, bar)) found.push(`${bar.className}: ${words(one)} is cut`);
        for (const [at, one] of controls.entries()) for (const other of controls.slice(at + 1)) {
            if (one.contains(other) || other.contains(one) || one.closest(".search") === other.closest(".search")
                && one.closest(".search")) continue;
            const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) {
                found.push(`${bar.className}: ${words(one)} lies over ${words(other)}`);
            }
        }
    }
    return found;
}"""


def answers_of(accounts: int) -> FakeAnswers:
    answers = FakeAnswers()
    pattern = answers.accounts[0]
    del answers.accounts[min(accounts, 3) :]
    for index in range(accounts - 3):
        address = f"a-rather-long-name-of-an-account-{index}@post-and-parcels-of-the-harbour.example"
        answers.accounts.append(
            {**deepcopy(pattern), "id": f"acc_long{index}", "address": address, "unread": index * 30}
        )
    if accounts == 1:
        answers.threads[:] = [one for one in answers.threads if one["accountId"] == pattern["id"]]
    return answers


@pytest.mark.parametrize("accounts", [1, 12])
def test_nothing_is_cut_and_every_account_can_be_reached(
    start: Callable[..., App], accounts: int, chance: random.Random
) -> None:
    app = start(answers_of(accounts))
    page = app.open()
    for width in some(sorted({*WIDTHS, *ZOOMED}), FRAME_WIDTHS, chance):
        page.set_viewport_size({"width": width, "height": HEIGHT_PX})
        still(page)
        fits(page, width)
        reached = reachable(page)
        assert reached == {"", *(one["id"] for one in app.answers.accounts)}, width


def test_nothing_is_cut_beside_an_open_thread(start: Callable[..., App], chance: random.Random) -> None:
    page = start(answers_of(12)).open("/p/mail/t/thr_00", ready="iframe")
    for width in some(WIDTHS, FRAME_WIDTHS, chance):
        page.set_viewport_size({"width": width, "height": HEIGHT_PX})
        still(page)
        fits(page, width)


def test_accounts_that_begin_alike_are_told_apart_by_their_tabs(start: Callable[..., App]) -> None:
    cuts = {
        "info@harbour.example": "in…example",
        "info@harbour.test": "in…test",
        "the-office-of-one@sea.example": "th…one@sea.example",
        "the-office-of-two@sea.example": "th…two@sea.example",
        "ann.marie@sea.example": "an…example",
        "ann.marie@sea.example.org": "an….org",
        "mia@sea.example": "mia@sea.example",
    }
    answers = answers_of(len(cuts))
    for account, address in zip(answers.accounts, cuts, strict=True):
        account["address"] = address
    page = start(answers).open()
    titles = page.locator(".tab-title")
    assert titles.all_text_contents() == ["Unified", *cuts]  # which are whole for who copies them
    page.locator(".tab .left-out").evaluate_all("all => all.forEach(one => { one.textContent = '…'; })")
    assert titles.all_text_contents() == ["Unified", *cuts.values()]


def test_the_frame_passes_axe(start: Callable[..., App], frame_width: int) -> None:
    app, width = start(answers_of(12)), frame_width
    app.page.set_viewport_size({"width": width, "height": HEIGHT_PX})
    page = app.open()
    check_in_a_light(page, f"frame-{width}")
    page.locator(".tab-more").click()
    check_in_a_light(page, f"frame-{width}-accounts")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More" if width == 390 else "Show the navigation", exact=True).or_(
        page.get_by_role("button", name="Fold the navigation")
    ).click()
    check_in_a_light(page, f"frame-{width}-navigation")


def test_the_drawer_keeps_the_focus_and_goes_back(start: Callable[..., App]) -> None:
    app = start(viewport={"width": 390, "height": 844})
    page = app.open()
    more = page.get_by_role("button", name="More", exact=True)
    drawer = page.get_by_role("dialog", name="All places")
    for leave in (lambda: page.keyboard.press("Escape"), page.go_back):
        more.click()
        expect(drawer).to_be_visible()
        leave()
        expect(drawer).to_have_count(0)
        expect(page).to_have_url(f"{app.origin}/p/mail")
    more.click()
    drawer.get_by_role("link", name="Spam").click()
    expect(page).to_have_url(f"{app.origin}/p/mail/l/Spam")
    expect(drawer).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(f"{app.origin}/p/mail")


def test_the_navigation_folds_and_stays_so(app: App) -> None:
    page = app.open()
    side = page.get_by_role("navigation", name="Workspace")
    expect(side.get_by_role("link", name="Inbox,")).to_have_attribute("aria-current", "page")
    expect(side.get_by_text("Labels")).to_be_visible()
    app.press("v", "n")
    expect(side.get_by_text("Labels")).to_have_count(0)
    assert side.evaluate("one => one.getBoundingClientRect().width") == 56
    page.reload()
    expect(side.get_by_role("button", name="Show the navigation")).to_be_visible()
    side.get_by_role("button", name="Show the navigation").click()
    assert side.evaluate("one => one.getBoundingClientRect().width") == 216


def test_compact_lists_have_more_rows(app: App) -> None:
    page = app.open("/settings/display", ready="fieldset")
    word = page.get_by_role("navigation", name="Workspace").get_by_text("Settings", exact=True)
    assert word.evaluate("one => one.scrollWidth <= one.clientWidth")  # beside the buttons of the foot
    page.get_by_label("Compact").check()
    page.goto(f"{app.origin}/p/mail")
    app.row("thr_00").wait_for()
    assert app.row("thr_00").evaluate("one => one.getBoundingClientRect().height") == 32


def test_an_address_where_nothing_is_shows_a_page_of_the_app(app: App) -> None:
    page = app.open("/p/tasks", ready="h1")
    page.evaluate("() => { history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate')); }")
    expect(page.get_by_role("heading", name="There is nothing at this address")).to_be_visible()
    expect(page.get_by_role("navigation", name="Workspace")).to_be_visible()


def some(widths: Sequence[int], count: int, chance: random.Random) -> list[int]:
    """The narrowest, and others by chance."""
    return [widths[0], *chance.sample(widths[1:], min(count, len(widths)) - 1)]


def fits(page: Page, width: int) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), width
    assert page.evaluate(OUTSIDE, list(BARS)) == [], width


def reachable(page: Page) -> set[str]:
    """The accounts that a tab in sight or the menu beside the tabs leads to."""
    more = page.locator(".tab-more")
    if more.count():
        more.click()
        expect(page.locator(".tabs-menu a").first).to_be_visible()
    found = page.evaluate(
        """() => [...document.querySelectorAll(".tab, .tabs-menu a")]
            .filter(one => one.checkVisibility({ visibilityProperty: true }))
            .map(one => new URL(one.href).pathname.split("/")[4] ?? "")"""
    )
    if more.count():
        page.keyboard.press("Escape")
    return set(found)
