"""How it looks and reads: accessibility by axe-core, light, dark, phone and zoom, with screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.peers.needs import AXE, AXE_PATH, need
from tests.support.browser import DESKTOP, PHONE, App, still
from tests.web.fake_server import World

pytestmark = [pytest.mark.browser, pytest.mark.look]

SHOTS = Path(__file__).parents[1] / "shots"
SMALLEST_TARGET_PX = 44

WIDE: dict[str, Any] = {"viewport": DESKTOP}
NARROW: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
ZOOMED: dict[str, Any] = {"viewport": {"width": 680, "height": 430}}  # 1360 x 860 at 200 %


def busy_world() -> World:
    world = World()
    world.accounts[1].update(state="backfilling", progress={"done": 3120, "total": 48_211})
    world.accounts[2].update(state="reconnect", problem="The grant ended: apps in testing lose it after 7 days.")
    return world


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_passes_axe_in_both_colours(start: Callable[..., App], scheme: str) -> None:
    app = start(busy_world(), **WIDE, color_scheme=scheme)
    page = app.open()
    app.press("j", "j")
    check(page, f"{scheme}-list")
    open_thread(app, "thr_00", f"{scheme}-thread")
    open_thread(app, "thr_06", f"{scheme}-newsletter")
    app.press("?")
    page.wait_for_selector("dialog[open]")
    check(page, f"{scheme}-help")
    app.press("Escape")
    page.locator(".sync-button").click()
    check(page, f"{scheme}-sync")
    app.world.accounts.clear()
    page.goto(f"{app.origin}/p/mail")
    page.wait_for_selector(".connect")
    check(page, f"{scheme}-connect")


@pytest.mark.parametrize(("name", "window"), [("phone", NARROW), ("zoom", ZOOMED)])
def test_it_fits_a_phone_and_200_percent(start: Callable[..., App], name: str, window: dict[str, Any]) -> None:
    app = start(busy_world(), **window)
    check(app.open(), f"{name}-list")
    open_thread(app, "thr_00", f"{name}-thread")


def test_what_a_finger_presses_is_large_enough(start: Callable[..., App]) -> None:
    app = start(busy_world(), **NARROW)
    page = app.open()
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.wait_for_selector("iframe")
    assert "\n".join(small_targets(page)) == ""


def test_nothing_moves_for_those_who_asked_for_calm(start: Callable[..., App]) -> None:
    page = start(busy_world(), reduced_motion="reduce").open()
    moving = "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 10).length"
    assert page.evaluate(moving) == 0


def open_thread(app: App, thread_id: str, shot: str) -> None:
    app.page.goto(f"{app.origin}/p/mail/t/{thread_id}")
    app.page.wait_for_selector("iframe")
    check(app.page, shot)


def check(page: Page, shot: str) -> None:
    """Nothing wider than the window, no violation of WCAG 2.2 A and AA or of best practice; a picture for people."""
    need(AXE)
    still(page)
    SHOTS.mkdir(exist_ok=True)
    (SHOTS / f"{shot}.png").write_bytes(page.screenshot())  # with path= Playwright leaves a thread behind
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_PATH.read_text())
    found = page.evaluate(
        """async () => (await axe.run(document, {
            runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], iframes: false,
        })).violations.map(({ id, impact, nodes }) => [id, impact, nodes.map(node => node.html.slice(0, 160))])"""
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
