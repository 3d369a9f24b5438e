"""How it looks and reads: accessibility by axe-core, light, dark, phone and zoom; screenshots with ``SVC_SHOTS=1``."""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.peers.needs import AXE, AXE_PATH, need
from tests.sizes import LIGHTS_A_PAGE
from tests.support.browser import DESKTOP, PHONE, App, still
from tests.support.shots import keep_picture
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

SMALLEST_TARGET_PX = 44
SMALLEST_POINTED_AT_PX = 24
RULES: Final = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
LIGHTS: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")

WIDE: dict[str, Any] = {"viewport": DESKTOP}
NARROW: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
ZOOMED: dict[str, Any] = {"viewport": {"width": 680, "height": 430}}  # 1360 x 860 at 200 %
SIZES: Final = {"desktop": WIDE, "phone": NARROW, "zoom": ZOOMED}


def busy_answers() -> FakeAnswers:
    answers = FakeAnswers()
    answers.accounts[1].update(state="backfilling", progress=fake_mail.reading(3_120, 48_211))
    answers.accounts[2].update(state="reconnect", problem="The grant ended: apps in testing lose it after 7 days.")
    return answers


def test_every_page_passes_axe(start: Callable[..., App]) -> None:
    app = start(busy_answers(), **WIDE)
    page = app.open()
    app.press("j", "j")
    check_in_a_light(page, "list")
    open_thread(app, "thr_00")
    check_in_a_light(page, "thread")
    open_thread(app, "thr_06")
    check_in_a_light(page, "newsletter")
    recipients = page.locator(".card-to").last.bounding_box()
    assert recipients is not None
    assert recipients["height"] >= SMALLEST_POINTED_AT_PX
    app.press("?")
    page.locator("dialog[open]").first.wait_for()
    check_in_a_light(page, "help")
    app.press("Escape")
    page.locator(".sync-button").click()
    check_in_a_light(page, "sync")
    app.answers.accounts.clear()
    page.goto(f"{app.origin}/p/mail")
    page.locator(".connect").first.wait_for()
    check_in_a_light(page, "connect")


def test_it_fits_a_phone_and_200_percent(start: Callable[..., App], narrow_or_zoom: str) -> None:
    app = start(busy_answers(), **SIZES[narrow_or_zoom])
    check_in_a_light(app.open(), f"{narrow_or_zoom}-list")
    open_thread(app, "thr_00")
    check_in_a_light(app.page, f"{narrow_or_zoom}-thread")


def test_what_a_finger_presses_is_large_enough(start: Callable[..., App]) -> None:
    app = start(busy_answers(), **NARROW)
    page = app.open()
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.locator("iframe").first.wait_for()
    assert "\n".join(small_targets(page)) == ""


def test_forced_colours_still_show_what_is_selected_unread_picked_and_chosen(start: Callable[..., App]) -> None:
    app = start(busy_answers(), **WIDE)
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
    answers = FakeAnswers()
    answers.threads[0].update(subject=RIGHT_TO_LEFT, sender={**answers.threads[0]["sender"], "name": RIGHT_TO_LEFT})
    app = start(answers, **NARROW)
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
    page = start(busy_answers(), reduced_motion="reduce").open()
    moving = "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 10).length"
    assert page.evaluate(moving) == 0


def background(page: Page, selector: str, pseudo: str | None = None) -> str:
    given = page.locator(selector).first.evaluate(
        "(one, pseudo) => getComputedStyle(one, pseudo).backgroundColor", pseudo
    )
    return str(given)


def open_thread(app: App, thread_id: str) -> None:
    app.page.goto(f"{app.origin}/p/mail/t/{thread_id}")
    app.page.locator("iframe").first.wait_for()


def check_in_a_light(page: Page, shot: str) -> None:
    """In the light or dark theme, chosen at random; with ``SVC_SOAK=1`` in both. A failure names the theme."""
    for light in SystemRandom().sample(LIGHTS, LIGHTS_A_PAGE):
        page.emulate_media(color_scheme=light)
        check(page, f"{shot}-{light}")
    page.emulate_media(color_scheme="light")


def check(page: Page, shot: str) -> None:
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
        RULES,
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
