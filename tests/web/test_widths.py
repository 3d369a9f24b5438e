"""Nothing breaks at any width: no part beyond the window or its box, no words over words, on every page.

One browser walks them all. 200 % is half the width (tests/web/test_frame_looks.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.sizes import WIDTHS_A_PAGE
from tests.support.browser import App, fresh_page, settled
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web import fake_mail
from tests.web.fake_server import FakeAnswers
from tests.web.test_frame_looks import answers_of, some

pytestmark = [pytest.mark.browser, pytest.mark.look, pytest.mark.share(2)]

WIDTHS = (320, 390, 600, 768, 1024, 1280, 2560)
HEIGHT_PX = 860
GO_TO = """path => {
    const link = Object.assign(document.createElement("a"), { href: path });
    document.body.append(link);
    link.click();
    link.remove();
}"""
"""As a link of the app leads there: without loading it anew."""
MISFITS = (Path(__file__).parent / "widths.js").read_text()
LONG = "Maximiliane" * 8
"""A name of more than eighty letters without a blank."""
PLACES = (
    "/p/mail/search?q=invoice",
    "/p/mail/drafts",
    "/p/tasks",
    "/p/runs",
    "/p/people",
    "/p/meetings",
    "/p/files",
    "/p/terminal",
    "/p/",
    "/p/crm",
    "/p/nowhere/at-all",
    "/nowhere",
)


def answers_of_long_names() -> FakeAnswers:
    answers = answers_of(12)
    labels = [{"id": f"Label_{n}", "name": f"{LONG}/{n}", "color": "#14626f"} for n in range(5)]
    for thread in answers.threads[:6]:
        thread["sender"] = {**thread["sender"], "name": LONG}
        thread["writers"] = [{"name": LONG, "address": "x@example.org", "title": None, "own": False, "bulk": False}]
        thread["subject"] = LONG + LONG
        thread["labels"] = [*thread["labels"], *labels]
        thread["starred"] = True
    answers.details["thr_00"] = fake_mail.detail(answers.threads[0])
    folded = answers.details["thr_00"]["messages"][0]
    folded.update(sentAt=fake_mail.at(days=20), **{"from": {**folded["from"], "name": LONG}})
    reading, refused = answers.accounts[3:5]
    reading.update(state="backfilling", progress=fake_mail.reading(3_120, 48_211), address=f"{LONG}@example.org")
    refused.update(state="reconnect", problem="It took its permission back.", address=f"{LONG}@example.net")
    return answers


def test_mail_with_long_names_fits_at_any_width(start: Callable[..., App], chance: random.Random) -> None:
    app = start(answers_of_long_names())
    page = app.open()
    misfits = dict[str, list[str]]()
    for density in ("comfortable", "compact"):
        page.evaluate("density => { document.documentElement.dataset.density = density; }", density)
        look(page, f"list, {density}", misfits, chance)
    app.answers.threads[0]["inInbox"] = False  # its toolbar is longest so
    page.goto(f"{app.origin}/p/mail/t/thr_00")
    page.locator("iframe").first.wait_for()
    look(page, "thread", misfits, chance)
    page.set_viewport_size({"width": 1280, "height": HEIGHT_PX})
    expect(page.get_by_role("button", name="Move to inbox")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    page.get_by_role("button", name="Reply", exact=True).last.click()
    page.get_by_role("textbox", name="Message").wait_for()
    look(page, "answer", misfits, chance)
    page.goto(f"{app.origin}/p/mail")
    settled(page)
    page.get_by_role("button", name="Compose").click()
    page.get_by_role("textbox", name="Message").wait_for()
    look(page, "compose", misfits, chance)
    assert told(misfits) == ""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("widths")) as process:
        process.start(PROVIDERS="fake", SVC_SEED="mock-world")
        yield process


def test_every_other_page_fits_at_any_width(browser: Browser, service: ServiceProcess, chance: random.Random) -> None:
    misfits, visited = dict[str, list[str]](), set[str]()
    with fresh_page(browser) as page:
        page.goto(f"{service.base}/settings")
        settled(page)
        sections: list[Any] = page.evaluate(
            "() => [...document.querySelectorAll('.settings-list a')].map(one => new URL(one.href).pathname)"
        )
        assert len(sections) > 10
        for path in (*PLACES, *sections):
            page.evaluate(GO_TO, path)
            settled(page)
            visited.add(page.url)
            look(page, path, misfits, chance)
    assert len(visited) > len(sections) + len(PLACES) / 2
    assert told(misfits) == ""


def told(misfits: dict[str, list[str]]) -> str:
    return "\n".join(f"{place}: {one}" for place, found in misfits.items() for one in found)


def look(page: Page, place: str, misfits: dict[str, list[str]], chance: random.Random) -> None:
    for width in some(WIDTHS, WIDTHS_A_PAGE, chance):
        page.set_viewport_size({"width": width, "height": HEIGHT_PX})
        if found := page.evaluate(MISFITS):
            misfits[f"{place} at {width}"] = found
