"""The Files page against the whole program: files come, are found, looked at, renamed, deleted and brought back.

One browser and one service for all of it, as one person goes on; screenshots in tests/shots/.
"""

from __future__ import annotations

import io
import os
import re
import wave
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.peers.needs import AXE, need
from tests.support.browser import DESKTOP, PHONE, drawn, fresh_page, hear, intercept, settled, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.pdf_files import pages
from tests.web.test_app_looks import check, check_in_a_light, small_targets

pytestmark = [pytest.mark.journey, pytest.mark.browser]

LARGE = 6_000_000
"""More than goes in one request."""
PICTURE = (Path(__file__).parents[2] / "static" / "icons" / "192.png").read_bytes()
HOSTILE = b"<script>document.title = 'ran'</script>"
LONG_NAME = "Contract for the north wall of the harbour, as it was agreed upon in March 2026.docx"


def sound() -> bytes:
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(16_000))
    return data.getvalue()


FILES: dict[str, tuple[str, bytes]] = {
    "harbour.png": ("image/png", PICTURE),
    "notes.txt": ("text/plain", HOSTILE),
    "tone.wav": ("audio/wav", sound()),
    "plan.pdf": ("application/pdf", pages(b"BT /F 20 Tf 72 700 Td (The plan) Tj ET")),
    LONG_NAME: ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\3\4 and more"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("files")) as process:
        process.start(PROVIDERS="fake")
        yield process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (_, content) in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "film.zip").write_bytes(os.urandom(LARGE))
    return tmp_path


def names(page: Page) -> list[str]:
    """In their order. Not as rendered: the browser renders a row only once it is near."""
    return page.locator(".file-link").all_text_contents()


def test_a_person_keeps_files(browser: Browser, service: ServiceProcess, folder: Path) -> None:
    need(AXE)
    problems: list[str] = []
    with fresh_page(browser, base_url=service.base) as page:
        hear(page, problems.append)
        page.goto("/p/files")
        expect(page.get_by_text("No files yet")).to_be_visible()
        check(page, "desktop-files-empty")
        several_come_at_once_though_one_broke_off(page, folder, problems)
        a_large_one_goes_on_after_its_link_broke(page, folder, problems)
        they_are_found_and_sorted(page, service)
        they_are_looked_at_and_nothing_of_them_runs(page)
        one_is_renamed(page)
        one_is_deleted_by_key_and_comes_back(page)
        what_happens_elsewhere_is_seen_here(page, service)
        check_in_a_light(page, "desktop-files")
        assert problems == []
        page.set_viewport_size(PHONE)
        drawn(page)
        check(page, "phone-files")
        page.get_by_role("link", name="harbour.png", exact=True).click()
        below = "([name, about]) => about.getBoundingClientRect().top >= name.getBoundingClientRect().bottom"
        assert page.locator(".viewer-title > span").evaluate_all(below), "its size takes the room of its name"


def several_come_at_once_though_one_broke_off(page: Page, folder: Path, problems: list[str]) -> None:
    """It is tried again by itself, as a large one is."""
    broken: list[str] = []

    def break_once(route: Route) -> None:
        if broken:
            route.fallback()
        else:
            broken.append(route.request.url)
            route.abort("connectionreset")

    intercept(page, "**/files", break_once)
    page.locator("#files-pick").set_input_files([folder / name for name in FILES])
    expect(page.locator(".file-row")).to_have_count(len(FILES))
    expect(page.locator(".upload")).to_have_count(0)
    expect(page.locator(".file-storage")).to_contain_text("5 files")
    expect(page.locator(".file-icon img")).to_have_js_property("naturalWidth", 192)
    page.unroute("**/files")
    assert len(broken) == len(problems) == 1
    problems.clear()


def a_large_one_goes_on_after_its_link_broke(page: Page, folder: Path, problems: list[str]) -> None:
    asked: list[str] = []

    def break_once(route: Route) -> None:
        asked.append(route.request.method)
        if asked == ["POST", "PATCH"]:
            route.abort("connectionreset")
        else:
            route.continue_()

    intercept(page, "**/files/tus**", break_once)
    page.locator("#files-pick").set_input_files([folder / "film.zip"])
    expect(page.locator(".upload")).to_contain_text("film.zip")
    expect(page.locator(".file-row").first).to_contain_text("film.zip")
    expect(page.locator(".upload")).to_have_count(0)
    assert asked == ["POST", "PATCH", "HEAD", "PATCH"]
    page.unroute("**/files/tus**")
    assert all("net::ERR_CONNECTION_RESET" in one for one in problems)
    problems.clear()
    assert (
        page.evaluate(
            "() => Object.keys(localStorage).filter(one => one.endsWith('.uploads'))"
            ".flatMap(one => JSON.parse(localStorage.getItem(one)))"
        )
        == []
    )


