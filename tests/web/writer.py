"""What the tests of writing mail do again and again: open the window, type, paste, wait for the draft."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import App

WRITING = "section.compose, section.answer-card"
"""The window, or an answer under its message: never both."""


def compose(app: App, key: str = "c", *, path: str = "/p/mail") -> Page:
    """The mail page with a blank message begun by its key."""
    page = app.open(path)
    app.press(key)
    return ready(page)


def ready(page: Page) -> Page:
    page.locator(f":is({WRITING}) .rich-text[contenteditable=true]").first.wait_for()
    return page


def window(page: Page) -> Locator:
    return page.locator(WRITING)


def text(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message text")


def address(page: Page, *people: str, field: str = "To") -> None:
    to = page.get_by_role("combobox", name=field, exact=True)
    for one in people:
        to.fill(one)
        to.press(",")
    expect(chips(page, field)).to_have_count(len(people))


def chips(page: Page, field: str = "To") -> Locator:
    return page.get_by_role("list", name=f"{field}: recipients").locator("li")


def people(page: Page) -> Locator:
    """The line of an answer that says to whom it goes, and opens its fields."""
    return page.locator(".answer-people")


def fill(page: Page, *, to: str = "ann@sea.example", subject: str = "Tides", body: str = "High at nine.") -> None:
    address(page, to)
    page.get_by_label("Subject").fill(subject)
    text(page).click()
    page.keyboard.type(body)


def saved(page: Page) -> None:
    # What was just written takes a frame to show: until then the words are of the draft before it.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.locator(".save-state")).to_have_text("Draft saved")


def paste(target: Locator, **parts: str) -> None:
    """Paste into it: ``paste(text, html="<b>x</b>", plain="x")``."""
    kinds = {"html": "text/html", "plain": "text/plain"}
    given = json.dumps({kinds[name]: value for name, value in parts.items()})
    target.evaluate(
        """(element, given) => {
            const data = new DataTransfer();
            for (const [kind, value] of Object.entries(JSON.parse(given))) data.setData(kind, value);
            const how = { bubbles: true, cancelable: true };
            element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, ...how }));
        }""",
        given,
    )


def give_file(target: Locator, event: str, name: str, mime: str, content: str) -> None:
    """Paste or drop a file: ``event`` is "paste" or "drop"."""
    target.evaluate(
        """(element, { event, name, mime, content }) => {
            const data = new DataTransfer();
            data.items.add(new File([content], name, { type: mime }));
            const how = { bubbles: true, cancelable: true };
            const made = event === "paste" ? new ClipboardEvent(event, { ...how, clipboardData: data })
                : new DragEvent(event, { ...how, dataTransfer: data });
            element.dispatchEvent(made);
        }""",
        {"event": event, "name": name, "mime": mime, "content": content},
    )


def draft(app: App, **fields: Any) -> dict[str, Any]:
    """The one draft there is at the server, once it is this one."""
    app.wait(
        lambda: any(_is(one, fields) for one in _only(app.answers.drafts)),
        what=f"a draft with {fields}",
        tell=lambda: str(app.answers.drafts),
    )
    return _only(app.answers.drafts)[0]


def taken(app: App, **fields: Any) -> dict[str, Any]:
    """The one mail that the server has taken, once it is so, and nothing more is under way to it."""
    app.wait(
        lambda: any(_is(one, fields) for one in _only(app.answers.outgoing)),
        what=f"a mail with {fields}",
        tell=lambda: str(app.answers.outgoing),
    )
    app.settled()
    (mail,) = app.answers.outgoing.values()
    return mail


def _only(records: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Where there is one. The server puts another dictionary in the place of this one, it changes none."""
    return list(records.values()) if len(records) == 1 else []


def _is(record: dict[str, Any], fields: dict[str, Any]) -> bool:
    return all(record[name] == value for name, value in fields.items())


def give(target: Locator, event: str, *files: tuple[str, str, bytes]) -> None:
    """Paste files into the text, or drop them upon its last letter."""
    target.evaluate(
        """(element, { event, files }) => {
            const data = new DataTransfer();
            for (const [name, type, content] of files) {
                data.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt(0))], name, { type }));
            }
            const how = { bubbles: true, cancelable: true };
            const range = document.createRange();
            range.selectNodeContents(element.firstElementChild ?? element);
            const box = range.getBoundingClientRect();
            element.dispatchEvent(event === "paste" ? new ClipboardEvent(event, { ...how, clipboardData: data })
                : new DragEvent(event, { ...how, dataTransfer: data, clientX: box.right - 1, clientY: box.top + 4 }));
        }""",
        {"event": event, "files": [(name, kind, base64.b64encode(body).decode()) for name, kind, body in files]},
    )


def png(width: int, height: int) -> bytes:
    """A plain teal one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x14\x62\x6f" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
