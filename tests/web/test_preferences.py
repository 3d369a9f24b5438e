"""Dates, the start page and keys are a person's own choice: it counts at once, everywhere, and after a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import MODULES, STATIC, FakeAnswers, Refusal

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_dates_are_written_as_the_person_chose(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(threads=[fake_mail.thread(when="2024-03-12T14:05:00.000Z")]))
    page = app.open("/settings/display", ready=".display-sample")
    sample = page.locator(".display-sample")
    page.get_by_label("Month first").check()
    page.get_by_label("12 hours").check()
    expect(sample).to_have_text(re.compile(r"^\w+day \w+ \d+, \d{4}, \d+:\d\d [ap]m · \w+ \d+, \d{4}$"))
    page.get_by_label("Year first").check()
    page.get_by_label("24 hours").check()
    expect(sample).to_have_text(re.compile(r", \d\d:\d\d · \d{4}-\d\d-\d\d$"))
    page.get_by_role("group", name="Order").get_by_label("As the language").check()
    page.get_by_label("Language of dates").select_option("de")
    expect(sample).to_have_text(re.compile(r"^\w+, \d+\. \w+ \d{4}, \d\d:\d\d · \d+\. \w+\.? \d{4}$"))
    app.called("preferences.set", times=6)

    page.get_by_label("Year first").check()
    app.called("preferences.set", times=7)
    page = app.open()
    expect(page.locator("[data-thread]")).to_contain_text("2024-03")


def test_another_browser_hears_of_a_choice_and_a_refused_one_is_taken_back(app: App) -> None:
    page = app.open("/settings/display", ready=".display-sample")
    app.answers.preferences.update(hours="12")
    app.answers.emit("preferences", "preferences.changed", "preferences", {})
    expect(page.get_by_label("12 hours")).to_be_checked()
    app.answers.failing["preferences.set"] = Refusal("SERVICE_UNAVAILABLE", 503, "The disk is full.")
    app.tolerated = ("503",)
    page.get_by_label("24 hours").click()
    page.get_by_text("That was not kept: The disk is full.").wait_for()
    expect(page.get_by_label("12 hours")).to_be_checked()


def test_an_answer_that_changes_nothing_draws_no_date_anew(app: App) -> None:
    app.open()
    is_same = app.page.evaluate(
        """async base => {
            const { dateStyle } = await import(`${base}/ui/dates.js`);
            const { keyChanges } = await import(`${base}/keys.js`);
            const { loadPreferences } = await import(`${base}/settings/preferences.js`);
            const before = [dateStyle.peek(), keyChanges.peek()];
            await loadPreferences();
            return before[0] === dateStyle.peek() && before[1] === keyChanges.peek();
        }""",
        MODULES,
    )
    assert is_same


@pytest.mark.thorough
def test_the_front_door_leads_to_the_start_page_also_in_a_browser_that_never_was_here(
    start: Callable[..., App],
) -> None:
    answers = FakeAnswers()
    answers.preferences.update(startPage="tasks")
    app = start(answers)
    page = app.open("/", ready="h1")
    app.at("/p/tasks")
    page.goto(f"{app.origin}/settings/display")
    page.get_by_label("The app opens with").select_option(label="Inbox of mia@ternandtide.example")
    app.called("preferences.set")
    app.open("/")
    app.at("/p/mail/a/acc_mia")
    page.goto(f"{app.origin}/settings/display")
    page.get_by_label("The app opens with").select_option("last")
    app.called("preferences.set", times=2)
    app.open("/p/mail/all")
    app.open("/")
    app.at("/p/mail/all")


@pytest.mark.thorough
def test_keys_are_changed_settled_cleared_and_reset(app: App) -> None:
    page = app.open("/settings/keys", ready=".key-row")
    record(page, "Archive the selected or open thread", "y", "Enter")
    expect(keys(page, "Archive the selected or open thread")).to_have_text("y")

    record(page, "Snooze", "y")
    expect(page.get_by_role("alert")).to_have_text("“Archive the selected or open thread” has this key.")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    page.keyboard.press("Backspace")
    page.keyboard.press("g")
    expect(page.get_by_role("alert")).to_contain_text("“Go to the inbox”")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(keys(page, "Snooze")).to_have_text("gb")

    record(page, "Star, or take the star away", "Escape")
    record(page, "Delete", "s")
    page.get_by_role("button", name="Take it from there").click()
    expect(keys(page, "Star, or take the star away")).to_have_text("none")
    expect(page.get_by_role("button", name="Change: Delete", exact=True)).to_be_focused()
    page.get_by_role("button", name="Reset: Star, or take the star away").click()
    expect(page.get_by_role("alert")).to_have_text("“Delete” has this key.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear: Mute").click()
    expect(page.get_by_text("fixed", exact=True)).to_have_count(6)

    page = app.open()
    app.press("j")
    archived = page.locator(".row.selected").get_attribute("data-thread")
    app.press("e", "m", "y")
    assert [call["threadIds"] for call in app.called("mail.archive")] == [[archived]]
    assert app.calls("mail.mute") == []
    app.press("?")
    overlay = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(overlay.locator("dl > div", has_text="Archive the selected or open thread").locator("kbd")).to_have_text(
        ["y"]
    )
    overlay.get_by_role("link", name="Change keys").click()
    expect(overlay).to_have_count(0)
    page.get_by_role("button", name="Gmail").click()
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(keys(page, "Snooze")).to_have_text("b")
    expect(keys(page, "Archive the selected or open thread")).to_have_text("e")
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    expect(page.get_by_role("button", name="Snooze", exact=True)).to_have_attribute("title", "Snooze (b)")


def test_every_place_that_has_keys_is_listed_and_no_two_of_a_place_share_one(app: App) -> None:
    page = app.open("/settings/keys", ready=".key-row")
    places = page.evaluate(
        f"""async () => (await (await import("{MODULES}/keys.js")).keyPlaces())
            .map(({{ title, shortcuts }}) => [title, shortcuts.flatMap(({{ keys }}) => keys)])"""
    )
    assert {title for title, _ in places} == registering()
    assert [title for title, found in places if len(found) != len(set(found))] == []


def registering() -> set[str]:
    """The places whose keys are registered anywhere."""
    sources = (path.read_text() for path in sorted(Path(STATIC).rglob("*.js")) if not away(path))
    return {name for source in sources for name in re.findall(r'registerKeys\("([^"]+)"', source)}


def away(path: Path) -> bool:
    return bool({"node_modules", "vendor"} & set(path.parts))


def keys(page: Page, label: str) -> Locator:
    return page.locator(".key-row", has=page.get_by_text(label, exact=True)).locator(".key-keys")


def record(page: Page, label: str, *pressed: str) -> None:
    page.get_by_role("button", name=f"Change: {label}", exact=True).click()
    expect(page.get_by_label(f"New keys for: {label}")).to_be_focused()
    for key in pressed:
        page.keyboard.press(key)
