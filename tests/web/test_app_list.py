"""The windowed list: what is in the document, what the scroll position does, and how live events move the rows."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App, drawn
from tests.web import fake_mail
from tests.web.fake_server import MODULES, FakeAnswers, Refusal

pytestmark = pytest.mark.browser

MANY = 100_000
MAX_ROWS_IN_DOCUMENT = 100
VISITED = 8
"""More lists than the app keeps."""


@pytest.fixture(scope="module")
def full_inbox() -> list[dict[str, object]]:
    return fake_mail.many(MANY)


@pytest.mark.thorough
def test_rows_stand_in_two_sections_that_fold_and_keys_move_along_rows_and_tabs(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.thread("thr_04")["sender"]["title"] = "Feld & Sons"
    app = start(answers)
    page = app.open()
    row = app.row("thr_00")
    for text in ("Jonas Feld", "Quote for the harbour mural", "Hi Mia, the council came back", "Clients/Harbour"):
        expect(row).to_contain_text(text)
    expect(row.locator("svg")).to_have_count(1)
    expect(row).not_to_contain_text("Inbox")  # system labels are no chips
    name = "Unread, Jonas Feld, Quote for the harbour mural, Clients/Harbour, with attachments, "
    expect(page.get_by_role("link", name=name)).to_have_count(1)
    expect(app.row("thr_04")).to_contain_text("Feld & Sons")  # the title of a page, not the name in the mail
    expect(page.get_by_role("heading")).to_have_text(["Unified", "Inbox44", "Skipped the inbox6"])
    page.get_by_role("button", name="Fold Inbox").click()
    page.get_by_role("grid", name="Inbox", exact=True).wait_for(state="detached")
    expect(page.get_by_role("grid", name="Skipped the inbox").get_by_role("row")).to_have_count(6)
    page.get_by_role("button", name="Unfold Inbox").click()
    row.wait_for()
    stops = page.locator("[data-thread][tabindex='0']")  # of the key Tab: exactly one row
    expect(stops).to_have_count(1)
    app.press("j", "j", "j")
    expect(stops).to_have_count(1)
    expect(stops).to_have_attribute("data-thread", "thr_02")
    row.focus()
    app.press("ArrowDown", "ArrowDown")
    app.selects("thr_02")
    page.get_by_role("tab", selected=True).focus()
    app.press("ArrowRight")
    app.at("/p/mail/a/acc_mia")
    page.get_by_role("tab", name="hello@ternandtide.example, 2 unread threads").click()
    app.until("() => !document.querySelector('#row-thr_00')")
    shown = page.get_by_role("grid", name="Inbox").locator("[data-thread]").first
    expect(shown).to_have_attribute("data-thread", "thr_02")
    app.at("/p/mail/a/acc_hello")
    expect(page.get_by_role("tab", selected=True)).to_have_text("hello@ternandtide.example ·2")


@pytest.mark.thorough
def test_100_000_threads_keep_few_rows_in_the_document_all_the_way_down(
    start: Callable[..., App], full_inbox: list[dict[str, object]]
) -> None:
    app = start(FakeAnswers(threads=list(full_inbox)))
    page = app.open()
    rows_seen = 0
    for _ in range(12):
        page.evaluate("() => { const one = document.querySelector('.lists'); one.scrollTop = one.scrollHeight; }")
        app.until(
            "(seen) => document.querySelector('[data-section=inbox]').textContent.replace(/\\D/g, '') > seen", rows_seen
        )
        rows_seen = int(page.evaluate("document.querySelector('[data-section=inbox]').textContent.replace(/\\D/g, '')"))
        assert page.locator("[data-thread]").count() < MAX_ROWS_IN_DOCUMENT
    assert rows_seen > 2_000
    gap = page.evaluate(
        """() => {
            const lists = document.querySelector(".lists"); lists.scrollTop = lists.scrollHeight / 2;
            return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
                const box = lists.getBoundingClientRect();
                const element = document.elementFromPoint(box.left + 300, box.top + box.height / 2);
                done(element.closest("[data-thread]") === null);
            })));
        }"""
    )
    assert gap is False, "the rows in sight are there two frames after a jump"


@pytest.mark.thorough
def test_scrolling_through_thousands_of_rows_draws_few_and_leaves_no_gap(
    start: Callable[..., App], full_inbox: list[dict[str, object]]
) -> None:
    app = start(FakeAnswers(threads=list(full_inbox[:5_000])))
    page = app.open()
    most, gaps = page.evaluate(
        """async () => {
            const lists = document.querySelector(".lists"); lists.scrollTop = 0;
            const frame = () => new Promise(requestAnimationFrame);
            let most = 0, gaps = 0;
            for (let step = 0; step < 60; step += 1) {
                lists.scrollTop += 400;
                await new Promise(done => setTimeout(done)); // the scroll event, and what it draws
                await frame(); await frame();
                const rows = [...document.querySelectorAll("[data-thread]")];
                const seen = lists.getBoundingClientRect();
                const lines = rows.map(row => row.getBoundingClientRect())
                    .filter(line => line.bottom > seen.top && line.top < seen.bottom);
                lines.sort((one, other) => one.top - other.top);
                most = Math.max(most, rows.length);
                gaps += lines.some((line, index) => index > 0 && line.top - lines[index - 1].bottom > 1) ? 1 : 0;
            }
            return [most, gaps];
        }"""
    )
    assert 0 < most < 100
    assert gaps == 0


def test_new_mail_appears_without_a_reload_and_leaves_selection_and_scroll_where_they_were(app: App) -> None:
    page = app.open()
    app.press(*"jjjjjjjjjj")
    app.focuses("thr_09")
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 200; }")
    app.settled()
    before = page.evaluate("document.querySelector('#row-thr_09').getBoundingClientRect().top")
    fresh = app.answers.add(subject="The ferry is late", name="Harbour Office")
    app.until("() => document.querySelector('[data-section=inbox]').textContent === 'Inbox45'")
    app.selects("thr_09")
    app.until("top => Math.abs(document.querySelector('#row-thr_09').getBoundingClientRect().top - top) <= 1", before)
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 0; }")
    app.row(fresh).wait_for()
    app.until("() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Unified ·5'")


@pytest.mark.thorough
def test_what_happens_elsewhere_reaches_the_rows_also_after_a_cut(app: App) -> None:
    page = app.open()
    inbox_has = "count => document.querySelector('[data-section=inbox]').textContent === `Inbox${count}`"
    skipped_has = (
        "count => document.querySelector('[data-section=skipped]').textContent === `Skipped the inbox${count}`"
    )
    fresh = app.answers.add(subject="The ferry is late")  # at the top new mail shows itself
    app.row(fresh).wait_for()
    expect(page.locator("[data-thread]").first).to_have_attribute("data-thread", fresh)
    app.until(inbox_has, 45)
    app.answers.add(subject="You won", in_inbox=False, labels=({"id": "SPAM", "name": "Spam", "color": None},))
    app.answers.add(subject="A real one")
    app.until(inbox_has, 46)
    expect(page.locator("[data-section=skipped]")).to_have_text("Skipped the inbox6")  # spam is in no section
    app.answers.change("thr_02", unread=True, subject="Rechnung 2026-1187, berichtigt")
    page.get_by_role("link", name="Unread, Nordwind Druck, Rechnung 2026-1187, berichtigt").wait_for()
    app.answers.change("thr_02", inInbox=False)
    app.until(skipped_has, 7)
    app.answers.remove("thr_02")
    app.until(skipped_has, 6)
    first = app.answers.add(subject="Heard live")
    app.row(first).wait_for()
    app.answers.cut_sockets()
    second = app.answers.add(subject="Written while nobody listened")
    app.row(second).wait_for()
    expect(page.locator("[data-thread]").nth(0)).to_have_attribute("data-thread", re.compile(f"^({first}|{second})$"))


def test_a_failed_page_can_be_asked_for_again(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.failing["mail.threads"] = Refusal("SERVICE_UNAVAILABLE", 503, "Not yet.")
    app = start(answers)
    app.tolerated = ("503", "207")
    page = app.open(ready=".failed")
    expect(page.locator(".failed").first).to_contain_text("Could not load: Not yet.")
    answers.failing.clear()
    page.get_by_role("button", name="Try again").first.click()
    app.row("thr_00").wait_for()


@pytest.mark.thorough
def test_a_whole_list_that_could_not_be_fetched_anew_can_be_asked_for_again(app: App) -> None:
    """It had all its rows once, so there is no further page to ask for."""
    app.tolerated = ("503", "207")
    page = app.open("/p/mail/l/Invoices", ready="[data-thread]")
    app.answers.failing["mail.threads"] = Refusal("SERVICE_UNAVAILABLE", 503, "Not yet.")
    app.answers.forget_events()
    page.locator(".failed").get_by_text("Could not load: Not yet.").wait_for()
    app.answers.failing.clear()
    page.get_by_role("button", name="Try again").click()
    page.locator(".failed").wait_for(state="detached")
    expect(page.locator("[data-thread]").first).to_be_visible()


@pytest.mark.thorough
def test_what_could_not_be_fetched_without_a_connection_is_there_once_it_is_back(app: App) -> None:
    app.tolerated = ("503", "207")
    page = app.open()
    away = Refusal("SERVICE_UNAVAILABLE", 503, "No connection.")
    app.answers.failing.update({"mail.thread": away, "mail.search": away})
    page.keyboard.press("/")
    page.keyboard.type("harbour")
    page.get_by_text("Could not load: No connection.").wait_for()
    app.answers.failing.pop("mail.search")
    app.answers.cut_sockets()
    page.locator("[data-thread]").first.click()
    page.get_by_text("Could not open this thread: No connection.").wait_for()
    app.answers.failing.clear()
    app.answers.cut_sockets()
    page.locator("article.card").first.wait_for()


def test_a_row_that_comes_late_takes_the_focus_from_nobody(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.thread("thr_03").update(hidden=True)  # in no list
    app = start(answers)
    page = app.open("/p/mail/t/thr_03", ready="iframe")
    app.press("u")
    app.at("/p/mail")
    app.row("thr_00").wait_for()
    app.settled()
    app.press("/")
    answers.change("thr_03", hidden=False)
    app.row("thr_03").wait_for()
    drawn(page)
    expect(page.get_by_role("combobox", name="Search mail")).to_be_focused()


def test_a_row_that_left_is_not_drawn_before_the_list_is_measured_anew(app: App) -> None:
    app.open()
    app.page.evaluate(
        """async () => {
            const app = document.querySelector("script[type=module][src$='/app.js']").src;
            const { openLists, picked } = await import(app.replace("app.js", "mail/selection.js"));
            const list = openLists().find(one => one.rows.length > 1);
            list.rows.length = 1;
            picked.value = new Set([list.rows[0].id]);
            await new Promise(requestAnimationFrame);
        }"""
    )
    app.until("() => document.querySelectorAll('[role=row][aria-selected=true], .section-body.picking').length")


FIRST_FRAME = """() => addEventListener("keydown", () => requestAnimationFrame(() => {
    const seen = document.querySelector(".lists").getBoundingClientRect();
    const rows = [...document.querySelectorAll("[data-thread]")];
    const inSight = rows.filter(one => one.getBoundingClientRect().top < seen.bottom).length;
    window.firstFrame = { rows: rows.length, inSight, kept: rows.filter(one => one.wasThere).length };
}), { capture: true, once: true })"""


@pytest.mark.thorough
def test_the_first_frame_after_a_thread_draws_no_row_anew_that_is_out_of_sight(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(threads=fake_mail.many(200)))
    page = app.open()
    beyond = """() => [...document.querySelectorAll("[data-thread]")].some(one =>
        one.getBoundingClientRect().top > document.querySelector(".lists").getBoundingClientRect().bottom)"""
    app.until(beyond)
    app.press("j", "Enter")
    page.locator(".thread-pane").wait_for()
    page.evaluate(FIRST_FRAME)
    app.press("u")  # the list beside the thread was there for a moment only
    first = page.wait_for_function("() => window.firstFrame").json_value()
    assert first["rows"] == first["inSight"]
    app.until("([rows]) => document.querySelectorAll('[data-thread]').length > rows", [first["rows"]])


@pytest.mark.thorough
def test_a_row_near_the_end_is_where_it_was_after_its_thread_and_the_list_is_drawn_once(
    start: Callable[..., App],
) -> None:
    app = start(FakeAnswers(threads=fake_mail.many(200)))
    page = app.open()
    app.press("End", *"k" * 40, "j")
    app.settled()
    selected = page.locator("[role=row] .selected")
    place = selected.bounding_box()
    app.press("Enter")
    page.locator(".thread-pane").wait_for()
    app.settled()
    page.evaluate("""() => {
        let drawn = 0;
        new MutationObserver(() => { drawn += 1; })
            .observe(document.querySelector(".rows"), { attributeFilter: ["style"] });
        addEventListener("keydown", () => requestAnimationFrame(() => { window.drawn = drawn; }), { capture: true });
    }""")
    app.press("u")
    assert page.wait_for_function("() => window.drawn").json_value() == 1
    assert selected.bounding_box() == place


@pytest.mark.thorough
def test_rows_that_are_drawn_stay_while_a_thread_opens_and_closes(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(threads=fake_mail.many(200)))
    page = app.open()
    app.press("j")
    app.until("() => document.querySelectorAll('[data-thread]').length > 20")
    page.evaluate("() => document.querySelectorAll('[data-thread]').forEach(one => { one.wasThere = true; })")
    page.evaluate(FIRST_FRAME)
    app.press("Enter")
    beside = page.wait_for_function("() => window.firstFrame").json_value()
    assert beside["rows"] > beside["inSight"], "some of those that the higher rows moved out of sight"
    assert beside["kept"] == beside["rows"]
    app.settled()
    there = page.evaluate("() => [...document.querySelectorAll('[data-thread]')].filter(one => one.wasThere).length")
    assert there > beside["inSight"]
    page.evaluate("() => { window.firstFrame = null; }")
    page.evaluate(FIRST_FRAME)
    app.press("u")
    alone = page.wait_for_function("() => window.firstFrame").json_value()
    assert alone["kept"] == there


def test_a_list_that_is_shorter_than_it_was_left_shows_its_rows(start: Callable[..., App]) -> None:
    app = start(FakeAnswers(threads=fake_mail.many(400)))
    page = app.open("/p/mail/all")
    rows = page.locator("[data-thread]")
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 1e6; }")
    expect(rows.last).to_have_attribute("data-thread", re.compile(r"thr_m000[23]\d\d"))  # more may be here already
    page.evaluate(
        """async ([base, most]) => {
            const { listsOf } = await import(`${base}/mail/lists.js`);
            for (let at = 0; at < most; at += 1) listsOf({ kind: "label", name: `Label ${at}` }, null);
        }""",
        [MODULES, VISITED],
    )
    app.press("g", "i")
    app.at("/p/mail")
    page.go_back()
    app.at("/p/mail/all")
    app.until(
        """() => {
            const seen = document.querySelector(".lists").getBoundingClientRect();
            return [...document.querySelectorAll("[data-thread]")].some(one => {
                const { top, bottom } = one.getBoundingClientRect();
                return bottom > seen.top && top < seen.bottom;
            });
        }"""
    )
