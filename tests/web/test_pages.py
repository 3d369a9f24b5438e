"""Pages in the app, against the service itself: written, read, contested, shared, moved, with files, and live."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Dialog, Error, Page, Route, expect

from tests.peers.needs import AXE, needs
from tests.support.browser import PHONE, intercept, settled, until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess
from tests.web.conftest import Shared
from tests.web.test_app_looks import SIZES, check_in_a_light

pytestmark = pytest.mark.browser

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
WRITTEN_BEFORE = "You wrote this before, and did not save it."
NOTES = """# What we know

The **north wall** is *damp*, see [[clients/harbour/plan|the plan]] and <https://example.org/walls>.

- [x] measure
- [ ] paint
  - two coats

| wall | height |
|:-----|-------:|
| north | 3.2 m |

> Ask the harbour master.

```
<script>alert(1)</script>
```
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    with InstalledService(tmp_path_factory.mktemp("pages")) as process:
        process.start(PROVIDERS="fake")
        yield process


@pytest.fixture
def visit(shared: Shared, service: ServiceProcess) -> Iterator[Callable[..., Page]]:
    """Open the app at a path, in the page of the tests before, cleared. After the test no script may have failed."""
    failures = list[Error]()

    def note(error: Error) -> None:
        failures.append(error)

    with ExitStack() as stack:

        def visit_path(path: str, **context: Any) -> Page:
            kept = shared.page(context)
            # Where there is no page, the service shows the app, which would look for it when it has ended.
            stack.callback(shared.clear, kept, service.base + "/readyz")
            page = kept.page
            page.on("pageerror", note)
            stack.callback(page.remove_listener, "pageerror", note)
            page.goto(service.base + path)
            settled(page)
            return page

        yield visit_path
    assert failures == []


