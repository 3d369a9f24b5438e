"""A morning with the mail in Firefox: another engine reads, answers, searches, and changes its colours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from tests.peers.needs import FIREFOX, VENDOR, needs
from tests.sizes import HANGS_S
from tests.support.browser import DESKTOP, PHONE
from tests.support.firefox import FirefoxPage, firefox
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess, until

pytestmark = [pytest.mark.journey, pytest.mark.browser, pytest.mark.wall_clock]

SHOTS: Final = Path(__file__).parents[1] / "shots"
MIA: Final = "mia@ternandtide.example"
SUBJECT: Final = "The ferry on Friday"
ANSWER: Final = "I take the one at nine."
ROW: Final = f"[...document.querySelectorAll('[data-thread]')].find(row => row.textContent.includes('{SUBJECT}'))"
SELECTED: Final = "document.querySelector('.row.selected')"
FRAME: Final = "document.querySelector('article iframe')"
EDITOR: Final = "document.querySelector('.rich-text[contenteditable=true]')"

PDF: Final = "ticket-NK48213.pdf"
VIEWS: Final = f"[...document.querySelectorAll('button')].find((one) => one.textContent.includes('{PDF}'))"
INKED: Final = """(() => {
    const canvas = document.querySelector('.viewer-page canvas');
    const { data } = canvas?.width ? canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height) : {};
    return data?.some((value, at) => at % 4 === 0 && value < 90) ?? false;
})()"""
"""Whether a page that is shown has something dark on it."""
PRINTS: Final = "[...document.querySelectorAll('[popover] button')].find((one) => one.innerText.startsWith('Print'))"
TELLS_WHAT_IS_PRINTED: Final = """() => {
    if (window === top) addEventListener("message", ({ data }) => { if (data.asked) window.asked = data.asked; });
    else window.print = () => parent.postMessage({ asked: document.documentElement.innerText }, "*");
}"""
"""A machine without a screen has no dialog to print from."""
BACKGROUND: Final = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.mark.share(3, among="the app by another way")
@needs(FIREFOX, VENDOR)
async def test_a_morning_in_firefox(tmp_path: Path) -> None:
    with InstalledService(tmp_path) as service:
        await trio.to_thread.run_sync(begin, service)
        async with firefox(tmp_path) as page:
            await page.size(**DESKTOP)
            thread = await finds_the_new_mail(page, service)
            await reads_it(page)
            await looks_at_a_pdf_and_prints(page, service)
            await page.goto(f"{service.base}/p/mail/t/{thread}")
            await page.until(FRAME)
            await answers_it(page, service, thread)
            await searches(page)
            await changes_a_setting(page, service)
            await looks_at_it_on_a_phone(page, service)
            assert page.problems == []
        assert service.stop() == 0


def begin(service: ServiceProcess) -> None:
    service.start(PROVIDERS="fake", SVC_SEED="mock-world")

    def is_read() -> bool:
        return all(one["state"] == "caught-up" for one in service.query("mail.accounts"))

    until(is_read, what="all mail to be read", deadline_s=HANGS_S, tell=service.log)
    sender = {"from": "Harbour Office <office@harbour.example>"}
    body = "Which ferry do you take?\n\nOlder words follow."
    service.mutate("fake.mail.inject", address=MIA, subject=SUBJECT, text=body, labels=["INBOX", "UNREAD"], **sender)
    service.mutate("fake.mail.syncNow", address=MIA)


async def finds_the_new_mail(page: FirefoxPage, service: ServiceProcess) -> str:
    await page.goto(f"{service.base}/p/mail")
    thread = await page.until(f"({ROW})?.dataset.thread")
    await page.press("j")
    while await page.until(f"{SELECTED}?.dataset.thread") != thread:
        await page.press("j")
    await picture(page, "inbox")
    return str(thread)


async def reads_it(page: FirefoxPage) -> None:
    """The mail lies in its frame, with its height; nothing of it may run there."""
    await page.press("Enter")
    assert await page.until(f"{FRAME}?.getAttribute('sandbox') !== null && {FRAME}?.clientHeight") > 20
    assert "allow-scripts" not in await page.evaluate(f"{FRAME}.getAttribute('sandbox')")
    await picture(page, "thread")


async def looks_at_a_pdf_and_prints(page: FirefoxPage, service: ServiceProcess) -> None:
    """Its pages are drawn, not only made; and the mail is printed by itself, with its headers."""
    (ticket, *_) = service.query("mail.search", query=f"filename:{PDF}")["threads"]
    await page.call("script.addPreloadScript", functionDeclaration=TELLS_WHAT_IS_PRINTED)
    await page.goto(f"{service.base}/p/mail/t/{ticket['id']}")
    await page.until(VIEWS)
    await page.evaluate(f"{VIEWS}.click()")
    await page.until(INKED)
    await picture(page, "pdf")
    await page.press("Escape")
    await page.until("!document.querySelector('.viewer-page')")
    await page.evaluate("document.querySelector('.card-more').click()")
    await page.evaluate(f"{PRINTS}.click()")
    printed = await page.until("window.asked")
    assert "From: " in printed
    assert ticket["subject"] in printed


async def answers_it(page: FirefoxPage, service: ServiceProcess, thread: str) -> None:
    await page.press("r")
    await page.until(f"{EDITOR} && document.activeElement === {EDITOR}")
    await page.type(ANSWER + " ")
    await page.press("Control+b")
    await page.type("Surely.")
    assert await page.evaluate(f"{EDITOR}.querySelector('b')?.textContent") == "Surely."
    await picture(page, "answer")
    await page.press("Control+Enter")
    await page.until(f"!{EDITOR}")

    def sent() -> bool:
        messages = service.query("mail.thread", id=thread)["messages"]
        return any(ANSWER in json.dumps(message) for message in messages)

    await trio.to_thread.run_sync(lambda: until(sent, what="the answer to be sent", deadline_s=HANGS_S))


async def searches(page: FirefoxPage) -> None:
    await page.press("Escape", "/")
    await page.until(
        "document.activeElement.matches('input[type=search], input[role=combobox], input[role=searchbox]')"
    )
    await page.type("ferry")
    await page.press("Enter")
    await page.until(f"location.href.includes('ferry') && ({ROW})")
    await picture(page, "search")


async def changes_a_setting(page: FirefoxPage, service: ServiceProcess) -> None:
    await page.goto(f"{service.base}/settings/display")
    dark = "document.querySelector('input[name=colours][value=dark]')"
    await page.until(dark)
    light = await page.evaluate(BACKGROUND)
    await page.click(dark)
    await page.until(f"{BACKGROUND} !== {json.dumps(light)}")
    await picture(page, "settings")


async def looks_at_it_on_a_phone(page: FirefoxPage, service: ServiceProcess) -> None:
    await page.size(**PHONE)
    await page.goto(f"{service.base}/p/mail")
    await page.until("document.querySelector('[data-thread]')")
    wide: Any = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    await picture(page, "phone")


async def picture(page: FirefoxPage, name: str) -> None:
    await page.screenshot(SHOTS / f"firefox-{name}.png")
