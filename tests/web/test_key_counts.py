"""Ten tasks by keyboard and by mouse, counted: as many keys and clicks as docs/keys.md says, and no more keys than
elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import FilePayload, Locator, expect

from tests.support.browser import App
from tests.web.fake_server import FakeAnswers
from tests.web.writer import chips, give_file, ready, text

pytestmark = pytest.mark.browser

PAGE: Final = Path(__file__).parents[2] / "docs" / "keys.md"
ROW: Final = re.compile(r"^\| ([A-Z][^|]+?) \| ([^|]+?) \| (\d+)( \+ words)? \| (\d+|-) \| (\d+|-) \|$", re.MULTILINE)
CLICKS: Final = dict(
    re.findall(r"^\| ([A-Z][^|]+?) \| [^|]+ \| (\d+(?: \+ words)?) \|$", PAGE.read_text(), re.MULTILINE)
)
LISTED: Final = {row[0]: row[1:] for row in ROW.findall(PAGE.read_text())}


@dataclass
class Hands:
    """Presses keys, and counts: a chord is one, and words are words."""

    app: App
    keys: int = 0
    words: bool = False

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        self.app.press(*keys)

    def type(self, words: str) -> None:
        self.words = True
        self.app.page.keyboard.type(words)

    def search(self, words: str) -> None:
        self.press("/")
        self.type(words)
        self.press("Enter")
        self.app.page.wait_for_url(re.compile(r"/search\?q=.+"))
        expect(self.app.page.locator(".row.selected")).to_be_focused()
        self.press("Enter")
        self.app.page.locator("iframe").first.wait_for()


def finds_a_mail_by_its_sender(hands: Hands) -> None:
    hands.search("from:amara")
    hands.app.at("/p/mail/search/t/thr_01")


def answers_three_and_archives_them(hands: Hands) -> None:
    hands.press("Enter")
    for number in range(3):
        hands.app.at(f"/p/mail/t/thr_0{number}")
        hands.app.settled()
        hands.press("r")
        ready(hands.app.page)
        hands.type("Yes.")
        hands.press("Control+Shift+Enter")
        hands.app.called("mail.archive", times=number + 1)
    assert len(hands.app.called("mail.send", times=3)) == 3


def files_a_mail(hands: Hands) -> None:
    hands.press("l")
    hands.app.page.get_by_role("option", name="Travel", exact=True).wait_for()
    hands.type("trav")
    hands.press("Shift+Enter")
    filed = {"threadIds": ["thr_00"], "addNames": ["Travel"], "remove": ["INBOX"]}
    assert hands.app.called("mail.setLabels") == [filed]
    expect(hands.app.row("thr_00")).to_have_count(0)


def snoozes_until_monday(hands: Hands) -> None:
    hands.press("h")
    hands.app.page.get_by_role("dialog", name="Snooze").wait_for()
    hands.type("mon")
    hands.press("Enter")
    hands.app.called("mail.snooze")


def writes_with_a_picture(hands: Hands) -> None:
    hands.press("c")
    page = ready(hands.app.page)
    hands.type("ann@sea.example")
    hands.press("Tab")
    expect(chips(page)).to_have_count(1)
    hands.type("The wall")
    hands.press("Tab")
    hands.type("Here it is.")
    hands.keys += 1  # pasted by Ctrl+V: the clipboard of a browser that is driven holds no picture
    give_file(text(page), "paste", "wall.png", "image/png", "picture")
    text(page).locator("img").wait_for()
    hands.app.settled()
    hands.press("Control+Enter")
    hands.app.called("mail.send")


def leaves_a_mailing(hands: Hands) -> None:
    hands.press("Control+u")
    sure = hands.app.page.get_by_role("group", name="Unsubscribe").get_by_role("button", name="Unsubscribe")
    expect(sure).to_be_focused()
    hands.press("Enter")
    hands.app.called("mail.unsubscribe")
    expect(sure).to_have_count(0)
    hands.press("e")
    hands.app.called("mail.archive")


def finds_an_attachment(hands: Hands) -> None:
    hands.search("mural")
    hands.app.page.get_by_role("list", name="Attachments").wait_for()


def sends_later(hands: Hands) -> None:
    hands.press("Control+Shift+L")
    hands.app.page.get_by_role("dialog", name="Send later").wait_for()
    hands.type("fri 9am")
    hands.press("Enter")
    assert hands.app.called("mail.send")[0]["sendAt"]


def leaves_a_mailing_from_a_search(hands: Hands) -> None:
    hands.search("mural")
    hands.app.settled()
    leaves_a_mailing(hands)


def triages_twenty(hands: Hands) -> None:
    for number in range(20):
        hands.press("e")
        hands.app.called("mail.archive", times=number + 1)


def at_a_row(app: App) -> None:
    app.open()
    app.press("j")
    app.focuses("thr_00")


def in_a_thread(app: App) -> None:
    app.open("/p/mail/t/thr_00", ready="iframe")


def in_a_message(app: App) -> None:
    at_a_row(app)
    app.press("c")
    ready(app.page)
    app.page.keyboard.type("ann@sea.example")
    app.press("Tab")
    app.page.keyboard.type("Tides")
    app.press("Tab")
    app.page.keyboard.type("High at nine.")


TASKS: Final[dict[str, tuple[Callable[[App], None], Callable[[Hands], None]]]] = {
    "Find a mail by its sender": (at_a_row, finds_a_mail_by_its_sender),
    "Answer three, and archive them": (at_a_row, answers_three_and_archives_them),
    "File a mail under a label": (at_a_row, files_a_mail),
    "Snooze until Monday": (at_a_row, snoozes_until_monday),
    "Write a mail with a picture": (at_a_row, writes_with_a_picture),
    "Clear a newsletter out of the list": (in_a_thread, leaves_a_mailing),
    "Find an attachment": (at_a_row, finds_an_attachment),
    "Send later": (in_a_message, sends_later),
    "Unsubscribe, from the search on": (at_a_row, leaves_a_mailing_from_a_search),
    "Triage twenty": (at_a_row, triages_twenty),
}


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_as_many_keys_as_the_page_says(start: Callable[..., App], task: str) -> None:
    begin, do = TASKS[task]
    app = start(answers())
    begin(app)
    app.settled()
    hands = Hands(app)
    do(hands)
    assert (str(hands.keys), hands.words) == (LISTED[task][1], bool(LISTED[task][2]))


def test_the_page_lists_these_tasks_and_none_takes_more_keys_than_elsewhere() -> None:
    assert LISTED.keys() == CLICKS.keys() == TASKS.keys()
    assert CLICKS["Find an attachment"] == CLICKS["Find a mail by its sender"]  # the same clicks, other words
    found, left = (
        int(CLICKS[task].split()[0]) for task in ("Find an attachment", "Clear a newsletter out of the list")
    )
    assert CLICKS["Unsubscribe, from the search on"] == f"{found + left} + words"
    for task, (_, ours, _, superhuman, gmail) in LISTED.items():
        others = [int(one) for one in (superhuman, gmail) if one != "-"]
        assert int(ours) <= min(others), task


@dataclass
class Mouse:
    """Clicks, and counts."""

    app: App
    clicks: int = 0
    words: bool = False

    def __call__(self, *places: Locator, **how: Any) -> None:
        for place in places:
            place.click(**how)
            self.clicks += 1

    def drag(self, row: Locator, to: Locator) -> None:
        row.drag_to(to)
        self.clicks += 1

    def type(self, words: str) -> None:
        self.words = True
        self.app.page.keyboard.type(words)

    def at_row(self, thread: str, act: str) -> Locator:
        self.app.row(thread).hover()
        return self.app.page.locator(f".row-acts [data-act={act}]")


def clicks_to_find(mouse: Mouse) -> None:
    page = mouse.app.page
    mouse(page.get_by_role("combobox", name="Search"))
    mouse.type("amara")
    page.wait_for_url(re.compile(r"/search\?q=amara"))
    mouse.app.settled()
    mouse(page.locator("#search-offers [data-kind=mail][id$=thr_01]"))
    expect(page).to_have_url(re.compile("/t/thr_01"))


def clicks_to_answer_three(mouse: Mouse) -> None:
    page = mouse.app.page
    mouse(mouse.app.row("thr_00"))
    mouse.app.settled()
    mouse(page.get_by_role("button", name="Reply", exact=True).last)
    ready(page)
    mouse.type("Yes.")
    mouse(page.get_by_role("button", name="Send and archive"))
    mouse.app.called("mail.archive")
    mouse.app.at("/p/mail/t/thr_01")  # and so on, with the two clicks after the row's
    mouse.clicks += 4


def clicks_to_file(mouse: Mouse) -> None:
    mouse.drag(mouse.app.row("thr_00"), mouse.app.page.locator(".side-row", has_text="Travel"))
    assert mouse.app.called("mail.setLabels")[0]["remove"] == ["INBOX"]


def clicks_to_snooze(mouse: Mouse) -> None:
    mouse(mouse.at_row("thr_00", "clock"))
    mouse(mouse.app.page.get_by_role("dialog", name="Snooze").get_by_role("option", name=DAY).last)
    mouse.app.called("mail.snooze")


def clicks_to_write(mouse: Mouse) -> None:
    page = mouse.app.page
    mouse(page.get_by_role("button", name="Compose"))
    ready(page)
    for words in ("ann@sea.example", "The wall"):
        mouse.type(words)
        page.keyboard.press("Tab")
    mouse.type("Here it is.")
    with page.expect_file_chooser() as asked:
        mouse(page.get_by_role("button", name="Picture"))
    asked.value.set_files(FilePayload(name="wall.png", mimeType="image/png", buffer=b"picture"))
    mouse.clicks += 1  # in the window of the system
    text(page).locator("img").wait_for()
    mouse.app.settled()
    mouse(page.get_by_role("button", name="Send", exact=True))
    mouse.app.called("mail.send")


def clicks_to_leave(mouse: Mouse) -> None:
    page = mouse.app.page
    mouse(page.get_by_role("button", name="Unsubscribe").first)
    mouse(page.get_by_role("group", name="Unsubscribe").get_by_role("button", name="Unsubscribe"))
    mouse.app.called("mail.unsubscribe")
    mouse(page.get_by_role("toolbar").get_by_role("button", name="Archive"))
    mouse.app.called("mail.archive")


def clicks_to_send_later(mouse: Mouse) -> None:
    page = mouse.app.page
    mouse(page.get_by_role("button", name="Send later"))
    mouse(page.get_by_role("dialog", name="Send later").get_by_role("option", name=DAY).last)
    assert mouse.app.called("mail.send")[0]["sendAt"]


def clicks_to_triage(mouse: Mouse) -> None:
    mouse(mouse.at_row("thr_00", "archive"))
    mouse.app.called("mail.archive")
    mouse(mouse.at_row("thr_01", "archive"))
    mouse.app.called("mail.archive", times=2)
    mouse.clicks *= 10


DAY: Final = re.compile("Monday|Tomorrow")
"""On a Sunday Monday is called tomorrow."""
BY_MOUSE: Final[dict[str, Callable[[Mouse], None]]] = {
    "Find a mail by its sender": clicks_to_find,
    "Answer three, and archive them": clicks_to_answer_three,
    "File a mail under a label": clicks_to_file,
    "Snooze until Monday": clicks_to_snooze,
    "Write a mail with a picture": clicks_to_write,
    "Clear a newsletter out of the list": clicks_to_leave,
    "Send later": clicks_to_send_later,
    "Triage twenty": clicks_to_triage,
}


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("task", BY_MOUSE)
def test_a_task_takes_as_many_clicks_as_the_page_says(start: Callable[..., App], task: str) -> None:
    begin, _ = TASKS[task]
    app = start(answers())
    begin(app)
    app.settled()
    mouse = Mouse(app)
    BY_MOUSE[task](mouse)
    assert f"{mouse.clicks}{' + words' if mouse.words else ''}" == CLICKS[task]


def answers() -> FakeAnswers:
    """In which the first thread is from a list that one can leave."""
    made = FakeAnswers()
    detail = made.details["thr_00"]
    message = detail["messages"][-1]
    message["canUnsubscribe"] = True
    made.mailings[message["id"]] = {"method": "one-click", "target": "news.example"}
    return made
