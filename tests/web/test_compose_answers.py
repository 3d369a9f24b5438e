"""Reply, reply to all and forward: from the list and from the open thread, with the quoted original."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_server import Refusal
from tests.web.writer import chips, draft, people, ready, saved, text, window

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_r_on_a_row_answers_it_with_the_caret_above_the_quote_and_the_focus_goes_back(app: App) -> None:
    app.answers.signatures["acc_mia"] = "<div>Mia</div>"
    page = app.open()
    app.press("j", "r")
    ready(page)
    expect(page.locator("[data-message=thr_00_6] + section.answer-card")).to_have_count(1)
    expect(people(page)).to_contain_text("To Jonas Feld")
    expect(page.get_by_label("Subject")).to_have_count(0)
    expect(text(page)).to_be_focused()
    page.keyboard.type("Yes.")
    app.press("Control+Enter")
    expect(window(page)).to_have_count(0)
    (sent,) = app.called("mail.send")
    assert (sent["replyTo"], sent["quote"]) == ("thr_00", {"messageId": "thr_00_6", "kind": "reply"})
    assert sent["subject"] == "Re: Quote for the harbour mural"
    assert sent["html"] == '<div>Yes.</div><div><br></div><div data-signature="1"><div>Mia</div></div>'
    expect(page.locator("[data-message=thr_00_6]")).to_be_focused()
    app.press("Escape")
    app.focuses("thr_00")
    app.press("Enter")
    page.locator("iframe").first.wait_for()
    app.press("r")
    ready(page)
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("u")
    page.locator(".thread").first.wait_for(state="detached")
    app.focuses("thr_00")


@pytest.mark.thorough
def test_a_answers_everybody_and_f_carries_the_files_to_nobody_yet(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="Reply to all").click()  # a button below the thread
    ready(page)
    assert app.called("mail.prepare") == [{"threadId": "thr_00", "kind": "replyAll"}]
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("a")
    ready(page)
    expect(people(page)).to_contain_text("To Jonas Feld, Cc Harbour Office")
    people(page).click()
    expect(chips(page, "Cc")).to_have_text(["Harbour Office"])
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("f")
    ready(page)
    expect(page.get_by_role("combobox", name="To", exact=True)).to_be_focused()
    expect(page.locator(".compose-file .attachment-name")).to_have_text(["harbour-wall-elevations.pdf"])
    page.keyboard.type("ann@sea.example,")
    app.press("Control+Enter")
    (sent,) = app.called("mail.send")
    assert (sent["attachments"], sent["quote"]["kind"], "replyTo" in sent) == (["fil_1"], "forward", False)
    assert sent["subject"] == "Fwd: Quote for the harbour mural"


@pytest.mark.thorough
@pytest.mark.parametrize("last", ["mail.prepare", "mail.thread"])
def test_what_is_typed_while_the_answer_is_prepared_stands_in_it_and_does_nothing_to_the_page(
    app: App, last: str
) -> None:
    page = app.open()
    held = app.hold(last)
    app.press("j", "r", "Enter", "k", "e")
    held.asked()
    page.keyboard.type("e <3")
    app.press("Backspace", "Enter", "e")
    held.let_go()
    ready(page)
    page.keyboard.type("k")
    expect(text(page).locator("div")).to_have_text(["kee <", "ek", ""])
    assert app.calls("mail.archive") == []
    app.selects("thr_00")
    saved(page)


@pytest.mark.thorough
def test_what_is_typed_while_a_forward_is_prepared_is_the_name_of_who_gets_it(app: App) -> None:
    page = app.open()
    prepare = app.hold("mail.prepare")
    app.press("j", "f", "a", "n")
    prepare.asked()
    app.press("n")
    prepare.let_go()
    ready(page)
    expect(page.get_by_role("combobox", name="To", exact=True)).to_have_value("ann")


@pytest.mark.thorough
def test_the_quoted_original_is_folded_shown_in_a_frame_without_rights_and_can_be_left_out(app: App) -> None:
    page = app.open()
    app.press("j", "r")
    ready(page)
    expect(window(page).locator("iframe")).to_have_count(0)
    page.get_by_role("button", name="Show the quoted message").click()
    frame = window(page).locator("iframe")
    expect(frame).to_have_attribute("sandbox", "allow-popups allow-popups-to-escape-sandbox")
    expect(page.frame_locator(".quote iframe").get_by_text("they love the tern silhouettes")).to_be_visible()
    page.get_by_role("button", name="Leave the quoted message out").click()
    expect(window(page).locator(".quote")).to_have_count(0)
    draft(app, quote=None)


@pytest.mark.thorough
def test_a_draft_of_an_answer_opens_with_its_quote(app: App) -> None:
    for subject, kind, reply_to in (("Re: mural", "reply", "thr_00"), ("Fwd: mural", "forward", None)):
        quote = {"messageId": "thr_00_0", "kind": kind}
        app.answers.add_draft(subject=subject, to=["jonas@x.example"], replyTo=reply_to, quote=quote)
    page = app.open()
    for subject, words in (("Re: mural", "quoted"), ("Fwd: mural", "forwarded")):
        page.get_by_role("button", name="Drafts (2)").click()
        page.get_by_role("group", name="Drafts").get_by_role("button", name=subject).click()
        ready(page)
        page.get_by_role("button", name=f"Show the {words} message").click()
        expect(page.frame_locator(".quote iframe").get_by_text("they love the tern silhouettes")).to_be_visible()
        page.goto(f"{app.origin}/p/mail")


@pytest.mark.thorough
def test_an_answer_that_cannot_be_prepared_says_why_and_gives_the_keys_back(app: App) -> None:
    app.tolerated = ("404",)
    app.answers.failing["mail.prepare"] = Refusal("NOT_FOUND", 404, "There is no such thread.")
    page = app.open()
    app.press("j", "r")
    page.get_by_text("Could not open the message: There is no such thread.").wait_for()
    app.press("ArrowDown")  # letters are no commands until the person pauses: tests/web/test_early_typing.py
    app.selects("thr_01")