@pytest.mark.thorough
def test_a_page_that_is_not_there_is_created_read_and_edited_by_keyboard(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    page = visit("/p/made/by%20hand")
    page.get_by_role("button", name="Create this page").click()
    page.get_by_label("Text, in Markdown").fill("# Hello\n\nsome **text**")
    expect(page.get_by_label("Preview").locator("strong")).to_have_text("text")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("by hand")
    expect(page.locator("article .prose h2")).to_have_text("Hello")
    expect(page.get_by_role("main")).to_be_focused()
    settled(page)
    page.keyboard.press("e")
    page.get_by_label("Text, in Markdown").fill("changed")
    page.keyboard.press("Control+s")
    until(page, lambda: kept(service, "made/by hand") == ("changed", 2))


def test_a_long_page_is_edited_from_its_top(visit: Callable[..., Page], service: ServiceProcess) -> None:
    service.mutate("pages.save", path="tall", body="\n".join(f"Line {n}" for n in range(400)))
    page = visit("/p/tall")
    page.get_by_role("button", name="Edit").click()
    text = page.get_by_label("Text, in Markdown")
    expect(text).to_be_focused()
    assert text.evaluate("area => [area.scrollTop, area.selectionStart]") == [0, 0]


def test_the_tree_opens_to_the_page_and_a_link_leads_there_without_a_reload(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    for path, body in (("walk", "to [[walk/far/away]]"), ("walk/far", ""), ("walk/far/away", "here")):
        service.mutate("pages.save", path=path, body=body)
    page = visit("/p/")
    recent = page.get_by_role("region", name="Changed last").get_by_role("link")
    expect(recent.first).to_have_text("awaywalk/far/away")
    service.mutate("pages.save", path="walk/near", body="")
    expect(recent.first).to_have_text("nearwalk/near")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="walk").click()
    page.locator(".prose a").wait_for()
    page.evaluate("window.stayed = true")
    page.locator(".prose a").click()
    expect(page.locator(".prose")).to_have_text("here")
    expect(page.locator(".tree [aria-current=page]")).to_have_text("away")
    expect(page).to_have_url(re.compile("/p/walk/far/away$"))
    assert page.evaluate("window.stayed") is True
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("walk")


@pytest.mark.parametrize(("choice", "chosen"), [("Keep mine", "mine"), ("Load theirs", "theirs")])
def test_who_was_slower_chooses_between_theirs_and_mine(
    visit: Callable[..., Page], service: ServiceProcess, choice: str, chosen: str
) -> None:
    path = f"contested/{chosen}"
    service.mutate("pages.save", path=path, body="first")
    page = visit(f"/p/{path}")
    page.get_by_role("button", name="Edit").click()
    text = page.get_by_label("Text, in Markdown")
    text.fill("mine")
    service.mutate("pages.save", path=path, body="theirs", revision=1)
    page.keyboard.press("Control+s")
    page.get_by_role("button", name=choice).click()
    expect(page.get_by_role("button", name=choice)).to_have_count(0)
    expect(text).to_have_value(chosen)
    until(page, lambda: service.query("pages.get", path=path)["body"] == chosen)


@pytest.mark.thorough
def test_the_page_of_a_correspondent_tells_of_their_mail(visit: Callable[..., Page], service: ServiceProcess) -> None:
    ruth = {"address": "mia@example.org", "from": "Ruth <ruth@harbour.example>", "text": "Hi."}
    for subject in ("One", "Two"):
        service.mutate("fake.mail.inject", subject=subject, **ruth)
    service.mutate("fake.mail.syncNow", address="mia@example.org")
    service.mutate("people.add", address="ruth@harbour.example")  # who only wrote is suggested, and has no page yet
    page = visit("/p/crm/ruth")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ruth")
    expect(page.locator("article footer")).to_contain_text("ruth@harbour.example · 2 mails")


@pytest.mark.thorough
def test_a_page_changes_before_the_eyes_of_who_reads_it(visit: Callable[..., Page], service: ServiceProcess) -> None:
    service.mutate("pages.save", path="live", body="before")
    page = visit("/p/live")
    expect(page.locator(".prose")).to_have_text("before")
    service.mutate("pages.save", path="live", body="after")
    expect(page.locator(".prose")).to_have_text("after")
    service.mutate("pages.save", path="live-too", body="")
    expect(page.get_by_role("link", name="live-too")).to_be_visible()
    service.mutate("pages.delete", path="live")
    expect(page.get_by_text("There is no page at live")).to_be_visible()


@pytest.mark.thorough
def test_an_old_revision_is_restored_and_a_page_moved_shared_and_deleted(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    service.mutate("pages.save", path="old", body="one")
    service.mutate("pages.save", path="old", body="two")
    page = visit("/p/old")
    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name="Restore: revision 1").click()
    expect(page.locator(".prose")).to_have_text("one")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("People of its own").check()
    page.get_by_label("Everyone who is signed in").select_option("read")
    page.locator("dialog[open]").get_by_role("button", name="Save").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    until(page, lambda: shared(service, "old") == ("explicit", [("everyone", "read")]))
    page.get_by_role("button", name="Move or delete").click()
    page.get_by_label("New path").fill("archive/old")
    page.get_by_role("button", name="Move", exact=True).click()
    page.wait_for_url("**/p/archive/old")
    page.get_by_role("button", name="Move or delete").click()
    page.get_by_role("button", name="Delete the page").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.wait_for_url("**/p/archive")
    until(page, lambda: service.rows("select path from pages where path like '%old'") == [])


def delete_in_the_app(page: Page) -> None:
    page.get_by_role("button", name="Move or delete").click()
    page.get_by_role("button", name="Delete the page").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("The page is in the trash.")).to_be_visible()


