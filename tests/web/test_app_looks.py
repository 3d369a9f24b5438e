"""How it looks and reads: accessibility by axe-core, light, dark, phone and zoom, with screenshots in tests/shots/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.peers.cache import peers_dir
from tests.web.conftest import DESKTOP, PHONE, App
from tests.web.fake_server import World

pytestmark = pytest.mark.browser

SHOTS = Path(__file__).parents[1] / "shots"
AXE = peers_dir() / "node_modules" / "axe-core" / "axe.min.js"
SMALLEST_TARGET_PX = 44

LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("light", {"viewport": DESKTOP, "color_scheme": "light"}),
    ("dark", {"viewport": DESKTOP, "color_scheme": "dark"}),
    ("phone", {"viewport": PHONE, "color_scheme": "light", "has_touch": True, "is_mobile": True}),
    ("phone-dark", {"viewport": PHONE, "color_scheme": "dark", "has_touch": True, "is_mobile": True}),
    ("zoom", {"viewport": {"width": 680, "height": 430}, "color_scheme": "light"}),  # 1360 x 860 at 200 %
]


def busy_world() -> World:
    world = World()
    world.accounts[1].update(state="backfilling", progress={"done": 3120, "total": 48_211})
    world.accounts[2].update(state="reconnect", problem="The grant ended: apps in testing lose it after 7 days.")
    return world


@pytest.mark.parametrize(("name", "context"), LOOKS, ids=[name for name, _ in LOOKS])
def test_every_page_passes_axe_and_fits(start: Callable[..., App], name: str, context: dict[str, Any]) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not in the cache (SVC_PEERS): run .ci/peers")
    app = start(busy_world(), **context)
    page = app.open()
    app.press("j", "j")
    check(page, f"{name}-list")
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.wait_for_selector("iframe")
    check(page, f"{name}-thread")
    page.goto(f"{app.origin}/p/mail/t/thr_06")
    page.wait_for_selector("iframe")
    check(page, f"{name}-newsletter")
    app.press("?")
    page.wait_for_selector("dialog[open]")
    check(page, f"{name}-help")
    app.press("Escape")
    page.locator(".sync-button").click()
    check(page, f"{name}-sync")
    app.world.accounts.clear()
    page.goto(f"{app.origin}/p/mail")
    page.wait_for_selector(".connect")
    check(page, f"{name}-connect")
    app.world.me.update(mode="claimed")
    page.goto(f"{app.origin}/login")
    page.wait_for_selector(".login-card")
    check(page, f"{name}-login")


def test_what_a_finger_presses_is_large_enough(start: Callable[..., App]) -> None:
    app = start(busy_world(), viewport=PHONE, has_touch=True, is_mobile=True)
    page = app.open()
    assert "\n".join(small_targets(page)) == ""
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.wait_for_selector("iframe")
    assert "\n".join(small_targets(page)) == ""


def test_nothing_moves_for_those_who_asked_for_calm(start: Callable[..., App]) -> None:
    page = start(busy_world(), reduced_motion="reduce").open()
    moving = "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 10).length"
    assert page.evaluate(moving) == 0


def check(page: Page, shot: str) -> None:
    """No serious violation of WCAG 2.2 A and AA, nothing wider than the page; a picture for people."""
    page.wait_for_timeout(150)
    SHOTS.mkdir(exist_ok=True)
    (SHOTS / f"{shot}.png").write_bytes(page.screenshot())  # with path= Playwright leaves a thread behind
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    found = page.evaluate(
        """async () => (await axe.run(document, {
            runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], iframes: false,
        })).violations.map(({ id, impact, nodes }) => [id, impact, nodes.map(node => node.html.slice(0, 160))])"""
    )
    assert not found, f"{shot}: {found}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{shot} is wider than the window"


def small_targets(page: Page) -> list[str]:
    return list(
        page.evaluate(
            """least => [...document.querySelectorAll("button, a[href], [role=option]")].flatMap(element => {
                const { width, height } = element.getBoundingClientRect();
                const inText = getComputedStyle(element).display === "inline";
                const hidden = !element.checkVisibility() || element.closest("[inert], .filing");
                const fine = hidden || inText || (width >= least && height >= least);
                return fine ? [] : [`${element.outerHTML} ${width}x${height}`];
            })""",
            SMALLEST_TARGET_PX - 0.5,
        )
    )
