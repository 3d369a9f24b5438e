"""Firefox with one page in it, driven over WebDriver BiDi: its own protocol, so that no driver is installed.

    async with firefox(tmp_path) as page:
        await page.goto("http://127.0.0.1:4780/p/mail")
        await page.until("document.querySelector('[data-thread]')")
        await page.press("j", "Enter")

It is another engine than the one of the other journeys, for what engines do differently: focus and keys, editing text,
how high a frame is. A wait looks again with each frame that the page draws, and ends with ``HANGS_S``.

Source: the W3C's WebDriver BiDi.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, open_websocket_url

from tests.peers.needs import FIREFOX_PATH
from tests.sizes import HANGS_S

LISTENS: Final = b"WebDriver BiDi listening on "
MESSAGE_SIZE: Final = 1 << 26
"""Bytes: a picture of a page is one message."""
KEYS: Final = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Control": "\ue009", "Shift": "\ue008"}
"""Those that have no character. Source: WebDriver, 17.4.2."""
PREFERENCES: Final[Mapping[str, object]] = {
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "focusmanager.testmode": True,  # the window is in front, though nothing shows it
    "dom.serviceWorkers.enabled": False,
    "toolkit.startup.max_resumed_crashes": -1,
    "ui.prefersReducedMotion": 1,
}
"""Each test asks the server itself, and nothing is asked of anybody else."""
UNTIL: Final = """(async () => {
    for (;;) {
        const found = await (%s);
        if (found) return found;
        await new Promise(requestAnimationFrame);
    }
})()"""
CENTRE: Final = """(() => {
    const { left, top, width, height } = (%s).getBoundingClientRect();
    return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) };
})()"""


@dataclass(kw_only=True)
class FirefoxPage:
    """Its one page. An ``expression`` is JavaScript; what it says, or what it promises, comes back as JSON."""

    connection: WebSocketConnection
    context: str = ""
    problems: list[str] = field(default_factory=list)
    """What the console complained about."""
    _answers: dict[int, trio.MemorySendChannel[Any]] = field(default_factory=dict)
    _last_id: int = 0

    async def goto(self, address: str) -> None:
        await self._here("browsingContext.navigate", url=address, wait="complete")

    async def size(self, width: int, height: int) -> None:
        await self._here("browsingContext.setViewport", viewport={"width": width, "height": height})

    async def evaluate(self, expression: str) -> Any:
        said = await self.call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression}) ?? null))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert said["type"] == "success", f"{expression}: {said['exceptionDetails']['text']}"
        return json.loads(said["result"]["value"])

    async def until(self, expression: str) -> Any:
        """Wait until it says something that counts as true, and return that."""
        with trio.move_on_after(HANGS_S):
            return await self.evaluate(UNTIL % expression)
        raise AssertionError(f"waited {HANGS_S:g} s for {expression}")

    async def press(self, *keys: str) -> None:
        """One key after the other; ``Control+Enter`` holds the first while it presses the second."""
        for key in keys:
            held = [KEYS.get(one, one) for one in (key.split("+") if len(key) > 1 else [key])]
            actions = [{"type": "keyDown", "value": one} for one in held]
            actions += [{"type": "keyUp", "value": one} for one in reversed(held)]
            await self._act("key", actions)

    async def type(self, text: str) -> None:
        await self.press(*text)

    async def click(self, element: str) -> None:
        """``element``: the expression that finds it."""
        at = await self.evaluate(CENTRE % element)
        moved = {"type": "pointerMove", **at}
        await self._act("pointer", [moved, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    async def screenshot(self, path: Path) -> None:
        taken = await self._here("browsingContext.captureScreenshot")
        await trio.Path(path.parent).mkdir(parents=True, exist_ok=True)
        await trio.Path(path).write_bytes(b64decode(taken["data"]))

    async def call(self, method: str, **params: Any) -> Any:
        self._last_id += 1
        number = self._last_id
        self._answers[number], answer = trio.open_memory_channel[Any](1)
        await self.connection.send_message(json.dumps({"id": number, "method": method, "params": params}))
        said = await answer.receive()
        assert said["type"] == "success", f"{method}: {said.get('error')}: {said.get('message')}"
        return said["result"]

    async def hear(self) -> None:
        """Take what it says, until it goes."""
        while True:
            try:
                said = json.loads(await self.connection.get_message())
            except ConnectionClosed:
                return
            if "id" in said:
                self._answers.pop(said["id"]).send_nowait(said)
            elif said["method"] == "log.entryAdded" and said["params"]["level"] in {"warn", "error"}:
                self.problems.append(said["params"]["text"])

    async def _here(self, method: str, **params: Any) -> Any:
        return await self.call(method, context=self.context, **params)

    async def _act(self, kind: str, actions: list[dict[str, Any]]) -> None:
        await self._here("input.performActions", actions=[{"type": kind, "id": kind, "actions": actions}])


@asynccontextmanager
async def firefox(directory: Path) -> AsyncIterator[FirefoxPage]:
    """Start it with a profile of its own in ``directory``; it is gone afterwards, whatever happened."""
    profile = directory / "firefox"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [str(FIREFOX_PATH), "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port=0"]
    async with trio.open_nursery() as nursery:
        start = trio.run_process
        process = await nursery.start(
            lambda *, task_status: start(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
                capture_stderr=False,
                task_status=task_status,
            )
        )
        try:
            with trio.fail_after(HANGS_S):
                address = await _address(process)
            nursery.start_soon(_drain, process)
            async with open_websocket_url(f"{address}/session", max_message_size=MESSAGE_SIZE) as connection:
                page = FirefoxPage(connection=connection)
                nursery.start_soon(page.hear)
                await page.call("session.new", capabilities={})
                await page.call("session.subscribe", events=["log.entryAdded"])
                page.context = (await page.call("browsingContext.create", type="tab"))["context"]
                yield page
        finally:
            process.kill()


async def _address(process: trio.Process) -> str:
    """Where it listens; it says so in a line of its own."""
    assert process.stderr is not None
    said = b""
    async for some in process.stderr:
        said += some
        _, found, rest = said.partition(LISTENS)
        if found and b"\n" in rest:
            return rest.split(b"\n")[0].decode().strip()
    raise AssertionError(f"Firefox ended:\n{said.decode(errors='replace')}")


async def _drain(process: trio.Process) -> None:
    """Drain the pipe, or the browser blocks."""
    assert process.stderr is not None
    async for _ in process.stderr:
        pass
