"""Finding: search while typing, the places beside the inbox, and the palette."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.sizes import HANGS_S
from tests.support.browser import App
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers, Refusal

FOR_A_SELECTED_THREAD: Final = {
    "selected": "Open the selected thread",
    "step on many": "Pick the thread for a step on many",
    "picked last": "Pick all from the one picked last",
}

pytestmark = pytest.mark.browser


def search(app: App, text: str) -> None:
    app.press("/")
    app.page.keyboard.type(text)
    app.page.wait_for_url(re.compile(r"/search\?q=.+"))


@pytest.mark.thorough
def test_slash_searches_as_one_types_marks_the_words_and_leads_back_to_the_same_row(app: App) -> None:
    page = app.open()
    app.press("j", "j")
    app.selects("thr_01")
    search(app, "zzz")
    app.press("Enter")
    page.get_by_text("Nothing was found").wait_for()
    app.settled()
    app.press("Escape")
    page.wait_for_url("**/p/mail")
    app.focuses("thr_01")
    search(app, "council")
    expect(app.row("thr_00").locator("mark")).to_have_text(["council"])  # no longer each "c"
    expect(page.locator("[data-thread]")).to_have_count(5)
    assert app.calls("mail.search")[-1]["timeZone"]
    page.reload()
    app.row("thr_00").wait_for()
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("council")


REACHES_BEYOND = """(one) => {
    const row = one.closest(".row"), end = row.getBoundingClientRect().right;
    const marks = [...row.querySelectorAll(".row-text > .row-star, .row-text > .row-clip, .row-text > .row-holders")]
        .map((mark) => mark.getBoundingClientRect());
    const labels = row.querySelector(".row-labels").getBoundingClientRect();
    return [
        ...marks.length ? [] : ["no marks"],
        ...marks.some((mark) => labels.right > mark.left
            && Math.abs(labels.y + labels.height / 2 - mark.y - mark.height / 2) < 5) ? ["labels over marks"] : [],
        ...marks.some((mark) => mark.right > end) ? ["marks beyond the row"] : [],
        ...row.querySelector(".row-time").getBoundingClientRect().right > end ? ["time beyond the row"] : [],
    ];
}"""
"""What lies where something else is."""


@pytest.mark.thorough
def test_a_found_word_is_seen_at_every_width_however_long_the_subject_is(app: App) -> None:
    app.answers.threads[0].update(
        subject="The harbour committee, its minutes, and the long list of all that is still to be done before spring",
        snippet="Whoever reads this far will want to know where the lanterns hang, and who keeps them alight",
        labels=[{"id": "Label_1", "name": "Committees and minutes", "color": None}],
    )
    by_its_sender = app.answers.threads[1]
    by_its_sender.update(snippet="It begins as every mail does", sender={**by_its_sender["sender"], "name": "Lanterns"})
    page = app.open()
    search(app, "lanterns")
    expect(app.row("thr_01").locator(".row-snippet")).to_have_text("It begins as every mail does")
    mark = app.row("thr_00").locator("mark")
    expect(mark).to_have_text(["lanterns"])
    for width in (320, 390, 768, 984, 1024, 1360):
        page.set_viewport_size({"width": width, "height": 800})
        beyond = mark.evaluate("""(one) => one.getBoundingClientRect().right
            - one.closest(".row-snippet").getBoundingClientRect().right""")
        assert beyond <= 0, width
        assert mark.evaluate(REACHES_BEYOND) == [], width
    page.evaluate("document.documentElement.dataset.density = 'compact'")
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert mark.evaluate(REACHES_BEYOND) == [], width
        blank = mark.evaluate("""(one) => one.closest(".row").querySelector(".row-labels").getBoundingClientRect().left
            - one.closest(".row").querySelector(".row-subject").getBoundingClientRect().right""")
        assert blank < 20, "where the words are not shown they take no room"


@pytest.mark.thorough
def test_results_are_walked_opened_and_archived_by_keyboard(app: App) -> None:
    page = app.open()
    search(app, "council")
    expect(app.row("thr_00").locator("mark")).to_have_text(["council"])  # found, no row of the inbox
    app.press("Enter", "j", "Enter")
    page.wait_for_url(re.compile(r"/p/mail/search/t/thr_old00\?q=council$"))
    app.press("u")
    page.wait_for_url(re.compile(r"/p/mail/search\?q=council$"))
    app.focuses("thr_old00")
    app.press("e")
    assert app.called("mail.archive") == [{"threadIds": ["thr_old00"]}]
    expect(app.row("thr_old00")).to_have_count(1)  # what was found stays found
    app.press("u")
    page.wait_for_url("**/p/mail")


@pytest.mark.thorough
def test_enter_goes_to_the_first_row_as_soon_as_it_is_found(app: App) -> None:
    page = app.open()
    let_go = threading.Event()

    def hook(query: str) -> None:
        app.answers.lock.release()  # the others go on meanwhile
        let_go.wait(HANGS_S)
        app.answers.lock.acquire()

    app.answers.search_hook = hook
    app.press("/")
    page.keyboard.type("teal")
    app.press("Enter")
    page.wait_for_url(re.compile(r"search\?q=teal$"))
    expect(page.get_by_role("combobox", name="Search mail")).not_to_be_focused()
    app.selects(None)
    let_go.set()
    app.focuses("thr_01")
    app.press("Enter")
    page.wait_for_url(re.compile(r"/t/thr_01\?q=teal$"))


@pytest.mark.thorough
def test_the_answer_to_an_older_query_is_dropped(app: App) -> None:
    app.watch_traffic()
    page = app.open()
    held, let_go = threading.Event(), threading.Event()

    def hook(query: str) -> None:
        if query == "coun":
            held.set()
            app.answers.lock.release()  # the others go on meanwhile
            let_go.wait(HANGS_S)
            app.answers.lock.acquire()

    app.answers.search_hook = hook
    app.press("/")
    with page.expect_request(lambda request: "mail.search" in request.url and "coun%22" in request.url) as older:
        page.keyboard.type("coun")
    app.called("mail.search")
    assert held.wait(HANGS_S)
    page.keyboard.press("Control+a")
    page.keyboard.type("teal")
    page.wait_for_url(re.compile(r"search\?q=teal$"))
    app.row("thr_01").wait_for()
    assert older.value.failure, "nobody waits for the older search any more"
    let_go.set()
    app.traffic.quiet()
    expect(page).to_have_url(re.compile("q=teal$"))
    expect(app.row("thr_00")).to_have_count(0)


@pytest.mark.thorough
def test_nothing_found_failures_and_notices_are_said(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.answers.notices = ["“colour:” means nothing here."]
    search(app, "zzz")
    page.get_by_text("Nothing was found").wait_for()
    page.get_by_text("“colour:” means nothing here.").wait_for()
    app.answers.failing["mail.search"] = Refusal("SERVICE_UNAVAILABLE", 503, "The database is busy.")
    page.keyboard.type("z")
    page.get_by_text("Could not load: The database is busy.").wait_for()
    app.answers.failing.clear()
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Nothing was found").wait_for()
    page.get_by_role("combobox", name="Search mail").focus()
    app.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("combobox", name="Search mail").focus()
    app.press("Escape")
    page.wait_for_url("**/p/mail")


@pytest.mark.thorough
def test_the_right_spelling_is_a_press_away_also_of_a_list_that_is_narrowed(app: App) -> None:
    app.answers.meant = {"cuoncil": "council", "is:unread cuoncil": "is:unread council"}
    page = app.open("/p/mail/search?q=cuoncil&only=unread", ready=".notice-line")
    meant = page.get_by_role("status").get_by_role("button", name="council", exact=True)
    expect(meant.locator("xpath=..")).to_have_text("Did you mean council?")
    search(app, "cuoncil")
    page.wait_for_url(re.compile(r"q=cuoncil&only=unread$"))
    app.press("Enter")
    meant.focus()
    app.press("Enter")
    page.wait_for_url(re.compile(r"q=council&only=unread$"))
    expect(page.get_by_role("combobox", name="Search mail")).to_have_value("council")
    app.focuses("thr_00")
    expect(meant).to_have_count(0)


@pytest.mark.thorough
def test_a_search_that_finds_the_server_busy_is_asked_once_more(app: App) -> None:
    app.tolerated = ("503",)
    page = app.open()
    app.answers.failing["mail.search"] = Refusal("SERVICE_UNAVAILABLE", 503, "Too many at once.", retry_after_s=1)
    app.press("/")
    with page.expect_response(lambda response: "mail.search" in response.url) as first:
        page.keyboard.type("teal")
    app.answers.failing.clear()
    assert first.value.status == 503
    app.row("thr_01").wait_for()
    expect(page.get_by_text("Too many at once.")).to_have_count(0)


@pytest.mark.thorough
def test_the_field_offers_what_it_understands(app: App) -> None:
    page = app.open()
    app.press("/")
    offers = page.get_by_role("listbox", name="Suggestions")
    page.keyboard.type("fro")
    offers.get_by_role("option", name="from: who wrote it").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type("label:inv")
    offers.get_by_role("option", name="label:Invoices").wait_for()
    app.press("ArrowDown", "Enter")
    field = page.get_by_role("combobox", name="Search mail")
    expect(field).to_have_value("label:Invoices ")
    page.keyboard.type("from:jon")
    offers.get_by_role("option", name="jonas.feld@example.org").click()
    expect(field).to_have_value("label:Invoices from:jonas.feld@example.org ")


@pytest.mark.thorough
def test_the_palette_finds_commands_places_people_and_pages_and_teaches_their_keys(app: App) -> None:
    page = app.open()
    app.press("j", "Control+k")
    field = page.get_by_role("combobox", name="Command")
    field.wait_for()
    page.keyboard.type("archi sel")
    first = page.get_by_role("option").locator(".chooser-text").first
    expect(first).to_have_text("Archive the selected or open thread")
    expect(page.locator(".chooser-item.active kbd")).to_have_text("e")
    app.press("Enter")
    app.row("thr_00").wait_for(state="detached")
    assert app.called("mail.archive") == [{"threadIds": ["thr_00"]}]
    app.press("Control+k")
    field.wait_for()
    expect(first).to_have_text("Archive the selected or open thread")  # what was used last stands first
    page.keyboard.type("jonas")
    page.get_by_role("option", name="Mail from Jonas Feld").wait_for()
    page.get_by_role("dialog").get_by_role("option", name=re.compile("^Jonas Feld .*Page$")).wait_for()
    field.fill("trave")
    page.get_by_role("dialog").get_by_role("option", name="Travel").first.click()
    page.wait_for_url("**/p/mail/l/Travel")
    app.chord("g", "i")
    page.wait_for_url("**/p/mail")
    app.press("Control+k")
    field.fill("settings")
    expect(first).to_have_text("Settings")  # the place, not each section of that group
    field.fill("select the")
    page.get_by_role("option", name="Select the first thread").wait_for()
    expect(page.get_by_role("option", name="Select the next thread")).to_have_count(0)  # a key for each step is quicker


@pytest.mark.thorough
def test_the_palette_knows_other_words_for_things_and_begins_with_what_fits_the_selection(app: App) -> None:
    app.tolerated = ("404",)  # the page that is opened is not there
    page = app.open()
    app.row("thr_00").wait_for()
    field = page.get_by_role("combobox", name="Command")
    options = page.get_by_role("dialog", name="Commands").get_by_role("option")
    app.press("Control+k")
    for words, label in FOR_A_SELECTED_THREAD.items():
        field.fill(words)
        expect(options.filter(has_text=label)).to_have_count(0)
    app.press("Escape", "j", "Control+k")
    expect(options.first).to_contain_text("Archive the selected or open thread")
    for words, label in FOR_A_SELECTED_THREAD.items():
        field.fill(words)
        expect(options.filter(has_text=label)).to_have_count(1)
    for words, label in {
        "later": "Snooze",
        "delete": "Delete",
        "junk": "Spam, or not spam",
        "preferences": "Settings",
        "dark": "Display",
        "bin": "Trash",
    }.items():
        field.fill(words)
        expect(options.filter(has_text=label).first).to_be_visible()
    field.fill("delete")
    expect(options.filter(has_text="Trash")).to_have_count(1)
    for words, label in {"paint samp": "Paint samples arrived", "what the council": "Council meeting"}.items():
        field.fill(words)
        options.filter(has_text=label).first.wait_for()
    options.filter(has_text="Council meeting").click()
    page.wait_for_url("**/p/plans/council")
    app.press("Control+k")
    expect(options.first).to_contain_text("Council meeting")  # offered again, without asking


@pytest.mark.thorough
def test_the_palette_opens_from_the_search_field_and_its_button_and_not_while_composing(app: App) -> None:
    page = app.open()
    opener = page.get_by_role("button", name="Find a command")
    app.row("thr_00").hover()
    page.get_by_role("button", name="Archive", exact=True).click()
    page.get_by_role("button", name="Dismiss").click()
    opener.click()  # nothing else undoes it for who has a mouse alone
    page.get_by_role("option", name="Undo").first.click()
    app.focuses("thr_00")
    opener.click()
    app.press("Escape")
    expect(opener).to_be_focused()
    app.press("/", "Control+k")
    page.get_by_role("dialog", name="Commands").wait_for()
    app.press("Escape")
    page.get_by_role("dialog", name="Commands").wait_for(state="detached")
    app.until("() => document.activeElement.classList.contains('search-field')")
    app.press("Escape")
    app.press("c")
    page.get_by_role("textbox", name="Subject").wait_for()
    page.get_by_role("textbox", name="Subject").press("Control+k")
    expect(page.get_by_role("dialog", name="Commands")).to_have_count(0)


@pytest.mark.thorough
def test_the_rows_of_sent_tell_to_whom_and_what_i_wrote_and_stay_in_that_order(app: App) -> None:
    older, newer = (app.answers.thread(one) for one in ("thr_00", "thr_11"))
    fake_mail.wrote(older, "The north wall can wait.", "Jonas Feld", "Ivo", others=4, when=fake_mail.at(days=9))
    fake_mail.wrote(newer, "Wooden frames it is.", "Studio Handl", when=fake_mail.at(days=2))
    page = app.open()
    app.chord("g", "t")
    page.wait_for_url("**/p/mail/l/Sent")
    expect(app.row("thr_00").locator(".row-sender bdi")).to_have_text("To Jonas Feld, Ivo and 4 others")
    expect(app.row("thr_00").locator(".row-snippet")).to_have_text("The north wall can wait.")
    in_that_order = """() => [...document.querySelectorAll("[data-thread]")]
        .map(one => one.dataset.thread).join() === 'thr_11,thr_00'"""
    app.until(in_that_order)
    app.answers.change("thr_00", snippet="They answered.", lastMessageAt=fake_mail.at())
    app.answers.change("thr_11", starred=True)
    app.row("thr_11").locator(".row-star").wait_for()
    app.until(in_that_order)
    expect(app.row("thr_00").locator(".row-snippet")).to_have_text("The north wall can wait.")


def writer(name: str, address: str = "", *, title: str | None = None, own: bool = False, bulk: bool = False) -> Any:
    address = address or f"{name.casefold().replace(' ', '.')}@example.org"
    return {"name": name, "address": address, "title": title, "own": own, "bulk": bulk}


ME = "mia@ternandtide.example"
SAM, TOMAS = writer("Sam Rivera"), writer("Vidal, Tomás", "t@example.org")


NAMED: Final[tuple[tuple[list[Any], str], ...]] = (
    ([SAM, TOMAS, writer("Mia", ME)], "Sam, Tomás, me"),
    ([writer("Mia", ME), SAM], "me, Sam"),
    ([writer("Mia", ME), writer("M.", "other@example.org", own=True), SAM], "me, Sam"),
    ([writer("Mia", ME), writer("M.", "other@example.org", own=True)], "me"),
    ([SAM, TOMAS, writer("Ivo Kern"), writer("Mia", ME)], "Sam … Ivo, me"),
    ([SAM, writer("Sam Brandt"), TOMAS], "Sam R., Sam B., Tomás"),
    ([SAM, writer("Sam")], "Sam R., Sam"),
    ([SAM, writer("Crane Talk", bulk=True)], "Sam, Crane Talk"),
    ([SAM, writer("The Harbour Times")], "Sam, The Harbour Times"),
    ([SAM, writer("Acme Support")], "Sam, Acme Support"),
    ([SAM, writer("Della Finch", title="Kestrel Print")], "Sam, Kestrel Print"),
    ([SAM, writer("Della Finch", title="Della Finch")], "Sam, Della"),
    ([SAM, writer("Dr. Ada Lind")], "Sam, Ada"),
    ([SAM, writer("", "crew@example.org")], "Sam, crew"),
    ([SAM, writer("山田太郎", "y@example.org")], "Sam, 山田太郎"),
    ([], "me"),
)


@pytest.mark.thorough
def test_a_row_names_the_people_of_a_thread_as_a_person_would(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    named = list(zip(answers.threads[10 : 10 + len(NAMED)], NAMED, strict=True))
    for thread, (writers, _) in named:
        thread.update(writers=writers, sender={"name": "Mia", "address": ME, "title": None})
    app = start(answers)
    app.open()
    for thread, (writers, shown) in named:
        sender = app.row(thread["id"]).locator(".row-sender")
        expect(sender.locator("bdi")).to_have_text(shown)
        if writers:
            expect(sender).to_have_attribute("title", re.compile(writers[-1]["address"]))


@pytest.mark.thorough
def test_i_am_called_me_in_rows_and_in_a_thread(app: App) -> None:
    mia = {"name": "", "address": "Mia@ternandtide.example", "title": None}
    app.answers.thread("thr_11")["sender"] = mia
    page = app.open()
    expect(app.row("thr_11").locator(".row-sender bdi")).to_have_text("me")
    app.row("thr_11").click()
    page.locator("article.card").first.wait_for()
    expect(page.locator(".card-people").first).not_to_contain_text("mia@", ignore_case=True)


@pytest.mark.thorough
def test_an_account_lists_its_own_labels_and_search(app: App) -> None:
    page = app.open("/p/mail/a/acc_hello")
    search(app, "rechnung")
    assert app.called("mail.search")[-1]["accountId"] == fake_mail.HELLO
    page.goto(f"{app.origin}/p/mail/a/acc_hello/l/Invoices")
    app.row("thr_02").wait_for()
    wanted = [one for one in app.called("mail.threads") if one.get("labelName")]
    assert wanted[-1] == {"accountId": fake_mail.HELLO, "labelName": "Invoices", "limit": 50}


@pytest.mark.thorough
def test_all_mail_is_one_list_in_which_what_is_archived_stays(app: App) -> None:
    page = app.open()
    app.chord("g", "a")
    app.at("/p/mail/all")
    expect(page.get_by_role("link", name="All mail", exact=True)).to_have_attribute("aria-current", "page")
    expect(app.row("thr_00")).to_have_count(1)
    expect(app.row("thr_old00")).to_have_count(1)
    assert app.called("mail.threads")[-1]["section"] == "all"
    app.press("j", "e")
    app.called("mail.archive")
    expect(app.row("thr_00")).to_have_count(1)
