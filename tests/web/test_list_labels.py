"""Labels: to give, to make, to list by and to take away; and the places of the navigation that are labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers

pytestmark = pytest.mark.browser


@pytest.mark.thorough
def test_labels_are_given_made_listed_by_and_taken_away(app: App) -> None:
    page = app.open()
    app.press("j", "j", "l")
    dialog = page.get_by_role("dialog", name="Labels")
    dialog.get_by_role("option", name="Travel").wait_for()
    page.keyboard.type("trav")
    app.press("Enter")
    app.row("thr_01").get_by_text("Travel").wait_for()
    app.focuses("thr_01")
    assert app.called("mail.setLabels") == [{"threadIds": ["thr_01"], "addNames": ["Travel"]}]
    app.press("l")
    dialog.get_by_role("option", name="Travel").click()
    app.row("thr_01").get_by_text("Travel").wait_for(state="detached")
    assert app.called("mail.setLabels", times=2)[-1] == {"threadIds": ["thr_01"], "removeNames": ["Travel"]}
    app.focuses("thr_01")
    app.press("x", "j", "x", "l")  # a new one is made in each account, with its colour
    dialog.get_by_role("option").first.wait_for()
    page.keyboard.type("Paint")
    page.get_by_role("radio", name="Colour 4").check()
    page.get_by_role("option", name="Make the label").click()
    app.row("thr_02").get_by_text("Paint", exact=True).wait_for()
    assert app.called("mail.setLabels", times=3)[-1] == {"threadIds": ["thr_01", "thr_02"], "addNames": ["Paint"]}
    made = app.called("mail.createLabel", times=2)
    assert [(one["accountId"], one["color"]) for one in made] == [("acc_mia", "#cc3a21"), ("acc_hello", "#cc3a21")]
    app.press("z")  # and undone in one press
    app.row("thr_02").get_by_text("Paint", exact=True).wait_for(state="detached")
    app.row("thr_01").get_by_text("Paint", exact=True).wait_for(state="detached")
    assert len(app.called("mail.undo")) == 1
    app.focuses("thr_01")
    making = app.hold("mail.createLabel")  # what is filed leaves at once, and the next key is for the next row
    app.press("l")
    dialog.get_by_role("option").first.wait_for()
    page.keyboard.type("Clay")
    app.press("Shift+Enter")
    making.asked()
    expect(app.row("thr_01")).to_have_count(0)
    app.focuses("thr_02")
    making.let_go()
    filed = {"threadIds": ["thr_01"], "addNames": ["Clay"], "remove": ["INBOX"]}
    assert app.called("mail.setLabels", times=4)[-1] == filed
    app.row("thr_08").get_by_text("Travel").click()  # a chip lists the threads with its label
    page.wait_for_url("**/p/mail/l/Travel")
    app.row("thr_00").wait_for(state="detached")
    page.locator("[data-thread]").first.wait_for()
    labels = page.locator("[data-thread] .chip.label").all_text_contents()
    assert labels
    assert all("Travel" in one for one in labels)
    page.get_by_role("link", name="Back to the inbox").click()
    app.row("thr_00").wait_for()
    app.row("thr_08").click(position={"x": 200, "y": 10})
    page.locator("iframe").first.wait_for()
    meta = page.locator(".thread-meta")  # the open thread links its labels, and takes them away
    expect(meta.get_by_role("link", name="Travel")).to_have_attribute("href", "/p/mail/l/Travel")
    meta.get_by_role("button", name="Take the label Travel away").click()
    meta.get_by_role("link", name="Travel").wait_for(state="detached")
    assert app.called("mail.setLabels", times=5)[-1]["removeNames"] == ["Travel"]


@pytest.mark.thorough
def test_spam_trash_and_labels_are_in_the_navigation(app: App) -> None:
    page = app.open()
    app.answers.change("thr_03", **app.answers.relabelled(app.answers.thread("thr_03"), ["SPAM"], []))
    places = page.get_by_role("navigation", name="Workspace")
    places.get_by_role("link", name="Invoices").wait_for()
    places.get_by_role("link", name="Spam").click()
    page.wait_for_url("**/p/mail/l/Spam")
    app.row("thr_03").wait_for()
    app.press("j", "Enter")
    page.locator("iframe").first.wait_for()
    page.locator(".thread-meta").get_by_text("Spam").wait_for()
    app.press("!")
    page.wait_for_url("**/p/mail/l/Spam")
    assert app.called("mail.setLabels")[-1] == {"threadIds": ["thr_03"], "add": ["INBOX"], "remove": ["SPAM", "TRASH"]}


def test_labels_of_any_colour_can_be_read_in_both_themes(start: Callable[..., App]) -> None:
    answers = FakeAnswers()
    colours = ["#ffffff", "#000000", "#ffff00", "#0000ff", "#ff0000", "#00ff00", "#808080"]
    answers.threads[0]["labels"] = [
        {"id": f"L{index}", "name": colour, "color": colour} for index, colour in enumerate(colours)
    ]
    page = start(answers).open("/p/mail/t/thr_00", ready=".chip.linked")
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".chip.linked")).to_have_count(len(colours))
        low = page.evaluate(
            """() => {
                const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
                const luminance = color => {
                    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
                    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => {
                        const part = value / 255;
                        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
                    });
                    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
                };
                return [...document.querySelectorAll(".chip.linked")].map(chip => {
                    const { color, backgroundColor } = getComputedStyle(chip);
                    const [a, b] = [luminance(color), luminance(backgroundColor)];
                    return [chip.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
                }).filter(([, contrast]) => contrast < 4.5);
            }"""
        )
        assert low == [], scheme