@pytest.mark.thorough
def test_a_deleted_page_comes_back_by_undo_and_from_the_trash(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    service.mutate("pages.save", path="drafts/letter", title="A letter", body="Dear Ruth")
    service.mutate("pages.save", path="drafts/letter/notes", body="below")
    page = visit("/p/drafts/letter")
    delete_in_the_app(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".prose")).to_have_text("Dear Ruth")
    delete_in_the_app(page)
    page.get_by_role("complementary").get_by_role("link", name="Trash").click()
    entry = page.locator(".trash .thing").filter(has_text="A letter")
    expect(entry).to_contain_text("drafts/letter · 1 page below")
    service.mutate("pages.save", path="drafts/letter", body="another one by now")
    entry.get_by_role("button", name="Restore").click()
    expect(entry.get_by_role("alert")).to_contain_text("There is a page at drafts/letter now")
    entry.get_by_label("Restore to").fill("drafts/old letter")
    entry.get_by_role("button", name="Restore").click()
    page.wait_for_url("**/p/drafts/old%20letter")
    expect(page.locator(".prose")).to_have_text("Dear Ruth")
    assert kept(service, "drafts/old letter/notes")[0] == "below"


def left_texts(page: Page) -> str:
    """What this browser stores of texts that are not saved."""
    found: str = page.evaluate(
        """() => Object.entries(localStorage).filter(([name]) => name.startsWith("svc.left.")).join()"""
    )
    return found


def leave_behind(page: Page, text: str) -> None:
    page.get_by_role("button", name="Create this page").click()
    page.get_by_label("Text, in Markdown").fill(text)
    until(page, lambda: text in left_texts(page))


