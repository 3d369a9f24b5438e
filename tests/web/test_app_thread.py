"""The open thread: message cards, the frame that keeps strangers' HTML in, attachments, and what arrives meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.web import fake_world
from tests.web.conftest import PHONE, App
from tests.web.fake_server import Refusal, World

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


def world_with_body(html: str) -> World:
    world = World()
    world.details["thr_01"] = fake_world.detail(world.thread("thr_01"))
    world.details["thr_01"]["messages"][-1]["html"] = html
    return world


def test_the_frame_is_sandboxed_and_begins_with_its_policy(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    frame = page.locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-popups allow-popups-to-escape-sandbox"
    source = frame.evaluate("frame => frame.srcdoc")
    head = source.index("<head>") + len("<head>")
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert source[head:].startswith(f'<meta http-equiv="Content-Security-Policy" content="{policy}">')


def test_even_unsanitized_html_reaches_no_network_and_runs_nothing(start: Callable[..., App]) -> None:
    app = start()
    leak = app.origin.replace("127.0.0.1", "localhost") + "/leak"
    detail = fake_world.detail(app.world.thread("thr_01"))
    detail["messages"][-1]["html"] = HOSTILE.format(leak=leak)
    app.world.details["thr_01"] = detail
    app.tolerated = (
        "Content Security Policy",
        "Blocked script execution",
        "autofocus",
        "Unsafe attempt",
        "frame",
        "Refused",
    )
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    page.wait_for_function("() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true), 150)))")
    assert app.world.leaks == []
    assert "taken" not in page.title()
    assert app.path() == "/p/mail/t/thr_01"
    assert page.locator("#out").count() == 0, "nothing of it stands in the app's own document"


def test_inline_styles_of_a_mail_are_kept_and_cause_no_policy_violation(start: Callable[..., App]) -> None:
    app = start(world_with_body("<p style='color:#aa0000;font-size:20px'>Red</p>"))
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    assert "color:#aa0000" in page.locator("iframe").evaluate("frame => frame.srcdoc")


def test_blocked_images_are_counted_and_their_places_kept(app: App) -> None:
    page = app.open("/p/mail/t/thr_06", ready="iframe")
    assert "3 images blocked" in page.locator(".blocked").inner_text()
    source = page.locator("iframe").evaluate("frame => frame.srcdoc")
    assert "<img" not in source
    assert 'data-remote="0"' in source
    assert "aspect-ratio:496/220" in source
    assert "img.example" not in source


def test_the_frame_is_about_as_tall_as_its_message_and_can_get_more_room(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    box = page.locator(".frame-box")
    height = box.evaluate("element => element.offsetHeight")
    assert 180 < height < 320
    page.get_by_role("button", name="More room").click()
    app.until("() => document.querySelector('.frame-box').offsetHeight > 700")
    page.get_by_role("button", name="Less room").click()
    app.until("height => document.querySelector('.frame-box').offsetHeight === height", height)
    assert box.evaluate("element => getComputedStyle(element).resize") == "vertical"


def test_older_messages_are_folded_and_unfold_at_a_click(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    assert page.locator("article").count() == 3
    page.get_by_role("button", name="4 older messages").click()
    assert page.locator("article").count() == 7
    assert page.locator("iframe").count() == 1
    page.locator("article.folded button").first.click()
    assert page.locator("iframe").count() == 2


def test_a_card_names_its_people_and_shows_the_rest_on_demand(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    card = page.locator("article").last
    assert "jonas.feld@example.org" in card.inner_text()
    card.get_by_role("button", name="to Mia Tern, hello@ternandtide.example").click()
    details = card.locator("dl").inner_text()
    for part in ("From", "Jonas Feld <jonas.feld@example.org>", "Mia Tern <mia@ternandtide.example>", "Date"):
        assert part in details


def test_attachments_are_chips_that_download(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    chip = page.get_by_role("link", name="Download harbour-wall-elevations.pdf 1.3 MB")
    assert chip.get_attribute("href") == "/files/fil_1/content"
    with page.expect_download() as download:
        chip.click()
    assert download.value.suggested_filename == "harbour-wall-elevations.pdf"


def test_the_filing_line_links_to_its_page(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    assert page.get_by_role("link", name="Filed under Jonas Feld").get_attribute("href") == "/p/crm/jonas-feld"
    app.press("j")
    page.wait_for_url("**/t/thr_01")
    page.wait_for_selector("iframe")
    assert page.get_by_text("Filed under").count() == 0


def test_a_proposed_reply_has_its_place(start: Callable[..., App]) -> None:
    world = world_with_body("<p>Hello</p>")
    world.details["thr_01"]["proposedReply"] = {"id": "prp_1", "html": "<p>Thank you</p>", "ruleId": "rul_1"}
    page = start(world).open("/p/mail/t/thr_01", ready=".proposed iframe")
    assert "Proposed reply, not sent" in page.locator(".proposed").inner_text()


def test_a_message_can_be_read_as_plain_text(app: App) -> None:
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    page.get_by_role("button", name="As plain text").click()
    assert "See you soon" in page.locator(".card-text").inner_text()
    page.get_by_role("button", name="As sent").click()
    page.locator("iframe").wait_for()


def test_mark_unread_goes_back_and_marks(app: App) -> None:
    page = app.open()
    app.press("j", "Enter")
    page.wait_for_selector("iframe")
    app.called("mail.open")
    page.get_by_role("button", name="Mark unread").click()
    assert app.called("mail.markUnread") == [{"threadIds": ["thr_00"]}]
    page.get_by_role("option", name="Unread, Jonas Feld").first.wait_for()


def test_a_thread_that_skipped_the_inbox_can_be_moved_there(app: App) -> None:
    page = app.open("/p/mail/t/thr_skip0", ready="iframe")
    page.get_by_role("button", name="Move to inbox").click()
    assert app.called("mail.unarchive") == [{"threadIds": ["thr_skip0"]}]
    page.get_by_role("button", name="Archive").wait_for()


def test_a_message_that_arrives_in_the_open_thread_shows_up_open(app: App) -> None:
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    row = app.world.thread("thr_01")
    detail = fake_world.detail({**row, "messageCount": 3})
    detail["messages"][2]["html"] = "<p>The new one</p>"
    app.world.details["thr_01"] = detail
    app.world.change("thr_01", messageCount=3, lastMessageAt=fake_world.at(seconds=-5))
    app.until("() => [...document.querySelectorAll('iframe')].some(one => one.srcdoc.includes('The new one'))")
    assert page.locator("iframe").count() == 2


def test_a_thread_that_is_deleted_meanwhile_says_so(app: App) -> None:
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    app.world.remove("thr_01")
    page.get_by_role("heading", name="This thread is gone").wait_for()


def test_an_address_of_no_thread_says_so(app: App) -> None:
    app.tolerated = ("404",)
    page = app.open("/p/mail/t/thr_nowhere")
    page.get_by_role("heading", name="This thread is gone").wait_for()


def test_a_thread_that_fails_to_load_can_be_asked_for_again(start: Callable[..., App]) -> None:
    world = World()
    world.failing["mail.thread"] = Refusal("INTERNAL_SERVER_ERROR", 500, "Something broke.")
    app = start(world)
    app.tolerated = ("500",)
    page = app.open("/p/mail/t/thr_01", ready=".thread .failed")
    assert "Something broke." in page.locator(".thread .failed").inner_text()
    world.failing.clear()
    page.get_by_role("button", name="Try again").click()
    page.locator("iframe").wait_for()


def test_on_a_phone_the_thread_takes_the_page_and_the_list_comes_back_where_it_was(start: Callable[..., App]) -> None:
    app = start(viewport=PHONE, has_touch=True, is_mobile=True)
    page = app.open()
    page.evaluate("() => { document.querySelector('.lists').scrollTop = 300; }")
    app.row("thr_06").tap()
    page.wait_for_selector("iframe")
    assert page.locator(".list-pane").get_attribute("inert") is not None
    page.get_by_role("button", name="Back", exact=True).tap()
    page.wait_for_selector(".thread", state="detached")
    assert abs(page.evaluate("document.querySelector('.lists').scrollTop") - 300) <= 1


@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_every_step_is_within_reach(start: Callable[..., App], width: int) -> None:
    app = start(viewport={**PHONE, "width": width}, has_touch=True, is_mobile=True)
    page = app.open("/p/mail/t/thr_01", ready="iframe")
    tools = page.get_by_role("toolbar", name="Thread").get_by_role("button")
    names = ["Back", "Archive", "Mark unread", "Star", "Labels", "Snooze", "Report as spam", "Delete"]
    for name in names:
        box = tools.and_(page.get_by_role("button", name=name, exact=True)).bounding_box()
        assert box is not None, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= width, name
        assert min(box["width"], box["height"]) >= 44, name
    assert tools.count() == len(names)


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
        page.wait_for_timeout(40)
    app.until("() => document.activeElement?.matches('.card')")
    page.keyboard.press("Control+c", delay=60)
    app.until("async () => (await navigator.clipboard.readText()).includes('the council came back')")
    app.until("() => document.activeElement?.matches('.card')")
