"""The whole program and a browser with the app: what the journeys through the rules of mail have in common.

    with seeded_service(directory) as service, app_page(browser, service) as app:
        app.inbox()
        app.press("j", "Enter")
        app.picture("rule-12-thread", dark=True)

Waits are for states, never for time. At the end, the browser's console must have no complaints.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Dialog, Locator, Page, Request

from tests.sizes import HANGS_S
from tests.support.browser import DESKTOP, PHONE, AppPage, fresh_page, hear, still
from tests.support.browser import until as browser_until
from tests.support.installed import InstalledService
from tests.support.process import ServiceProcess, until
from tests.support.shots import TAKES_PICTURES, keep_picture

READ_DEADLINE_S: Final = HANGS_S

MIA: Final = "mia@ternandtide.example"
STUDIO: Final = "hello@ternandtide.example"
HOME: Final = "mia.lindqvist@lanternpost.example"
HELD: Final = {"SVC_UNDO_SEND_SECONDS": "300"}
"""Long enough for the slowest machine to press Undo; who does not want to wait presses Send now."""


@dataclass(kw_only=True)
class PageWithService(AppPage):
    """One page of the app, and the program behind it."""

    service: ServiceProcess
    went: list[str] = field(default_factory=list)
    """Every address that the browser asked for."""

    # Going about

    def go(self, path: str) -> Page:
        self.page.goto(path)
        self.settled()
        return self.page

    def inbox(self, path: str = "/p/mail") -> Page:
        self.page.goto(path)
        self.page.locator("[data-thread]").first.wait_for()
        self.settled()
        return self.page

    def reload(self) -> None:
        self.page.reload()
        self.settled()

    def open(self, subject: str) -> Page:
        """The thread of that subject, as a click on its row opens it."""
        self.row(subject).click()
        return self.opened(subject)

    def open_by_address(self, subject: str) -> Page:
        """The same for one that lies further down than the list is drawn."""
        self.go(f"/p/mail/t/{self.thread(subject)['id']}")
        return self.opened(subject)

    def opened(self, subject: str) -> Page:
        self.page.locator(".thread-subject", has_text=subject).wait_for()
        self.frame.locator("body").wait_for()
        self.settled()
        return self.page

    def press(self, *keys: str) -> None:
        """One key after the other, each once the page has settled."""
        for key in keys:
            self.settled()
            self.page.keyboard.press(key)

    def chord(self, *keys: str) -> None:
        self.settled()
        super().chord(*keys)

    # What is there

    def row(self, subject: str) -> Locator:
        return self.page.locator("[data-thread]", has=self.page.get_by_text(subject, exact=True)).first

    def section(self, name: str) -> Locator:
        """The rows of a section that are in sight: ``inbox`` or ``skipped``."""
        title = {"inbox": "Inbox", "skipped": "Skipped the inbox"}[name]
        return self.page.get_by_role("grid", name=title).locator("[data-thread]")

    @property
    def frame(self) -> Any:
        """The newest message's body."""
        return self.page.frame_locator(".card iframe").last

    def thread(self, subject: str, *, section: str = "inbox") -> dict[str, Any]:
        """As the server tells it."""
        found = self.service.query("mail.threads", section=section, limit=200)["threads"]
        return next(one for one in found if one["subject"] == subject)

    def eventually(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds at the server, while the page lives on."""
        browser_until(self.page, holds, tell=lambda: self.service.log()[-4_000:])

    # For people

    def picture(self, name: str, *, dark: bool = False, phone: bool = False) -> None:
        """What is on the screen now; once more in the dark, and in a narrow window, where that is worth a look."""
        if not TAKES_PICTURES:
            return
        self._save(name)
        if dark:
            self.page.emulate_media(color_scheme="dark")
            self._save(f"{name}-dark")
            self.page.emulate_media(color_scheme="light")
        if phone:
            self.page.set_viewport_size(PHONE)
            self._save(f"{name}-phone")
            self.page.set_viewport_size(DESKTOP)

    def _save(self, name: str) -> None:
        still(self.page)
        keep_picture(self.page, name)


@contextmanager
def seeded_service(directory: Path, **settings: str) -> Iterator[ServiceProcess]:
    """Three mailboxes full of made-up people, read to the end."""
    with InstalledService(directory) as service:
        start_seeded(service, **settings)
        yield service
        assert service.stop() == 0


@contextmanager
def empty_service(directory: Path, **settings: str) -> Iterator[ServiceProcess]:
    """A service without mail, for tests of other features."""
    with InstalledService(directory) as service:
        service.start(PROVIDERS="fake", **settings)
        yield service
        assert service.stop() == 0


def start_seeded(service: ServiceProcess, **settings: str) -> None:
    """Start it, and wait until all mail there is has been read."""
    service.start(PROVIDERS="fake", SVC_SEED="mock-world", **HELD | settings)
    until(
        lambda: accounts_read(service) == {MIA, STUDIO, HOME},
        what="all three mailboxes to be read",
        deadline_s=READ_DEADLINE_S,
        tell=service.log,
    )


def accounts_read(service: ServiceProcess) -> set[str]:
    return {one["address"] for one in service.query("mail.accounts") if one["state"] == "caught-up"}


@contextmanager
def app_page(browser: Browser, service: ServiceProcess, **options: Any) -> Iterator[PageWithService]:
    """The app in a fresh browser context. At the end, there must be no complaints in its console."""
    chosen = {"color_scheme": "light", "locale": "en-GB", "base_url": service.base, **options}
    with fresh_page(browser, **chosen) as page:
        app = PageWithService(page=page, service=service)
        _watch(app)
        yield app
        complaints = app.complaints()
        assert not complaints, complaints


def arrives(service: ServiceProcess, subject: str, *, address: str = MIA, **given: Any) -> dict[str, Any]:
    """A mail comes into one of the fake mailboxes and is read from there."""
    mail = {"from": "Harbour Office <office@harbour.example>", "text": "The tide is at nine.", **given}
    injected = service.mutate("fake.mail.inject", address=address, subject=subject, **mail)
    service.mutate("fake.mail.syncNow", address=address)
    return dict(injected)


def sent_from(service: ServiceProcess, address: str, subject: str) -> list[EmailMessage]:
    """What that fake mailbox accepted under this subject, byte for byte, parsed by the standard library."""
    accepted = service.query("fake.mail.sent", address=address)
    raw = [base64.urlsafe_b64decode(one["raw"]) for one in accepted if one["subject"] == subject]
    return [parsed(one) for one in raw]


def parsed(raw: bytes) -> EmailMessage:
    return message_from_bytes(raw, policy=default)


def account(service: ServiceProcess, address: str) -> dict[str, Any]:
    return next(one for one in service.query("mail.accounts") if one["address"] == address)


def labels_of(service: ServiceProcess, thread_id: str) -> set[str]:
    """All labels that some message of the thread carries."""
    detail = service.query("mail.thread", id=thread_id)
    return {label["id"] for message in detail["messages"] for label in message["labels"]}


def _watch(app: PageWithService) -> None:
    def asked(request: Request) -> None:
        app.went.append(request.url)

    def asked_back(dialog: Dialog) -> None:
        app.problems.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    hear(app.page, app.problems.append)
    app.page.on("dialog", asked_back)
    app.page.on("request", asked)
