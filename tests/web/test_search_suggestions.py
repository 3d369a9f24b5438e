"""The search field suggests as one types, its chips narrow what is found, and it finds more than mail."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.sizes import HANGS_S
from tests.support.browser import App
from tests.web.fake_server import FakeAnswers
from tests.web.test_app_looks import SIZES, check_in_a_light, small_targets

pytestmark = pytest.mark.browser

SEARCH = re.compile(r"/search\?q=.+")


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search mail")


def offers(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Suggestions")


def kinds(page: Page) -> list[str]:
    """Of the rows, each kind once in their order."""
    found = offers(page).get_by_role("option").evaluate_all("rows => rows.map(row => row.dataset.kind)")
    return list(dict.fromkeys(found))


def marked(page: Page) -> Locator:
    """The row that the field says is active."""
    row = field(page).get_attribute("aria-activedescendant")
    assert row is not None
    return page.locator(f"#{row}")


@pytest.mark.thorough
def test_it_suggests_by_keyboard_people_words_mails_pages_and_files(app: App) -> None:
    app.tolerated = ("404",)  # the page that is opened is not there
    page = app.open()
    app.press("/")
    chips = ["From", "Attachment", "7 days", "Unread", "Account", "Place"]
    expect(offers(page).get_by_role("option")).to_have_text(chips)
    page.keyboard.type("council")
    offers(page).get_by_role("option", name="council-plan.pdf").wait_for()
    page.wait_for_url(SEARCH)
    assert kinds(page) == ["go", "mail", "page", "file"]
    assert len(offers(page).locator("[data-kind=mail]").all()) == 5
    app.press("ArrowDown")
    expect(marked(page)).to_have_text("Search for “council”")
    expect(marked(page)).to_have_attribute("aria-selected", "true")
    app.press("ArrowUp")
    expect(field(page)).not_to_have_attribute("aria-activedescendant", re.compile("."))
    app.press("ArrowUp", "ArrowUp")
    expect(marked(page)).to_contain_text("Council meeting")
    app.press("Enter")
    page.wait_for_url("**/p/plans/council")
    page.go_back()
    app.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.type("jona")
    expect(offers(page).locator("[data-kind=person]").first).to_contain_text("Jonas Feld (Harbour)")
    app.press("ArrowDown", "ArrowDown", "Enter")
    expect(field(page)).to_have_value("from:jonas.feld@example.org ")
    expect(field(page)).to_be_focused()
    page.keyboard.type("trav")
    offers(page).get_by_role("option", name="label:Travel").click()
    expect(field(page)).to_have_value("from:jonas.feld@example.org label:Travel ")


@pytest.mark.thorough
def test_searches_of_late_are_offered_removed_and_forgotten_at_sign_out(app: App) -> None:
    page = app.open()
    for words in ("teal", "mural"):
        app.press("/")
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
        app.press("Enter")
        app.focuses("thr_01" if words == "teal" else "thr_00")
    page.reload()
    app.row("thr_00").wait_for()
    field(page).fill("")
    recent = offers(page).locator("[data-kind=recent]")
    expect(recent).to_have_text([re.compile("mural"), re.compile("teal")])
    app.press("ArrowDown", "Delete")
    expect(recent).to_have_text([re.compile("teal")])
    expect(marked(page)).to_contain_text("teal")
    app.press("Enter")
    page.wait_for_url("**/search?q=teal")
    app.focuses("thr_01")
    app.press("/")
    field(page).fill("")
    recent.locator(".search-offer-remove").click()
    expect(recent).to_have_count(0)
    field(page).fill("kept")
    app.press("Enter")
    assert page.evaluate("Object.keys(localStorage).filter(one => one.startsWith('svc.lately')).length") == 1
    page.evaluate("""async () => {
        const app = document.querySelector("script[type=module][src$='/app.js']").src;
        (await import(app.replace("/app.js", "/recently_used.js"))).forgetRecentlyUsed();
    }""")
    assert page.evaluate("Object.keys(localStorage).filter(one => one.startsWith('svc.lately'))") == []


@pytest.mark.thorough
@pytest.mark.parametrize("by_mouse", [False, True], ids=["by keys", "between press and release"])
def test_what_comes_late_never_moves_the_marked_row(app: App, by_mouse: bool) -> None:
    page = app.open()
    let_go = threading.Event()

    def hook(query: str) -> None:
        app.answers.lock.release()  # the others go on meanwhile
        let_go.wait(HANGS_S)
        app.answers.lock.acquire()

    app.answers.search_hook = hook
    app.press("/")
    page.keyboard.type("amara")
    first = offers(page).locator("[data-kind=person]").first
    first.wait_for()
    if by_mouse:
        first.hover()
        page.mouse.down()
    else:
        app.press("ArrowDown", "ArrowDown")
    expect(marked(page)).to_contain_text("Amara Osei")
    before = marked(page).bounding_box()
    count = offers(page).get_by_role("option").count()
    let_go.set()
    page.wait_for_url(SEARCH)
    app.settled()
    assert offers(page).get_by_role("option").count() >= count
    expect(marked(page)).to_contain_text("Amara Osei")
    assert marked(page).bounding_box() == before
    if by_mouse:
        page.mouse.up()
        expect(field(page)).to_have_value("from:amara.osei@example.org ")


@pytest.mark.thorough
def test_chips_narrow_what_is_found_by_words_of_the_query(app: App) -> None:
    page = app.open("/p/mail/search?q=council")
    app.row("thr_00").wait_for()
    chips = page.get_by_role("group", name="Narrow the search")
    chips.get_by_role("button", name="Has attachment").click()
    page.wait_for_url("**/search?q=council%20has%3Aattachment")
    expect(chips.get_by_role("button", name="Has attachment")).to_have_attribute("aria-pressed", "true")
    expect(field(page)).to_have_value("council has:attachment")
    chips.get_by_role("button", name="Has attachment").click()
    page.wait_for_url("**/search?q=council")
    chips.get_by_role("button", name="Any time").focus()
    app.press("Enter")
    page.get_by_role("group", name="Any time").get_by_role("button", name="Past 7 days").wait_for()
    app.press("Tab", "Enter")
    expect(field(page)).to_have_value("council newer_than:7d")
    expect(chips.get_by_role("button", name="Any time: Past 7 days")).to_be_visible()
    chips.get_by_role("button", name="Any time: Past 7 days").click()
    menu = page.get_by_role("group", name="Any time")
    menu.get_by_label("From").fill("2026-03-01")
    menu.get_by_label("To").fill("2026-03-31")
    menu.get_by_role("button", name="Set these days").click()
    expect(field(page)).to_have_value("council after:2026-03-01 before:2026-04-01")
    expect(chips.get_by_role("button", name="Any time: 2026-03-01 – 2026-03-31")).to_be_visible()
    chips.get_by_role("button", name="Take away: Any time").click()
    expect(field(page)).to_have_value("council")
    chips.get_by_role("button", name="From").click()
    page.get_by_role("group", name="From", exact=True).get_by_role("button").first.click()
    expect(field(page)).to_have_value(re.compile(r"council from:\S+@\S+"))
    chips.get_by_role("button", name="Place").click()
    page.get_by_role("group", name="Place", exact=True).get_by_role("button", name="Archive").click()
    chips.get_by_role("button", name="Account").click()
    page.get_by_role("group", name="Account", exact=True).get_by_role("button").first.click()
    expect(field(page)).to_have_value(re.compile(r"council from:\S+ in:archive account:\S+"))
    app.chord("v", "u")
    expect(field(page)).to_have_value(re.compile(r"is:unread$"))
    expect(chips.get_by_role("button", name="Unread")).to_have_attribute("aria-pressed", "true")


@pytest.mark.thorough
def test_pages_people_and_files_are_found_beside_mail(app: App) -> None:
    app.tolerated = ("404",)  # the page that is opened is not there
    page = app.open("/p/mail/search?q=council")
    also = page.locator(".also-found")
    also.get_by_text("Also found: 1 page, 1 file").click()
    expect(also.get_by_role("region", name="Files").get_by_role("link")).to_have_attribute(
        "href", "/files/fil_plan/content"
    )
    also.get_by_role("link", name="Council meeting").click()
    page.wait_for_url("**/p/plans/council")
    page.goto(f"{app.origin}/p/mail/search?q=feld%20-zzz%20jona%20xx")
    page.goto(f"{app.origin}/p/mail/search?q=jonas%20zz")
    page.get_by_text("Nothing was found").wait_for()
    expect(also).to_have_count(0)
    page.goto(f"{app.origin}/p/mail/search?q=is%3Aunread%20office")
    also.get_by_role("region", name="People").get_by_role("link", name="Harbour Office").wait_for()


@pytest.mark.look
def test_suggestions_chips_and_sections_pass_axe_and_fit(start: Callable[..., App], size: str) -> None:
    app = start(FakeAnswers(), **SIZES[size])
    page = app.open("/p/mail/search?q=teal")
    app.row("thr_01").wait_for()
    field(page).click()
    app.press("Enter")
    field(page).fill("")
    offers(page).locator("[data-kind=recent]").wait_for()
    check_in_a_light(page, f"search-{size}-empty")
    field(page).fill("council")
    offers(page).get_by_role("option", name="council-plan.pdf").wait_for()
    app.press("ArrowDown", "ArrowDown")
    check_in_a_light(page, f"search-{size}-typing")
    app.press("Escape")
    page.get_by_role("button", name="Unread", exact=True).click()
    page.wait_for_url(re.compile("is%3Aunread"))
    page.locator(".also-found summary").click()
    check_in_a_light(page, f"search-{size}-narrowed")
    page.get_by_role("button", name="Any time").click()
    page.get_by_role("group", name="Any time").get_by_label("From").wait_for()
    check_in_a_light(page, f"search-{size}-time")
    app.press("Escape")
    if size == "phone":
        assert "\n".join(small_targets(page)) == ""
