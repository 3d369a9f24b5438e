"""How it looks and reads: accessibility by axe-core, light, dark, phone and zoom; screenshots with ``SVC_SHOTS=1``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.peers.needs import AXE, AXE_PATH, need
from tests.support.browser import DESKTOP, PHONE, App, still
from tests.support.shots import keep_picture
from tests.web import fake_world
from tests.web.fake_server import World

pytestmark = [pytest.mark.browser, pytest.mark.look]

SMALLEST_TARGET_PX = 44
RULES: Final = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
RULES_OF_COLOUR: Final = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}

WIDE: dict[str, Any] = {"viewport": DESKTOP}
NARROW: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
ZOOMED: dict[str, Any] = {"viewport": {"width": 680, "height": 430}}  # 1360 x 860 at 200 %


def busy_world() -> World:
    world = World()
    world.accounts[1].update(state="backfilling", progress=fake_world.reading(3_120, 48_211))
    world.accounts[2].update(state="reconnect", problem="The grant ended: apps in testing lose it after 7 days.")
    return world


def test_every_page_passes_axe_in_both_colours(start: Callable[..., App]) -> None:
    app = start(busy_world(), **WIDE)
    page = app.open()
    app.press("j", "j")
    check_in_both_lights(page, "list")
    open_thread(app, "thr_00")
    check_in_both_lights(page, "thread", dark=RULES)  # where a mail can be shown on light paper
    open_thread(app, "thr_06")
    check_in_both_lights(page, "newsletter", dark=RULES)
    app.press("?")
    page.wait_for_selector("dialog[open]")
    check_in_both_lights(page, "help")
    app.press("Escape")
    page.locator(".sync-button").click()
    check_in_both_lights(page, "sync")
    app.world.accounts.clear()
    page.goto(f"{app.origin}/p/mail")
    page.wait_for_selector(".connect")
    check_in_both_lights(page, "connect")


@pytest.mark.parametrize(("name", "window"), [("phone", NARROW), ("zoom", ZOOMED)])
def test_it_fits_a_phone_and_200_percent(start: Callable[..., App], name: str, window: dict[str, Any]) -> None:
    app = start(busy_world(), **window)
    check(app.open(), f"{name}-list")
    open_thread(app, "thr_00")
    check(app.page, f"{name}-thread")


def test_what_a_finger_presses_is_large_enough(start: Callable[..., App]) -> None:
    app = start(busy_world(), **NARROW)
    page = app.open()
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.wait_for_selector("iframe")
    assert "\n".join(small_targets(page)) == ""


def test_forced_colours_still_show_what_is_selected_unread_picked_and_chosen(start: Callable[..., App]) -> None:
    app = start(busy_world(), **WIDE)
    page = app.open()
    page.emulate_media(forced_colors="active")
    app.press("j")
    assert background(page, ".row.selected", "::before") != background(page, ".row.selected")
    assert background(page, ".unread .row-dot") != background(page, ".row.unread")
    app.press("x")
    assert background(page, ".picked .row-pick", "::before") != background(page, ".row.picked")
    check(page, "forced-colours-list")
    app.press("Control+k")
    chosen = page.get_by_role("dialog", name="Commands").locator("[role=option][aria-selected=true]")
    expect(chosen).to_have_css("outline-style", "solid")
    check(page, "forced-colours-palette")


RIGHT_TO_LEFT = "اجتماع فريق العمل غدًا الساعة العاشرة صباحًا في قاعة الاجتماعات الكبرى بالطابق الثالث من المبنى الرئيسي"


def test_words_from_right_to_left_lose_their_end_where_there_is_no_room(start: Callable[..., App]) -> None:
    world = World()
    world.threads[0].update(subject=RIGHT_TO_LEFT, sender={**world.threads[0]["sender"], "name": RIGHT_TO_LEFT})
    app = start(world, **NARROW)
    app.open()
    for part in (".row-sender", ".row-subject"):
        begins, left, right = (
            app.row("thr_00")
            .locator(part)
            .evaluate(
                """box => {
                const range = document.createRange();
                const text = document.createTreeWalker(box.querySelector("bdi"), NodeFilter.SHOW_TEXT).nextNode();
                range.setStart(text, 0);
                range.setEnd(text, 1);
                const room = box.getBoundingClientRect();
                return [range.getBoundingClientRect().right, room.left, room.right];
            }"""
            )
        )
        assert left < begins <= right + 1, part


def test_nothing_moves_for_those_who_asked_for_calm(start: Callable[..., App]) -> None:
    page = start(busy_world(), reduced_motion="reduce").open()
    moving = "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 10).length"
    assert page.evaluate(moving) == 0


def background(page: Page, selector: str, pseudo: str | None = None) -> str:
    given = page.locator(selector).first.evaluate(
        "(one, pseudo) => getComputedStyle(one, pseudo).backgroundColor", pseudo
    )
    return str(given)


def open_thread(app: App, thread_id: str) -> None:
    app.page.goto(f"{app.origin}/p/mail/t/{thread_id}")
    app.page.wait_for_selector("iframe")


def check_in_both_lights(page: Page, shot: str, *, dark: dict[str, Any] = RULES_OF_COLOUR) -> None:
    """``dark``: the rules for the dark page. Where it is the same page, only those that read colours find more."""
    check(page, f"{shot}-light")
    page.emulate_media(color_scheme="dark")
    check(page, f"{shot}-dark", rules=dark)
    page.emulate_media(color_scheme="light")


def check(page: Page, shot: str, *, rules: dict[str, Any] = RULES) -> None:
    """Nothing wider than the window, no violation of WCAG 2.2 A and AA or of best practice."""
    need(AXE)
    still(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{shot} is wider than the window"
    keep_picture(page, shot)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_PATH.read_text())
    found = page.evaluate(
        """async runOnly => (await axe.run(document, {
            runOnly, iframes: false, resultTypes: ["violations"], selectors: false,
        })).violations.map(({ id, impact, nodes }) => [id, impact, nodes.map(node => node.html.slice(0, 160))])""",
        rules,
    )
    assert not found, f"{shot}: {found}"


def small_targets(page: Page) -> list[str]:
    return list(
        page.evaluate(
            """least => [...document.querySelectorAll("button, a[href]")].flatMap(element => {
                const { width, height } = element.getBoundingClientRect();
                const inText = getComputedStyle(element).display === "inline";
                const hidden = !element.checkVisibility() || element.closest("[inert], .filing");
                const fine = hidden || inText || (width >= least && height >= least);
                return fine ? [] : [`${element.outerHTML} ${width}x${height}`];
            })""",
            SMALLEST_TARGET_PX - 0.5,
        )
    )
