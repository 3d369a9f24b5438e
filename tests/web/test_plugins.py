"""Plugins in the browser, with the whole program and a registry beside it: the example of the documentation, used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.peers.needs import NPM, needs
from tests.plugins.registry import Registry, example, serving, studio
from tests.support.browser import AppPage, fresh_page, hear
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess

pytestmark = [pytest.mark.browser, pytest.mark.wall_clock, needs(NPM), pytest.mark.thorough]

EXAMPLE = "svc-plugin-tern-and-tide"
ACCENT = "getComputedStyle(document.querySelector('.brand')).getPropertyValue('--accent')"
HOSTILE = """# Hello

<img src=x onerror="document.title = 'ran'"><script>document.title = "ran"</script>
<iframe src="https://evil.example"></iframe> [click](javascript:alert(1)) <style>body { display: none }</style>
"""


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving() as one:
        yield one


@contextmanager
def app_page(
    browser: Browser, tmp_path: Path, registry: Registry, plugins: str
) -> Iterator[tuple[AppPage, ServiceProcess]]:
    """Before the app of a service that wants these plugins."""
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake", SVC_PLUGINS=plugins, SVC_PLUGINS_REGISTRY=registry.url)
        with fresh_page(browser, base_url=service.base) as page:
            seat = AppPage(page=page)
            hear(page, seat.problems.append)
            yield seat, service
            assert seat.complaints() == []
        assert service.stop() == 0


def command(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill(words)
    page.get_by_role("option", name=words).click()


def test_a_plugin_is_installed_looked_at_used_and_switched_off(
    browser: Browser, tmp_path: Path, registry: Registry
) -> None:
    registry.publish(example())
    with app_page(browser, tmp_path, registry, f"{EXAMPLE}@^1") as (seat, _):
        page = seat.page
        page.goto("/settings/plugins")
        card = page.get_by_role("region", name="Tern & Tide")
        expect(card).to_contain_text("1.0.0 · wanted: ^1")
        brings = card.get_by_role("list", name="What Tern & Tide brings")
        expect(brings.get_by_role("listitem")).to_have_text(
            [
                "Note: Studio handbook",
                "Template: Meeting notes",
                "Command: Open the studio handbook",
                "Command: Open our clients",
                "Theme: Harbour",
                re.compile("MCP server: tides https://mcp.tides.example/mcp It waits for a yes"),
            ]
        )
        says_yes(page)
        opens_a_note_by_the_palette(page)
        begins_a_page_with_a_template(page)
        wears_a_theme(seat)
        switches_it_off_and_on(seat)


def says_yes(page: Page) -> None:
    rights = page.get_by_role("list", name="What Tern & Tide may do")
    expect(rights).to_contain_text("Be given the credential mcp.tides")
    page.get_by_role("button", name="Say yes: Tern & Tide").click()
    page.get_by_role("button", name="Yes: Tern & Tide").click()
    expect(rights.get_by_text("agreed")).to_have_count(2)
    expect(page.get_by_text("It waits for a yes")).to_have_count(0)
    page.get_by_role("link", name="Connect it and allow its tools").click()
    expect(page.get_by_role("region", name="tides")).to_contain_text(f"An address, from the plugin {EXAMPLE}")
    page.go_back()
    expect(rights).to_be_visible()


def opens_a_note_by_the_palette(page: Page) -> None:
    command(page, "Open the studio handbook")
    expect(page.get_by_role("heading", name="Studio handbook")).to_be_visible()
    expect(page.get_by_role("cell", name="both of us")).to_be_visible()
    command(page, "Open our clients")
    expect(page.get_by_role("heading", name="There is no page at clients")).to_be_visible()


def begins_a_page_with_a_template(page: Page) -> None:
    page.get_by_label("Begin with").select_option(label="Meeting notes (Tern & Tide)")
    page.get_by_role("button", name="Create this page").click()
    expect(page.get_by_label("Text, in Markdown")).to_have_value(re.compile("What we decided"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="What we decided")).to_be_visible()


def wears_a_theme(seat: AppPage) -> None:
    page, worn = seat.page, f"() => {ACCENT} === 'light-dark(#0b5a8a, #7cc4ee)'"
    seat.until(f"() => !{ACCENT}.includes('#0b5a8a')")
    page.goto("/settings/appearance")
    page.get_by_role("radio", name="Harbour").check()
    seat.until(worn)
    page.goto("/p/")
    expect(page.get_by_role("heading", name="Pages")).to_be_visible()
    seat.until(worn)  # also on the next page


def switches_it_off_and_on(seat: AppPage) -> None:
    page = seat.page
    page.goto("/settings/plugins")
    page.get_by_role("button", name="Switch off: Tern & Tide").click()
    expect(page.get_by_role("button", name="Switch on: Tern & Tide")).to_be_visible()
    seat.until(f"() => !{ACCENT}.includes('#0b5a8a')")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("studio handbook")
    expect(
        page.get_by_role("option", name="Ask an agent: studio handbook")
    ).to_be_visible()  # what is looked up is here
    expect(page.get_by_role("option", name="Open the studio handbook")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Switch on: Tern & Tide").click()
    expect(page.get_by_role("button", name="Switch off: Tern & Tide")).to_be_visible()
    command(page, "Open the studio handbook")
    expect(page.get_by_role("heading", name="Studio handbook")).to_be_visible()


def test_a_hostile_note_is_shown_as_any_page_is_and_a_failed_one_named(
    browser: Browser, tmp_path: Path, registry: Registry
) -> None:
    hostile, bad = studio(), studio()
    hostile.files = {"pages/welcome.md": HOSTILE}
    bad.name, bad.svc = "svc-plugin-bad", {"title": "Bad", "script": "evil.js"}
    registry.publish(hostile, bad)
    with app_page(browser, tmp_path, registry, f"{hostile.name} {bad.name}") as (seat, _):
        page = seat.page
        page.goto("/settings/plugins")
        failed = page.get_by_role("region", name="svc-plugin-bad")
        expect(failed).to_contain_text("unknown field `script`")
        page.get_by_role("link", name="Welcome").click()
        expect(page.get_by_role("heading", name="Hello")).to_be_visible()
        expect(page).to_have_title("Welcome – svc")
        note = page.locator(".plugin-note")
        expect(note.locator("script, iframe, style, [onerror], a[href^=javascript]")).to_have_count(0)


def test_a_registry_that_is_away_is_told_and_a_new_attempt_succeeds(
    browser: Browser, tmp_path: Path, registry: Registry
) -> None:
    registry.publish(studio())
    registry.is_down = True
    with app_page(browser, tmp_path, registry, "svc-plugin-studio@1") as (seat, _):
        page = seat.page
        page.goto("/settings/plugins")
        expect(page.get_by_role("region", name="svc-plugin-studio")).to_contain_text("503")
        registry.is_down = False
        page.get_by_role("button", name="Look for newer versions").click()
        expect(page.get_by_role("region", name="Studio", exact=True)).to_contain_text("1.0.0")
