"""What must not come into the editor or out of it: scripts in pasted, kept and quoted HTML, pictures, floods."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.browser import App
from tests.web import fake_compose
from tests.web.writer import chips, compose, draft, paste, ready, saved, text, window

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

INERT = ("Executing inline event handler violates", "Applying inline style violates")
"""Chromium tells of what a policy would stop also in documents that run nothing, as the cleaning one."""
HOSTILE = """
<p onclick="window.broken = 1">words <b style="position:fixed;inset:0">bold</b></p>
<img src="/leak/picture" onerror="window.broken = 2">
<script>window.broken = 3</script><style>body { display: none }</style>
<a href="javascript:window.broken = 4">here</a> <a href=" JaVaScRiPt:window.broken=4">again</a>
<a href="data:text/html,<script>window.broken = 5</script>">data</a> <a href="https://good.example/">good</a>
<svg><animate onbegin="window.broken = 6" attributeName="x" dur="1s"/></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=broken=7&gt;"></table></math>
<form action="/leak/form" id="compose-to"><input name="attributes"><button>press</button></form>
<iframe srcdoc="<script>parent.broken = 8</script>"></iframe><object data="/leak/object"></object>
<video autoplay><source src="/leak/video" onerror="window.broken = 9"></video>
<details open ontoggle="window.broken = 10"><summary>more</summary>inside</details>
<div id="app" name="cookie" class="toasts" data-thread="thr_00" role="option">clobber</div>
"""


@pytest.fixture
def app(app: App) -> App:
    app.watch_traffic()
    return app


def nothing_happened(app: App) -> None:
    page = app.page
    app.traffic.quiet()
    assert page.evaluate("window.broken ?? 0") == 0
    assert app.answers.leaks == []
    found = page.evaluate(
        """() => [...document.querySelectorAll(".rich-text *")]
            .flatMap(one => [one.tagName, ...one.getAttributeNames()])"""
    )
    allowed = {"DIV", "P", "B", "A", "BR", "TABLE", "TBODY", "TR", "TD", "href", "data-signature"}
    assert set(found) <= allowed
    hrefs = page.evaluate("() => [...document.querySelectorAll('.rich-text a[href]')].map(one => one.href)")
    assert all(one.startswith("https://") for one in hrefs)


def test_pasted_html_keeps_its_words_and_nothing_that_acts(app: App) -> None:
    app.tolerated = INERT
    page = compose(app)
    text(page).click()
    paste(text(page), html=HOSTILE, plain="words")
    expect(text(page)).to_contain_text("words bold")
    expect(text(page).get_by_role("link", name="good")).to_have_attribute("href", "https://good.example/")
    nothing_happened(app)
    saved(page)
    kept = draft(app)["html"]
    assert not any(word in kept.lower() for word in ("script", "onerror", "style", "img", "broken", "data-thread"))


def test_a_pasted_frameset_leaves_the_words_for_programs_without_frames(app: App) -> None:
    page = compose(app)
    text(page).click()
    frames = '<FRAMESET cols="50%,50%"><frame src="/leak/frame"><noframes><body><p>words inside</p></body></noframes>'
    paste(text(page), html=f"<html><head><title>T</title></head>{frames}</frameset></html>", plain="")
    expect(text(page)).to_contain_text("words inside")
    expect(text(page)).not_to_contain_text("<")
    nothing_happened(app)


def test_a_draft_and_a_signature_with_hostile_html_are_harmless(app: App) -> None:
    app.tolerated = INERT
    app.answers.signatures["acc_mia"] = HOSTILE
    app.answers.add_draft(subject="Bad", html=HOSTILE)
    page = app.open()
    page.get_by_role("button", name="Drafts (1)").click()
    page.get_by_role("group", name="Drafts").get_by_role("button").click()
    ready(page)
    nothing_happened(app)
    app.press("Escape")
    expect(window(page)).to_have_count(0)
    app.press("c")
    ready(page)
    expect(text(page).locator("[data-signature]")).to_contain_text("words bold")
    nothing_happened(app)


def test_a_hostile_quote_stays_in_its_frame(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.tolerated = ("Blocked script execution", "violates the following Content Security Policy")
    monkeypatch.setattr(fake_compose, "QUOTED", HOSTILE.replace("window.broken", "parent.broken"))
    page = app.open()
    app.press("j", "r")
    ready(page)
    page.get_by_role("button", name="Show the quoted message").click()
    page.locator(".answer-card iframe").first.wait_for()
    nothing_happened(app)


def test_names_of_people_and_files_are_text(app: App) -> None:
    page = compose(app)
    name = '<img src=/leak/name onerror="window.broken=1">'
    paste(page.get_by_role("combobox", name="To", exact=True), plain=f'"{name}" <a@x.example>, b@x.example')
    expect(chips(page).first).to_have_text(name)
    nothing_happened(app)


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", ["html", "plain"])
def test_a_huge_paste_comes_as_text_within_bounds_and_says_so(app: App, kind: str) -> None:
    page = compose(app)
    text(page).click()
    words = "A line that goes on for a while, and then some more of it.\n" * 20_000
    given = {"html": "".join(f"<p><b>{line}</b></p>" for line in words.splitlines()), "plain": words}
    paste(text(page), **(given if kind == "html" else {"plain": words}))
    page.get_by_text("the first 400,000 letters were pasted").wait_for()
    saved(page)
    assert len(draft(app)["html"]) < 420_000
    app.press("Control+Home")
    page.keyboard.type("still here ")
    expect(text(page)).to_contain_text("still here")


def test_a_long_but_honest_html_paste_keeps_its_shape(app: App) -> None:
    page = compose(app)
    text(page).click()
    rows = "".join(f"<p>line <b>{n}</b></p>" for n in range(2_000))
    paste(text(page), html=rows, plain="")
    expect(text(page).locator("b")).to_have_count(2_000)
    saved(page)


def test_five_hundred_recipients_fit_and_one_more_is_told(app: App) -> None:
    page = compose(app)
    everybody = ", ".join(f"p{n}@x.example" for n in range(501))
    paste(page.get_by_role("combobox", name="To", exact=True), plain=everybody)
    page.get_by_role("button", name="and 441 more").wait_for()
    expect(page.locator(".save-state")).to_contain_text("Not saved yet: At most 500 recipients, and these are 501.")
    app.press("Control+Enter")
    expect(page.get_by_role("alertdialog")).to_contain_text("At most 500 recipients, and these are 501.")
    assert app.calls("mail.saveDraft") == []
