"""The open thread: message cards, the frame that keeps strangers' HTML in, attachments, and what arrives meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browser import PHONE, App, drawn
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers, Refusal

pytestmark = pytest.mark.browser

HOSTILE = (
    "<img src='{leak}/a.png'><style>@import '{leak}/b.css'; p {{ background: url({leak}/c.png) }}</style>"
    "<p style='background:url({leak}/d.png)'>Hello</p><script>top.document.title = 'taken'</script>"
    "<meta http-equiv='refresh' content='0;url={leak}/e'><link rel=stylesheet href='{leak}/f.css'>"
    "<link rel=preconnect href='{leak}/g'><video poster='{leak}/h.png' src='{leak}/i' autoplay></video>"
    "<iframe src='{leak}/j'></iframe><object data='{leak}/k'></object><body background='{leak}/l.png'>"
    "<form action='{leak}/m'><input autofocus name=x></form><svg><image href='{leak}/n.png'/></svg>"
    "<img src=x onerror='top.location = \"{leak}/o\"'><a id=out href='{leak}/p' target=_top>out</a>"
)
"""What the sanitizer would never let through: the frame has to hold alone."""


HEIGHT_ERRS_PX = 4
END_PX = 150
"""Of each document, cut off by the box of its frame."""
IS_MEASURED = """() => {
    const [box, frame] = [document.querySelector('.frame-box'), document.querySelector('iframe')];
    return frame && frame.offsetHeight !== 150 && box.offsetHeight === frame.offsetHeight - 150;
}"""
"""A frame that has told no height is 150 pixels tall."""


def answers_with_body(html: str) -> FakeAnswers:
    answers = FakeAnswers()
    answers.details["thr_01"] = fake_mail.detail(answers.thread("thr_01"))
    answers.details["thr_01"]["messages"][-1]["html"] = html
    return answers


@pytest.mark.thorough
def test_a_thread_shows_its_people_its_files_its_older_messages_and_where_it_is_filed(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    frame = page.locator("iframe")  # sandboxed, and it begins with its policy
    expect(frame).to_have_attribute("sandbox", "allow-popups allow-popups-to-escape-sandbox")
    source = frame.evaluate("frame => frame.srcdoc")
    head = source.index("<head>") + len("<head>")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert source[head:].startswith(f'<meta http-equiv="Content-Security-Policy" content="{policy}">')
    card = page.locator("article").last  # it names its people, and shows the rest on demand
    expect(card).to_contain_text("jonas.feld@example.org")
    card.get_by_role("button", name="to me", exact=True).click()  # both are hers
    details = card.locator("dl").inner_text()
    for part in ("From", "Jonas Feld <jonas.feld@example.org>", "Mia Tern <mia@ternandtide.example>", "Date"):
        assert part in details
    known_by = page.locator(".card-details .origin")
    expect(known_by).to_contain_text("Signed by")
    expect(known_by).to_contain_text("mx.fake.invalid found: DMARC pass of")
    chip = page.get_by_role("link", name="Download harbour-wall-elevations.pdf")
    expect(chip).to_have_attribute("href", "/files/fil_1/content")
    with page.expect_download() as download:
        chip.click()
    assert download.value.suggested_filename == "harbour-wall-elevations.pdf"
    expect(page.locator("article")).to_have_count(3)  # the older ones are folded, and unfold at a click
    page.get_by_role("button", name="4 older messages").click()
    expect(page.locator("article")).to_have_count(7)
    expect(page.locator("iframe")).to_have_count(1)
    page.locator("article.folded button").first.click()
    expect(page.locator("iframe")).to_have_count(2)
    expect(page.get_by_role("link", name="Filed under Jonas Feld")).to_have_attribute("href", "/p/crm/jonas-feld")
    app.press("j")
    page.wait_for_url("**/t/thr_01")
    page.locator("iframe").first.wait_for()
    expect(page.get_by_text("Filed under")).to_have_count(0)


@pytest.mark.thorough
def test_each_message_has_a_menu(app: App) -> None:
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    message = page.locator("article.card").last
    id_ = message.get_attribute("data-message")
    message.get_by_role("button", name="More for this message").click()
    menu = message.get_by_role("group", name="This message")
    expect(menu.get_by_role("link", name="Show original")).to_have_attribute("href", f"/mail/messages/{id_}/source")
    expect(menu.get_by_role("link", name="Show original")).to_have_attribute("rel", "noopener")
    expect(menu.get_by_role("link", name="Download (.eml)")).to_have_attribute("href", f"/mail/messages/{id_}/eml")
    box, room = menu.bounding_box(), page.viewport_size
    assert box is not None
    assert room is not None
    assert box["x"] >= 0
    assert box["y"] + box["height"] <= room["height"]
    menu.get_by_role("button", name="Mark unread from here").click()
    (given,) = app.called("mail.markUnreadFrom")
    assert given["messageId"] == id_
    expect(page.locator("iframe")).to_have_count(0)
    app.go_to_section("Skipped the inbox")
    app.row("thr_skip0").click()  # which skipped the inbox: it can be moved there
    page.get_by_role("button", name="Move to inbox").click()
    assert app.called("mail.unarchive") == [{"threadIds": ["thr_skip0"]}]
    page.get_by_role("button", name="Archive").wait_for()


@pytest.mark.thorough
def test_what_a_message_is_and_lacks_is_said_in_its_place(start: Callable[..., App]) -> None:
    """Threads one after the other, each with something of its own."""
    answers = FakeAnswers()
    details = {one: fake_mail.detail(answers.thread(one)) for one in ("thr_01", "thr_02", "thr_03", "thr_04", "thr_05")}
    answers.details |= details
    answers.details["thr_00"]["messages"][-1]["attachments"][0]["damaged"] = True
    details["thr_01"]["messages"][-1]["html"] = '<p>Yes.</p><blockquote data-fold="">Shall we meet?</blockquote>'
    details["thr_02"]["messages"][-1]["html"] = "<p style='color:#aa0000;font-size:20px'>Red</p>"
    details["thr_03"]["messages"][-1]["labels"] = [{"id": "DRAFT", "name": "Draft", "color": None}]
    reply = {"id": "prp_1", "to": ["Noa <noa@example.org>"], "cc": [], "subject": "Re: Hello", "ruleId": "rul_1"}
    details["thr_04"]["proposedReply"] = {**reply, "html": "<p>Thank you</p>"}
    app = start(answers)
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    chips = page.get_by_role("list", name="Attachments").get_by_role("listitem")
    expect(chips.nth(0)).to_have_text("harbour-wall-elevations.pdf damaged", use_inner_text=True)
    expect(page.get_by_role("link", name="Download harbour-wall-elevations.pdf")).to_have_count(0)
    page.get_by_role("link", name="Download north wall at low tide.jpg").wait_for()
    next_thread(app, "thr_01")  # a forward shows all of it, though its end is marked
    expect(page.locator("iframe").content_frame.locator("body")).to_have_text("Yes.Shall we meet?")
    expect(page.get_by_role("button", name="Show quoted text")).to_have_count(0)
    next_thread(app, "thr_02")  # inline styles are kept, and cause no violation of the policy
    expect(page.locator("iframe")).to_have_attribute("srcdoc", re.compile("color:#aa0000"))
    next_thread(app, "thr_03")
    page.locator(".card:not(.folded)").last.get_by_text("Draft, at your provider").wait_for()
    expect(page.get_by_text("Draft, at your provider")).to_have_count(1)
    next_thread(app, "thr_04")
    page.locator(".proposed iframe").wait_for()
    expect(page.locator(".proposed")).to_contain_text("Proposed reply, not sent")
    expect(page.locator(".proposed-to")).to_have_text("To Noa <noa@example.org>: Re: Hello")
    next_thread(app, "thr_05")
    next_thread(app, "thr_06")  # blocked images are counted, and their places kept
    expect(page.locator(".blocked")).to_contain_text("3 images blocked")
    source = page.locator("iframe").evaluate("frame => frame.srcdoc")
    assert "<img" not in source
    assert 'data-remote="0"' in source
    assert "aspect-ratio:496/220" in source
    assert "img.example" not in source


def next_thread(app: App, thread_id: str) -> None:
    app.press("j")
    app.at(f"/p/mail/t/{thread_id}")
    expect(app.page.locator(".thread-subject")).to_have_text(app.answers.thread(thread_id)["subject"])
    app.settled()


@pytest.mark.thorough
def test_even_unsanitized_html_reaches_no_network_and_runs_nothing(start: Callable[..., App]) -> None:
    app = start()
    app.watch_traffic()
    leak = app.origin.replace("127.0.0.1", "localhost") + "/leak"
    detail = fake_mail.detail(app.answers.thread("thr_01"))
    detail["messages"][-1]["html"] = HOSTILE.format(leak=leak)
    app.answers.details["thr_01"] = detail
    app.tolerated = (
        "Content Security Policy",
        "Blocked script execution",
        "autofocus",
        "Unsafe attempt",
        "frame",
        "Refused",
    )
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    page.locator("iframe").content_frame.locator("body").wait_for()
    app.traffic.quiet()
    assert app.answers.leaks == []
    expect(page).not_to_have_title(re.compile("taken"))
    app.at("/p/mail/t/thr_01")
    expect(page.locator("#out")).to_have_count(0)  # nothing of it stands in the app's own document


@pytest.mark.thorough
def test_what_is_known_folds_behind_three_dots_outside_of_the_frame(start: Callable[..., App]) -> None:
    answers = answers_with_body('<p>Yes.</p><blockquote data-fold="">Shall we meet?</blockquote>')
    answers.details["thr_01"]["messages"][-1] |= {"folds": True, "foldedLine": 2, "text": "Yes.\n\n> Shall we meet?"}
    app = start(answers)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    frame = page.locator("iframe").content_frame
    expect(frame.locator("body")).to_have_text("Yes.")
    page.get_by_role("button", name="Show quoted text").click()
    expect(frame.locator("body")).to_have_text("Yes.Shall we meet?")
    page.get_by_role("button", name="More for this message").click()
    page.get_by_role("group", name="This message").get_by_role("button", name="As plain text").click()
    expect(page.locator(".card-text")).to_have_text("Yes.\n\n> Shall we meet?")
    page.get_by_role("button", name="Hide quoted text").click()
    expect(page.locator(".card-text")).to_have_text("Yes.")


LETTERS = {
    "one line": "Yes.",
    "paragraphs": "<p>Shall we meet at noon? " + "There is much to say. " * 40 + "</p><p>Noa</p>",
    "headings and a list": "<h1>Cranes</h1><ul><li>up</li><li>down "
    + "and up again " * 30
    + "</li></ul><hr><h3>End</h3>",
    "plain text": '<div style="white-space:pre-wrap">' + "One line of it\n" * 60 + "</div>",
    "a newsletter": '<table width="600" cellpadding="20"><tr><td style="font-size:28px">News</td></tr><tr><td>'
    + "The harbour is open. " * 60
    + '</td></tr><tr><td><table><tr><td width="50%">Left</td><td>Right '
    + "and more " * 30
    + "</td></tr></table></td></tr></table>",
    "a narrow column": '<div style="width:180px;line-height:30px">' + "words " * 100 + "</div>",
    "chinese": "<p>" + "港口今天开放。" * 120 + "</p>",
}


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_a_frame_is_as_tall_as_its_message(start: Callable[..., App], width: int) -> None:
    answers = FakeAnswers()
    threads = answers.threads[: len(LETTERS)]
    for thread, html in zip(threads, LETTERS.values(), strict=True):
        message = {**fake_mail.detail(thread)["messages"][-1], "html": html}
        answers.details[thread["id"]] = {**fake_mail.detail(thread), "messages": [message]}
    app = start(answers)
    app.page.set_viewport_size({"width": width, "height": 800})
    page = app.open(f"/p/mail/t/{threads[0]['id']}", ready="iframe")
    for thread in threads:
        app.at(f"/p/mail/t/{thread['id']}")
        frame = page.locator(f"[data-message='{answers.details[thread['id']]['messages'][0]['id']}'] iframe")
        expect(frame).to_have_attribute("srcdoc", re.compile("allow-origins=http"))
        wanted = frame.content_frame.locator("html").evaluate("html => html.getBoundingClientRect().height") - END_PX
        off = "([wanted, errs]) => Math.abs(document.querySelector('.frame-box').offsetHeight - wanted) <= errs"
        app.until(off, [max(24, wanted), HEIGHT_ERRS_PX])
        app.press("j")  # to the next thread


TELLS_NO_HEIGHT = """() => {
    const set = CSSStyleDeclaration.prototype.setProperty;
    CSSStyleDeclaration.prototype.setProperty = function (name, ...given) {
        if (name !== "frame-sizing") set.call(this, name, ...given);
    };
}"""


@pytest.mark.thorough
def test_a_frame_that_tells_no_height_is_as_tall_as_the_estimate(start: Callable[..., App]) -> None:
    app = start(answers_with_body(LETTERS["a newsletter"]), alone=True)
    app.page.add_init_script(f"({TELLS_NO_HEIGHT})()")
    app.open("/p/mail/t/thr_01", ready="iframe")
    app.until(
        """() => {
            const [box, frame] = [document.querySelector('.frame-box'), document.querySelector('iframe')];
            return box.offsetHeight > 300 && frame.offsetHeight === box.offsetHeight;
        }"""
    )


@pytest.mark.thorough
def test_what_was_measured_is_reserved_the_next_time(start: Callable[..., App]) -> None:
    app = start(answers_with_body(LETTERS["a newsletter"]))
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    app.until(IS_MEASURED)
    height = page.locator(".frame-box").evaluate("box => box.offsetHeight")
    page.evaluate(
        """() => {
            window.reserved = [];
            new MutationObserver(() => {
              const height = document.querySelector('.frame-box')?.style.height;
              if (height) window.reserved.push(height);
            }).observe(document.body, { subtree: true, childList: true, attributes: true });
        }"""
    )
    app.press("u")
    expect(page.locator("iframe")).to_have_count(0)
    page.evaluate("window.reserved = []")
    app.row("thr_01").click()
    app.until(IS_MEASURED)
    assert set(page.evaluate("window.reserved")) == {f"{height}px"}


@pytest.mark.thorough
def test_mark_unread_goes_back_and_marks(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.locator("iframe").first.wait_for()
    app.called("mail.open")
    page.get_by_role("button", name="Mark unread").click()
    assert app.called("mail.markUnread") == [{"threadIds": ["thr_00"]}]
    page.get_by_role("link", name="Unread, Jonas Feld").first.wait_for()


@pytest.mark.thorough
def test_the_open_thread_follows_what_becomes_of_it(app: App) -> None:
    app.tolerated = ("404",)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    row = app.answers.thread("thr_01")
    detail = fake_mail.detail({**row, "messageCount": 3})
    detail["messages"][2]["html"] = "<p>The new one</p>"
    app.answers.details["thr_01"] = detail
    app.answers.change("thr_01", messageCount=3, lastMessageAt=fake_mail.at(seconds=-5))
    app.until("() => [...document.querySelectorAll('iframe')].some(one => one.srcdoc.includes('The new one'))")
    expect(page.locator("iframe")).to_have_count(2)  # what arrives shows up open
    app.answers.join("thr_01", into="thr_02")
    expect(page).to_have_url(re.compile("/p/mail/t/thr_02$"))
    expect(page.locator(".thread-subject")).to_have_text(app.answers.thread("thr_02")["subject"])
    app.answers.remove("thr_02")
    gone = page.get_by_role("heading", name="This thread is gone")
    gone.wait_for()
    app.press("u")
    late = app.hold("mail.thread", about="thr_04")
    app.row("thr_04").click()
    late.asked()
    late.heard()  # what the server says of it is no longer so when it arrives
    app.answers.remove("thr_04")
    gone.wait_for()
    late.let_go()
    app.settled()
    expect(gone).to_be_visible()


def test_an_address_of_no_thread_says_so(app: App) -> None:
    app.tolerated = ("404",)
    page = app.open("/p/mail/t/thr_nowhere")
    page.get_by_role("heading", name="This thread is gone").wait_for()


@pytest.mark.thorough
def test_a_thread_that_fails_to_load_can_be_asked_for_again(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    answers.failing["mail.thread"] = Refusal("INTERNAL_SERVER_ERROR", 500, "Something broke.")
    app = start(answers)
    app.tolerated = ("500",)
    page = app.open("/p/mail/t/thr_01", ready=".thread .failed")
    expect(page.locator(".thread .failed")).to_contain_text("Something broke.")
    app.called("mail.thread", times=2)  # when live updates begin, the app asks once more by itself: not for this one
    answers.failing.clear()
    page.get_by_role("button", name="Try again").click()
    page.locator("iframe").wait_for()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.thorough
def test_what_was_written_into_a_proposed_reply_stays_if_newer_mail_comes(
    start: Callable[..., App], fails: bool
) -> None:
    answers = FakeAnswers()
    reply = {"id": "prp_1", "to": ["Noa <noa@example.org>"], "cc": [], "subject": "Re: Hello", "ruleId": "rul_1"}
    detail = fake_mail.detail(answers.thread("thr_04"))
    answers.details["thr_04"] = {**detail, "proposedReply": {**reply, "html": "<p>Thank you</p>"}}
    app = start(answers)
    page = app.open("/p/mail/t/thr_04", ready=".proposed iframe")
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("textbox", name="The reply")
    expect(field).to_be_focused()
    field.fill("Not on Tuesday.\nBut & on Friday.")
    for other in ("thr_05", "thr_04"):
        app.row(other).click()
        app.at(f"/p/mail/t/{other}")
    expect(field).to_have_value("Not on Tuesday.\nBut & on Friday.")
    answers.details["thr_04"] = {**detail, "proposedReply": {**reply, "id": "prp_2", "html": "<p>New words</p>"}}
    answers.change("thr_04", lastMessageAt=fake_mail.at(seconds=-5))
    kept = page.get_by_role("region", name="Your text")
    expect(kept).to_contain_text("But & on Friday.")
    expect(page.get_by_role("region", name="Proposed reply").frame_locator("iframe").locator("body")).to_have_text(
        "New words"
    )
    if fails:
        app.tolerated = ("404",)
        answers.failing["mail.prepare"] = Refusal("NOT_FOUND", 404, "There is no such thread.")
    kept.get_by_role("button", name="Write a reply with it").click()
    if fails:
        again = page.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        expect(kept).to_contain_text("But & on Friday.")
        answers.failing.clear()
        again.click()
    expect(page.get_by_role("textbox", name="Message")).to_contain_text("But & on Friday.")
    expect(kept).to_have_count(0)


@pytest.mark.thorough
def test_an_agent_that_begins_after_its_dialog_was_closed_is_told_of_and_the_page_stays(
    start: Callable[..., App],
) -> None:
    class Asked(FakeAnswers):
        def rpc_agents_run(self, given: dict[str, Any]) -> Any:
            return {"runId": self.add_run("Sort the quotes")}

    app = start(Asked())
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="Ask an agent").click()
    dialog = page.get_by_role("dialog", name="Ask an agent")
    expect(dialog.get_by_label("What is to be done")).to_be_focused()
    dialog.get_by_label("What is to be done").fill("Sort the quotes.")
    with app.answers.lock:  # the answer waits for it
        dialog.get_by_role("button", name="Begin").click()
        dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)
    page.get_by_text("The agent has begun.").wait_for()
    app.at("/p/mail/t/thr_00")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", name="Sort the quotes").wait_for()


@pytest.mark.thorough
def test_on_a_phone_the_thread_takes_the_page_and_the_list_comes_back_where_it_was(start: Callable[..., App]) -> None:
    app = start(viewport=PHONE, has_touch=True, is_mobile=True)
    page = app.open()
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 300; }")
    app.settled()
    app.row("thr_06").tap()
    page.locator("iframe").first.wait_for()
    expect(page.locator(".list-pane")).to_have_attribute("inert", "")
    page.get_by_role("button", name="Back", exact=True).tap()
    page.locator(".thread").first.wait_for(state="detached")
    app.until("() => Math.abs(document.querySelector('.lists').scrollTop - 300) <= 1")


@pytest.mark.thorough
@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_every_step_is_within_reach(start: Callable[..., App], width: int) -> None:
    app = start(viewport={**PHONE, "width": width}, has_touch=True, is_mobile=True)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    tools = page.get_by_role("toolbar", name="Thread").get_by_role("button")
    in_line = ["Back", "Archive", "Snooze", "More for this thread"]
    for name in in_line:
        box = tools.and_(page.get_by_role("button", name=name, exact=True)).bounding_box()
        assert box is not None, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= width, name
        assert min(box["width"], box["height"]) >= 44, name
    expect(tools).to_have_count(len(in_line))
    tools.last.tap()
    menu = page.get_by_role("group", name="This thread")
    others = ["Mark as unread, and go back", "Star", "Labels", "Mute", "Report as spam", "Delete"]
    for name in [*others, "Newer thread", "Older thread"]:
        box = menu.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= width, name
        assert box["height"] >= 44, name
    menu.get_by_role("button", name="Star", exact=True).tap()
    assert app.called("mail.setLabels")[0]["add"] == ["STARRED"]
    expect(menu).to_be_hidden()
    tools.last.tap()
    menu.get_by_role("button", name="Take the star away").wait_for()


@pytest.mark.thorough
def test_marked_text_in_the_frame_can_be_copied_with_the_keyboard(start: Callable[..., App]) -> None:
    app = start(permissions=["clipboard-read", "clipboard-write"])
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    box = page.locator("iframe").bounding_box()
    assert box is not None
    mouse = page.context.new_cdp_session(page)
    y = box["y"] + 60
    for kind, x in (("mousePressed", 2), ("mouseMoved", 150), ("mouseMoved", 300), ("mouseReleased", 300)):
        where = {"type": kind, "x": box["x"] + x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        mouse.send("Input.dispatchMouseEvent", where)
        drawn(page)
    app.until("() => document.activeElement?.matches('.card')")

    def copied() -> bool:  # the keyboard is lent to the frame for a moment only, which a slow press may miss
        page.keyboard.press("Control+c")
        return "the council came back" in page.evaluate("navigator.clipboard.readText()")

    app.wait(copied, what="the marked text in the clipboard")
    app.until("() => document.activeElement?.matches('.card')")
