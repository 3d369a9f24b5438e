"""Terminals in the app: their tabs, what is typed and shown, how they come back, and how they look."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.support.browser import App
from tests.web.fake_identity import JONAS, IdentityAnswers, signed_in
from tests.web.test_app_looks import SIZES, check_in_a_light, small_targets

pytestmark = pytest.mark.browser

SCREEN = ".terminals-panel:not(.behind) .xterm-rows"
PROMPT = b"\x1b[32mmia@tern\x1b[0m:\x1b[34m~\x1b[0m$ "
LISTING = b"\r\n".join(
    [
        b"\x1b[1mtotal 24\x1b[0m",
        b"drwxr-xr-x 2 mia mia 4096 \x1b[34mharbour\x1b[0m",
        b"-rwxr-xr-x 1 mia mia  812 \x1b[32mdeploy.sh\x1b[0m",
        b"\x1b[31merror:\x1b[0m see https://ternandtide.example/help and \x1b[33mwarnings\x1b[0m",
        b"\x1b[90mquiet\x1b[0m \x1b[35mmagenta\x1b[0m \x1b[36mcyan\x1b[0m \x1b[7m inverse \x1b[0m",
        b"",
    ]
)


def listed(session: str, **fields: Any) -> dict[str, Any]:
    return {
        "session": session,
        "program": "bash",
        "owner": None,
        "mine": True,
        "shown": False,
        "cols": 80,
        "rows": 24,
        "openedAt": "2026-11-21T08:00:00.000Z",
        "endsAt": None,
        **fields,
    }


@dataclass
class TerminalAnswers(IdentityAnswers):
    """Answers ``/pty`` by a program that says back what it is told, a line at a time."""

    terminals: list[dict[str, Any]] = field(default_factory=list)
    sockets_of: dict[str, WebSocketRoute] = field(default_factory=dict)
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    typed: bytes = b""
    said: list[dict[str, Any]] = field(default_factory=list)
    kept: bytes = PROMPT

    def rpc_terminals_list(self, given: dict[str, Any]) -> Any:
        return self.terminals

    def rpc_terminals_kill(self, given: dict[str, Any]) -> Any:
        return {}

    def open(self, socket: WebSocketRoute) -> None:
        query = parse_qs(urlsplit(socket.url).query)
        session = query.get("session", [f"trm_{len(self.asked) + 1}"])[0]
        self.asked.append(query)
        self.sockets_of[session] = socket
        socket.on_message(lambda message: self.hear(socket, message))
        socket.send(json.dumps({"type": "ready", "session": session, "replayed": len(self.kept)}))
        socket.send(self.kept)

    def hear(self, socket: WebSocketRoute, message: str | bytes) -> None:
        if isinstance(message, str):
            self.said.append(json.loads(message))
            if self.said[-1]["type"] == "kill":
                self.end(socket, signal="SIGHUP")
            return
        self.typed += message
        socket.send(message.replace(b"\r", b"\r\n" + LISTING + PROMPT))

    def end(self, socket: WebSocketRoute, **how: Any) -> None:
        socket.send(json.dumps({"type": "exit", **how}))
        socket.close(code=1000)


@dataclass
class TerminalPage:
    app: App
    page: Page
    answers: TerminalAnswers

    def shows(self, words: str) -> None:
        expect(self.page.locator(SCREEN)).to_contain_text(words)

    def cell(self, words: str, column: int) -> tuple[float, float]:
        """Where a character of the line with ``words`` is: the rows themselves take no clicks."""
        row = self.page.locator(f"{SCREEN} > div").filter(has_text=words).first.bounding_box()
        assert row is not None
        return row["x"] + row["width"] * (column + 0.5) / int(self.answers.asked[0]["cols"][0]), row["y"] + 5

    def types(self, wanted: bytes) -> None:
        self.app.wait(lambda: wanted in self.answers.typed, what=f"{wanted!r}", tell=lambda: repr(self.answers.typed))


@pytest.fixture
def open_terminal(start: Callable[..., App]) -> Callable[..., TerminalPage]:
    def opened(answers: TerminalAnswers | None = None, *, path: str = "/p/terminal", **options: Any) -> TerminalPage:
        answers = answers or TerminalAnswers()
        app = start(answers, alone=True, **options)  # the sockets of a page that is kept would be routed for ever
        app.page.route_web_socket("**/pty?*", answers.open)
        page = app.open(path, ready=SCREEN)
        return TerminalPage(app, page, answers)

    return opened


@pytest.mark.thorough
def test_a_terminal_is_typed_into_searched_and_ended(open_terminal: Callable[..., TerminalPage]) -> None:
    terminal = open_terminal()
    page, answers = terminal.page, terminal.answers
    terminal.shows("mia@tern")
    expect(page).to_have_url(f"{terminal.app.origin}/p/terminal/trm_1")
    assert int(answers.asked[0]["cols"][0]) > 80
    page.keyboard.type("cj?\r")
    terminal.types(b"cj?\r")
    terminal.shows("deploy.sh")
    expect(page.get_by_role("dialog")).to_have_count(0)  # of the app's keys none is heard
    page.set_viewport_size({"width": 1000, "height": 700})
    terminal.app.wait(lambda: any(one["type"] == "resize" for one in answers.said), what="its new size")
    assert answers.said[0] == {"type": "drawn", "bytes": 0}
    page.keyboard.press("Control+Shift+F")
    page.keyboard.type("harbour")
    expect(page.get_by_text("1 of 1")).to_be_visible()
    page.keyboard.type("s")
    expect(page.get_by_text("Not found")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.type("again")
    terminal.types(b"again")
    page.get_by_role("button", name="End: Terminal").click()
    page.get_by_role("button", name="End it: Terminal").click()
    expect(page.get_by_text("Ended by SIGHUP.")).to_be_visible()
    terminal.shows("deploy.sh")
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("main").get_by_role("button", name="New terminal").last.click()
    terminal.shows("mia@tern")
    assert len(answers.asked) == 2


@pytest.mark.thorough
def test_copying_pasting_and_links(open_terminal: Callable[..., TerminalPage]) -> None:
    terminal = open_terminal()
    page = terminal.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.type("\r")
    terminal.shows("ternandtide.example/help")
    page.mouse.click(*terminal.cell("deploy.sh", 46), click_count=3)
    page.keyboard.press("Control+Shift+C")
    terminal.app.until("async () => (await navigator.clipboard.readText()).includes('deploy.sh')")
    page.evaluate("navigator.clipboard.writeText('two\\nlines')")
    page.get_by_role("button", name="Paste").click()
    terminal.types(b"two\rlines")
    page.evaluate("window.open = (...given) => { window.opened = given; }")
    page.mouse.move(*terminal.cell("ternandtide.example/help", 20))
    expect(page.locator(".xterm-cursor-pointer")).to_have_count(1)
    page.mouse.click(*terminal.cell("ternandtide.example/help", 20))
    terminal.app.until("() => window.opened?.[0] === 'https://ternandtide.example/help'")


@pytest.mark.thorough
def test_what_runs_is_shown_again_after_a_reload_and_after_a_lost_link(
    open_terminal: Callable[..., TerminalPage],
) -> None:
    answers = TerminalAnswers(kept=b"\x1b[c" + LISTING + PROMPT)
    answers.terminals = [listed("trm_a", program="vim"), listed("trm_b"), listed("trm_c", shown=True)]
    terminal = open_terminal(answers, path="/p/terminal/trm_b")
    page = terminal.page
    expect(page.get_by_role("tab")).to_have_text(["vim", "bash", "bash"])
    expect(page.get_by_role("tab", selected=True)).to_have_text("bash")
    terminal.shows("deploy.sh")
    assert sorted(one["session"][0] for one in answers.asked) == ["trm_a", "trm_b"]
    assert answers.typed == b"", "a question that was asked before is not answered again"
    answers.sockets_of["trm_b"].close(code=1001)
    terminal.app.wait(lambda: len(answers.asked) == 3, what="it to come back")
    terminal.shows("deploy.sh")
    page.keyboard.type("still")
    terminal.types(b"still")
    answers.sockets_of["trm_b"].close(code=4409)
    expect(page.get_by_text("Another window shows this terminal.").first).to_be_visible()
    page.get_by_role("button", name="Show it here").first.click()
    terminal.app.wait(lambda: len(answers.asked) == 4, what="it to come back")
    front = page.locator(".terminals-panel:not(.behind)")
    expect(front.get_by_text("Another window shows this terminal.")).to_have_count(0)
    expect(front.locator("textarea")).to_be_focused()
    page.keyboard.type("mine")
    terminal.types(b"mine")
    page.get_by_role("tab", name="vim").click()
    expect(page).to_have_url(f"{terminal.app.origin}/p/terminal/trm_a")
    page.keyboard.type("vi")
    terminal.types(b"vi")
    answers.sockets_of["trm_a"].close(code=4404)
    expect(page.get_by_text("It has ended meanwhile.")).to_be_visible()


@pytest.mark.thorough
def test_a_reloaded_window_has_its_terminals_again_where_the_server_still_holds_its_old_socket(
    open_terminal: Callable[..., TerminalPage],
) -> None:
    answers = TerminalAnswers(kept=LISTING + PROMPT)
    answers.terminals = [listed("trm_a"), listed("trm_b", shown=True)]
    terminal = open_terminal(answers, path="/p/terminal/trm_a")
    terminal.shows("deploy.sh")
    answers.terminals = [listed("trm_a", shown=True), listed("trm_b", shown=True)]
    terminal.page.reload()
    terminal.shows("deploy.sh")
    assert [one["session"][0] for one in answers.asked] == ["trm_a", "trm_a"]


@pytest.mark.thorough
def test_who_is_no_admin_sees_none_and_neither_does_a_public_server(start: Callable[..., App]) -> None:
    app = start(TerminalAnswers(me=signed_in(JONAS)))
    page = app.open("/p/terminal", ready=".empty-title")
    expect(page.get_by_text("Terminals are for admins.")).to_be_visible()
    expect(page.get_by_role("link", name="Terminal")).to_have_count(0)
    app.answers.me = signed_in()
    app.answers.off = ("terminals", "kernels")
    page = app.open("/p/terminal", ready=".empty-title")
    expect(page.get_by_text("This server has no terminals")).to_be_visible()
    expect(page.get_by_role("link", name="Terminal")).to_have_count(0)
    app.answers.off = ()
    app.open(ready=".side")
    expect(page.get_by_role("link", name="Terminal")).to_have_count(1)


@pytest.mark.look
def test_it_passes_axe_and_fits(open_terminal: Callable[..., TerminalPage], size: str) -> None:
    answers = TerminalAnswers(kept=LISTING + PROMPT)
    answers.terminals = [
        listed("trm_a", program="vim"),
        listed("trm_b", shown=True),
        listed("trm_c", mine=False, owner=JONAS["id"]),
    ]
    terminal = open_terminal(answers, **SIZES[size])
    page = terminal.page
    terminal.shows("deploy.sh")
    check_in_a_light(page, f"{size}-terminal")
    page.get_by_role("button", name="Search in the terminal").click()
    page.keyboard.type("mia")
    expect(page.get_by_text("5 of 5")).to_be_visible()
    check_in_a_light(page, f"{size}-terminal-search")
    page.keyboard.press("Escape")
    page.get_by_text("1 terminal of other admins").click()
    page.get_by_role("tab", name="bash").click()
    check_in_a_light(page, f"{size}-terminal-others")
    if size == "phone":
        page.evaluate("document.activeElement.blur()")  # while one types, the bar at the foot makes room
        assert "\n".join(small_targets(page)) == ""
        page.get_by_role("tab", name="vim").click()
        page.get_by_role("button", name="Ctrl", exact=True).tap()
        page.keyboard.type("c")
        page.get_by_role("button", name="Up", exact=True).tap()
        page.get_by_role("button", name="Esc", exact=True).tap()
        terminal.types(b"\x03\x1b[A\x1b")
