"""The compose window: its keys, recipients, text, files, and sending with what is asked before and offered after."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.support.browser import App, intercept, until
from tests.web.fake_server import Refusal
from tests.web.writer import address, chips, compose, draft, fill, give_file, paste, ready, saved, taken, text, window

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_c_opens_a_blank_message_which_escape_closes_without_a_trace_and_in_which_the_page_keys_rest(
    app: App,
) -> None:
    app.answers.signatures["acc_mia"] = "<div>Mia</div>"
    page = app.open()
    app.press("j", "j", "c")
    ready(page)
    expect(text(page).locator("[data-signature]")).to_have_text("Mia")
    page.keyboard.type("jo")
    app.press("Backspace", "Backspace", "Escape")
    expect(window(page)).to_have_count(0)
    app.focuses("thr_01")  # the focus goes back to the row
    app.press("k")
    app.selects("thr_00")
    assert app.calls("mail.saveDraft") == []
    app.press("c")
    ready(page)
    expect(page.get_by_role("combobox", name="To", exact=True)).to_be_focused()
    page.keyboard.type("jek")
    page.locator(".compose-head h2").click()
    app.press("j", "e", "c")
    app.selects("thr_00")
    assert app.calls("mail.archive") == []
    expect(window(page)).to_have_count(1)
    page.get_by_label("Subject").fill("Later")
    page.get_by_role("button", name="Minimise").click()
    expect(page.get_by_role("heading", name="Later")).to_be_visible()
    app.press("j")
    app.selects("thr_01")
    page.get_by_role("button", name="Open the message again").click()
    expect(page.get_by_label("Subject")).to_have_value("Later")


@pytest.mark.thorough
def test_a_message_is_written_and_sent_by_keyboard_alone(app: App) -> None:
    page = app.open()
    app.press("c")
    ready(page)
    page.keyboard.type("jon")
    page.locator("[role=option][aria-selected=true]", has_text="Jonas Feld").wait_for()
    app.press("Enter")
    page.keyboard.type("office@harbour.example,")
    app.press("Tab")
    page.keyboard.type("Paint")
    app.press("Tab")
    page.keyboard.type("Two tins, ")
    app.press("Control+b")
    page.keyboard.type("teal")
    app.press("Control+b")
    page.keyboard.type(".")
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    (sent,) = app.called("mail.send")
    assert sent["to"] == ["Jonas Feld <jonas.feld@example.org>", "office@harbour.example"]
    assert (sent["subject"], sent["accountId"], sent["draftId"]) == ("Paint", "acc_mia", "drf_1")
    assert re.sub("&nbsp;", " ", sent["html"]) == "<div>Two tins, <b>teal</b>.</div>"


@pytest.mark.thorough
def test_recipients_are_walked_changed_removed_moved_and_pasted(app: App) -> None:
    page = compose(app)
    address(page, "a@x.example", "b@x.example", "c@x.example")
    app.press("Backspace")
    expect(chips(page).nth(2).locator(".person")).to_be_focused()
    app.press("ArrowLeft", "Delete")
    expect(chips(page)).to_have_text(["a@x.example", "c@x.example"])
    app.press("Enter")
    field = page.get_by_role("textbox", name="Change a@x.example")
    expect(field).to_be_focused()
    field.fill("Dora <d@x.example>, e@x.example")
    app.press("Enter")
    expect(chips(page)).to_have_text(["Dora", "e@x.example", "c@x.example"])
    expect(chips(page).nth(0).locator(".person")).to_be_focused()
    app.press("F2")
    page.get_by_role("textbox", name="Change Dora").fill("nobody")
    app.press("Escape")
    expect(chips(page)).to_have_text(["Dora", "e@x.example", "c@x.example"])
    expect(window(page)).to_have_count(1)
    _move_between_the_lines(app, page)
    pasted = '"Smith, Ann" <ann@x.example>; Bob <bob@x.example>,\nbob@x.example\nnobody, carl@x.example'
    paste(page.get_by_role("combobox", name="To", exact=True), plain=pasted)
    expect(chips(page)).to_have_text(["c@x.example", "Smith, Ann", "Bob", "nobody", "carl@x.example"])  # no doubles
    expect(chips(page).nth(3)).to_have_class(re.compile("wrong"))
    saved(page)
    draft(
        app,
        to=["c@x.example", '"Smith, Ann" <ann@x.example>', "Bob <bob@x.example>", "nobody", "carl@x.example"],
        cc=[],
        bcc=["Dora <d@x.example>", "e@x.example"],
    )


def _move_between_the_lines(app: App, page: Page) -> None:
    """By keyboard and by mouse."""
    expect(chips(page).nth(0).locator(".person")).to_be_focused()
    app.press("Alt+ArrowDown")
    expect(chips(page)).to_have_text(["e@x.example", "c@x.example"])
    expect(chips(page, "Cc")).to_have_text(["Dora"])
    expect(chips(page, "Cc").locator(".person")).to_be_focused()
    app.press("Alt+ArrowDown", "Alt+ArrowDown")
    expect(chips(page, "Bcc")).to_have_text(["Dora"])
    chips(page).first.locator(".person").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    expect(page.get_by_role("combobox", name="Cc", exact=True)).to_be_visible()  # every line is there to take it
    page.get_by_role("combobox", name="Bcc").hover()
    page.mouse.up()
    expect(chips(page, "Bcc")).to_have_text(["Dora", "e@x.example"])
    expect(chips(page)).to_have_text(["c@x.example"])
    saved(page)
    draft(app, to=["c@x.example"], cc=[], bcc=["Dora <d@x.example>", "e@x.example"])


@pytest.mark.thorough
def test_a_completion_for_older_letters_takes_nobody(app: App) -> None:
    page = compose(app)
    page.keyboard.type("jon")
    page.locator("[role=option][aria-selected=true]").first.wait_for()
    page.keyboard.type("athan@sea.example\n", delay=0)
    expect(chips(page)).to_have_text(["jonathan@sea.example"])


PROMISES = (
    "See the attached plan.",
    "Die Pläne sind im Anhang.",
    "Voir la pièce jointe.",
    "Adjunto el plano.",
    "添付します",
)
"""Of an attachment, in words of several languages."""


@pytest.mark.thorough
def test_what_a_message_lacks_is_told_before_it_is_sent(app: App) -> None:
    page = compose(app)
    dialog = page.get_by_role("alertdialog")
    app.press("Control+Enter")
    expect(dialog).to_have_accessible_description(re.compile("It needs at least one recipient."))
    page.get_by_role("button", name="OK").click()
    expect(page.get_by_role("combobox", name="To")).to_be_focused()
    address(page, "ann@sea")
    app.press("Control+Enter")
    expect(dialog).to_contain_text("“ann@sea” is not a mail address.")
    expect(page.get_by_role("button", name="Send anyway")).to_have_count(0)
    app.press("Escape")
    expect(dialog).to_have_count(0)
    expect(window(page)).to_have_count(1)
    page.get_by_role("button", name="Remove ann@sea").click()
    address(page, *[f"p{n}@x.example" for n in range(25)])
    app.press("Control+Enter")
    expect(dialog).to_contain_text("It has no subject.")
    expect(dialog).to_contain_text("25 people will see each other’s addresses.")
    app.press("Escape")
    for words in PROMISES:
        expect(dialog).to_have_count(0)
        text(page).fill(words)
        app.press("Control+Enter")
        expect(dialog).to_contain_text("You write of an attachment, and there is none.")
        app.press("Escape")
    text(page).fill("No plan today.")
    app.press("Control+Enter")
    expect(dialog).to_contain_text("It has no subject.")
    expect(dialog).not_to_contain_text("attachment")
    app.press("Escape")
    text(page).fill(PROMISES[0])
    app.press("Control+Enter")
    expect(dialog).to_contain_text("You write of an attachment, and there is none.")
    assert app.calls("mail.send") == []
    page.get_by_role("button", name="Send anyway").click()
    expect(window(page)).to_have_count(0)
    assert len(app.called("mail.send")) == 1


@pytest.mark.thorough
def test_cc_and_bcc_go_where_they_belong(app: App) -> None:
    page = compose(app)
    address(page, "a@x.example")
    for name, one in (("Cc", "b@x.example"), ("Bcc", "c@x.example")):
        page.get_by_role("button", name=name, exact=True).click()
        address(page, one, field=name)
    saved(page)
    draft(app, to=["a@x.example"], cc=["b@x.example"], bcc=["c@x.example"])


@pytest.mark.thorough
def test_the_tab_of_an_account_writes_from_it_and_another_account_brings_its_own_signature(app: App) -> None:
    app.answers.signatures = {"acc_mia": "<div>Mia</div>", "acc_home": "<div>Mia at home</div>"}
    page = compose(app, path="/p/mail/a/acc_home")
    expect(page.get_by_label("From")).to_have_value("acc_home")
    expect(text(page).locator("[data-signature]")).to_have_text("Mia at home")
    text(page).click(position={"x": 5, "y": 5})
    page.keyboard.type("Hello")
    page.get_by_label("From").select_option("acc_mia")
    expect(text(page).locator("[data-signature]")).to_have_text("Mia")
    page.get_by_label("From").select_option("acc_hello")
    expect(text(page).locator("[data-signature]")).to_have_count(0)
    expect(text(page)).to_contain_text("Hello")


@pytest.mark.thorough
def test_lists_and_links_are_made_and_taken_away_where_the_caret_is(app: App) -> None:
    page = compose(app)
    text(page).click()
    app.press("Control+Shift+8")
    page.keyboard.type("one")
    bullets = page.get_by_role("button", name="Bulleted list")
    expect(bullets).to_have_attribute("aria-pressed", "true")
    app.press("Control+Shift+7")
    expect(text(page).locator("ol li")).to_have_text(["one"])
    page.get_by_role("button", name="Numbered list").click()
    expect(text(page).locator("ol")).to_have_count(0)
    text(page).click()
    app.press("Control+End")
    page.keyboard.type(" more, the plan")
    app.press("Shift+Control+ArrowLeft", "Control+k")
    field = page.get_by_label("Address of the link")
    field.fill("javascript:alert(1)")  # a link leads nowhere bad
    app.press("Enter")
    expect(page.get_by_text("That is no address of a page or a mailbox.")).to_be_visible()
    field.fill("harbour.example/plan")
    app.press("Enter")
    expect(text(page).locator("a")).to_have_attribute("href", "https://harbour.example/plan")
    app.press("Control+k")
    page.get_by_role("button", name="Remove link").click()
    expect(text(page).locator("a")).to_have_count(0)


@pytest.mark.thorough
def test_files_come_by_picker_paste_and_drop_and_can_be_refused_and_taken_away(app: App) -> None:
    app.tolerated = ("413",)
    app.answers.refuse_uploads = 413
    page = compose(app)
    give_file(window(page), "drop", "film.mov", "video/quicktime", "frames")
    expect(page.get_by_text("It is larger than this workspace takes.")).to_be_visible()
    page.get_by_role("button", name="Dismiss: film.mov").click()
    expect(window(page)).to_have_count(1)
    app.answers.refuse_uploads = 0
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "tide table.csv", "mimeType": "text/csv", "buffer": b"9;high"})
    names = page.get_by_role("list", name="Attachments").locator(".attachment-name")
    expect(names).to_have_text(["tide table.csv"])
    give_file(text(page), "paste", "pasted.pdf", "application/pdf", "pages")
    expect(names).to_have_text(["tide table.csv", "pasted.pdf"])
    give_file(window(page), "drop", "dropped.txt", "text/plain", "words")
    expect(names).to_have_text(["tide table.csv", "pasted.pdf", "dropped.txt"])
    page.get_by_role("button", name="Remove pasted.pdf").click()
    expect(names).to_have_text(["tide table.csv", "dropped.txt"])
    kept = [one for one in app.answers.uploaded.values() if one["filename"] != "pasted.pdf"]
    assert [one["filename"] for one in kept] == ["tide table.csv", "dropped.txt"]
    draft(app, attachments=kept)


@pytest.mark.thorough
def test_an_upload_whose_answer_is_lost_is_not_sent_again_by_itself(app: App) -> None:
    app.tolerated = ("ERR_CONTENT_LENGTH_MISMATCH",)
    app.answers.loses_uploads = True
    page = compose(app)
    give_file(window(page), "drop", "film.mov", "video/quicktime", "frames")
    expect(page.get_by_text("it may be stored. Look for it before you try again.")).to_be_visible()
    assert len(app.answers.uploaded) == 1
    app.answers.loses_uploads = False
    page.get_by_role("button", name="Try again: film.mov").click()
    expect(page.get_by_role("list", name="Attachments").locator(".attachment-name")).to_have_text(["film.mov"])


@pytest.mark.thorough
def test_a_message_with_a_file_under_way_waits_before_it_closes_or_goes(app: App) -> None:
    page = compose(app)
    fill(page)
    intercept(page, "**/files", lambda route: None)  # it never ends
    give_file(window(page), "drop", "film.mov", "video/quicktime", "frames")
    page.get_by_role("button", name="Cancel: film.mov").wait_for()
    app.press("Escape")
    expect(page.get_by_text("Files are still on their way.")).to_be_visible()
    app.press("Control+Enter")
    expect(page.get_by_role("alertdialog")).to_contain_text("1 file still on the way.")
    page.get_by_role("button", name="OK").click()
    page.get_by_role("button", name="Cancel: film.mov").click()
    expect(window(page)).to_be_focused()
    app.press("Escape")
    expect(window(page)).to_have_count(0)


@pytest.mark.thorough
def test_undo_brings_the_whole_message_back(app: App) -> None:
    page = compose(app)
    fill(page, subject="Wait")
    app.press("Control+Enter")
    expect(page.get_by_text(re.compile(r"^Sending in \d+ s$"))).to_be_visible()
    page.get_by_role("link", name="Tasks").click()
    page.get_by_role("heading", name="On its way").wait_for()
    page.get_by_role("button", name="Undo").click()
    ready(page)
    expect(page.get_by_label("Subject")).to_have_value("Wait")
    expect(text(page)).to_contain_text("High at nine.")
    expect(chips(page)).to_have_text(["ann@sea.example"])
    expect(page.locator(".sending")).to_have_count(0)
    taken(app, state="cancelled")


@pytest.mark.thorough
def test_of_two_messages_on_their_way_each_notice_tells_which_it_can_take_back(app: App) -> None:
    app.answers.hold_s = 60
    page = compose(app)
    fill(page, subject="Tides")
    app.press("Control+Enter")
    expect(page.locator(".sending")).to_have_count(1)
    expect(page.locator(".sending-about")).to_have_count(0)
    expect(window(page)).to_have_count(0)  # a live update may show the notice before the window has its answer
    app.press("c")
    ready(page)
    fill(page, subject="Boats")
    app.press("Control+Enter")
    for subject in ("Tides", "Boats"):
        expect(page.get_by_role("group", name=f"Sending: {subject}").locator(".sending-about")).to_have_text(subject)


@pytest.mark.thorough
def test_the_seconds_to_undo_are_counted_by_the_servers_clock_and_survive_a_reload(
    start: Callable[..., App],
) -> None:
    app = start(alone=True)
    began = datetime.now(UTC).replace(microsecond=0)
    app.answers.hold_s = 60
    page = app.page
    tell_time(app, began)
    compose(app)
    fill(page)
    app.press("Control+Enter")
    expect(page.get_by_text("Sending in 60 s", exact=True)).to_be_visible()
    app.settled()  # a request that began before the clocks moved would take them for two that differ
    tell_time(app, began + timedelta(seconds=15))
    expect(page.get_by_text("Sending in 45 s", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("Sending in 45 s", exact=True)).to_be_visible()


def tell_time(app: App, at: datetime) -> None:
    """It stands still: in the browser at that moment, at the server an hour later."""
    app.page.clock.set_fixed_time(at)
    app.answers.server_now = lambda: at + timedelta(hours=1)  # type: ignore[method-assign]


@pytest.mark.thorough
def test_a_mail_whose_end_is_known_before_the_answer_to_send_it_is_told_of(app: App) -> None:
    uncertain = app.answers.add_outgoing(subject="Ferries", state="uncertain")
    held = app.answers.add_outgoing(subject="Tides", state="held")
    page = app.open("/p/tasks", ready=".task")
    for key, subject, button, procedure in (
        (held, "Tides", "Send now", "mail.reschedule"),
        (uncertain, "Ferries", "Send again", "mail.retrySend"),
    ):
        answer = answered_later(page, procedure)
        page.get_by_role("listitem").get_by_role("button", name=button).click()
        if key == uncertain:
            page.get_by_role("button", name=f"Send it again: {subject}").click()
        expect(page.get_by_text("Sending…", exact=True)).to_be_visible()
        app.answers.move_outgoing(key, state="sent")
        expect(page.locator(".sending")).to_have_count(0)
        answer()
        expect(page.get_by_text(f"Sent: {subject}")).to_be_visible()


@pytest.mark.thorough
def test_a_mail_that_is_sent_before_the_window_hears_that_it_was_taken_is_told_of(app: App) -> None:
    page = compose(app)
    fill(page)
    answer = answered_later(page, "mail.send")
    app.press("Control+Enter")
    expect(page.locator(".sending")).to_be_visible()
    app.answers.move_outgoing(next(iter(app.answers.outgoing)), state="sent")
    expect(page.locator(".sending")).to_have_count(0)
    answer()
    expect(page.get_by_text("Sent: Tides")).to_be_visible()


def answered_later(page: Page, procedure: str) -> Callable[[], None]:
    """The server does what is asked; the page hears the answer when the test says so."""
    held = list[tuple[Route, APIResponse]]()
    intercept(page, f"**/trpc/{procedure}", lambda route: held.append((route, route.fetch())))

    def answer() -> None:
        until(page, lambda: bool(held), what=f"the server to have done {procedure}")
        ((route, response),) = held
        route.fulfill(response=response)

    return answer


@pytest.mark.thorough
def test_what_the_server_refuses_stays_with_its_reason_and_once_it_has_gone_undo_comes_too_late(
    app: App,
) -> None:
    app.tolerated = ("400", "409")
    app.answers.failing["mail.send"] = Refusal("BAD_REQUEST", 400, "The message is larger than 25 MB.")
    page = compose(app)
    fill(page)
    app.press("Control+Enter")
    expect(page.get_by_text("Not sent: The message is larger than 25 MB.")).to_be_visible()
    app.answers.failing.clear()
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    taken(app)
    # Undo may come too late.
    app.answers.failing["mail.cancelSend"] = Refusal("CONFLICT", 409, "This mail is on its way right now.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Too late: it is on its way already.")).to_be_visible()


@pytest.mark.thorough
def test_a_failure_is_told_on_the_mail_page_with_the_way_to_it(app: App) -> None:
    page = app.open()
    app.answers.move_outgoing(app.answers.add_outgoing(subject="Permit"), state="failed", lastError="No such mailbox.")
    expect(page.get_by_text("A message was not sent.")).to_be_visible()
    page.get_by_role("link", name="Look at it").click()
    expect(page.get_by_text("No such mailbox.")).to_be_visible()
    app.at("/p/tasks")


@pytest.mark.thorough
def test_discarding_can_be_undone(app: App) -> None:
    page = compose(app)
    fill(page)
    saved(page)
    page.get_by_role("button", name="Delete the draft").click()
    expect(window(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Drafts (1)")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    ready(page)
    expect(text(page)).to_contain_text("High at nine.")
    saved(page)
    draft(app)


@pytest.mark.thorough
def test_what_is_discarded_is_deleted_after_a_while(start: Callable[..., App]) -> None:
    app = start(alone=True)
    app.page.clock.install()
    page = compose(app)
    fill(page)
    page.clock.run_for(2_000)
    saved(page)
    page.get_by_role("button", name="Delete the draft").click()
    expect(window(page)).to_have_count(0)
    page.clock.run_for(20_000)
    app.called("mail.deleteDraft")
    app.wait(lambda: app.answers.drafts == {}, what="no draft to be left")


@pytest.mark.thorough
def test_send_later_shows_presets_and_refuses_the_past(app: App) -> None:
    page = compose(app)
    fill(page)
    page.get_by_role("button", name="Send later").click()
    panel = page.get_by_role("dialog", name="Send later")
    app.press("Escape", "Control+Shift+L")
    page.keyboard.type("2020-01-01")
    expect(panel.get_by_text("That is in the past.")).to_be_visible()
    panel.get_by_role("combobox").fill("tomorrow 8")
    expect(panel.get_by_role("option").first).to_contain_text("08:00")
    app.press("Enter")
    expect(window(page)).to_have_count(0)
    (sent,) = app.called("mail.send")
    local = page.evaluate("at => [new Date(at).getHours(), new Date(at).getDate()]", sent["sendAt"])
    tomorrow = page.evaluate("(() => { const d = new Date(); d.setDate(d.getDate() + 1); return d.getDate(); })()")
    assert local == [8, tomorrow]
    expect(page.get_by_text(re.compile("^It goes out "))).to_be_visible()
    expect(page.get_by_role("link", name="Tasks, 1: 1 scheduled")).to_be_visible()