@pytest.mark.thorough
def test_a_text_that_is_not_saved_outlives_a_reload_and_belongs_to_its_tab(visit: Callable[..., Page]) -> None:
    page = visit("/p/left/behind")
    asked = list[str]()

    def note(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", note)
    leave_behind(page, "half a thought")
    other = page.context.new_page()
    other.goto(page.url)
    leave_behind(other, "another thought")
    other.get_by_role("button", name="Discard").click()
    expect(other.get_by_role("button", name="Create this page")).to_be_visible()
    other.close()
    page.reload()
    expect(page.get_by_label("Text, in Markdown")).to_have_value("half a thought")
    expect(page.get_by_text(WRITTEN_BEFORE)).to_be_visible()
    page.goto(page.url.replace("left/behind", ""))
    page.get_by_role("region", name="Not saved yet").get_by_role("link", name="behind").click()
    expect(page.get_by_label("Text, in Markdown")).to_have_value("half a thought")
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Create this page").wait_for()
    page.get_by_role("link", name="All pages").click()
    page.get_by_role("heading", name="Pages", exact=True).wait_for()
    expect(page.get_by_role("region", name="Not saved yet")).to_have_count(0)
    assert asked == []
    page.remove_listener("dialog", note)


@pytest.mark.thorough
def test_what_is_written_after_a_save_is_not_from_before(visit: Callable[..., Page]) -> None:
    page = visit("/p/left/saved")
    leave_behind(page, "first")
    page.reload()
    expect(page.get_by_text(WRITTEN_BEFORE)).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_label("Text, in Markdown").fill("second")
    until(page, lambda: "second" in left_texts(page))
    expect(page.get_by_text(WRITTEN_BEFORE)).to_have_count(0)


@pytest.mark.thorough
def test_what_is_typed_while_the_text_is_being_saved_stays_unsaved_and_its_tabs(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    page = visit("/p/left/late")
    held = list[Route]()
    intercept(page, "**/trpc/pages.save*", lambda route: held.append(route))
    leave_behind(page, "first")
    page.keyboard.press("Control+s")
    until(page, lambda: bool(held), what="the text to be sent")
    page.get_by_label("Text, in Markdown").fill("second")
    page.get_by_role("link", name="All pages").click()
    held[0].continue_()
    until(page, lambda: '"revision":1' in left_texts(page))
    assert kept(service, "left/late") == ("first", 1)
    other = page.context.new_page()
    other.goto(page.url.replace("/p/", "/p/left/late"))
    expect(other.locator(".prose")).to_have_text("first")
    other.close()
    page.reload()
    page.get_by_role("region", name="Not saved yet").get_by_role("link", name="late").click()
    expect(page.get_by_label("Text, in Markdown")).to_have_value("second")


@pytest.mark.thorough
def test_a_text_is_its_writers_also_if_it_becomes_known_late_who_that_is(visit: Callable[..., Page]) -> None:
    page = visit("/p/")
    known = [False]

    def answer(route: Route) -> None:
        mia = {"id": "usr_mia", "email": "mia@example.org", "name": "Mia", "role": "admin"}
        if known[0]:
            route.fulfill(json={**route.fetch().json(), "user": mia})
        else:
            route.fulfill(status=503, json={})

    intercept(page, "**/auth/me", answer)
    page.goto(f"{page.url}left/by-mia")
    page.get_by_role("button", name="Create this page").click()
    page.get_by_label("Text, in Markdown").fill("by Mia")
    page.evaluate("dispatchEvent(new Event('pagehide'))")  # the app stores what it has
    assert left_texts(page) == "", "it would be nobody's"
    known[0] = True
    page.evaluate("""async () => {
        const app = document.querySelector("script[type=module][src$='/app.js']").src;
        await (await import(app.replace("/app.js", "/session.js"))).loadMe();
    }""")
    until(page, lambda: "by Mia" in left_texts(page))
    page.reload()
    expect(page.get_by_label("Text, in Markdown")).to_have_value("by Mia")


def test_an_old_text_is_deleted_wherever_the_app_is_opened(visit: Callable[..., Page]) -> None:
    page = visit("/p/")
    page.evaluate("localStorage['svc.left.page.old'] = JSON.stringify({ key: 'old', user: 'usr_gone', at: 1 })")
    page.goto(page.url.replace("/p/", "/settings"))
    until(page, lambda: left_texts(page) == "")


@pytest.mark.thorough
def test_back_shows_a_page_where_it_was_read_and_a_link_shows_one_from_its_top(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    lines = "\n\n".join(f"Line {n}" for n in range(200))
    service.mutate("pages.save", path="long", title="Long", body=f"{lines}\n\n[[longer]]")
    service.mutate("pages.save", path="longer", title="Longer", body=lines)
    page = visit("/p/long")
    page.locator(".prose").get_by_role("link", name="longer").click()
    page.get_by_role("heading", name="Longer").wait_for()
    expect(page.get_by_role("heading", name="Longer")).to_be_in_viewport()
    page.go_back()
    expect(page.locator(".prose").get_by_role("link", name="longer")).to_be_in_viewport()


@pytest.mark.thorough
def test_a_page_is_deleted_for_good_after_asking_back(visit: Callable[..., Page], service: ServiceProcess) -> None:
    for name in ("plans", "plans/a", "plans/b"):
        service.mutate("pages.save", path=name, title=name.title(), body="")
    service.mutate("pages.delete", path="plans")
    page = visit("/p/?trash")
    entry = page.locator(".trash .thing").filter(has_text="Plans")
    entry.get_by_role("button", name="Delete for good: Plans").click()
    expect(entry).to_contain_text("Delete it and the 2 pages below it for good? This can't be undone.")
    entry.get_by_role("button", name="Cancel").click()
    entry.get_by_role("button", name="Delete for good: Plans").click()
    entry.get_by_role("button", name="Delete for good: Plans").click()
    expect(page.get_by_text("“Plans” is gone for good.")).to_be_visible()
    expect(entry).to_have_count(0)
    assert not any(one["path"] == "plans" for one in service.query("pages.trash"))


@pytest.mark.thorough
def test_files_come_by_picker_paste_and_drop_and_stand_at_the_caret(
    visit: Callable[..., Page], service: ServiceProcess
) -> None:
    page = visit("/p/with-files")
    page.get_by_role("button", name="Create this page").click()
    text = page.get_by_label("Text, in Markdown")
    page.set_input_files("input[type=file]", {"name": "wall [1].png", "mimeType": "image/png", "buffer": PIXEL})
    expect(page.get_by_label("Preview").locator("img")).to_have_attribute("alt", "wall 1.png")
    page.wait_for_function("() => document.querySelector('.editor-preview img').naturalWidth === 1")
    for kind, name in (("paste", "plan.pdf"), ("drop", "näh.bin")):
        page.evaluate(
            """([kind, name]) => {
                const data = new DataTransfer();
                data.items.add(new File(["%PDF-1.4"], name, { type: "application/octet-stream" }));
                const how = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
                const event = kind === "paste" ? new ClipboardEvent(kind, how) : new DragEvent(kind, how);
                document.querySelector("textarea").dispatchEvent(event);
            }""",
            [kind, name],
        )
        expect(text).to_have_value(re.compile(rf"\[{name}\]\(/files/fil_\w+/content\)"))
    assert [row[0] for row in service.rows("select name from files order by rowid")] == [
        "wall [1].png",
        "plan.pdf",
        "näh.bin",
    ]


@pytest.mark.thorough
def test_a_file_shows_how_far_it_is_and_why_it_was_not_taken_in_a_sentence(visit: Callable[..., Page]) -> None:
    page = visit("/p/refused")
    held = list[Route]()
    intercept(page, "**/files", lambda route: held.append(route))
    page.get_by_role("button", name="Create this page").click()
    page.set_input_files("input[type=file]", {"name": "a.bin", "mimeType": "", "buffer": os.urandom(1000)})
    expect(page.get_by_role("progressbar", name="Uploading a.bin")).to_be_visible()
    until(page, lambda: bool(held), what="the upload to be held")
    held.pop().abort()
    written = page.get_by_label("Text, in Markdown")
    expect(written).to_have_value(re.compile(r"a\.bin"))  # it went again by itself
    written.fill("")
    for status, words in ((413, "larger than"), (415, "kind of file"), (507, "disk is full")):
        page.set_input_files("input[type=file]", {"name": "a.bin", "mimeType": "", "buffer": b"a"})
        until(page, lambda: bool(held), what="the next upload to be held")
        held.pop().fulfill(status=status, json={})
        expect(page.get_by_role("alert").last).to_contain_text(words)
    expect(page.get_by_label("Text, in Markdown")).to_have_value("")


@pytest.mark.look
@needs(AXE)
def test_pages_pass_axe_and_fit(visit: Callable[..., Page], service: ServiceProcess, size: str) -> None:
    for path, title in (
        ("clients", "Clients"),
        ("clients/harbour", "Harbour office"),
        ("clients/harbour/plan", "Plan"),
    ):
        service.mutate("pages.save", path=path, title=title, body=NOTES)
    page = visit("/p/", **SIZES[size])
    page.locator(".tree a").first.wait_for()
    check_in_a_light(page, f"{size}-pages-tree")
    service.mutate("pages.save", path="gone", title="Gone", body="")
    service.mutate("pages.delete", path="gone")
    page.goto(f"{service.base}/p/?trash")
    page.locator(".trash .thing").first.wait_for()
    check_in_a_light(page, f"{size}-pages-trash")
    page.goto(f"{service.base}/p/clients/harbour")
    page.locator(".prose table").first.wait_for()
    check_in_a_light(page, f"{size}-pages-view")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("People of its own").check()
    check_in_a_light(page, f"{size}-pages-share")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="History").click()
    page.locator("dialog .thing").first.wait_for()
    check_in_a_light(page, f"{size}-pages-history")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text, in Markdown").press("End")
    check_in_a_light(page, f"{size}-pages-edit")


def test_on_a_phone_text_and_preview_stand_one_above_the_other(visit: Callable[..., Page]) -> None:
    page = visit("/p/small", viewport=PHONE, has_touch=True, is_mobile=True)
    page.get_by_role("button", name="Create this page").click()
    page.locator(".editor-preview").wait_for()
    page.wait_for_function(
        """() => document.querySelector(".editor-preview").getBoundingClientRect().top
            >= document.querySelector("textarea").getBoundingClientRect().bottom"""
    )


def kept(service: ServiceProcess, path: str) -> tuple[str, int]:
    found = service.query("pages.get", path=path)
    return found["body"], found["revision"]


def shared(service: ServiceProcess, path: str) -> tuple[str, list[tuple[str, str]]]:
    found = service.query("pages.get", path=path)
    return found["access"], [(one["to"], one["level"]) for one in found["grants"]]
