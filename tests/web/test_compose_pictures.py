"""Pictures in the text: pasted, dropped and chosen; described, made smaller, taken out, brought back, and sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.test_app_looks import NARROW, check, small_targets
from tests.web.writer import compose, fill, give, paste, png, ready, saved, taken, text

pytestmark = pytest.mark.browser


WIDE, SMALL = png(1800, 90), png(40, 20)


@pytest.mark.thorough
def test_a_pasted_picture_stands_where_it_was_pasted_and_leaves_with_its_description(app: App) -> None:
    page = compose(app)
    fill(page, body="See here: ")
    give(text(page), "paste", ("north_wall.png", "image/png", WIDE))
    picture = text(page).locator("img")
    expect(picture).to_have_attribute("alt", "north wall")
    expect(picture).to_have_attribute("width", "600")
    page.keyboard.type(" and that is it.")
    expect(page.locator(".compose-file")).to_have_count(0)  # it is no attachment to look for
    picture.click()
    page.get_by_label("Description, for those who do not see it").fill("The wall at low tide")
    app.press("Enter")
    expect(text(page)).to_be_focused()
    saved(page)
    app.press("Control+Enter")
    taken(app, state="held")
    (sent,) = app.called("mail.send")
    (file_id,) = sent["attachments"]
    assert f'<img src="cid:{file_id}" alt="The wall at low tide" width="600">' in sent["html"]
    assert "See here:" in sent["html"].partition("<img")[0]
    assert "and that is it." in sent["html"].partition("<img")[2]


@pytest.mark.thorough
def test_dropped_pictures_stand_in_the_text_and_other_files_beside_it(app: App) -> None:
    page = compose(app)
    fill(page, body="Two walls")
    give(
        text(page), "drop", ("a.png", "image/png", SMALL), ("b.png", "image/png", SMALL), ("c.txt", "text/plain", b"c")
    )
    expect(text(page).locator("img")).to_have_count(2)
    expect(page.locator(".compose-file .attachment-name")).to_have_text(["c.txt"])
    expect(text(page).locator("img").first).not_to_have_attribute("width", "600")
    saved(page)
    app.press("Escape")
    app.open("/p/mail")
    page.get_by_role("button", name="Drafts (1)").click()
    page.locator(".drafts-row").click()
    ready(page)
    expect(text(page).locator("img")).to_have_count(2)
    expect(page.locator(".compose-file .attachment-name")).to_have_text(["c.txt"])


@pytest.mark.thorough
def test_a_picture_that_is_taken_out_comes_back_by_undo_and_is_not_sent_without(app: App) -> None:
    page = compose(app)
    fill(page, body="Here ")
    give(text(page), "paste", ("a.png", "image/png", SMALL))
    text(page).locator("img").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(text(page).locator("img")).to_have_count(0)
    saved(page)
    app.press("Control+z")
    expect(text(page).locator("img")).to_have_count(1)
    text(page).locator("img").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    app.press("Control+Enter")
    taken(app, state="held")
    (sent,) = app.called("mail.send")
    assert sent["attachments"] == []
    assert "<img" not in sent["html"]


@pytest.mark.thorough
def test_pictures_of_others_do_not_come_in(app: App) -> None:
    app.watch_traffic()
    page = compose(app)
    fill(page, body="Here ")
    html = f'<img src="cid:fil_other"><img src="/files/fil_other/content"><img src="{app.origin}/files/fil_x/content">'
    paste(text(page), html=f'{html}<img src="/leak/a"><a href="/files/fil_other/content">a</a> end', plain="end")
    expect(text(page)).to_contain_text("end")
    expect(text(page).locator("img")).to_have_count(0)
    expect(text(page).locator("a[href]")).to_have_count(0)
    app.traffic.quiet()
    assert app.answers.leaks == []


@pytest.mark.look
def test_pictures_fit_a_phone_and_pass_axe(start: Callable[..., App]) -> None:
    app = start(**NARROW, color_scheme="dark")
    page = app.open("/p/mail/t/thr_00", ready="iframe")
    app.press("r")
    ready(page)
    text(page).click()
    page.keyboard.type("See: ")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Picture", exact=True).click()
    chooser.value.set_files({"name": "wall.png", "mimeType": "image/png", "buffer": WIDE})
    text(page).locator("img[width]").click()
    assert "\n".join(small_targets(page)) == ""
    check(page, "writing-phone-picture")
