"""A meeting in the browser, with the whole program: Chromium's own fake microphone beeps, the fake recogniser listens.

Screenshots in tests/shots/, light, dark and on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from tests.peers.needs import AXE, CHROMIUM, CHROMIUM_PATH, VENDOR, need
from tests.support.browser import FLAGS, PHONE, fresh_page, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.mail_rules.page_with_service import PageWithService, app_page, empty_service
from tests.web.test_app_looks import check_in_a_light

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
REFUSES = """name => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", name));
}"""


HOLDS = """async () => {
    const app = document.querySelector("script[type=module][src$='/app.js']").src;
    const { Held } = await import(app.replace("/app.js", "/meetings/held.js"));
    const held = new Held(10);
    const sizes = (position) => held.from(position).map(one => one.byteLength);
    for (const size of [4, 4]) held.add(new ArrayBuffer(size));
    const whole = sizes(0);
    const half = sizes(6);
    for (const size of [4, 4, 4]) held.add(new ArrayBuffer(size));
    return { whole, half, start: held.start, size: held.size, lost: held.lost };
}"""


@pytest.fixture(scope="module")
def hearing(playwright: Playwright) -> Iterator[Browser]:
    """A browser that gives its microphone without a question."""
    need(CHROMIUM, VENDOR)
    launched = playwright.chromium.launch(executable_path=str(CHROMIUM_PATH), headless=True, args=[*FLAGS, *MICROPHONE])
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with empty_service(tmp_path_factory.mktemp("meetings")) as running:
        yield running


def begin(page: Page, title: str) -> None:
    page.get_by_label("Title").fill(title)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_text("Recording", exact=True)).to_be_visible()


def test_a_meeting_is_recorded_written_down_and_heard_again(hearing: Browser, service: ServiceProcess) -> None:
    need(AXE)
    with app_page(hearing, service) as app:
        page = app.go("/p/meetings")
        expect(page.get_by_text("Nothing has been recorded yet")).to_be_visible()
        check_in_a_light(page, "desktop-meetings-empty")
        begin(page, "Weekly ferry")
        expect(page.locator(".meeting-partial")).to_contain_text("We")
        check_in_a_light(page, "desktop-meetings-recording")
        expect(page.get_by_role("log").get_by_text("We begin on time.").first).to_be_visible()
        page.get_by_role("link", name="Tasks").click()  # it goes on while one looks at something else
        expect(page.get_by_role("link", name="Meetings, 1 is being recorded")).to_be_visible()
        page.get_by_role("link", name="Meetings").click()
        title = page.get_by_label("Title")
        title.fill("Weekly ferry, autumn")
        expect(page.get_by_role("timer")).not_to_have_text(page.get_by_role("timer").inner_text())
        expect(title).to_have_value("Weekly ferry, autumn")  # the page is drawn anew all the time
        title.press("Enter")
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("Paused", exact=True)).to_be_visible()
        paused_at = page.get_by_role("timer").inner_text()
        assert page.get_by_role("timer").inner_text() == paused_at
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("log").get_by_text("The ferry leaves today.").first).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        look_at_it(app)


def look_at_it(app: PageWithService) -> None:
    """The page of what was just recorded."""
    page = app.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Weekly ferry, autumn")
    player = page.locator(".meeting-player")
    until(page, lambda: player.evaluate("one => one.duration > 8"), what="the sound to be there")
    page.get_by_role("button", name="0:04, play from there").click()
    until(page, lambda: player.evaluate("one => one.currentTime >= 4"), what="the sound to be at that second")
    expect(page.locator(".meeting-lines [aria-current]")).to_contain_text("The ferry leaves today.")
    app.press("k")
    until(page, lambda: player.evaluate("one => one.paused"), what="the sound to stop")
    app.press("j")
    expect(page.locator(".meeting-lines [aria-current]")).to_contain_text("We begin on time.")
    check_in_a_light(page, "desktop-meeting")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Title").press("Enter")
    expect(page.get_by_role("button", name="Rename")).to_be_focused()
    page.get_by_role("link", name="Open its page").click()
    expect(page.get_by_role("link", name="0:04")).to_have_attribute("href", re.compile("#t=4$"))
    app.go("/p/meetings")
    expect(page.get_by_role("link", name="Weekly ferry, autumn")).to_be_visible()


def test_a_recording_survives_the_death_of_the_service_as_two_meetings(hearing: Browser, tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        service.start(PROVIDERS="fake")
        storm(hearing, service)


def storm(hearing: Browser, service: ServiceProcess) -> None:
    with app_page(hearing, service) as app:
        app.tolerated = ("WebSocket", "ERR_CONNECTION_REFUSED", "Failed to load resource")
        page = app.go("/p/meetings")
        begin(page, "Storm")
        expect(page.get_by_role("log").get_by_text("We begin on time.").first).to_be_visible()
        service.kill()
        expect(page.get_by_text("The link to the server is lost.")).to_be_visible()
        service.start(PROVIDERS="fake")
        expect(page.get_by_text("this one goes on from there")).to_be_visible()
        expect(page.get_by_role("log").get_by_text("We begin on time.").first).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Storm, continued")
        listed = service.query("meetings.list")["meetings"]
        assert [one["title"] for one in listed[:2]] == ["Storm, continued", "Storm"]
        assert "The service stopped while this was recorded" in listed[1]["problem"]


def test_what_is_not_safe_is_held_sent_from_any_place_and_bounded(hearing: Browser, service: ServiceProcess) -> None:
    with app_page(hearing, service) as app:
        found = app.go("/p/meetings").evaluate(HOLDS)
    assert found == {"whole": [4, 4], "half": [2], "start": 4, "size": 8, "lost": 8}


@pytest.mark.parametrize(
    ("name", "words"),
    [("NotAllowedError", "was told not to let svc hear"), ("NotFoundError", "There is no microphone.")],
)
def test_what_stands_in_the_way_is_said_in_words(
    hearing: Browser, service: ServiceProcess, name: str, words: str
) -> None:
    with app_page(hearing, service) as app:
        page = app.go("/p/meetings")
        page.evaluate(REFUSES, name)
        page.get_by_role("button", name="Record", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text(words)
        expect(page.get_by_role("button", name="Record", exact=True)).to_be_visible()


def test_on_a_phone(hearing: Browser, service: ServiceProcess) -> None:
    need(AXE)
    with fresh_page(hearing, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        page.goto(f"{service.base}/p/meetings")
        begin(page, "On the way")
        expect(page.get_by_role("log").get_by_text("We begin on time.").first).to_be_visible()
        check_in_a_light(page, "phone-meetings-recording")
        page.get_by_role("button", name="Stop").click()
        page.locator(".meeting-player").wait_for()
        check_in_a_light(page, "phone-meeting")
        page.goto(f"{service.base}/settings/meetings")
        page.get_by_role("radio", name="The transcription server").click()
        check_in_a_light(page, "phone-settings-meetings")
        page.get_by_label("Address of the server").fill("http://127.0.0.1:8123")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("It holds from the next meeting on.")).to_be_visible()
        assert service.query("meetings.settings")["serverUrl"] == "http://127.0.0.1:8123"