def they_are_found_and_sorted(page: Page, service: ServiceProcess) -> None:
    page.get_by_label("Order").select_option("By name")
    expect(page.locator(".file-link").first).to_have_text(LONG_NAME)
    assert names(page) == sorted([*FILES, "film.zip"], key=str.casefold)
    page.get_by_label("Kind").select_option("Documents")
    expect(page.locator(".page-frame > .fine")).to_have_text("3 files")
    assert names(page) == [LONG_NAME, "notes.txt", "plan.pdf"]
    assert page.url == f"{service.base}/p/files?kind=documents&sort=name"
    page.keyboard.press("/")
    page.keyboard.type("north WALL")
    expect(page.locator(".file-link")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".file-link")).to_have_count(3)
    page.keyboard.type("no such thing")
    expect(page.get_by_text("No file is like that.")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_label("Kind").select_option("All")
    page.get_by_label("Order").select_option("Largest first")
    expect(page.locator(".file-link").first).to_have_text("film.zip")
    page.get_by_label("Order").select_option("By name")
    expect(page.locator(".file-link").first).to_have_text(LONG_NAME)


def they_are_looked_at_and_nothing_of_them_runs(page: Page) -> None:
    """Walked through from the first that can be shown to the last."""
    title = page.title()
    page.get_by_role("link", name="harbour.png", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="harbour.png")).to_have_js_property("naturalWidth", 192)
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("pre")).to_have_text(HOSTILE.decode())
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("canvas")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("audio")).to_have_js_property("duration", 1)
    expect(dialog.get_by_role("button", name="Next")).to_be_disabled()
    check(page, "desktop-files-sound")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert page.title() == title
    with page.expect_download() as saved:
        page.get_by_role("link", name=LONG_NAME, exact=True).click()
    assert saved.value.suggested_filename == LONG_NAME
    assert saved.value.path().read_bytes() == FILES[LONG_NAME][1]


def one_is_renamed(page: Page) -> None:
    page.get_by_role("button", name="More for notes.txt").click()
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("dialog", name="Rename")).to_be_visible()
    page.keyboard.type("minutes")
    check(page, "desktop-files-rename")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="minutes.txt", exact=True)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def one_is_deleted_by_key_and_comes_back(page: Page) -> None:
    page.get_by_role("link", name="minutes.txt", exact=True).focus()
    page.keyboard.press("#")
    expect(page.get_by_role("link", name="minutes.txt", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="plan.pdf", exact=True)).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="minutes.txt", exact=True)).to_be_visible()
    page.get_by_role("link", name="minutes.txt", exact=True).focus()
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="harbour.png", exact=True)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("#")
    expect(page.get_by_role("link", name="minutes.txt", exact=True)).to_have_count(0)
    page.keyboard.press("z")
    expect(page.get_by_role("link", name="minutes.txt", exact=True)).to_be_visible()


def what_happens_elsewhere_is_seen_here(page: Page, service: ServiceProcess) -> None:
    headers = {"x-svc-filename": "from%20elsewhere.csv", "content-type": "text/csv"}
    file_id = service.request("POST", "/files", b"a,b", headers).json()["id"]
    expect(page.get_by_role("link", name="from elsewhere.csv", exact=True)).to_be_visible()
    service.mutate("pages.save", path="harbour", title="The harbour", body=f"[it](/files/{file_id}/content)")
    service.mutate("files.rename", id=file_id, name="figures.csv")
    row = page.locator(".file-row").filter(has_text="figures.csv")
    expect(row).to_contain_text("on The harbour")
    row.get_by_role("link", name="The harbour").click()
    expect(page).to_have_url(re.compile("/p/harbour$"))
    page.go_back()
    service.mutate("files.delete", id=file_id)
    expect(page.get_by_role("link", name="figures.csv", exact=True)).to_have_count(0)


def test_many_come_page_by_page_and_a_finger_finds_what_it_presses(browser: Browser, service: ServiceProcess) -> None:
    for number in range(130):
        headers = {"x-svc-filename": f"sheet-{number:03}.csv", "content-type": "text/csv"}
        assert service.request("POST", "/files", b"%d" % number, headers).status == 201
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    with fresh_page(browser, base_url=service.base, **options) as page:
        page.goto("/p/files")
        expect(page.locator(".file-row")).to_have_count(60)
        settled(page)
        assert "\n".join(small_targets(page)) == ""
        page.get_by_label("Find a file").fill("sheet")
        expect(page.locator(".page-frame > .fine")).to_have_text("60 or more files")
        expect(page).to_have_url(re.compile("q=sheet$"))
        page.reload()
        expect(page.get_by_label("Find a file")).to_have_value("sheet")
        expect(page.get_by_role("link", name="sheet-000.csv", exact=True)).to_have_count(0)
        for shown in (120, 130):
            page.locator(".file-link").last.focus()  # which brings *Show more* near: it needs no press
            expect(page.locator(".file-row")).to_have_count(shown)
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)
        assert names(page)[-1] == "sheet-000.csv"


def test_files_are_dropped_onto_the_page_and_an_upload_can_be_cancelled(
    browser: Browser, service: ServiceProcess, folder: Path
) -> None:
    with fresh_page(browser, base_url=service.base, viewport=DESKTOP) as page:
        page.goto("/p/files")
        settled(page)
        carried = page.evaluate_handle(
            "() => { const it = new DataTransfer(); it.items.add(new File(['dropped'], 'dropped.txt')); return it; }"
        )
        page.dispatch_event(".files-page", "dragover", {"dataTransfer": carried})
        expect(page.get_by_text("Drop to upload")).to_be_visible()
        page.dispatch_event(".files-page", "drop", {"dataTransfer": carried})
        expect(page.get_by_role("link", name="dropped.txt", exact=True)).to_be_visible()
        expect(page.get_by_text("Drop to upload")).to_have_count(0)
        held: list[Route] = []
        intercept(page, "**/files/tus/*", lambda route: held.append(route) if not held else route.continue_())
        page.locator("#files-pick").set_input_files([folder / "film.zip"])
        cancel = page.get_by_role("button", name="Cancel: film.zip")
        cancel.wait_for()
        expect(page.locator(".side-row").filter(has_text="Files")).to_have_accessible_name("Files, 1 upload under way")
        until(page, lambda: bool(held), what="its first bytes to be sent")
        with page.expect_response(lambda answer: answer.request.method == "DELETE") as ended:
            cancel.click()
        assert ended.value.status == 204
        expect(page.locator(".upload")).to_have_count(0)
        assert service.rows("select count(*) from partial_uploads where file_id is null") == [(0,)]
